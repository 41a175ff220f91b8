// clcook.FoldedSwitch.
#include <clcook/folded_switch.hpp>

#include "../plan.hpp"

namespace clcook::python {

void bind_folded_switch(nb::module_& m) {
  using Problem = FoldedSwitch::Problem;
  const Field<Problem> valences{
      "valences", many(many(kWhole)),
      [](Problem& p, nb::handle value, const char* where) {
        for (const nb::object& one : objects_of(value, where, "valences")) {
          const std::vector<std::uint8_t> four =
              numbers_of<std::uint8_t>(one, where, "a patch's valences");
          if (four.size() != 4) {
            fail(Errc::invalid_argument, where,
                 text("a patch's valences must be 4 numbers, got ", four.size()));
          }
          p.valences.push_back({four[0], four[1], four[2], four[3]});
        }
      },
      [](const Problem& p) {
        nb::list out;
        for (const auto& n : p.valences) out.append(nb::make_tuple(n[0], n[1], n[2], n[3]));
        return nb::object(nb::tuple(out));
      }};
  buffers_call(plan_class<FoldedSwitch>(
                   m,
                   "Catmull-Clark to Bezier patches, a plan on a queue of "
                   "pyopencl; see docs/folded_switch.md.",
                   {field("vertices", &Problem::vertices), valences,
                    field("indices", &Problem::indices), field("tangents", &Problem::tangents)}),
               {"positions", "control_points"});
}

}  // namespace clcook::python
