// What a fuzz target tests/fuzz_<format>.cpp needs: a run of a fixed number of damaged inputs as a
// test, or the entry point of libFuzzer.
//
// A target is a function FuzzOutcome fuzz_one(const unsigned char*, std::size_t) that throws
// nothing and never fails for a refused input, a function that returns whole inputs to start from,
// and words of the format worth trying:
//
//   CLCOOK_FUZZ_MAIN("the OBJ reader", fuzz_one, seeds, kWords, 20000)
#pragma once

#include <algorithm>
#include <clcook/registry/random.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#ifndef CLCOOK_LIBFUZZER
#include <doctest/doctest.h>
#endif

namespace clcook::testing {

enum class FuzzOutcome { taken, refused };

// Ends the program: a fuzzer wants that, and so does a test that found memory to be wrong.
#define CLCOOK_FUZZ_CHECK(condition)                                                        \
  do {                                                                                      \
    if (!(condition)) {                                                                     \
      std::fprintf(stderr, "%s:%d: fuzzing: not so: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                         \
    }                                                                                       \
  } while (false)

// Makes the compiler compute a value that nobody needs.
inline void keep(unsigned value) {
  volatile unsigned sink = value;
  static_cast<void>(sink);
}

// Damages an input: bits, bytes, words of the format, numbers as text, cuts, doubled and moved
// pieces.
inline std::string damaged(const std::string& input, const std::vector<std::string>& words,
                           Random& random) {
  std::string out = input;
  for (std::uint64_t n = 1 + random.below(6); n > 0; --n) {
    const std::size_t size = out.size();
    // Headers come first, so half of the places are among the first 160 bytes.
    const std::uint64_t reach = random.below(2) == 0 ? std::min<std::uint64_t>(size, 160) : size;
    const std::size_t at = size == 0 ? 0 : static_cast<std::size_t>(random.below(reach));
    switch (random.below(8)) {
      case 0:
        if (size > 0) out[at] = static_cast<char>(out[at] ^ (1 << random.below(8)));
        break;
      case 1:
        if (size > 0) out[at] = static_cast<char>(static_cast<unsigned char>(random.below(256)));
        break;
      case 2:
      case 3:
        if (!words.empty()) {
          const std::string& word = words[static_cast<std::size_t>(random.below(words.size()))];
          // On a multiple of 4 as fields are, or anywhere as text is.
          const std::size_t to = random.below(4) == 0 ? at : at / 4 * 4;
          if (to + word.size() <= size) out.replace(to, word.size(), word);
        }
        break;
      case 4:
        if (!words.empty()) {
          out.insert(at, words[static_cast<std::size_t>(random.below(words.size()))]);
        }
        break;
      case 5:
        out.resize(at);
        break;
      case 6:
        out.erase(at, static_cast<std::size_t>(random.below(64)));
        break;
      default:
        out.insert(at, out.substr(static_cast<std::size_t>(random.below(size + 1)),
                                  static_cast<std::size_t>(random.below(64))));
    }
  }
  return out;
}

template <class One, class Seeds>
void run_fuzz(const One& one, const Seeds& seeds, const std::vector<std::string>& words, int inputs,
              int& taken, int& refused) {
  const std::vector<std::string> start = seeds();
  Random random(2024);
  for (int i = 0; i < inputs; ++i) {
    const std::string& seed = start[static_cast<std::size_t>(i) % start.size()];
    const std::string input =
        static_cast<std::size_t>(i) < start.size() ? seed : damaged(seed, words, random);
    // A block of memory that ends where the input ends, so that a read beyond it is seen.
    const std::unique_ptr<unsigned char[]> tight(new unsigned char[input.size()]);
    if (!input.empty()) std::memcpy(tight.get(), input.data(), input.size());
    ++(one(tight.get(), input.size()) == FuzzOutcome::taken ? taken : refused);
  }
}

}  // namespace clcook::testing

#ifdef CLCOOK_LIBFUZZER
#define CLCOOK_FUZZ_MAIN(name, one, seeds, words, inputs)                             \
  extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) { \
    static_cast<void>(seeds);                                                         \
    one(data, size);                                                                  \
    return 0;                                                                         \
  }
#else
// Some inputs must be taken and some refused, else the damage is too strong or too weak to try
// anything.
#define CLCOOK_FUZZ_MAIN(name, one, seeds, words, inputs)                           \
  TEST_CASE("fuzzing " name) {                                                      \
    int taken = 0;                                                                  \
    int refused = 0;                                                                \
    clcook::testing::run_fuzz(one, seeds, words, inputs, taken, refused);           \
    MESSAGE(inputs << " inputs: " << taken << " taken, " << refused << " refused"); \
    CHECK(taken > (inputs) / 100);                                                  \
    CHECK(refused > (inputs) / 100);                                                \
  }
#endif
