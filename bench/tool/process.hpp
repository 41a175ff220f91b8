// Other programs, and parts of this one, in processes of their own.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace clcook::tool {

// The full path of a program that lies in PATH or in one of these folders; empty: it is in none.
std::string find_program(const std::string& name,
                         const std::vector<std::string>& more_folders = {});

// How a program ended and what it printed.
struct Finished {
  int code = -1;          // exit code; 128 + the signal's number; 127 when it could not be started
  int signal = 0;         // that ended it
  bool too_long = false;  // a limit ended it
  std::string out;
  std::string err;
};

struct RunOptions {
  // Beside those of this process; an empty value takes one away.
  std::vector<std::pair<std::string, std::string>> variables{};
  // Asked many times a second: from when it says so, the program is sent SIGTERM.
  std::function<bool()> stop{};
  unsigned seconds = 0;            // that it may take on the clock; 0: as long as it likes
  unsigned processor_seconds = 0;  // the same of processor time
  std::size_t most_text = std::string::npos;  // that is read of what it prints
};

// Runs a program to its end, without a shell and without open files of this process. What it began
// ends with it, and it ends with this process. Throws Error(out_of_resources) without a process.
Finished run_tool(const std::vector<std::string>& command, const RunOptions& options = {});

// Memory that this process and its children share; zeros.
class SharedMemory {
 public:
  // Throws Error(out_of_resources).
  SharedMemory(const std::string& who, std::size_t bytes);
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory();
  unsigned char* begin() const { return static_cast<unsigned char*>(memory_); }

 private:
  void* memory_;
  std::size_t bytes_;
};

// Runs `body` in a child process, which exits with what it returns, and ends with this process.
// Throws Error(out_of_resources).
pid_t begin_child(const std::string& who, const std::function<int()>& body);
// Waits for the end of a child and returns its status, as waitpid() has it. `end_it` is asked
// meanwhile: the number of a signal, which is sent, or 0; null: the child has all the time.
int wait_for(const std::string& who, pid_t child, const std::function<int()>& end_it);

// Runs `command` in a child process and returns its exit code: one that crashes or never ends takes
// nobody with it. A launch that does not end within its limit ends the child; so does a signal. SIGINT
// and SIGTERM are the child's to handle, and end this process as they end the child. Either is
// reported on standard error, with the place and the launch that was under way, and 1 is returned. An
// exception is reported too: 2. Call it before this process has begun any thread, such as those of an
// OpenCL implementation.
int in_child(const std::function<int()>& command);

// Tells the parent what is under way in the child: a launch, or a call, that may take `seconds`.
// `place` is FILE:LINE. Does nothing where there is no parent that watches. Any thread.
void began(const std::string& place, const std::string& what, double seconds);
// One of those that began has ended.
void ended();

}  // namespace clcook::tool
