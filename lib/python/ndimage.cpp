// What clcook.ndimage stands on: a chain of kernel launches from an array of the host to another.
#include <clcook/core/defines.hpp>
#include <clcook/core/launch.hpp>
#include <clcook/core/quirks.hpp>
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

Launch::Sizes launch_sizes(nb::handle value) {
  const std::vector<std::size_t> all = numbers_of<std::size_t>(value, "ndimage", "a launch");
  return {all.at(0), all.at(1), all.at(2)};
}

// One thread at a time.
class Passes {
 public:
  // passes: of (kernel, definitions, global, local, local bytes, table, from, to); sizes: the bytes of
  // each buffer.
  Passes(const Source& source, const std::vector<nb::object>& passes,
         const std::vector<std::size_t>& sizes)
      : sizes_(sizes), buffers_(sizes.size()), kept_(sizes.at(0), sizes.at(1)) {
    const Runtime& rt = standard_runtime();
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
      pass.launch.global = launch_sizes(one[2]);
      pass.launch.local = launch_sizes(one[3]);
      pass.local_bytes = nb::cast<std::size_t>(one[4]);
      const nb::bytes table = nb::cast<nb::bytes>(one[5]);
      pass.from = nb::cast<std::size_t>(one[6]);
      pass.to = nb::cast<std::size_t>(one[7]);
      const Unlocked unlocked;
      pass.program = rt.build(source, defines, "ndimage/" + pass.kernel);
      pass.table =
          create_buffer(rt, table.size(), CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, table.c_str());
      passes_.push_back(std::move(pass));
    }
    const Unlocked unlocked;
    for (std::size_t i = 2; i < sizes.size(); ++i) buffers_[i] = create_buffer(rt, sizes[i]);
  }

  // What it holds on the device.
  std::size_t bytes() const {
    std::size_t out = kept_.bytes();
    for (std::size_t i = 2; i < sizes_.size(); ++i) out += sizes_[i];
    return out;
  }

  void run(const void* src, void* dst) {
    const auto enqueue = [&](const BufferView& from, const BufferView& to,
                             std::vector<cl::Event> wait) {
      // Those of the host's memory are not kept, where a launch fails neither.
      std::vector<cl::Buffer> buffers = buffers_;
      buffers[0] = from.buffer;
      buffers[1] = to.buffer;
      cl::Event done;
      for (const Pass& pass : passes_) {
        Kernel kernel(standard_runtime(), pass.program, pass.kernel);
        const cl::Buffer& read = buffers.at(pass.from);
        const cl::Buffer& written = buffers.at(pass.to);
        done = pass.local_bytes == 0 ? kernel(pass.launch, wait, read, written, pass.table)
                                     : kernel(pass.launch, wait, read, written, pass.table,
                                              LocalBytes{pass.local_bytes});
        wait = {done};
      }
      return done;
    };
    run_on_host(kept_, {src, sizes_[0], sizes_[0], 1}, {dst, sizes_[1], sizes_[1], 1}, enqueue, {},
                {});
  }

 private:
  std::vector<Pass> passes_;
  std::vector<std::size_t> sizes_;
  std::vector<cl::Buffer> buffers_;
  KeptBuffers kept_;
};

// What passes are made for: the elements of a vector, whether the device has doubles, its local memory,
// the largest group, its name.
nb::tuple device() {
  const DeviceInfo& info = standard_runtime().info();
  return nb::make_tuple(quirks::vector_elements(info), info.has_extension("cl_khr_fp64"),
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
