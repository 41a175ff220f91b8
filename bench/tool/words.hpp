// Text of words with blanks between.
#pragma once

#include <sstream>
#include <string>
#include <vector>

namespace clcook::tool {

inline std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

}  // namespace clcook::tool
