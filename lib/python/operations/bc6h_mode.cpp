// clcook.Bc6hMode.
#include <clcook/bc6h_mode.hpp>

#include "../plan.hpp"

namespace clcook::python {

void bind_bc6h_mode(nb::module_& m) {
  using Problem = Bc6hMode::Problem;
  buffers_call(
      plan_class<Bc6hMode>(
          m, "The modes of BC6H blocks, a plan on a queue of pyopencl; see docs/bc6h_mode.md.",
          {field("count", &Problem::count), field("stride", &Problem::stride)}),
      {"headers", "modes"});
}

}  // namespace clcook::python
