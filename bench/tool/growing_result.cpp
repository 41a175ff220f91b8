#include "tool/growing_result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <utility>

#include "tool/command.hpp"

namespace clcook::tool {
namespace {

// Whether two results are of the same commit, device, seed and so on. What PoCL reads off the
// machine at each start, its clock and its memory, may be another each time.
bool is_same(Json a, Json b) {
  for (Json* one : {&a, &b}) {
    if (!one->is_object()) continue;
    one->erase("clock_mhz");
    one->erase("global_mem");
  }
  return a == b;
}

}  // namespace

GrowingResult::GrowingResult(std::string out, std::string resume, Json head, std::string key,
                             std::function<Json()> list)
    : path_(resume.empty() ? std::move(out) : resume),
      head_(std::move(head)),
      key_(std::move(key)),
      list_(std::move(list)) {
  std::error_code error;
  if (resume.empty() || !std::filesystem::exists(resume, error)) return;
  Json json = read_result(resume, head_["kind"].get<std::string>());
  for (const auto& [name, value] : head_.items()) {
    if (name == "date" || name == "command" || (json.contains(name) && is_same(json[name], value)))
      continue;
    const std::string kept = resume + ".old";
    std::filesystem::copy_file(resume, kept, std::filesystem::copy_options::overwrite_existing);
    fmt::print(stderr, "clcook: {} was made with another {} and is kept as {}; begun anew\n",
               resume, name, kept);
    return;
  }
  earlier_ = std::move(json);
}

GrowingResult::~GrowingResult() {
  if (finished_ || !begun_ || !is_file()) return;
  try {
    write_file(path_, text(Json::object()));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "clcook: %s\n", error.what());
  }
}

std::string GrowingResult::text(const Json& more) const {
  Json result = head_;
  result[key_] = list_();
  result.update(more);
  return dump_result(result);
}

void GrowingResult::keep() {
  begun_ = true;
  const Clock::time_point begin = Clock::now();
  if (!is_file() || begin < next_) return;
  write_file(path_, text(Json::object()));
  const Clock::time_point end = Clock::now();
  next_ = end + std::max<Clock::duration>(std::chrono::seconds(1), 20 * (end - begin));
}

void GrowingResult::finish(const Json& more) {
  finished_ = true;
  if (!path_.empty()) deliver(is_file() ? path_ : "", text(more));
}

std::string GrowingResult::kept(const std::string& what) const {
  if (!is_file())
    return fmt::format("clcook: ended early after {}; --resume FILE keeps them\n", what);
  return fmt::format("clcook: ended early; {} are in {}, --resume {} goes on\n", what, path_,
                     path_);
}

void add_result_options(CLI::App& command, std::string& out, std::string& resume) {
  CLI::Option* to = command.add_option(
      "--out", out, "Write the result as JSON to this file, '-' for standard output");
  command
      .add_option("--resume", resume,
                  "Continue this result of an earlier run that was ended early, and write to it; "
                  "it need not be there yet")
      ->excludes(to);
}

}  // namespace clcook::tool
