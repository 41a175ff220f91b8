// clcook.RankFilter, and what clcook.rank_filter stands on.
#include <clcook/rank_filter.hpp>

#include "../plan.hpp"

namespace clcook::python {

namespace {

using Problem = RankFilter::Problem;

std::vector<Field<Problem>> fields() {
  return {field("width", &Problem::width),
          field("height", &Problem::height),
          field("radius", &Problem::radius),
          field("rank", &Problem::rank),
          field("pixel", &Problem::pixel, kPixelTypes),
          field("border", &Problem::border, kBorders),
          field("outside", &Problem::outside)};
}

}  // namespace

void bind_rank_filter(nb::module_& m) {
  constexpr const char* kName = "RankFilter";
  picture_call(
      plan_class<RankFilter>(
          m, "A rank filter as a plan on a queue of pyopencl; see docs/rank_filter.md.", fields()),
      [](const Problem& p) {
        return ArrayOf{dtype_of(p.pixel),
                       {static_cast<std::size_t>(p.height), static_cast<std::size_t>(p.width),
                        static_cast<std::size_t>(channels_of(p.pixel))}};
      });

  // Needs no device, see gaussian_blur.cpp.
  m.def(
      "_rank_halo",
      [](const nb::kwargs& values) {
        const Problem problem = problem_of(fields(), values, kName);
        rank_filter::Spec::check(problem);
        return nb::make_tuple(problem.radius, problem.radius);
      },
      "values"_a, "How far a problem's filter reaches down and across, in pixels.");

  using OnHost = PictureOnHost<RankFilter>;
  nb::class_<Held<OnHost>>(m, "_RankFilterOnHost")
      .def("__init__",
           [](Held<OnHost>* self, const nb::kwargs& values) {
             const Problem problem = problem_of(fields(), values, kName);
             const Unlocked unlocked;
             new (self)
                 Held<OnHost>(std::in_place, problem,
                              pixel_bytes(problem.pixel) * static_cast<std::size_t>(problem.width),
                              static_cast<std::size_t>(problem.height));
           })
      .def("run",
           [](Held<OnHost>& self, std::uintptr_t src, std::size_t src_pitch, std::uintptr_t dst,
              std::size_t dst_pitch) {
             OnHost& host = self.get();
             const Unlocked unlocked;
             host.run(host_array(src, src_pitch), host_array(dst, dst_pitch), [] {});
           })
      .def_prop_ro("bytes", [](const Held<OnHost>& self) { return self.get().bytes(); });
}

}  // namespace clcook::python
