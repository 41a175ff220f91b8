#include "try/watch.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <thread>

#include <fmt/format.h>

#include <clcook/core/error.hpp>

namespace clcook::tool::described {

namespace {

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

int wait_for(pid_t child) {
  constexpr auto kPoll = std::chrono::milliseconds(20);
  for (;;) {
    int status = 0;
    const pid_t gone = waitpid(child, &status, WNOHANG);
    if (gone == child) {
      if (WIFEXITED(status)) return WEXITSTATUS(status);
      const int number = WTERMSIG(status);
      if (number == SIGINT || number == SIGTERM) {  // it was asked to end
        std::signal(number, SIG_DFL);
        std::raise(number);
      }
      if (watched->pending > 0) {
        fmt::print(stderr, "{} crashed: signal {}, {}\n", last_words(), number, strsignal(number));
      } else {
        fmt::print(stderr, "clcook: ended by signal {}, {}\n", number, strsignal(number));
      }
      return 1;
    }
    if (gone < 0 && errno != EINTR) return 2;
    if (watched->pending > 0 && now_ms() > watched->deadline) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      fmt::print(stderr, "{} did not end within its time_limit of {} s and was ended\n",
                 last_words(), watched->limit.load());
      return 1;
    }
    std::this_thread::sleep_for(kPoll);
  }
}

}  // namespace

int in_child(const std::function<int()>& command) {
  void* memory =
      mmap(nullptr, sizeof(Watched), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) fail(Errc::out_of_resources, "clcook", "no memory to share");
  watched = new (memory) Watched;
  std::fflush(nullptr);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) fail(Errc::out_of_resources, "clcook", "no child process can be made");
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(2);
    int code = 2;
    try {
      code = command();
    } catch (const std::exception& error) {
      fmt::print(stderr, "clcook: {}\n", error.what());
    }
    std::fflush(nullptr);
    _exit(code);
  }
  child_id = child;
  struct sigaction action {};
  action.sa_sigaction = pass_on;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  struct sigaction interrupt_before {};
  struct sigaction end_before {};
  sigaction(SIGINT, &action, &interrupt_before);
  sigaction(SIGTERM, &action, &end_before);
  const int code = wait_for(child);
  sigaction(SIGINT, &interrupt_before, nullptr);
  sigaction(SIGTERM, &end_before, nullptr);
  munmap(memory, sizeof(Watched));
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

}  // namespace clcook::tool::described
