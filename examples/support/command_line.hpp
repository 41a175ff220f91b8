// The command line of an example.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace clcook::example {

// What the values of an option must be.
struct Rule {
  double least = std::numeric_limits<double>::lowest();
  double most = std::numeric_limits<double>::max();
  std::vector<std::string> words;  // one of these, where there are any
  int fewest = 0;                  // of a vector: how many at least
  int count = 0;                   // and at most; 0: any number
};
inline Rule between(double least, double most) {
  Rule out;
  out.least = least;
  out.most = most;
  return out;
}
inline Rule one_of(std::vector<std::string> words) {
  Rule out;
  out.words = std::move(words);
  return out;
}
inline Rule values(int fewest, int count) {
  Rule out;
  out.fewest = fewest;
  out.count = count;
  return out;
}

// Compiled once for all examples: the package behind it takes longer than they do.
class CommandLine {
 public:
  explicit CommandLine(const std::string& description);
  ~CommandLine();

  // An option, or without dashes the next argument. --help shows the value that it has, unless that
  // is empty or 0. Values are text, int, unsigned, std::size_t, double, and vectors of text, int,
  // float and double. An option of several numbers takes the numbers that follow it, no more than
  // it may have, or one word such as "3,4" or "3x4"; so does one of several texts, for which `rule`
  // has the words. What follows is an argument of its own.
  template <class Value>
  CommandLine& add(const std::string& name, Value& value, const std::string& help,
                   const Rule& rule = {});
  // An option without a value; "!--no-x" makes `value` false.
  CommandLine& flag(const std::string& name, bool& value, const std::string& help);

  // Options that many have. `of` says what is timed, or what the variant does.
  CommandLine& picture_files(std::vector<std::string>& files);
  CommandLine& device(std::string& device);
  CommandLine& rounds(int& rounds, const std::string& of = "");
  CommandLine& variant(std::string& variant, const std::string& of);

  // Reads the command line, then runs the program. Returns its exit code; 2 for an error, which is
  // printed behind the program's name.
  int run(int argc, char** argv, const std::function<void()>& program);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace clcook::example
