// clcook.Regroup, with the function that the recipe brings, and clcook.RegroupOrder.
#include <clcook/regroup.hpp>

#include "../plan.hpp"

namespace clcook::python {

void bind_regroup(nb::module_& m) {
  using Problem = Regroup::Problem;
  buffers_call(
      plan_class<Regroup>(
          m,
          "A function whose items take different paths, a plan on a queue of pyopencl; "
          "see docs/regroup.md.",
          {field("items", &Problem::items), field("paths", &Problem::paths),
           field("key_bytes", &Problem::key_bytes), field("parameters", &Problem::parameters)}),
      {"keys", "items", "results"});
  using Order = RegroupOrder::Problem;
  buffers_call(
      plan_class<RegroupOrder>(m,
                               "The list of the items by key, a plan on a queue of pyopencl; see "
                               "docs/regroup.md.",
                               {field("items", &Order::items), field("paths", &Order::paths),
                                field("key_bytes", &Order::key_bytes)}),
      {"keys", "order", "offsets"}, 2);
}

}  // namespace clcook::python
