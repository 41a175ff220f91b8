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

// The values of these rows of `row` values, of which some(begin, end) gives those of rows in order,
// by several threads.
template <class Some>
std::vector<float> rows_in_parallel(const std::vector<std::size_t>& rows, std::size_t row,
                                    const Some& some) {
  std::vector<float> out(rows.size() * row);
  in_parallel(rows.size(), 65536 / row + 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::vector<float> part = some(rows[i], rows[i] + 1);
      std::copy(part.begin(), part.end(), out.begin() + static_cast<std::ptrdiff_t>(i * row));
    }
  });
  return out;
}

// Which of `rows` rows a check compares: all, or of a sample, where one costs the reference so many
// operations, those of a second, spread evenly.
inline std::vector<std::size_t> compared_rows(std::size_t rows, double cost, bool is_sampled) {
  const double most = is_sampled ? std::max(3e8 / cost, 4.0) : 1e18;
  const std::size_t count =
      most < static_cast<double>(rows) ? static_cast<std::size_t>(most) : rows;
  std::vector<std::size_t> out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = count < rows ? i * (rows - 1) / (count - 1) : i;
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
