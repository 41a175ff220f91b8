// clcook.ArgumentSwap, with the function that the recipe brings.
#include <clcook/argument_swap.hpp>

#include "../plan.hpp"

namespace clcook::python {

void bind_argument_swap(nb::module_& m) {
  using Problem = ArgumentSwap::Problem;
  buffers_call(
      plan_class<ArgumentSwap>(
          m, "The sum of two calls, a plan on a queue of pyopencl; see docs/argument_swap.md.",
          {field("count", &Problem::count), field("cost", &Problem::cost),
           field("parameters", &Problem::parameters), field("steps", &Problem::steps)}),
      {"a", "b", "x", "y"});
}

}  // namespace clcook::python
