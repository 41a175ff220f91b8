#include "support/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <limits>
#include <map>
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

// What an option of several values takes: so many, of these words, or without any numbers.
struct Several {
  std::size_t fewest = 1;
  std::size_t most = std::numeric_limits<std::size_t>::max();
  std::vector<std::string> words;
};

namespace {

// The parts of a word: "3,4" has two, and so has "3x4" where they are numbers.
std::vector<std::string> parts_of(const std::string& word, const Several& option) {
  std::vector<std::string> out{""};
  for (const char c : word) {
    if (c == ',' || (c == 'x' && option.words.empty())) {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  return out;
}

bool is_value(const std::string& part, const Several& option) {
  if (!option.words.empty())
    return std::find(option.words.begin(), option.words.end(), part) != option.words.end();
  if (part.empty() || part.find_first_not_of("0123456789+-.eE") != std::string::npos) return false;
  char* end = nullptr;
  std::strtod(part.c_str(), &end);
  return *end == '\0';
}

// The values in a word; none where it has another part.
std::vector<std::string> values_of(const std::string& word, const Several& option) {
  std::vector<std::string> out = parts_of(word, option);
  const auto is_other = [&](const std::string& part) { return !is_value(part, option); };
  if (std::any_of(out.begin(), out.end(), is_other)) out.clear();
  return out;
}

// The command line with the values that follow an option of several joined to one word with it:
// CLI11 would take the files behind them too.
std::vector<std::string> joined(const std::vector<std::string>& words,
                                const std::map<std::string, Several>& options) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    out.push_back(words[i]);
    const std::size_t equals = std::min(words[i].find('='), words[i].size());
    const auto found = options.find(words[i].substr(0, equals));
    if (found == options.end()) continue;
    const Several& option = found->second;
    std::vector<std::string> values;
    std::string given;
    if (equals < words[i].size()) {
      given = words[i].substr(equals + 1);
      values = values_of(given, option);
    } else if (i + 1 < words.size()) {
      given = words[i + 1];
      while (i + 1 < words.size()) {
        const std::vector<std::string> more = values_of(words[i + 1], option);
        // "3,4" is all of them.
        const bool fits = values.empty() || (more.size() == 1 && values.size() < option.most);
        if (more.empty() || !fits) break;
        values.insert(values.end(), more.begin(), more.end());
        ++i;
        if (more.size() > 1) break;
      }
    }
    if (values.empty() && !given.empty())
      throw CLI::ValidationError(
          found->first,
          fmt::format(
              "takes {}, not '{}'",
              option.words.empty() ? "numbers" : fmt::format("{}", fmt::join(option.words, ", ")),
              given));
    if (!values.empty()) out.back() = fmt::format("{}={}", found->first, fmt::join(values, ","));
  }
  return out;
}

void check_count(const CLI::App& app, const std::string& name, const Several& option) {
  const std::size_t count = app.get_option(name)->results().size();
  if (count > option.most)
    throw CLI::ArgumentMismatch::AtMost(name, static_cast<int>(option.most), count);
  if (count > 0 && count < option.fewest)
    throw CLI::ArgumentMismatch::AtLeast(name, static_cast<int>(option.fewest), count);
}

}  // namespace

struct CommandLine::State {
  CLI::App app;
  std::map<std::string, Several> several;
};

CommandLine::CommandLine(const std::string& description)
    : state_(new State{CLI::App(description), {}}) {}
CommandLine::~CommandLine() = default;

template <class Value>
CommandLine& CommandLine::add(const std::string& name, Value& value, const std::string& help,
                              const Rule& rule) {
  CLI::Option* option = state_->app.add_option(name, value, help);
  // Where an option expects two values, CLI11 takes the file behind one.
  const bool is_option = name.front() == '-';
  if (rule.count != 0 && !is_option) option->expected(rule.fewest, rule.count);
  if constexpr (!std::is_same_v<typename ElementOf<Value>::type, Value>) {
    if (is_option) {
      option->delimiter(',')->allow_extra_args(false);
      Several& several = state_->several[name];
      several.words = rule.words;
      if (rule.count != 0) {
        several.fewest = static_cast<std::size_t>(rule.fewest);
        several.most = static_cast<std::size_t>(rule.count);
      }
    }
  }
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
  state_->app.name(argv[0]);
  try {
    std::vector<std::string> words =
        joined(std::vector<std::string>(argv + 1, argv + argc), state_->several);
    std::reverse(words.begin(), words.end());  // as CLI11 takes them
    state_->app.parse(words);
    for (const auto& [name, several] : state_->several) check_count(state_->app, name, several);
  } catch (const CLI::ParseError& error) {
    return state_->app.exit(error);
  }
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
