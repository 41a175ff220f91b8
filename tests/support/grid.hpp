// How much of a grid of checks to run: all of it, or the short grid of `./cook test`.
//
// CLCOOK_TEST_GRID is "short" or "full" (unset: full). The short grid takes what is named in each
// test and a slice of the rest: every n-th. CLCOOK_TEST_SLICE, a number, says which; `./cook test`
// makes it from the tree that is checked out, so that the same files give the same run.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

namespace clcook::testing {

inline bool short_grid() {
  const char* grid = std::getenv("CLCOOK_TEST_GRID");
  const std::string name = grid == nullptr ? "full" : grid;
  if (name != "short" && name != "full")
    throw std::runtime_error("CLCOOK_TEST_GRID is '" + name + "'; it must be short or full");
  return name == "short";
}

inline std::size_t slice_of_tree() {
  const char* variable = std::getenv("CLCOOK_TEST_SLICE");
  const std::string slice = variable == nullptr ? "0" : variable;
  std::size_t from = 0;
  const auto read = std::from_chars(slice.data(), slice.data() + slice.size(), from);
  if (read.ec != std::errc() || read.ptr != slice.data() + slice.size())
    throw std::runtime_error("CLCOOK_TEST_SLICE is '" + slice + "'; it must be a number");
  return from;
}

// Whether the check with this number is in the slice of one n-th.
inline bool in_slice(std::size_t number, std::size_t n) {
  return (number + slice_of_tree()) % n == 0;
}

// Whether the short grid leaves out the check with this number: it takes one n-th.
inline bool left_out(std::size_t number, std::size_t n) {
  return short_grid() && !in_slice(number, n);
}

// A number of a name (FNV-1a).
inline std::size_t number_of(std::string_view name) {
  std::uint32_t hash = 2166136261u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

// Whether a test has no turn on this tree: the short grid runs it on one in n. By a hash, since what a
// list in the test leaves out must not depend on its turn: with a factor in common it would be the same
// at each.
inline bool has_no_turn(std::string_view name, std::size_t n) {
  return short_grid() && number_of(std::string(name) + std::to_string(slice_of_tree())) % n != 0;
}

}  // namespace clcook::testing

// A TEST_CASE that takes seconds: the short grid runs it on one tree in n.
#define LONG_TEST_CASE(name, n) \
  TEST_CASE(name* doctest::skip(clcook::testing::has_no_turn(name, n)))
