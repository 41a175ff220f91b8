// clcook.LocalMultipass, with the islands that the recipe brings.
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <clcook/local_multipass.hpp>
#include <cstdint>
#include <tuple>
#include <vector>

#include "../plan.hpp"

namespace clcook::python {

void bind_local_multipass(nb::module_& m) {
  using Problem = LocalMultipass::Problem;
  using Island = LocalMultipass::Island;
  using Ends = std::tuple<std::uint32_t, std::uint32_t, float, float>;
  using State = std::tuple<std::uint32_t, std::vector<Ends>, std::vector<std::uint32_t>>;
  nb::class_<Island>(m, "Island",
                     "Particles and the constraints between them, which all islands of a "
                     "LocalMultipass have in common.")
      .def_static("rope", &Island::rope, "particles"_a, "spacing"_a, "stiffness"_a = 1.0f,
                  nb::sig("def rope(particles: typing.SupportsIndex, spacing: "
                          "typing.SupportsFloat, stiffness: typing.SupportsFloat = 1.0) -> Island"),
                  "A chain of particles at a distance.")
      .def_static("cloth", &Island::cloth, "width"_a, "height"_a, "spacing"_a, "stiffness"_a = 1.0f,
                  "bend"_a = 0.0f,
                  nb::sig("def cloth(width: typing.SupportsIndex, height: typing.SupportsIndex, "
                          "spacing: typing.SupportsFloat, stiffness: typing.SupportsFloat = 1.0, "
                          "bend: typing.SupportsFloat = 0.0) -> Island"),
                  "Particle y * width + x with its neighbours to the right, below and on both "
                  "diagonals; bend above 0: with the second neighbours too.")
      .def("__getstate__",
           [](const Island& one) {
             std::vector<Ends> all;
             for (const auto& c : one.constraints) all.emplace_back(c.a, c.b, c.rest, c.stiffness);
             return State{one.particles, all, one.colour_begin};
           })
      .def("__setstate__",
           [](Island& self, const State& state) {
             auto* made = new (&self) Island;
             const auto& [particles, all, colour_begin] = state;
             made->particles = particles;
             for (const auto& [a, b, rest, stiffness] : all)
               made->constraints.push_back({a, b, rest, stiffness});
             made->colour_begin = colour_begin;
           })
      .def_prop_ro("particles", [](const Island& one) { return one.particles; })
      .def_prop_ro("constraints", [](const Island& one) { return one.constraints.size(); })
      .def_prop_ro("colours", [](const Island& one) { return one.colours(); });
  const Field<Problem> island{"island", "Island",
                              [](Problem& p, nb::handle value, const char* where) {
                                if (!nb::isinstance<Island>(value))
                                  wrong_type(where, "island", "a clcook.Island", value);
                                p.island = nb::cast<const Island&>(value);
                              },
                              [](const Problem& p) { return nb::cast(p.island); }};
  buffers_call(
      plan_class<LocalMultipass>(
          m,
          "Position-based dynamics of many small islands, a plan on a queue of pyopencl; see "
          "docs/local_multipass.md.",
          {field("islands", &Problem::islands), field("iterations", &Problem::iterations), island}),
      {"src", "dst"});
}

}  // namespace clcook::python
