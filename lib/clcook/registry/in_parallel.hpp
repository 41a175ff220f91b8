// Work on the host that is worth several threads.
#pragma once

#include <algorithm>
#include <cstddef>
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

}  // namespace clcook
