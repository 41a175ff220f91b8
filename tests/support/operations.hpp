// The operations of the library, read from its headers: for tests that must miss none.
#pragma once

#include <cstddef>
#include <filesystem>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>

#include "clcook_places.hpp"
#include "support/testing.hpp"

namespace clcook::testing {

// The names that stand between two texts, in lines that begin as classes do, of the headers in a folder
// of lib/clcook and below.
inline std::set<std::string> classes_in_headers(const std::string& folder,
                                                const std::string& before,
                                                const std::string& after) {
  std::set<std::string> out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(
           std::filesystem::path(CLCOOK_SOURCE_DIR) / "lib/clcook" / folder)) {
    if (entry.path().extension() != ".hpp") continue;
    std::istringstream lines(read_bytes(entry.path()));
    for (std::string line; std::getline(lines, line);) {
      if (line.rfind("class ", 0) != 0) continue;
      const std::size_t begin = line.find(before);
      if (begin == std::string::npos) continue;
      const std::size_t end = line.find(after, begin + before.size());
      if (end == std::string::npos) continue;
      out.insert(line.substr(begin + before.size(), end - begin - before.size()));
    }
  }
  return out;
}

// The classes of plans of which no recipe's card makes cases.
inline std::set<std::string> operations_without_card() {
  std::set<std::string> out = classes_in_headers("", "class ", " : public Plan<");
  const std::set<std::string> of_cards = classes_in_headers("cookbook", ": public PlanCase<", ">");
  if (out.size() < of_cards.size() || of_cards.empty())
    throw std::runtime_error("the classes of plans do not look as they did");
  for (const std::string& name : of_cards) out.erase(name);
  return out;
}

}  // namespace clcook::testing
