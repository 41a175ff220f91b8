// clcook.SeparableFilter, and what clcook.separable_filter and clcook.box_filter stand on.
#include <clcook/separable_filter.hpp>

#include "../plan.hpp"

namespace clcook::python {

namespace {

using Problem = SeparableFilter::Problem;

std::vector<Field<Problem>> fields() {
  return {field("width", &Problem::width),
          field("height", &Problem::height),
          field("taps_x", &Problem::taps_x),
          field("taps_y", &Problem::taps_y),
          field("pixel", &Problem::pixel, kPixelTypes),
          field("border", &Problem::border, kBorders),
          field("outside", &Problem::outside),
          field("in_place", &Problem::in_place)};
}

}  // namespace

void bind_separable_filter(nb::module_& m) {
  auto plan = plan_class<SeparableFilter>(
      m, "A separable filter as a plan on a queue of pyopencl; see docs/gaussian_blur.md.",
      fields());
  picture_call(plan, picture_array<Problem>);
  plan.def_prop_ro(
      "max_error", [](const Held<SeparableFilter>& self) { return self.get().max_error(); },
      "The largest distance to the exact filter that the method promises, in units of the pixel "
      "type, before rounding.");

  // Needs no device, see gaussian_blur.cpp.
  m.def(
      "_separable_halo",
      [](const nb::kwargs& values) {
        const Problem problem = problem_of(fields(), values, SeparableFilter::Spec::kName);
        separable_filter::Spec::check(problem);
        return nb::make_tuple(problem.taps_y.size() / 2, problem.taps_x.size() / 2);
      },
      "values"_a, "How far a problem's filter reaches down and across, in pixels.");
  picture_on_host<SeparableFilter>(m, "_SeparableFilterOnHost", fields());
}

}  // namespace clcook::python
