// Grading a learner's file: its parts in processes of their own, and what came of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "course/exercise.hpp"

namespace clcook::tool::course {

// One of the four proofs.
struct Proof {
  enum class State { holds, fails, unavailable };
  const char* name = "";  // right, clean, shape, time
  State state = State::unavailable;
  std::vector<std::string> lines;  // what was found, for people
};

struct Grade {
  std::vector<Proof> proofs;  // empty: the file was refused
  std::string refusal;        // in one line

  const Proof* find(const std::string& name) const;
  // Right, and no proof that could be had fails; that of the shape must have been had.
  bool solved() const;
};

struct GradeOptions {
  std::string program;  // that runs parts: the clcook command
  std::string device;   // as --device
  std::uint64_t seed = 1;
  std::vector<std::string> proofs;  // these alone; empty: all that can be had
};

// Grades a file. Throws Error(io) where it cannot be read or no process can be made; what is wrong
// with the file is in the grade.
Grade grade(const Exercise& exercise, const std::string& file, const GradeOptions& options);

}  // namespace clcook::tool::course
