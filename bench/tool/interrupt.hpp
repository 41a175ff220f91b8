// Ctrl-C that lets a long command finish what it is at and keep what it has.
#pragma once

namespace clcook::tool {

// Exit code of a command that was asked to end, as shells have it: 128 + SIGINT.
constexpr int kInterrupted = 130;

// While one exists, the first SIGINT or SIGTERM only asks for an end, and says so on the standard
// error of when it was made; the second one ends the process. At most one at a time. Not
// thread-safe, but for asked().
class Interrupt {
 public:
  // `now` is what the command finishes first: "this shape".
  explicit Interrupt(const char* now);
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  ~Interrupt();

  static bool asked();
};

}  // namespace clcook::tool
