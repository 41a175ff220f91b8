// clcook.ThresholdCount.
#include <clcook/threshold_count.hpp>

#include "../plan.hpp"

namespace clcook::python {

void bind_threshold_count(nb::module_& m) {
  using Problem = ThresholdCount::Problem;
  static constexpr Named<threshold_count::Slot> kSlots[] = {{threshold_count::Slot::u8, "u8"},
                                                            {threshold_count::Slot::u32, "u32"}};
  buffers_call(plan_class<ThresholdCount>(
                   m,
                   "How many thresholds values reach, a plan on a queue of pyopencl; see "
                   "docs/threshold_count.md.",
                   {field("count", &Problem::count), field("thresholds", &Problem::thresholds),
                    field("slot", &Problem::slot, kSlots)}),
               {"values", "slots"});
}

}  // namespace clcook::python
