#include "tool/process.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <new>
#include <thread>

#include <fmt/format.h>

#include <clcook/core/error.hpp>

#include "tool/scratch_folder.hpp"

extern char** environ;

namespace clcook::tool {

namespace {

using Clock = std::chrono::steady_clock;

std::string beginning_of(const std::string& path, std::size_t most) {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  if (error) return "";
  std::string out(static_cast<std::size_t>(std::min<std::uintmax_t>(bytes, most)), '\0');
  std::ifstream in(path, std::ios::binary);
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

// The variables of a child: those of this process, and these.
std::vector<std::string> environment_with(
    const std::vector<std::pair<std::string, std::string>>& variables) {
  std::vector<std::string> out;
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string setting = *one;
    const auto is_its = [&](const auto& other) {
      return other.first == setting.substr(0, setting.find('='));
    };
    if (std::none_of(variables.begin(), variables.end(), is_its)) out.push_back(setting);
  }
  for (const auto& [name, value] : variables) {
    if (!value.empty()) out.push_back(name + "=" + value);
  }
  return out;
}

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> out;
  for (const std::string& one : words) out.push_back(const_cast<char*>(one.c_str()));
  out.push_back(nullptr);
  return out;
}

// In memory that parent and child share.
struct Watched {
  std::atomic<int> pending{0};            // launches that have not ended
  std::atomic<std::int64_t> deadline{0};  // of the next that ends, in ms of the steady clock
  std::atomic<double> limit{0};           // seconds
  char what[512] = {};                    // of the newest
};
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

Watched* watched = nullptr;
volatile std::sig_atomic_t child_id = 0;  // for the handler

// The terminal's own Ctrl-C reaches the child too.
void pass_on(int number, siginfo_t* info, void*) {
  if (info->si_code == SI_USER) kill(child_id, number);
}

std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void restart() { watched->deadline = now_ms() + static_cast<std::int64_t>(watched->limit * 1000); }

std::string last_words() {
  const std::size_t length = strnlen(watched->what, sizeof watched->what);
  return std::string(watched->what, length);
}

// How the child of in_child() ended, said on standard error, as its exit code.
int code_of(int status, bool too_long) {
  if (too_long) {
    fmt::print(stderr, "{} did not end within its time_limit of {} s and was ended\n", last_words(),
               watched->limit.load());
    return 1;
  }
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  const int number = WTERMSIG(status);
  if (number == SIGINT || number == SIGTERM) {  // it was asked to end
    std::signal(number, SIG_DFL);
    std::raise(number);
  }
  const char* name = strsignal(number);
  if (watched->pending > 0) {
    fmt::print(stderr, "{} crashed: signal {}, {}\n", last_words(), number, name);
  } else {
    fmt::print(stderr, "clcook: ended by signal {}, {}\n", number, name);
  }
  return 1;
}

}  // namespace

std::string find_program(const std::string& name, const std::vector<std::string>& more_folders) {
  const auto runnable = [](const std::filesystem::path& path) {
    std::error_code error;
    return std::filesystem::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
  };
  if (name.find('/') != std::string::npos) return runnable(name) ? name : "";
  std::vector<std::string> folders;
  const char* variable = std::getenv("PATH");
  const std::string path = variable == nullptr ? "" : variable;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    folders.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  folders.insert(folders.end(), more_folders.begin(), more_folders.end());
  for (const std::string& folder : folders) {
    if (!folder.empty() && runnable(std::filesystem::path(folder) / name))
      return (std::filesystem::path(folder) / name).string();
  }
  return "";
}

SharedMemory::SharedMemory(const std::string& who, std::size_t bytes) : bytes_(bytes) {
  memory_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory_ == MAP_FAILED)
    fail(Errc::out_of_resources, who, text("no ", bytes, " bytes of memory"));
}

SharedMemory::~SharedMemory() { munmap(memory_, bytes_); }

pid_t begin_child(const std::string& who, const std::function<int()>& body) {
  const pid_t parent = getpid();
  // A signal that comes at once is not for a handler of ours.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t child = fork();
  if (child == 0) {
    for (const int number : {SIGINT, SIGTERM}) std::signal(number, SIG_DFL);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (child < 0) fail(Errc::out_of_resources, who, "no child process can be made");
  if (child > 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  _exit(getppid() == parent ? body() : 2);
}

int wait_for(const std::string& who, pid_t child, const std::function<int()>& end_it) {
  constexpr auto kPoll = std::chrono::milliseconds(5);
  bool waits = !end_it;
  for (int status = 0;;) {
    const pid_t gone = waitpid(child, &status, waits ? 0 : WNOHANG);
    if (gone == child) return status;
    if (gone < 0 && errno != EINTR) fail(Errc::io, who, "the child process was lost");
    if (waits) continue;
    if (const int number = end_it()) {
      kill(child, number);
      waits = true;
    } else {
      std::this_thread::sleep_for(kPoll);
    }
  }
}

Finished run_tool(const std::vector<std::string>& command, const RunOptions& options) {
  const ScratchFolder folder("run");
  const std::string out = folder / "out";
  const std::string err = folder / "err";
  // All that allocates happens before the fork.
  const std::vector<char*> arguments = pointers_to(command);
  const std::vector<std::string> settings = environment_with(options.variables);
  const std::vector<char*> environment = pointers_to(settings);
  const pid_t child = begin_child("run " + command[0], [&] {
    setpgid(0, 0);
    if (options.processor_seconds > 0) {
      limit(RLIMIT_CPU, options.processor_seconds);
      limit(RLIMIT_CORE, 0);
      limit(RLIMIT_FSIZE, rlim_t{1} << 28);
    }
    const int in = open("/dev/null", O_RDONLY);
    const int to = open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const int errors = open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (dup2(in, 0) < 0 || dup2(to, 1) < 0 || dup2(errors, 2) < 0) return 127;
    close_range(3, ~0U, 0);
    execve(arguments[0], arguments.data(), environment.data());
    dprintf(2, "cannot run %s: %s\n", arguments[0], std::strerror(errno));
    return 127;
  });
  setpgid(child, child);
  Finished finished;
  const Clock::time_point begin = Clock::now();
  const auto end_it = [&] {
    if (options.stop && options.stop()) return SIGTERM;
    const std::chrono::duration<double> spent = Clock::now() - begin;
    finished.too_long = options.seconds > 0 && spent.count() > options.seconds;
    return finished.too_long ? SIGKILL : 0;
  };
  const bool asks = options.stop || options.seconds > 0;
  const int status = wait_for("run " + command[0], child,
                              asks ? std::function<int()>(end_it) : std::function<int()>());
  kill(-child, SIGKILL);  // what it left behind
  if (WIFSIGNALED(status)) finished.signal = WTERMSIG(status);
  finished.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + finished.signal;
  // The hard limit of processor time ends with SIGKILL, which nobody else here sends.
  if (options.processor_seconds > 0 && (finished.signal == SIGXCPU || finished.signal == SIGKILL))
    finished.too_long = true;
  finished.out = beginning_of(out, options.most_text);
  finished.err = beginning_of(err, options.most_text);
  return finished;
}

int in_child(const std::function<int()>& command) {
  const SharedMemory memory("clcook", sizeof(Watched));
  watched = new (memory.begin()) Watched;
  std::fflush(nullptr);
  const pid_t child = begin_child("clcook", [&] {
    int code = 2;
    try {
      code = command();
    } catch (const std::exception& error) {
      fmt::print(stderr, "clcook: {}\n", error.what());
    }
    std::fflush(nullptr);
    return code;
  });
  child_id = child;
  struct sigaction action {};
  action.sa_sigaction = pass_on;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  struct sigaction interrupt_before {};
  struct sigaction end_before {};
  sigaction(SIGINT, &action, &interrupt_before);
  sigaction(SIGTERM, &action, &end_before);
  bool too_long = false;
  const int status = wait_for("clcook", child, [&] {
    too_long = watched->pending > 0 && now_ms() > watched->deadline;
    return too_long ? SIGKILL : 0;
  });
  const int code = code_of(status, too_long);
  sigaction(SIGINT, &interrupt_before, nullptr);
  sigaction(SIGTERM, &end_before, nullptr);
  watched = nullptr;
  return code;
}

void began(const std::string& place, const std::string& what, double seconds) {
  if (watched == nullptr) return;
  const std::string text = place + ": " + what;
  std::strncpy(watched->what, text.c_str(), sizeof watched->what - 1);
  watched->limit = seconds;
  restart();
  ++watched->pending;
}

void ended() {
  if (watched == nullptr) return;
  restart();
  --watched->pending;
}

}  // namespace clcook::tool
