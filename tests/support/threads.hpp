// Work in many threads at once, for tests.
#pragma once

#include <doctest/doctest.h>

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace clcook::testing {

constexpr int kThreads = 16;

// Runs work(thread) in all threads at once, and fails for what one of them throws.
inline void in_threads(const std::function<void(int)>& work) {
  std::atomic<int> ready{0};
  std::vector<std::string> problems(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      ++ready;
      while (ready < kThreads) std::this_thread::yield();
      try {
        work(t);
      } catch (const std::exception& error) {
        problems[static_cast<std::size_t>(t)] = error.what();
      }
    });
  }
  for (std::thread& one : threads) one.join();
  for (const std::string& problem : problems) CHECK(problem == "");
}

}  // namespace clcook::testing
