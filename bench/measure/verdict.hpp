// What the ratio of a measured row says, and in which words.
#pragma once

#include <clcook/registry/recipe.hpp>

#include <string>
#include <vector>

#include "measure/statistics.hpp"
#include "results.hpp"

namespace clcook::tool {

enum class Verdict { baseline, faster, tie, slower, none };
const char* to_string(Verdict verdict);
// What an interval says; none where it has no ends.
Verdict judge(const Ratio& ratio);
// The ratio of a bench row to its baseline; zeros where it has none.
Ratio ratio_of(const BenchRow& row);
// What it says; none without a ratio.
Verdict verdict_of(const BenchRow& row);

// The recipe of that name; null for one that the registry does not know.
const Recipe* known_recipe(const std::string& name);
// Null for a variant of another version, and without a recipe.
const VariantInfo* known_variant(const Recipe* recipe, const std::string& name);

// The row with the largest ratio to the baseline among those of one recipe, shape and mode: null
// where none was measured. Variants with another result than the baseline's are left out.
const BenchRow* best_of(const std::string& recipe, const std::vector<const BenchRow*>& rows);

// "12.3", "1234", "0.012", "-" for NaN: about three digits.
std::string digits(double value);
// A ratio with two decimals, four when it is small.
std::string times(double ratio);
// "2.31× [2.20, 2.40]".
std::string to_string(const Ratio& ratio);

}  // namespace clcook::tool
