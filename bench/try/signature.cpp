#include "try/signature.hpp"

#include <clcook/core/error.hpp>
#include <clcook/core/launch.hpp>

namespace clcook::tool::described {

namespace {

std::string info_text(const cl::Kernel& kernel, cl_uint index, cl_kernel_arg_info what) {
  std::size_t size = 0;
  if (clGetKernelArgInfo(kernel(), index, what, 0, nullptr, &size) != CL_SUCCESS || size == 0)
    return {};
  std::string out(size, '\0');
  if (clGetKernelArgInfo(kernel(), index, what, size, out.data(), nullptr) != CL_SUCCESS) return {};
  const std::size_t end = out.find('\0');
  return out.substr(0, end);
}

template <class T>
bool info(const cl::Kernel& kernel, cl_uint index, cl_kernel_arg_info what, T& value) {
  return clGetKernelArgInfo(kernel(), index, what, sizeof value, &value, nullptr) == CL_SUCCESS;
}

}  // namespace

const char* to_string(Declared::Kind kind) {
  return kind == Declared::Kind::buffer  ? "a buffer"
         : kind == Declared::Kind::image ? "an image"
         : kind == Declared::Kind::local ? "local memory"
                                         : "a scalar";
}

cl_uint arguments_of(const cl::Kernel& kernel) {
  cl_uint declared = 0;
  check(clGetKernelInfo(kernel(), CL_KERNEL_NUM_ARGS, sizeof declared, &declared, nullptr),
        "clGetKernelInfo");
  return declared;
}

namespace {

// False where the implementation does not tell.
bool told(const cl::Kernel& kernel, std::vector<Declared>& arguments) {
  arguments.clear();
  const cl_uint count = arguments_of(kernel);
  for (cl_uint i = 0; i < count; ++i) {
    Declared one;
    cl_kernel_arg_address_qualifier space = 0;
    cl_kernel_arg_access_qualifier access = CL_KERNEL_ARG_ACCESS_NONE;
    cl_kernel_arg_type_qualifier qualifier = 0;
    if (!info(kernel, i, CL_KERNEL_ARG_ADDRESS_QUALIFIER, space)) return false;
    one.type = info_text(kernel, i, CL_KERNEL_ARG_TYPE_NAME);
    one.name = info_text(kernel, i, CL_KERNEL_ARG_NAME);
    info(kernel, i, CL_KERNEL_ARG_ACCESS_QUALIFIER, access);
    info(kernel, i, CL_KERNEL_ARG_TYPE_QUALIFIER, qualifier);
    if (one.type.empty()) return false;
    while (!one.type.empty() && (one.type.back() == '*' || one.type.back() == ' '))
      one.type.pop_back();
    // A struct may be called image_size.
    if (one.type.rfind("image", 0) == 0 && access != CL_KERNEL_ARG_ACCESS_NONE) {
      one.kind = Declared::Kind::image;
      one.is_const = access == CL_KERNEL_ARG_ACCESS_READ_ONLY;
    } else if (space == CL_KERNEL_ARG_ADDRESS_GLOBAL || space == CL_KERNEL_ARG_ADDRESS_CONSTANT) {
      one.kind = Declared::Kind::buffer;
      one.is_const =
          space == CL_KERNEL_ARG_ADDRESS_CONSTANT || (qualifier & CL_KERNEL_ARG_TYPE_CONST) != 0;
    } else if (space == CL_KERNEL_ARG_ADDRESS_LOCAL) {
      one.kind = Declared::Kind::local;
    }
    arguments.push_back(std::move(one));
  }
  return true;
}

constexpr const char* kMeaningKernel = "clcook_meaning_of_type";

// Not every device has these types.
const char* extension_of(const std::string& type) {
  if (type.rfind("double", 0) == 0) return "cl_khr_fp64";
  return type.rfind("half", 0) == 0 && type != "half" ? "cl_khr_fp16" : nullptr;
}

// The kernel that writes the size of a type, and which of the number types it is, from 1.
std::string meaning_kernel(const std::string& type) {
  std::string out =
      text("\n__kernel void ", kMeaningKernel,
           "(__global ulong* meaning) {\n  meaning[0] = sizeof(", type, ");\n  meaning[1] = 0;\n");
  std::size_t index = 0;
  for (const std::string& number : type_names()) {
    const char* extension = extension_of(number);
    if (extension != nullptr) out += text("#ifdef ", extension, "\n");
    out += text("  if (__builtin_types_compatible_p(", type, ", ", number,
                ")) meaning[1] = ", ++index, ";\n");
    if (extension != nullptr) out += "#endif\n";
  }
  return out + "}\n";
}

}  // namespace

cl::Program build_to_look(const Runtime& runtime, const CompileUnit& unit,
                          const std::string& what) {
  return runtime.build(unit.source, unit.defines, what,
                       unit.options + (unit.options.empty() ? "" : " ") + "-cl-kernel-arg-info");
}

std::vector<Declared> signature_of(const Runtime& runtime, const CompileUnit& unit,
                                   const cl::Kernel& kernel) {
  std::vector<Declared> out;
  if (told(kernel, out)) return out;
  const Runtime fresh(runtime.queue(), {DiskCache(), {}});
  const cl::Program program = build_to_look(fresh, unit, unit.kernel);
  if (told(Kernel(fresh, program, unit.kernel).handle(), out)) return out;
  unsupported(Lacks::implementation, unit.kernel + "()",
              runtime.info().name + " does not say what kernels declare (clGetKernelArgInfo)");
}

Meaning meaning_of(const Runtime& runtime, const CompileUnit& unit, const std::string& type) {
  Meaning out;
  Type number;
  if (find_type(type, number)) return {number.size(), number};
  if (type == "void") return out;
  try {
    CompileUnit asking = unit;
    asking.source = Source(unit.source.name(),
                           unit.source.with_options(unit.options).flatten() + meaning_kernel(type));
    const cl::Program program = build_to_look(runtime, asking, "the type " + type);
    Kernel kernel(runtime.with_observer({}), program, kMeaningKernel);
    cl_ulong meaning[2] = {};
    const cl::Buffer memory = create_buffer(runtime, sizeof meaning);
    const cl::Event done = kernel(Launch(), {}, memory);
    const cl_event wait = done();
    check(clEnqueueReadBuffer(runtime.queue()(), memory(), CL_TRUE, 0, sizeof meaning, meaning, 1,
                              &wait, nullptr),
          "clEnqueueReadBuffer");
    out.bytes = meaning[0];
    const std::vector<std::string> names = type_names();
    if (meaning[1] >= 1 && meaning[1] <= names.size() && find_type(names[meaning[1] - 1], number))
      out.number = number;
  } catch (const Error&) {
    // It cannot be asked for.
  }
  return out;
}

std::vector<std::string> kernels_of(const cl::Program& program) {
  std::size_t size = 0;
  check(clGetProgramInfo(program(), CL_PROGRAM_KERNEL_NAMES, 0, nullptr, &size),
        "clGetProgramInfo");
  std::string names(size, '\0');
  if (size > 0) {
    check(clGetProgramInfo(program(), CL_PROGRAM_KERNEL_NAMES, size, names.data(), nullptr),
          "clGetProgramInfo");
  }
  std::vector<std::string> out;
  std::string name;
  for (const char c : names + '\0') {
    if (c != ';' && c != '\0') {
      name += c;
    } else if (!name.empty()) {
      out.push_back(std::move(name));
      name.clear();
    }
  }
  return out;
}

}  // namespace clcook::tool::described
