#include "course/grade.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <future>
#include <random>
#include <sstream>

#include <clcook/core/error.hpp>
#include <clcook/core/source.hpp>

#include "course/learner.hpp"
#include "course/parts.hpp"
#include "isa/tools.hpp"
#include "results.hpp"
#include "tool/process.hpp"
#include "tool/scratch_folder.hpp"

namespace clcook::tool::course {

namespace {

constexpr std::size_t kMostBytes = 256 << 10;

std::string new_nonce() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}", random(), random(), random());
}

// What a part found.
struct Found {
  Finished ended;
  std::string at, wrong, unbuilt, unavailable, done;
  bool is_done = false;
  Json figures;
};

Found read_report(const std::string& path, const std::string& nonce) {
  Found out;
  std::ifstream in(path, std::ios::binary);
  for (std::string line; std::getline(in, line);) {
    const Json one = Json::parse(line, nullptr, false);
    if (!one.is_object() || one.value("nonce", Json()) != Json(nonce)) continue;
    const auto take = [&](const char* key, std::string& to) {
      if (one.contains(key) && one[key].is_string()) to = one[key].get<std::string>();
    };
    take("at", out.at);
    take("wrong", out.wrong);
    take("unbuilt", out.unbuilt);
    take("unavailable", out.unavailable);
    take("done", out.done);
    out.is_done = out.is_done || one.contains("done");
    if (one.contains("figures")) out.figures = one["figures"];
  }
  return out;
}

RunOptions limits(unsigned processor_seconds, unsigned seconds) {
  RunOptions out;
  out.processor_seconds = processor_seconds;
  out.seconds = seconds;
  out.most_text = 64 << 10;
  return out;
}

Found run(const std::string& name, const std::string& file, const GradeOptions& options,
          const RunOptions& how, const std::vector<std::string>& before = {}) {
  const ScratchFolder folder("course");
  const std::string report = folder / "report";
  const std::string nonce = new_nonce();
  std::vector<std::string> command = before;
  for (const std::string& one :
       {options.program, std::string("course"), std::string("check"), file, std::string("--part"),
        name, std::string("--report"), report, std::string("--nonce"), nonce, std::string("--seed"),
        std::to_string(options.seed)})
    command.push_back(one);
  if (!options.device.empty() && name != "clean") {
    command.push_back("--device");
    command.push_back(options.device);
  }
  const Finished ended = run_tool(command, how);
  Found out = read_report(report, nonce);
  out.ended = ended;
  return out;
}

// Why a part gave no result; empty: it gave one.
std::string accident(const Found& found) {
  const std::string where = found.at.empty() ? "" : " with " + found.at;
  if (found.ended.too_long)
    return "it does not end" + where + ": it was stopped after its share of processor time";
  if (found.ended.signal != 0)
    return fmt::format("it crashed{}: signal {}, {}; does it read or write out of bounds?", where,
                       found.ended.signal, strsignal(found.ended.signal));
  if (!found.wrong.empty()) return found.wrong;
  if (!found.unbuilt.empty()) return "it does not compile: " + found.unbuilt;
  if (!found.is_done && found.unavailable.empty())
    return fmt::format("it ended{} with code {} and no result", where, found.ended.code);
  return "";
}

Proof right(const std::string& file, const GradeOptions& options) {
  const Found found = run("right", file, options, limits(12, 60));
  Proof out;
  out.name = "right";
  out.state = Proof::State::fails;
  if (const std::string what = accident(found); !what.empty()) {
    out.lines.push_back(what);
  } else if (!found.unavailable.empty()) {
    out.lines.push_back(found.unavailable);
  } else if (!found.ended.out.empty()) {
    out.lines.push_back("it prints; results are read from memory, so take that out");
  } else {
    out.state = Proof::State::holds;
    out.lines.push_back(found.done);
  }
  return out;
}

// "line 12: x = y;"
std::string quoted(const std::string& text, std::size_t number) {
  std::istringstream lines(text);
  std::string line;
  for (std::size_t i = 0; i < number; ++i) std::getline(lines, line);
  return fmt::format("line {}: {}", number, trimmed(line));
}

// Oclgrind's first complaint, and the lines of the file that it names.
std::vector<std::string> complaint(const std::string& log, const std::string& text) {
  const auto known = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  std::vector<std::string> out;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    if (line[0] != '\t') {
      if (!out.empty()) break;
      // Where in memory says nothing to anyone.
      out.push_back("Oclgrind: " + line.substr(0, line.find(" address 0x")));
      continue;
    }
    const std::string mark = "\tAt line ";
    if (out.empty() || line.rfind(mark, 0) != 0) continue;
    const std::size_t number = std::strtoul(line.c_str() + mark.size(), nullptr, 10);
    if (number < 1 || number > known) continue;
    const std::string at = quoted(text, number);
    if (std::find(out.begin(), out.end(), at) == out.end()) out.push_back(at);
  }
  return out;
}

// `is_right`: whether the result is right outside of Oclgrind; if not, the grade does not say what is wrong in it.
Proof clean(const std::string& file, const GradeOptions& options, bool is_right) {
  Proof out;
  out.name = "clean";
  const std::string oclgrind = find_program("oclgrind");
  if (oclgrind.empty()) {
    out.lines.push_back(
        "Oclgrind, which looks for races and for accesses out of bounds, is not installed: this "
        "star cannot be had here");
    return out;
  }
  const ScratchFolder folder("course");
  std::string log;
  // Values that nobody wrote are looked for in a run of their own: Oclgrind takes what races left
  // for such.
  for (const char* what : {"--data-races", "--uninitialized"}) {
    const std::string path = folder / (what + 2);
    RunOptions how = limits(40, 120);
    how.variables = {{"CLCOOK_PLAIN_BUFFERS", "1"},
                     {"CLCOOK_GUARD_BANDS", "0"},
                     {"CLCOOK_CACHE", "0"},
                     {"CLCOOK_DEVICE", ""}};
    const Found found = run("clean", file, options, how,
                            {oclgrind, what, "--build-options", "-cl-opt-disable", "--log", path});
    std::ifstream in(path, std::ios::binary);
    log.assign(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    out.state = Proof::State::fails;
    if (log.find_first_not_of(" \n\t") != std::string::npos) {
      out.lines = complaint(log, read_text_file(file));
      return out;
    }
    if (const std::string what_happened = accident(found); !what_happened.empty()) {
      if (!is_right) out.state = Proof::State::unavailable;
      out.lines.push_back(is_right ? "in Oclgrind " + what_happened
                                   : "not judged before the result is right");
      return out;
    }
    if (!found.unavailable.empty()) {
      out.state = Proof::State::unavailable;
      out.lines.push_back(found.unavailable);
      return out;
    }
  }
  out.state = Proof::State::holds;
  out.lines.push_back("Oclgrind finds no race and no access out of bounds");
  return out;
}

std::string digits(double value) {
  return value >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

Weighed::Figure figure_in(const Json& figures, const char* whose, Figure figure) {
  const std::string key = std::to_string(static_cast<int>(figure));
  if (!figures.is_object() || !figures.contains(whose) || !figures[whose].contains(key))
    return {-1, 0};
  return {figures[whose][key].at(0).get<double>(), figures[whose][key].at(1).get<unsigned>()};
}

Proof shape(const Exercise& exercise, const std::string& file, const GradeOptions& options) {
  const Found found = run("shape", file, options, limits(60, 180));
  Proof out;
  out.name = "shape";
  out.state = Proof::State::fails;
  if (!found.unavailable.empty()) {
    out.state = Proof::State::unavailable;
    out.lines.push_back(found.unavailable + ": this star cannot be had here");
    return out;
  }
  if (const std::string what = accident(found); !what.empty()) {
    out.lines.push_back(what);
    return out;
  }
  out.state = Proof::State::holds;
  for (const Limit& limit : exercise.limits) {
    const auto [yours, line] = figure_in(found.figures, "yours", limit.figure);
    const double start = figure_in(found.figures, "start", limit.figure).value;
    const double recipe = figure_in(found.figures, "recipe", limit.figure).value;
    constexpr double kSlack = 1.02;
    const bool is_per_result = limit.figure == Figure::steps || limit.figure == Figure::memory;
    const double most =
        kSlack * (is_per_result ? limit.share * start : recipe + limit.share * (start - recipe));
    const bool holds = yours >= 0 && start >= 0 && recipe >= 0 && yours <= most;
    if (!holds) out.state = Proof::State::fails;
    // The recipe's text serves every case of the operation: its steps say nothing about this one.
    out.lines.push_back(
        fmt::format("{}{}: {}; the start has {}{}; {} {}{}", to_string(limit.figure),
                    is_per_result ? " per " + exercise.result : "", digits(yours), digits(start),
                    limit.figure == Figure::steps ? "" : ", the recipe " + digits(recipe),
                    !holds                   ? "at most"
                    : yours > kSlack * start ? "more, but within the limit,"
                                             : "good, the limit is",
                    digits(most), holds ? "" : " is asked for"));
    if (!holds && line > 0) out.lines.push_back("look at " + quoted(read_text_file(file), line));
  }
  return out;
}

Proof time(const std::string& file, const GradeOptions& options) {
  const Found found = run("time", file, options, limits(60, 120));
  Proof out;
  out.name = "time";
  if (!found.unavailable.empty()) {
    out.lines.push_back(found.unavailable + ": this star cannot be had here");
    return out;
  }
  out.state = Proof::State::fails;
  if (const std::string what = accident(found); !what.empty()) {
    out.lines.push_back(what);
    return out;
  }
  const double yours = found.figures.value("yours", 0.0);
  const double start = found.figures.value("start", 0.0);
  const double recipe = found.figures.value("recipe", 0.0);
  if (!(recipe < 0.95 * start)) {
    out.state = Proof::State::unavailable;
    out.lines.push_back(fmt::format(
        "on {} the recipe takes {:.1f} us and the start {:.1f} us: there is nothing to gain",
        found.done, 1e6 * recipe, 1e6 * start));
    return out;
  }
  const double most = std::max(1.1 * recipe, recipe + 0.4 * (start - recipe));
  if (yours > 0 && yours <= most) out.state = Proof::State::holds;
  out.lines.push_back(
      fmt::format("{:.1f} us on {}; the start takes {:.1f} us, the recipe {:.1f} us", 1e6 * yours,
                  found.done, 1e6 * start, 1e6 * recipe));
  return out;
}

}  // namespace

const Proof* Grade::find(const std::string& name) const {
  for (const Proof& one : proofs) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

bool Grade::solved() const {
  const auto holds = [&](const char* name) {
    const Proof* one = find(name);
    return one != nullptr && one->state == Proof::State::holds;
  };
  return holds("right") && holds("shape") &&
         std::none_of(proofs.begin(), proofs.end(),
                      [](const Proof& one) { return one.state == Proof::State::fails; });
}

Grade grade(const Exercise& exercise, const std::string& file, const GradeOptions& options) {
  Grade out;
  const std::string text = read_text_file(file);
  if (text.size() > kMostBytes) {
    out.refusal = fmt::format("it has {} bytes, more than {}", text.size(), kMostBytes);
  } else if (text.find('\0') != std::string::npos) {
    out.refusal = "it is no text: a byte in it is 0";
  } else {
    out.refusal = refusal(exercise, text);
  }
  if (out.refusal.empty()) {
    try {
      geometry_in(exercise, file, text);
    } catch (const Error& error) {
      out.refusal = error.what();
    }
  }
  if (!out.refusal.empty()) return out;
  // All parts see the same text, whatever happens to the file meanwhile.
  const ScratchFolder folder("course");
  const std::string copy = folder / std::filesystem::path(file).filename().string().c_str();
  std::ofstream(copy, std::ios::binary) << text;
  const auto wanted = [&](const char* name) {
    return options.proofs.empty() ||
           std::find(options.proofs.begin(), options.proofs.end(), name) != options.proofs.end();
  };
  bool is_right = true;
  if (wanted("right")) {
    out.proofs.push_back(right(copy, options));
    is_right = out.proofs.front().state == Proof::State::holds;
  }
  std::future<Proof> clean_of;
  if (wanted("clean"))
    clean_of = std::async(std::launch::async, [&] { return clean(copy, options, is_right); });
  Proof shape_of;
  const bool with_shape = is_right && wanted("shape");
  if (with_shape) shape_of = shape(exercise, copy, options);
  if (clean_of.valid()) out.proofs.push_back(clean_of.get());
  if (with_shape) out.proofs.push_back(shape_of);
  if (is_right && wanted("time")) out.proofs.push_back(time(copy, options));
  // As the learner knows it.
  for (Proof& proof : out.proofs) {
    for (std::string& line : proof.lines) {
      for (std::size_t at = line.find(copy); at != std::string::npos; at = line.find(copy))
        line.replace(at, copy.size(), file);
    }
  }
  return out;
}

}  // namespace clcook::tool::course
