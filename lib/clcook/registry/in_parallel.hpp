// Work on the host that is worth several threads.
#pragma once

#include <algorithm>
#include <clcook/registry/diff.hpp>
#include <cstddef>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace clcook {

// Calls some(begin, end) for parts of `count`, by several threads: a problem that keeps a GPU busy
// keeps a core busy for long. A `count` below `least` is one part.
template <class Some>
void in_parallel(std::size_t count, std::size_t least, const Some& some) {
  const std::size_t threads = count < least ? 1 : std::max(1u, std::thread::hardware_concurrency());
  const std::size_t part = (count + threads - 1) / threads;
  std::vector<std::thread> running;
  for (std::size_t begin = part; begin < count; begin += part)
    running.emplace_back(some, begin, std::min(count, begin + part));
  some(0, std::min(count, part));
  for (std::thread& one : running) one.join();
}

// The `count` values of rows of `row` values, of which some(begin, end) gives a part, by several threads.
template <class Some>
std::vector<float> rows_in_parallel(std::size_t count, std::size_t row, const Some& some) {
  std::vector<float> out(count);
  in_parallel(count / row, 65536 / row + 1, [&](std::size_t begin, std::size_t end) {
    const std::vector<float> part = some(begin, end);
    std::copy(part.begin(), part.end(), out.begin() + static_cast<std::ptrdiff_t>(begin * row));
  });
  return out;
}

// Calls element(part, i) for each i below `count`, by several threads, and adds their parts to
// `diff`.
template <class Element>
void compare_in_parallel(Diff& diff, std::size_t count, const Element& element) {
  std::mutex mutex;
  std::map<std::size_t, Diff> parts;  // by their first elements
  in_parallel(count, 65536, [&](std::size_t begin, std::size_t end) {
    Diff part;
    for (std::size_t i = begin; i < end; ++i) element(part, i);
    const std::lock_guard<std::mutex> lock(mutex);
    parts.emplace(begin, part);
  });
  for (const auto& [begin, part] : parts) diff.add(part);
}

}  // namespace clcook
