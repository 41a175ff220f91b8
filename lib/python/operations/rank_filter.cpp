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
      picture_array<Problem>);

  // Needs no device, see gaussian_blur.cpp.
  m.def(
      "_rank_halo",
      [](const nb::kwargs& values) {
        const Problem problem = problem_of(fields(), values, kName);
        rank_filter::Spec::check(problem);
        return nb::make_tuple(problem.radius, problem.radius);
      },
      "values"_a, "How far a problem's filter reaches down and across, in pixels.");

  picture_on_host<RankFilter>(m, "_RankFilterOnHost", fields());
}

}  // namespace clcook::python
