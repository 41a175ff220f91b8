// Descriptions of shapes: parsed, written again, and checked against the parameters of each recipe that
// knows all their names, and of one that does not. What a recipe takes, it can name and size, and has
// code for: a variant of it each time, which the bytes alone decide.
#include <clcook/core/params.hpp>
#include <cmath>
#include <set>

#include "bench/tool/command.hpp"
#include "fuzz/fuzz.hpp"

namespace {

using namespace clcook;

bool knows_all(const Recipe& recipe, const std::set<std::string>& names) {
  std::size_t known = names.count("tiny");
  for (const Parameter& one : recipe.parameters) known += names.count(one.name);
  return known == names.size();
}

void asked(const Recipe& recipe, const Params& shape, std::uint32_t chance) {
  try {
    recipe.check_shape(shape);
    // Its problem has the mesh itself, which takes a time that grows with the number.
    if (recipe.name == "folded_switch" && shape.integer("patches", 0) > 256) return;
    const double bytes = recipe.problem_bytes(shape);
    CLCOOK_FUZZ_CHECK(std::isfinite(bytes) && bytes >= 0);
    CLCOOK_FUZZ_CHECK(!recipe.tuning_name(shape).empty());
  } catch (const Error& error) {
    // Values that do not go together are found when the problem is made of them.
    CLCOOK_FUZZ_CHECK(error.code == Errc::invalid_argument);
    return;
  }
  const VariantInfo& variant = recipe.variants[chance % recipe.variants.size()];
  try {
    fuzz::keep(static_cast<unsigned>(
        recipe.units(variant.name, combinations(variant.axes).front(), shape, {}).size()));
  } catch (const Error&) {
    // A variant may not serve every shape.
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
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
  const std::uint32_t chance = fuzz::chance_of(fuzz::view(data, size));
  const std::vector<Recipe>& recipes = tool::recipes();
  for (std::size_t i = 0; i < recipes.size(); ++i) {
    if (knows_all(recipes[i], names)) {
      asked(recipes[i], shape, chance / 256);
    } else if (chance % recipes.size() == i) {
      try {
        recipes[i].check_shape(shape);
        CLCOOK_FUZZ_CHECK(false);  // a name that it does not know
      } catch (const Error& error) {
        CLCOOK_FUZZ_CHECK(error.code == Errc::invalid_argument);
      }
    }
  }
  return 0;
}
