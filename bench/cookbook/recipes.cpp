#include "recipes.hpp"

#include <clcook/registry/all.hpp>

namespace clcook::cookbook {

const std::vector<Recipe>& recipes() {
  static const std::vector<Recipe> every = all();
  return every;
}

}  // namespace clcook::cookbook
