// The exercises of `clcook course`: what each gives, what is right, and which recipe is its solution.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <clcook/core/params.hpp>
#include <clcook/registry/random.hpp>

#include "try/description.hpp"

namespace clcook::tool::course {

// How the work-items of a launch cover a problem. Work-items make `outputs` results per dimension.
enum class Grid {
  items,    // one dimension over Exercise::extent results, padded to whole groups
  picture,  // width x height, padded to whole groups
  tiles,    // one row of groups, as many as there are tiles of a group's size on the picture
  groups,   // one dimension of Exercise::extent groups
};

// A figure that the shape of a kernel is judged by. Less is better.
enum class Figure {
  steps,      // operations that a wave, or a group that has barriers, goes through per result
  memory,     // accesses of global memory per result
  registers,  // vector registers of a work-item
  stores,     // bytes between what two neighbouring work-items store
  loads,      // and load
  reach,      // pixels of the source that the first groups can read, per pixel that they write
};

struct Limit {
  Figure figure = Figure::steps;
  // Of steps and memory: the limit is the start's figure times this. Of the others: where it lies between
  // the recipe's figure, 0, and that of the start, 1.
  double share = 0;
};

// All but the functions is read from the exercise's page, docs/course/NAME.md: number and title from its
// first line, the rest from the TOML in its last comment, where a field has the name that it has here.
struct Exercise {
  int number = 0;
  std::string name;     // "01_two_calls"
  std::string title;    // "two calls in a branch"
  std::string aim;      // one line for the list
  std::string recipe;   // its solution
  std::string variant;  // and which of its kernels the limits come from
  std::string kernel;   // the function that the learner's file has
  std::string result;   // what steps and accesses are counted per
  Grid grid = Grid::items;
  // Of Grid::items the results, of Grid::groups the groups, as an expression of the sizes and of LOCAL,
  // a group's size.
  std::string extent;
  std::map<std::string, int> constants;  // that the grader defines
  std::vector<Limit> limits;
  std::array<std::string, 3> hints;
  // The recipe's kernel for this problem: text before and behind its file.
  std::string before;
  std::string behind;
  std::vector<std::string> goal_global;
  std::vector<std::string> goal_local;
  // The arguments, with random data, and the reference. `random` draws what is one number for all
  // problems.
  void (*describe)(Random& random, described::Description& about) = nullptr;
  // A problem of about so many results, its sizes drawn; of kCounted and kTiny results: see
  // description_of().
  Params (*problem)(Random& random, std::uint64_t results) = nullptr;
};

constexpr std::uint64_t kCounted = 12000;
constexpr std::uint64_t kTiny = 700;

// Throws Error(unsupported) where this program was built without toml++.
const std::vector<Exercise>& exercises();

// The text that an exercise begins with.
std::string start_of(const Exercise& exercise);

// What the learner's file says of its launch, in lines "// clcook: local = 16 16".
struct Geometry {
  std::vector<std::size_t> local;
  std::vector<std::size_t> outputs;  // one for each dimension
};

// One of the kernels that are graded.
struct Entry {
  std::string name;  // "yours"
  std::string file;  // as messages call it
  std::string text;
  Geometry geometry;
};

// The exercise as a description of the entries given and of the recipe's kernel, "recipe". `seed` draws
// what is one number for all problems, `sizes` the sizes. check_shapes: small and awkward ones, the
// first tiny; bench_shapes: one of some ten thousand results that fills whole groups but for a few.
described::Description description_of(const Exercise& exercise, std::uint64_t seed,
                                      std::uint64_t sizes, const std::vector<Entry>& entries);

}  // namespace clcook::tool::course
