// Descriptions of shapes: parsed, written again, and checked against the parameters of each recipe.
// What a recipe takes, it can name and size, and has code for.
#include <clcook/core/params.hpp>
#include <cmath>
#include <set>

#include "bench/tool/command.hpp"
#include "fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace clcook;
  Params shape;
  try {
    shape = Params::parse(fuzz::view(data, size));
  } catch (const Error& error) {
    CLCOOK_FUZZ_CHECK(error.code == Errc::invalid_argument);
    return 0;
  }
  std::set<std::string> names;
  for (const Params::Entry& entry : shape.entries()) {
    CLCOOK_FUZZ_CHECK(!entry.name.empty() && names.insert(entry.name).second);
    CLCOOK_FUZZ_CHECK(shape.find(entry.name) != nullptr);
  }
  CLCOOK_FUZZ_CHECK(Params::parse(shape.str()).str() == shape.str());
  for (const Recipe& recipe : tool::recipes()) {
    try {
      recipe.check_shape(shape);
      // Its problem has the mesh itself, which takes a time that grows with the number.
      if (recipe.name == "folded_switch" && shape.integer("patches", 0) > 4096) continue;
      const double bytes = recipe.problem_bytes(shape);
      CLCOOK_FUZZ_CHECK(std::isfinite(bytes) && bytes >= 0);
      CLCOOK_FUZZ_CHECK(!tool::tuning_name(recipe, shape).empty());
    } catch (const Error& error) {
      // Values that do not go together are found when the problem is made of them.
      CLCOOK_FUZZ_CHECK(error.code == Errc::invalid_argument);
      continue;
    }
    for (const VariantInfo& variant : recipe.variants) {
      try {
        fuzz::keep(static_cast<unsigned>(
            recipe.units(variant.name, combinations(variant.tunes).front(), shape, {}).size()));
      } catch (const Error&) {
        // A variant may not serve every shape.
      }
    }
  }
  return 0;
}
