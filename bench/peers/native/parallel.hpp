// Threads for the plain loops.
#pragma once

#include <cstddef>
#include <thread>
#include <vector>

// body(begin, end, thread) on `threads` equal parts of 0 to count, at once.
template <class Body>
void parallel(int threads, std::size_t count, const Body& body) {
  const std::size_t part =
      (count + static_cast<std::size_t>(threads) - 1) / static_cast<std::size_t>(threads);
  const auto share = [&](int thread) {
    const std::size_t begin = static_cast<std::size_t>(thread) * part;
    if (begin < count) body(begin, begin + part < count ? begin + part : count, thread);
  };
  std::vector<std::thread> others;
  for (int thread = 1; thread < threads; ++thread) others.emplace_back(share, thread);
  share(0);
  for (std::thread& other : others) other.join();
}
