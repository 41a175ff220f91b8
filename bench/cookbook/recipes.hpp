// Every recipe of the cookbook for our own programs: the cards are compiled once, in the library
// clcook_recipes, because they take as long to compile as ten test programs.
#pragma once

#include <clcook/registry/recipe.hpp>
#include <vector>

namespace clcook::cookbook {

// Sorted by name; made at the first call. Any thread may call it.
const std::vector<Recipe>& recipes();

}  // namespace clcook::cookbook
