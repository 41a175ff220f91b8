// A kernel file carried inside the program: the form that the build writes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace clcook::embedded {

// The text is the concatenation of the chunks; compilers limit the length of one literal.
struct File {
  std::string_view name;
  const std::string_view* chunks;
  std::size_t count;

  std::string text() const {
    std::string out;
    for (std::size_t i = 0; i < count; ++i) out += chunks[i];
    return out;
  }

  // Whether this is its text.
  bool is(std::string_view other) const {
    for (std::size_t i = 0; i < count; ++i) {
      if (other.substr(0, chunks[i].size()) != chunks[i]) return false;
      other.remove_prefix(chunks[i].size());
    }
    return other.empty();
  }
};

}  // namespace clcook::embedded
