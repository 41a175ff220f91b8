// What clcook.ndimage stands on: a chain of kernel launches from an array of the host to another.
#include <clcook/core/defines.hpp>
#include <clcook/core/launch.hpp>
#include <clcook/core/runtime.hpp>
#include <clcook/core/source.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "plan.hpp"

namespace clcook::python {

namespace {

// A launch of a kernel from one buffer to another, with a table beside them. Buffer 0 is the source, 1
// the result, the others are the chain's own.
struct Pass {
  std::string kernel;
  cl::Program program;
  Launch launch;
  std::size_t local_bytes = 0;  // 0: the kernel has no such argument
  cl::Buffer table;
  std::size_t from = 0;
  std::size_t to = 1;
};

Launch::Sizes sizes_of(nb::handle value) {
  const std::vector<std::size_t> all = numbers_of<std::size_t>(value, "ndimage", "a launch");
  return {all.at(0), all.at(1), all.at(2)};
}

// A buffer that is memory of the host.
cl::Buffer over_host(const Runtime& rt, std::size_t bytes, void* at, cl_mem_flags flags) {
  cl_int status = CL_SUCCESS;
  cl::Buffer out(clCreateBuffer(rt.context()(), flags | CL_MEM_USE_HOST_PTR, bytes, at, &status));
  check(status, "clCreateBuffer");
  return out;
}

// One thread at a time.
class Passes {
 public:
  // passes: of (kernel, definitions, global, local, local bytes, table, from, to); sizes: the bytes of
  // each buffer.
  Passes(const Source& source, const std::vector<nb::object>& passes,
         const std::vector<std::size_t>& sizes)
      : rt_(standard_runtime()), sizes_(sizes), buffers_(sizes.size()) {
    for (const nb::object& one : passes) {
      Pass pass;
      pass.kernel = nb::cast<std::string>(one[0]);
      Defines defines;
      for (const auto& [name, value] : nb::cast<nb::dict>(one[1])) {
        const std::string text = nb::cast<std::string>(value);
        const std::string macro = "CLCOOK_ND_" + nb::cast<std::string>(name);
        text.empty() ? defines.flag(macro) : defines.set(macro, Token{text});
      }
      pass.launch.dims = 3;
      pass.launch.global = sizes_of(one[2]);
      pass.launch.local = sizes_of(one[3]);
      pass.local_bytes = nb::cast<std::size_t>(one[4]);
      const nb::bytes table = nb::cast<nb::bytes>(one[5]);
      pass.from = nb::cast<std::size_t>(one[6]);
      pass.to = nb::cast<std::size_t>(one[7]);
      const Unlocked unlocked;
      pass.program = rt_.build(source, defines, "ndimage/" + pass.kernel);
      pass.table =
          create_buffer(rt_, table.size(), CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, table.c_str());
      passes_.push_back(std::move(pass));
    }
    const Unlocked unlocked;
    for (std::size_t i = is_host() ? 2 : 0; i < sizes.size(); ++i)
      buffers_[i] = create_buffer(rt_, sizes[i]);
  }

  // What it holds on the device.
  std::size_t bytes() const {
    std::size_t out = 0;
    for (std::size_t i = is_host() ? 2 : 0; i < sizes_.size(); ++i) out += sizes_[i];
    return out;
  }

  void run(void* src, void* dst) {
    const FinishOnError guard(rt_);
    const cl_command_queue queue = rt_.queue()();
    std::vector<cl::Buffer> buffers = buffers_;
    if (is_host()) {  // whose kernels read and write the arrays themselves
      buffers[0] = over_host(rt_, sizes_[0], src, CL_MEM_READ_ONLY);
      buffers[1] = over_host(rt_, sizes_[1], dst, CL_MEM_READ_WRITE);
    } else {
      write_rows(rt_, buffers[0], {src, sizes_[0]}, sizes_[0], 1);
    }
    std::vector<cl::Event> before;  // the queue is in order
    for (const Pass& pass : passes_) {
      Kernel kernel(rt_, pass.program, pass.kernel);
      const cl::Buffer& from = buffers.at(pass.from);
      const cl::Buffer& to = buffers.at(pass.to);
      if (pass.local_bytes == 0) {
        kernel(pass.launch, before, from, to, pass.table);
      } else {
        kernel(pass.launch, before, from, to, pass.table, LocalBytes{pass.local_bytes});
      }
    }
    if (is_host()) {
      cl_int status = CL_SUCCESS;
      void* at = clEnqueueMapBuffer(queue, buffers[1](), CL_TRUE, CL_MAP_READ, 0, sizes_[1], 0,
                                    nullptr, nullptr, &status);
      check(status, "clEnqueueMapBuffer");
      check(clEnqueueUnmapMemObject(queue, buffers[1](), at, 0, nullptr, nullptr),
            "clEnqueueUnmapMemObject");
      check(clFinish(queue), "clFinish");
      rt_.cache().store_ended();
    } else {
      read_rows(rt_, buffers[1], {dst, sizes_[1]}, sizes_[1], 1);
    }
  }

 private:
  bool is_host() const { return rt_.info().cpu; }

  Runtime rt_;
  std::vector<Pass> passes_;
  std::vector<std::size_t> sizes_;
  std::vector<cl::Buffer> buffers_;
};

// What passes are made for: whether the device is the host, whether it has doubles, its local memory.
nb::tuple device() {
  const DeviceInfo& info = standard_runtime().info();
  return nb::make_tuple(info.cpu, info.has_extension("cl_khr_fp64"),
                        static_cast<std::size_t>(info.local_mem), info.max_group, info.name);
}

}  // namespace

void bind_ndimage(nb::module_& m) {
  nb::class_<Held<Passes>>(m, "_Passes")
      .def("__init__",
           [](Held<Passes>* self, const std::string& text, nb::handle passes, nb::handle sizes) {
             const Entered entered;
             new (self) Held<Passes>(std::in_place, Source("ndimage.cl", text),
                                     objects_of(passes, "ndimage", "passes"),
                                     numbers_of<std::size_t>(sizes, "ndimage", "sizes"));
           })
      .def("run",
           [](Held<Passes>& self, std::uintptr_t src, std::uintptr_t dst) {
             Passes& passes = self.get();
             const Unlocked unlocked;
             passes.run(reinterpret_cast<void*>(src), reinterpret_cast<void*>(dst));
           })
      .def_prop_ro("bytes", [](const Held<Passes>& self) { return self.get().bytes(); });
  m.def("_ndimage_device", &device);
}

}  // namespace clcook::python
