// Command lines of `clcook`, a word per line. All of them are parsed. Of those that print something
// and do no work, help among them, one in 256 is run, since that takes a thousand times as long; their
// bytes alone decide which.
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "bench/tool/command.hpp"
#include "fuzz/fuzz.hpp"

namespace {

using namespace clcook;

// A command line parsed, before it does anything.
struct Parsed {};

// Whether a command line may be run: it does not parse, or asks for help, or prints what is known.
bool harmless(const std::vector<std::string>& words) {
  static CLI::App app{"clcook"};
  static int exit_code = 0;
  static const bool once = [] {
    tool::add_commands(app, exit_code);
    // Runs before those of the subcommands.
    app.parse_complete_callback([] { throw Parsed(); });
    return true;
  }();
  fuzz::keep(once);
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError&) {
    return true;
  } catch (const Parsed&) {
  }
  for (const CLI::App* one : app.get_subcommands()) {
    if (one->get_name() == "list") return true;
    if (one->get_name() == "occupancy") return one->count("--recipe") == 0;
  }
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view in = fuzz::view(data, size);
  std::vector<std::string> words;
  for (std::size_t at = 0; at < in.size();) {
    const std::size_t end = std::min(in.find('\n', at), in.size());
    // As main() gets them.
    const std::string_view word = in.substr(at, end - at);
    words.emplace_back(word.substr(0, word.find('\0')));
    at = end + 1;
  }
  if (!harmless(words)) return 0;
  if (fuzz::chance_of(in) % 256 != 0) return 0;
  std::vector<const char*> arguments{"clcook"};
  for (const std::string& word : words) arguments.push_back(word.c_str());
  arguments.push_back(nullptr);
  const int code = tool::run_command(static_cast<int>(arguments.size()) - 1, arguments.data());
  CLCOOK_FUZZ_CHECK(code == 0 || code == 2);
  return 0;
}
