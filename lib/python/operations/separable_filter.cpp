// clcook.SeparableFilter, and what clcook.separable_filter and clcook.box_filter stand on.
#include <clcook/separable_filter.hpp>

#include "../plan.hpp"

namespace clcook::python {

namespace {

using SeparableProblem = SeparableFilter::Problem;

std::vector<Field<SeparableProblem>> separable_fields() {
  return {field("width", &SeparableProblem::width),
          field("height", &SeparableProblem::height),
          field("taps_x", &SeparableProblem::taps_x),
          field("taps_y", &SeparableProblem::taps_y),
          field("pixel", &SeparableProblem::pixel, kPixelTypes),
          field("border", &SeparableProblem::border, kBorders),
          field("outside", &SeparableProblem::outside),
          field("in_place", &SeparableProblem::in_place)};
}

}  // namespace

void bind_separable_filter(nb::module_& m) {
  auto plan = plan_class<SeparableFilter>(
      m, "A separable filter as a plan on a queue of pyopencl; see docs/gaussian_blur.md.",
      separable_fields());
  picture_call(plan, picture_array<SeparableProblem>);
  plan.def_prop_ro(
      "max_error", [](const Held<SeparableFilter>& self) { return self.get().max_error(); },
      "The largest distance to the exact filter that the method promises, in units of the pixel "
      "type, before rounding.");

  // Needs no device, see gaussian_blur.cpp.
  m.def(
      "_separable_halo",
      [](const nb::kwargs& values) {
        const SeparableProblem problem =
            problem_of(separable_fields(), values, SeparableFilter::Spec::kName);
        separable_filter::Spec::check(problem);
        return nb::make_tuple(problem.taps_y.size() / 2, problem.taps_x.size() / 2);
      },
      "values"_a, "How far a problem's filter reaches down and across, in pixels.");
  picture_on_host<SeparableFilter>(m, "_SeparableFilterOnHost", separable_fields());
}

}  // namespace clcook::python
