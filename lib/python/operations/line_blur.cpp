// clcook.LineBlur.
#include <clcook/line_blur.hpp>

#include "../plan.hpp"

namespace clcook::python {

void bind_line_blur(nb::module_& m) {
  using Problem = LineBlur::Problem;
  const Field<Problem> relative_sigma{
      "relative_sigma", kReal,
      [](Problem& p, nb::handle value, const char* where) {
        p.relative_sigma.value = number_of<double>(value, where, "relative_sigma");
      },
      [](const Problem& p) { return nb::cast(p.relative_sigma.value); }};
  picture_call(
      plan_class<LineBlur>(
          m, "A blur by lines, a plan on a queue of pyopencl; see docs/line_blur.md.",
          {field("width", &Problem::width), field("height", &Problem::height),
           field("radius", &Problem::radius), relative_sigma,
           field("pixel", &Problem::pixel, kPixelTypes), field("alpha", &Problem::alpha, kAlphas)}),
      [](const Problem& p) {
        return ArrayOf{dtype_of(p.pixel),
                       {static_cast<std::size_t>(p.height), static_cast<std::size_t>(p.width),
                        static_cast<std::size_t>(channels_of(p.pixel))}};
      });
}

}  // namespace clcook::python
