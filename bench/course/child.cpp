#include "course/child.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

#include <clcook/core/error.hpp>

#include "tool/scratch_folder.hpp"

extern char** environ;

namespace clcook::tool::course {

namespace {

std::string beginning_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string out(64 << 10, '\0');
  in.read(out.data(), static_cast<std::streamsize>(out.size()));
  out.resize(static_cast<std::size_t>(in.gcount()));
  return out;
}

void limit(int what, rlim_t value) {
  rlimit now{};
  if (getrlimit(what, &now) != 0) return;
  now.rlim_cur = now.rlim_max == RLIM_INFINITY || value < now.rlim_max ? value : now.rlim_max;
  now.rlim_max = now.rlim_cur;
  setrlimit(what, &now);
}

}  // namespace

Ended run_limited(const std::vector<std::string>& command,
                  const std::vector<std::pair<std::string, std::string>>& variables,
                  const Limits& limits) {
  const ScratchFolder folder("course");
  const std::string out = folder / "out";
  const std::string err = folder / "err";
  // All that allocates happens before the fork.
  std::vector<char*> arguments;
  for (const std::string& one : command) arguments.push_back(const_cast<char*>(one.c_str()));
  arguments.push_back(nullptr);
  std::vector<std::string> settings;
  for (const auto& [name, value] : variables) {
    if (!value.empty()) settings.push_back(name + "=" + value);
  }
  std::vector<char*> environment;
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string name = std::string(*one).substr(0, std::string(*one).find('='));
    bool replaced = false;
    for (const auto& [other, value] : variables) replaced = replaced || other == name;
    if (!replaced) environment.push_back(*one);
  }
  for (std::string& one : settings) environment.push_back(one.data());
  environment.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) fail(Errc::io, "run " + command[0], std::strerror(errno));
  if (child == 0) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
    limit(RLIMIT_CPU, limits.processor_seconds);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, rlim_t{1} << 28);
    const int in = open("/dev/null", O_RDONLY);
    const int to = open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const int errors = open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (dup2(in, 0) < 0 || dup2(to, 1) < 0 || dup2(errors, 2) < 0) _exit(127);
    execve(arguments[0], arguments.data(), environment.data());
    _exit(127);
  }
  setpgid(child, child);
  const auto begin = std::chrono::steady_clock::now();
  Ended ended;
  int status = 0;
  for (;;) {
    const pid_t gone = waitpid(child, &status, WNOHANG);
    if (gone == child) break;
    if (gone < 0 && errno != EINTR) fail(Errc::io, "run " + command[0], std::strerror(errno));
    if (std::chrono::steady_clock::now() - begin > std::chrono::seconds(limits.seconds)) {
      kill(-child, SIGKILL);
      waitpid(child, &status, 0);
      ended.too_long = true;
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  kill(-child, SIGKILL);  // what it left behind
  if (WIFEXITED(status)) ended.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) ended.signal = WTERMSIG(status);
  if (ended.signal == SIGXCPU) ended.too_long = true;
  // The hard limit of processor time ends with SIGKILL, which nobody else here sends.
  if (ended.signal == SIGKILL) ended.too_long = true;
  ended.out = beginning_of(out);
  ended.err = beginning_of(err);
  return ended;
}

}  // namespace clcook::tool::course
