// clcook.GroupSwizzle.
#include <clcook/group_swizzle.hpp>

#include "../plan.hpp"

namespace clcook::python {

void bind_group_swizzle(nb::module_& m) {
  using Problem = GroupSwizzle::Problem;
  buffers_call(
      plan_class<GroupSwizzle>(
          m,
          "A filter or a gather in another order of groups, a plan on a queue of pyopencl; see "
          "docs/group_swizzle.md.",
          {field("width", &Problem::width), field("height", &Problem::height),
           field("work", &Problem::work, group_swizzle::kWorks), field("matrix", &Problem::matrix),
           field("taps", &Problem::taps), field("radius", &Problem::radius)}),
      {"src", "dst"});
}

}  // namespace clcook::python
