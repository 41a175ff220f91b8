// A description as a recipe: what every command takes.
#pragma once

#include <memory>
#include <string>

#include <clcook/registry/recipe.hpp>

#include "try/description.hpp"

namespace clcook::tool::described {

// The kernels are its variants, the sizes its shapes. Its cases compare with the baseline's outputs,
// computed in memory of their own with another pattern around and in it, or with the reference.
Recipe recipe_of(std::shared_ptr<const Description> about);

// Builds every kernel with its first tune for the first shape and compares what it declares with
// what the description says; enqueues nothing. Calls the reference in C once, where there is one.
// Throws Error(invalid_argument) that begins with FILE:LINE.
void inspect(const Runtime& runtime, const Description& about);

}  // namespace clcook::tool::described
