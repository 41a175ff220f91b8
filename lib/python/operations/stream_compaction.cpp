// clcook.StreamCompaction, and what clcook.stream_compaction stands on.
#include <clcook/stream_compaction.hpp>

#include "../plan.hpp"

namespace clcook::python {

namespace {

using CompactionProblem = StreamCompaction::Problem;

Field<CompactionProblem> count(const char* name,
                               stream_compaction::Count CompactionProblem::*member) {
  return {
      name, kWhole,
      [=](CompactionProblem& p, nb::handle value, const char* where) {
        p.*member = number_of<std::size_t>(value, where, name);
      },
      [=](const CompactionProblem& p) { return nb::cast(static_cast<std::size_t>(p.*member)); }};
}

std::vector<Field<CompactionProblem>> compaction_fields() {
  return {count("width", &CompactionProblem::width), count("height", &CompactionProblem::height),
          field("pixel", &CompactionProblem::pixel, kPixelTypes),
          field("ordered", &CompactionProblem::ordered),
          field("weights", &CompactionProblem::weights)};
}

// Numpy's way: a plan with its buffers. One thread at a time.
class CompactionOnHost {
 public:
  explicit CompactionOnHost(const CompactionProblem& problem)
      : compact_(standard_runtime(), problem),
        row_(pixel_bytes(problem.pixel) * problem.width),
        buffers_(row_ * problem.height, problem.pixels() * 4),
        kept_(create_buffer(standard_runtime(), 4)) {}

  // Whether run() is best given memory for all indices: where the kernels write to it, and where one
  // copy of a few more costs less than to wait for their number first.
  bool wants_whole() const {
    constexpr std::size_t kFew = std::size_t{64} << 10;  // bytes, which OpenCL copies by itself
    return standard_runtime().info().cpu || compact_.problem().pixels() * 4 <= kFew;
  }

  // Returns the number of the kept. Their indices are at the front of `whole`, memory for one of each
  // pixel; without it they stay for read().
  std::uint32_t run(const HostArray& src, double threshold, void* whole) {
    const Runtime& rt = standard_runtime();
    const FinishOnError guard(rt);
    const std::size_t all = compact_.problem().pixels() * 4;
    buffers_.use();
    const Staged from =
        StagingOfCall()->up({src.begin, src.pitch, row_, compact_.problem().height}, buffers_.from);
    if (whole == nullptr && buffers_.to() == nullptr) buffers_.to = create_buffer(rt, all);
    const Staged to = whole == nullptr
                          ? Staged{buffers_.to, {}, false}
                          : StagingOfCall()->place({whole, all, all, 1}, buffers_.to, nullptr);
    const cl::Event made = compact_(from.view, to.view, kept_, threshold, from.wait);
    std::uint32_t count = 0;
    const cl_event wait = made();
    cl_event counted = nullptr;
    check(clEnqueueReadBuffer(rt.queue()(), kept_(), whole == nullptr ? CL_TRUE : CL_FALSE, 0, 4,
                              &count, 1, &wait, &counted),
          "clEnqueueReadBuffer");
    made_ = cl::Event(counted);
    if (whole != nullptr) StagingOfCall()->down(to, {whole, all, all, 1}, made_);
    return count;
  }
  // Reads the first `count` indices of the run before, which had no memory for all.
  void read(void* indices, std::uint32_t count) {
    if (count > compact_.problem().pixels()) {
      fail(Errc::invalid_argument, "StreamCompaction", "there are fewer indices than asked for");
    }
    const std::size_t bytes = std::size_t{count} * 4;
    if (count > 0)
      StagingOfCall()->down({buffers_.to, {}, false}, {indices, bytes, bytes, 1}, made_);
  }

  // What it holds on the device: pixels, indices, and at most a byte of flags and counts per pixel.
  std::size_t bytes() const { return buffers_.bytes() + compact_.problem().pixels(); }

 private:
  StreamCompaction compact_;
  std::size_t row_;
  KeptBuffers buffers_;
  cl::Buffer kept_;
  cl::Event made_;
};

}  // namespace

void bind_stream_compaction(nb::module_& m) {
  constexpr const char* kName = "StreamCompaction";
  plan_class<StreamCompaction>(
      m, "A stream compaction as a plan on a queue of pyopencl; see docs/stream_compaction.md.",
      compaction_fields())
      .def(
          "__call__",
          [](const Held<StreamCompaction>& self, nb::handle src, nb::handle dst, nb::handle kept,
             nb::handle threshold, nb::handle wait_for) {
            const StreamCompaction& compact = self.get();
            const CompactionProblem& p = compact.problem();
            const auto least = number_of<double>(threshold, kName, "threshold");
            Call call(kName, wait_for);
            const BufferView from = call.buffer(src, "src", Access::read, [&] {
              return ArrayOf{dtype_of(p.pixel),
                             {p.height, p.width, static_cast<std::size_t>(channels_of(p.pixel))}};
            });
            const BufferView to = call.buffer(dst, "dst", Access::write, [&] {
              return ArrayOf{"uint32", {p.pixels()}};
            });
            const BufferView number = call.buffer(kept, "kept", Access::write, [&] {
              return ArrayOf{"uint32", {1}};
            });
            return call.run(
                [&](const auto& wait) { return compact(from, to, number, least, wait); });
          },
          "src"_a.none(), "dst"_a.none(), "kept"_a.none(), "threshold"_a.none(),
          "wait_for"_a.none() = nb::none(),
          nb::sig("def __call__(self, src: object, dst: object, kept: object, threshold: "
                  "typing.SupportsFloat, "
                  "wait_for: collections.abc.Sequence[pyopencl.Event] | None = None) -> "
                  "pyopencl.Event"),
          "Enqueues the compaction of src: the indices of the kept pixels into dst, their number "
          "into kept, buffers or arrays, behind the events of wait_for. Returns its "
          "pyopencl.Event.");

  nb::class_<Held<CompactionOnHost>>(m, "_StreamCompactionOnHost")
      .def("__init__",
           [](Held<CompactionOnHost>* self, const nb::kwargs& values) {
             const CompactionProblem problem = problem_of(compaction_fields(), values, kName);
             const Unlocked unlocked;
             new (self) Held<CompactionOnHost>(std::in_place, problem);
           })
      .def("run",
           [](Held<CompactionOnHost>& self, std::uintptr_t src, std::size_t pitch, double threshold,
              std::uintptr_t whole) {
             CompactionOnHost& host = self.get();
             const Unlocked unlocked;
             return host.run(host_array(src, pitch), threshold, host_array(whole, 0).begin);
           })
      .def("read",
           [](Held<CompactionOnHost>& self, std::uintptr_t indices, std::uint32_t count) {
             CompactionOnHost& host = self.get();
             const Unlocked unlocked;
             host.read(host_array(indices, 0).begin, count);
           })
      .def_prop_ro("wants_whole",
                   [](const Held<CompactionOnHost>& self) { return self.get().wants_whole(); })
      .def_prop_ro("bytes", [](const Held<CompactionOnHost>& self) { return self.get().bytes(); });
}

}  // namespace clcook::python
