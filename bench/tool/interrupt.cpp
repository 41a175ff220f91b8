#include "tool/interrupt.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <string>

namespace clcook::tool {

namespace {

constexpr std::array kSignals{SIGINT, SIGTERM};

// For the handler, which may call only what is safe in a signal.
std::atomic<bool> is_asked{false};
static_assert(std::atomic<bool>::is_always_lock_free);
int told_at = -1;
std::string warning;
std::array<struct sigaction, kSignals.size()> actions_before;

void on_end_signal(int) {
  for (std::size_t i = 0; i < kSignals.size(); ++i)
    sigaction(kSignals[i], &actions_before[i], nullptr);
  is_asked = true;
  if (write(told_at, warning.data(), warning.size()) < 0) return;  // nobody to tell
}

}  // namespace

Interrupt::Interrupt(const char* now) {
  is_asked = false;
  told_at = dup(STDERR_FILENO);
  warning = std::string("\nclcook: finishing ") + now + "; once more ends at once\n";
  struct sigaction action {};
  action.sa_handler = on_end_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const int number : kSignals) sigaddset(&action.sa_mask, number);
  for (std::size_t i = 0; i < kSignals.size(); ++i)
    sigaction(kSignals[i], &action, &actions_before[i]);
}

Interrupt::~Interrupt() {
  for (std::size_t i = 0; i < kSignals.size(); ++i)
    sigaction(kSignals[i], &actions_before[i], nullptr);
  close(told_at);
}

bool Interrupt::asked() { return is_asked; }

}  // namespace clcook::tool
