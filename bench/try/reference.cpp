#include "try/reference.hpp"

#include <dlfcn.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>

#include <clcook/core/error.hpp>

#include "tool/process.hpp"

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

int child(const Description& about, Head* head, void* const* arguments, const std::size_t* bytes,
          const std::string& path) {
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
    return 0;
  }
  using Function = int (*)(void* const*, const std::size_t*);
  const auto function = reinterpret_cast<Function>(dlsym(library, about.compare.function.c_str()));
  if (function == nullptr) {
    say(dlerror());
    head->answer = kNoFunction;
    return 0;
  }
  head->returned = function(arguments, bytes);
  head->answer = kReturned;
  return 0;
}

}  // namespace

std::vector<Bytes> call_reference(const Description& about, std::vector<Bytes> contents) {
  const auto rounded = [](std::size_t bytes) { return (bytes + kBand - 1) / kBand * kBand; };
  std::size_t total = rounded(sizeof(Head)) + kBand;
  for (const Bytes& one : contents) total += rounded(one.size()) + kBand;
  const SharedMemory shared("reference", total);
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
  const pid_t pid =
      begin_child(place, [&] { return child(about, head, arguments.data(), bytes.data(), path); });
  const auto begin = std::chrono::steady_clock::now();
  bool too_long = false;
  const int status = wait_for(place, pid, [&] {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    too_long = spent.count() > about.time_limit;
    return too_long ? SIGKILL : 0;
  });
  if (too_long)
    wrong(place, text(name, " did not return within the time_limit of ", about.time_limit, " s"));
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
