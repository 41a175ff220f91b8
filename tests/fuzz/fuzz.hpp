// What the programs of this folder share. Each file but replay.cpp is one format: its entry function
// takes the bytes of a file, reads them as the library does, and checks what the reader promises. A
// reader may refuse with an Error; whatever else leaves the entry function is a finding.
//
// The lane `fuzz` links them with libFuzzer, or, where that is missing, with replay.cpp.
// seeds/FORMAT/ holds files to start from and those that once did harm, FORMAT.dict the words of the
// format.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

// A promise of a reader: broken, it ends the program, which is what a fuzzer understands.
#define CLCOOK_FUZZ_CHECK(condition)                                                        \
  do {                                                                                      \
    if (!(condition)) {                                                                     \
      std::fprintf(stderr, "%s:%d: fuzzing: not so: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                         \
    }                                                                                       \
  } while (false)

namespace clcook::fuzz {

inline std::string_view view(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Takes a number from the beginning of the input; what is missing is 0.
template <class T>
T take(std::string_view& in) {
  T value{};
  const std::size_t count = std::min(in.size(), sizeof value);
  std::memcpy(&value, in.data(), count);
  in.remove_prefix(count);
  return value;
}

// A number that depends on the bytes of an input alone: which part of much work is done with it. All
// parts each time take a hundred times as long as reading, so that fewer inputs are tried.
inline std::uint32_t chance_of(std::string_view in) {
  std::uint32_t sum = 2166136261U;
  for (const char c : in) sum = (sum ^ static_cast<unsigned char>(c)) * 16777619U;
  return sum ^ sum >> 16;
}

// Makes the compiler compute a value that nobody needs.
inline void keep(unsigned value) {
  volatile unsigned sink = value;
  static_cast<void>(sink);
}

}  // namespace clcook::fuzz
