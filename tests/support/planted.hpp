// Texts with a bug planted in them: blocks of "key value" lines that say what to replace with what, as
// tests/planted/line_blur.txt explains them.
#pragma once

#include <algorithm>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace clcook::testing {

// One change of one file. What else its block says is up to the reader: `more`, in order.
struct PlantedBug {
  std::string name;
  std::string file;
  std::string after;
  std::size_t times = 1;
  std::string replace;
  std::string with;
  std::vector<std::pair<std::string, std::string>> more;
};

// The blocks of a text, "bug NAME" to "end"; `known` are the keys that `more` may hold. Throws
// std::runtime_error that names `source` and the line.
inline std::vector<PlantedBug> read_planted(const std::string& source, const std::string& content,
                                            const std::set<std::string>& known) {
  std::vector<PlantedBug> out;
  std::istringstream lines(content);
  PlantedBug bug;
  bool open = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::size_t blank = line.find(' ');
    const std::string key = line.substr(0, blank);
    const std::string value = blank == std::string::npos ? "" : line.substr(blank + 1);
    const auto bad = [&](const char* what) {
      throw std::runtime_error(source + ": " + what + " in '" + line + "'");
    };
    if ((key == "bug") == open) bad("'bug' and 'end' do not alternate");
    if (key == "bug") {
      bug = PlantedBug();
      bug.name = value;
      open = true;
    } else if (key == "file") {
      bug.file = value;
    } else if (key == "after") {
      bug.after = value;
    } else if (key == "times") {
      bug.times = std::stoul(value);
    } else if (key == "replace") {
      bug.replace = value;
    } else if (key == "with") {
      bug.with = value;
    } else if (key == "end") {
      if (bug.replace.empty()) bad("an incomplete bug");
      out.push_back(bug);
      open = false;
    } else if (known.count(key) != 0) {
      bug.more.emplace_back(key, value);
    } else {
      bad("an unknown key");
    }
  }
  if (open) throw std::runtime_error(source + ": 'end' is missing");
  return out;
}

// The places of `part` in `text`, begin and end, where blanks and line ends do not count.
inline std::vector<std::pair<std::size_t, std::size_t>> find_loosely(const std::string& text,
                                                                     const std::string& part) {
  const auto squeeze = [](const std::string& in, std::vector<std::size_t>* places) {
    std::string out;
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (in[i] == ' ' || in[i] == '\n' || in[i] == '\t') continue;
      out += in[i];
      if (places != nullptr) places->push_back(i);
    }
    return out;
  };
  std::vector<std::size_t> places;
  const std::string in = squeeze(text, &places);
  const std::string wanted = squeeze(part, nullptr);
  std::vector<std::pair<std::size_t, std::size_t>> out;
  for (std::size_t at = in.find(wanted); at != std::string::npos;
       at = in.find(wanted, at + wanted.size())) {
    out.emplace_back(places[at], places[at + wanted.size() - 1] + 1);
  }
  return out;
}

// Makes the change. Throws when the text to replace is not there exactly as often as stated.
inline std::string plant(const std::string& text, const PlantedBug& bug) {
  std::size_t begin = 0;
  std::size_t end = text.size();
  if (!bug.after.empty()) {
    const auto marks = find_loosely(text, bug.after);
    if (marks.empty()) throw std::runtime_error(bug.name + ": there is no '" + bug.after + "'");
    begin = marks.front().first;
    end = std::min(end, text.find("__kernel", marks.front().second));
  }
  std::string section = text.substr(begin, end - begin);
  const auto places = find_loosely(section, bug.replace);
  if (places.size() != bug.times) {
    throw std::runtime_error(bug.name + ": '" + bug.replace + "' is there " +
                             std::to_string(places.size()) + " times, not " +
                             std::to_string(bug.times));
  }
  for (auto place = places.rbegin(); place != places.rend(); ++place) {
    section.replace(place->first, place->second - place->first, bug.with);
  }
  return text.substr(0, begin) + section + text.substr(end);
}

}  // namespace clcook::testing
