// A program in a process of its own, with limits on what it may use.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace clcook::tool::course {

struct Limits {
  unsigned processor_seconds = 12;
  unsigned seconds = 60;  // on the clock
};

struct Ended {
  int code = -1;          // exit code
  int signal = 0;         // or the signal that ended it
  bool too_long = false;  // a limit ended it
  std::string out;        // the first bytes of what it printed
  std::string err;
};

// Runs a program to its end, without a shell, with these variables beside those of this process; an
// empty value takes one away.
// What it began is ended with it. Throws Error(io) when it cannot be started.
Ended run_limited(const std::vector<std::string>& command,
                  const std::vector<std::pair<std::string, std::string>>& variables,
                  const Limits& limits);

}  // namespace clcook::tool::course
