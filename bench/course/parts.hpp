// What runs a learner's kernel: each part is for a process of its own, which it may take down.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "course/exercise.hpp"
#include "course/weighing.hpp"

namespace clcook::tool::course {

// The figures of one kernel; those that an exercise does not look at are left out.
using Figures = std::map<Figure, Weighed::Figure>;

// "steps"
const char* to_string(Figure figure);

struct Part {
  std::string name;    // right, clean, shape, time
  std::string file;    // the learner's
  std::string device;  // as --device
  std::string report;  // the file that the results go to, a line of JSON each
  std::string nonce;   // a word that every line of them has
  std::uint64_t seed = 1;
};

// Runs one part and writes what was found. The lines, beside the nonce:
//   {"at": TEXT}           what begins now
//   {"wrong": TEXT}        the kernel is not right
//   {"unbuilt": TEXT}      it does not compile
//   {"unavailable": TEXT}  this part cannot be had here
//   {"figures": {...}}     of yours, start and recipe: shape and time
//   {"done": TEXT}         nothing was wrong
void run_part(const Exercise& exercise, const Part& part);

}  // namespace clcook::tool::course
