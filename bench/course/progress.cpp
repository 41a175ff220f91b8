#include "course/progress.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <clcook/core/error.hpp>
#include <clcook/io/whole_file.hpp>

#include "results.hpp"

namespace clcook::tool::course {

Progress::Progress(std::string path) : path_(std::move(path)) {
  std::ifstream in(path_, std::ios::binary);
  if (path_.empty() || !in) return;
  const std::string content((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const Json all = Json::parse(content, nullptr, false);
  if (!all.is_object() || all.value("format", Json()) != Json(1) || !all.contains("exercises") ||
      !all["exercises"].is_object()) {
    damaged_ = true;
    return;
  }
  for (const auto& [name, one] : all["exercises"].items()) {
    if (!one.is_object() || !one.contains("stars") || !one["stars"].is_string() ||
        !one.contains("solved") || !one["solved"].is_boolean()) {
      damaged_ = true;
      continue;
    }
    done_[name] = {one["stars"].get<std::string>(), one["solved"].get<bool>()};
  }
}

std::string Progress::standard_path() {
  namespace fs = std::filesystem;
  const char* data = std::getenv("XDG_DATA_HOME");
  const char* home = std::getenv("HOME");
  if (data != nullptr && data[0] == '/') return fs::path(data) / "clcook" / "course.json";
  if (home != nullptr && home[0] != '\0')
    return fs::path(home) / ".local" / "share" / "clcook" / "course.json";
  return "";
}

const Done* Progress::find(const std::string& exercise) const {
  const auto found = done_.find(exercise);
  return found == done_.end() ? nullptr : &found->second;
}

void Progress::keep(const std::string& exercise, const Done& done) {
  Done& known = done_[exercise];
  const auto stars = [](const Done& one) {
    return std::count(one.stars.begin(), one.stars.end(), ' ') + (one.stars.empty() ? 0 : 1);
  };
  if ((done.solved && !known.solved) || (done.solved == known.solved && stars(done) > stars(known)))
    known = done;
  if (path_.empty()) return;
  namespace fs = std::filesystem;
  std::error_code error;
  fs::create_directories(fs::path(path_).parent_path(), error);
  if (damaged_) fs::rename(path_, path_ + ".damaged", error);
  damaged_ = false;
  Json all = {{"format", 1}, {"exercises", Json::object()}};
  for (const auto& [name, one] : done_)
    all["exercises"][name] = {{"stars", one.stars}, {"solved", one.solved}};
  io::write_file(path_, all.dump(1) + "\n");
}

}  // namespace clcook::tool::course
