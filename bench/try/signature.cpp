#include "try/signature.hpp"

#include <clcook/core/error.hpp>

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

bool signature_of(const cl::Kernel& kernel, std::vector<Declared>& arguments) {
  arguments.clear();
  const cl_uint count = arguments_of(kernel);
  for (cl_uint i = 0; i < count; ++i) {
    Declared one;
    cl_kernel_arg_address_qualifier space = 0;
    cl_kernel_arg_access_qualifier access = 0;
    cl_kernel_arg_type_qualifier qualifier = 0;
    if (!info(kernel, i, CL_KERNEL_ARG_ADDRESS_QUALIFIER, space)) return false;
    one.type = info_text(kernel, i, CL_KERNEL_ARG_TYPE_NAME);
    one.name = info_text(kernel, i, CL_KERNEL_ARG_NAME);
    info(kernel, i, CL_KERNEL_ARG_ACCESS_QUALIFIER, access);
    info(kernel, i, CL_KERNEL_ARG_TYPE_QUALIFIER, qualifier);
    if (one.type.empty() || one.name.empty()) return false;
    while (!one.type.empty() && (one.type.back() == '*' || one.type.back() == ' '))
      one.type.pop_back();
    if (one.type.rfind("image", 0) == 0) {
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
