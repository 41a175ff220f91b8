// clcook.GroupSize.
#include <clcook/group_size.hpp>

#include "../plan.hpp"

namespace clcook::python {

void bind_group_size(nb::module_& m) {
  using Problem = GroupSize::Problem;
  buffers_call(
      plan_class<GroupSize>(
          m, "Four kinds of work, a plan on a queue of pyopencl; see docs/group_size.md.",
          {field("work", &Problem::work, group_size::kWorks), field("count", &Problem::count),
           field("factor", &Problem::factor), field("summand", &Problem::summand),
           field("width", &Problem::width), field("height", &Problem::height),
           field("spheres", &Problem::spheres), field("max_steps", &Problem::max_steps),
           field("together", &Problem::together)}),
      {"src", "dst"});
}

}  // namespace clcook::python
