#include "support/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <type_traits>

namespace clcook::example {

namespace {

template <class Value>
struct ElementOf {
  using type = Value;
};
template <class Value>
struct ElementOf<std::vector<Value>> {
  using type = Value;
};

// In the words of the option's type.
template <class Value>
CLI::Range range_of(const Rule& rule) {
  if constexpr (std::is_integral_v<typename ElementOf<Value>::type>) {
    return CLI::Range(static_cast<std::int64_t>(rule.least), static_cast<std::int64_t>(rule.most));
  } else {
    return CLI::Range(rule.least, rule.most);
  }
}

}  // namespace

struct CommandLine::State {
  CLI::App app;
};

CommandLine::CommandLine(const std::string& description)
    : state_(new State{CLI::App(description)}) {}
CommandLine::~CommandLine() = default;

template <class Value>
CommandLine& CommandLine::add(const std::string& name, Value& value, const std::string& help,
                              const Rule& rule) {
  CLI::Option* option = state_->app.add_option(name, value, help);
  if (rule.count != 0) option->expected(rule.fewest, rule.count);
  if (rule.delimiter != 0) option->delimiter(rule.delimiter);
  if (rule.most != Rule().most) option->check(range_of<Value>(rule));
  if (!rule.words.empty()) option->check(CLI::IsMember(rule.words));
  bool shown = false;
  if constexpr (std::is_arithmetic_v<Value>) {
    shown = value != 0;
  } else {
    shown = !value.empty();
  }
  if (shown) option->capture_default_str();
  return *this;
}

template CommandLine& CommandLine::add(const std::string&, std::string&, const std::string&,
                                       const Rule&);
template CommandLine& CommandLine::add(const std::string&, int&, const std::string&, const Rule&);
template CommandLine& CommandLine::add(const std::string&, unsigned&, const std::string&,
                                       const Rule&);
template CommandLine& CommandLine::add(const std::string&, std::size_t&, const std::string&,
                                       const Rule&);
template CommandLine& CommandLine::add(const std::string&, double&, const std::string&,
                                       const Rule&);
template CommandLine& CommandLine::add(const std::string&, std::vector<std::string>&,
                                       const std::string&, const Rule&);
template CommandLine& CommandLine::add(const std::string&, std::vector<int>&, const std::string&,
                                       const Rule&);
template CommandLine& CommandLine::add(const std::string&, std::vector<float>&, const std::string&,
                                       const Rule&);
template CommandLine& CommandLine::add(const std::string&, std::vector<double>&, const std::string&,
                                       const Rule&);

CommandLine& CommandLine::flag(const std::string& name, bool& value, const std::string& help) {
  state_->app.add_flag(name, value, help);
  return *this;
}

CommandLine& CommandLine::picture_files(std::vector<std::string>& files) {
  return add(
      "FILES", files,
      "Input (PNG, JPEG, 'scene' or 'scene:WIDTHxHEIGHT') and output (PNG, JPEG); both or none",
      values(0, 2));
}

CommandLine& CommandLine::device(std::string& device) {
  return add("--device", device, "Device specification; default CLCOOK_DEVICE, else any");
}

CommandLine& CommandLine::rounds(int& rounds, const std::string& of) {
  return add("--rounds", rounds, "Timed rounds" + of + "; the median is printed", between(1, 1000));
}

CommandLine& CommandLine::variant(std::string& variant, const std::string& of) {
  return add("--variant", variant, "The variant that " + of);
}

int CommandLine::run(int argc, char** argv, const std::function<void()>& program) {
  CLI11_PARSE(state_->app, argc, argv);
  try {
    program();
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", std::filesystem::path(argv[0]).filename().string(),
               error.what());
    return 2;
  }
}

}  // namespace clcook::example
