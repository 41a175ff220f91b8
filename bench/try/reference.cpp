#include "try/reference.hpp"

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include <clcook/core/error.hpp>

namespace clcook::tool::described {

namespace {

// Memory that the child shares, with a band of a pattern before and behind each argument.
constexpr std::size_t kBand = 4096;
constexpr unsigned char kPattern = 0xB5;

enum Answer : int { kNothing, kNoLibrary, kNoFunction, kReturned };

struct Head {
  int answer;
  int returned;
  char what[1024];
};

class Shared {
 public:
  explicit Shared(std::size_t bytes) : bytes_(bytes) {
    memory_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED)
      fail(Errc::out_of_resources, "reference", text("no ", bytes, " bytes of memory"));
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  ~Shared() { munmap(memory_, bytes_); }
  unsigned char* begin() const { return static_cast<unsigned char*>(memory_); }

 private:
  void* memory_;
  std::size_t bytes_;
};

[[noreturn]] void child(const Description& about, Head* head, void* const* arguments,
                        const std::size_t* bytes, const std::string& path) {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGINT})
    signal(number, SIG_DFL);
  const auto say = [&](const char* what) {
    std::strncpy(head->what, what == nullptr ? "" : what, sizeof head->what - 1);
  };
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    say(dlerror());
    head->answer = kNoLibrary;
    _exit(0);
  }
  using Function = int (*)(void* const*, const std::size_t*);
  const auto function = reinterpret_cast<Function>(dlsym(library, about.compare.function.c_str()));
  if (function == nullptr) {
    say(dlerror());
    head->answer = kNoFunction;
    _exit(0);
  }
  head->returned = function(arguments, bytes);
  head->answer = kReturned;
  _exit(0);
}

}  // namespace

std::vector<Bytes> call_reference(const Description& about, std::vector<Bytes> contents) {
  const auto rounded = [](std::size_t bytes) { return (bytes + kBand - 1) / kBand * kBand; };
  std::size_t total = rounded(sizeof(Head)) + kBand;
  for (const Bytes& one : contents) total += rounded(one.size()) + kBand;
  const Shared shared(total);
  auto* head = reinterpret_cast<Head*>(shared.begin());
  unsigned char* next = shared.begin() + rounded(sizeof(Head));
  std::memset(next, kPattern, total - rounded(sizeof(Head)));
  std::vector<void*> arguments;
  std::vector<std::size_t> bytes;
  for (const Bytes& one : contents) {
    next += kBand;
    std::copy(one.begin(), one.end(), next);
    arguments.push_back(one.empty() ? nullptr : next);
    bytes.push_back(one.size());
    next += rounded(one.size());
  }

  const std::string& place = about.compare.library.place;
  const std::string name = "the reference " + about.compare.function + "()";
  const std::string path = about.path(about.compare.library);
  const pid_t pid = fork();
  if (pid < 0) fail(Errc::out_of_resources, place, "no child process can be made");
  if (pid == 0) child(about, head, arguments.data(), bytes.data(), path);
  const auto begin = std::chrono::steady_clock::now();
  int status = 0;
  for (;;) {
    const pid_t gone = waitpid(pid, &status, WNOHANG);
    if (gone == pid) break;
    if (gone < 0 && errno != EINTR) fail(Errc::io, place, "the child process was lost");
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    if (spent.count() > about.time_limit) {
      kill(pid, SIGKILL);
      waitpid(pid, &status, 0);
      wrong(place, text(name, " did not return within the time_limit of ", about.time_limit, " s"));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (WIFSIGNALED(status))
    wrong(place,
          text(name, " crashed: signal ", WTERMSIG(status), ", ", strsignal(WTERMSIG(status))));
  head->what[sizeof head->what - 1] = '\0';
  if (head->answer == kNoLibrary)
    wrong(place, std::string("cannot load the library: ") + head->what);
  if (head->answer == kNoFunction) wrong(place, std::string("no function: ") + head->what);
  if (head->answer != kReturned) wrong(place, name + " ended its process");
  if (head->returned != 0) wrong(place, text(name, " returned ", head->returned, ", not 0"));

  next = shared.begin() + rounded(sizeof(Head));
  const auto check_band = [&](const unsigned char* from, const unsigned char* to) {
    if (std::any_of(from, to, [](unsigned char c) { return c != kPattern; }))
      wrong(place, name + " wrote outside its arguments");
  };
  for (Bytes& one : contents) {
    check_band(next, next + kBand);
    next += kBand;
    std::copy(next, next + one.size(), one.begin());
    check_band(next + one.size(), next + rounded(one.size()));
    next += rounded(one.size());
  }
  check_band(next, next + kBand);
  return contents;
}

}  // namespace clcook::tool::described
