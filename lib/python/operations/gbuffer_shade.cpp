// clcook.GbufferShade.
#include <clcook/gbuffer_shade.hpp>

#include "../plan.hpp"

namespace clcook::python {

void bind_gbuffer_shade(nb::module_& m) {
  using Problem = GbufferShade::Problem;
  using Light = GbufferShade::Light;
  const Field<Problem> lights{
      "lights", many(many(kWhole)),
      [](Problem& p, nb::handle value, const char* where) {
        for (const nb::object& one : objects_of(value, where, "lights")) {
          const std::vector<nb::object> four = objects_of(one, where, "a light");
          if (four.size() != 4) {
            fail(Errc::invalid_argument, where,
                 text("a light must be 4 numbers, x, y, z and the colour, got ", four.size()));
          }
          const auto direction = [&](std::size_t i) {
            return number_of<int>(four[i], where, "a light's direction");
          };
          p.lights.push_back({direction(0), direction(1), direction(2),
                              number_of<std::uint32_t>(four[3], where, "a light's colour")});
        }
      },
      [](const Problem& p) {
        nb::list out;
        for (const Light& one : p.lights)
          out.append(nb::make_tuple(one.x, one.y, one.z, one.colour));
        return nb::object(nb::tuple(out));
      }};
  buffers_call(
      plan_class<GbufferShade>(
          m, "Deferred shading, a plan on a queue of pyopencl; see docs/gbuffer_shade.md.",
          {field("texels", &Problem::texels), lights, field("fog_colour", &Problem::fog_colour)}),
      {"gbuffer", "colours"});
}

}  // namespace clcook::python
