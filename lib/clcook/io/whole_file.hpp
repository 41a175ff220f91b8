// Writes a file whole or not at all. std only.
//
//   clcook::io::write_file("page.txt", "all of it");
//
//   clcook::io::WholeFile file("parts.txt");  // the same in parts
//   file.stream() << "one, " << "two";
//   file.finish();
#pragma once

#include <cerrno>
#include <clcook/error.hpp>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <ios>
#include <ostream>
#include <random>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace clcook::io {

// A file that appears under its name when it is complete.
//
// The text goes to a temporary file in the same folder, "NAME.tmp-" and a random number. finish()
// renames it to NAME. Until then, and for good without finish(), an existing file of that name
// keeps its content. It also keeps its permissions. A symbolic link stays one, and the file that it
// leads to is written, even if it does not exist yet. A special file, such as a FIFO or a terminal,
// cannot be replaced: it is written to at once, and opening a FIFO waits for its reader. Folders
// are not created. Not thread-safe; several of one name in different threads or processes are safe,
// and the last finish() wins.
class WholeFile {
 public:
  // Throws Error(io) that names the file if its folder is missing, if the name is that of a folder,
  // or if no file can be created there.
  explicit WholeFile(std::filesystem::path path) : path_(std::move(path)) {
    namespace fs = std::filesystem;
    std::error_code error;
    const fs::file_status status = fs::status(path_, error);
    if (fs::is_directory(status)) refuse("is a folder, not a file");
    if (fs::exists(status) && !fs::is_regular_file(status)) {
      open(path_);
      return;
    }
    // What links lead to; a circle of them has no status.
    if (error && error != std::errc::no_such_file_or_directory) refuse(error.message());
    target_ = path_;
    while (fs::is_symlink(fs::symlink_status(target_, error)))
      target_ = target_.parent_path() / fs::read_symlink(target_, error);
    const fs::path folder = target_.has_parent_path() ? target_.parent_path() : fs::path(".");
    if (!fs::is_directory(folder, error)) refuse("there is no folder " + folder.string());
    std::random_device random;
    temporary_ = target_;
    temporary_ += ".tmp-" + std::to_string((std::uint64_t{random()} << 32) | random());
    open(temporary_);
    if (fs::exists(status)) fs::permissions(temporary_, status.permissions(), error);
  }
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;
  // Without finish() nothing remains of what was written, except in a special file.
  ~WholeFile() {
    std::error_code error;
    if (!temporary_.empty()) std::filesystem::remove(temporary_, error);
  }

  // Where to write. Its errors are found by finish() at the latest.
  std::ostream& stream() { return stream_; }

  // Call once, when all is written. Throws Error(io) if not all of it could be written; an existing
  // file is then unchanged.
  void finish() {
    errno = 0;
    stream_.close();
    if (!stream_) {
      const std::string reason = errno == 0 ? "" : std::string(": ") + std::strerror(errno);
      refuse("cannot write all of it" + reason);
    }
    if (temporary_.empty()) return;
    std::error_code error;
    std::filesystem::rename(temporary_, target_, error);
    if (error) refuse(error.message());
    temporary_.clear();
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    fail(Errc::io, "write " + path_.string(), why);
  }

  void open(const std::filesystem::path& path) {
    errno = 0;
    stream_.open(path, std::ios::binary | std::ios::trunc);
    if (stream_) return;
    const std::string reason = errno == 0 ? "" : std::string(": ") + std::strerror(errno);
    temporary_.clear();  // it is not ours
    refuse("cannot create the file" + reason);
  }

  std::filesystem::path path_;
  std::filesystem::path target_;     // path_ without links; empty for a special file
  std::filesystem::path temporary_;  // empty for a special file, and when nothing is to be removed
  std::ofstream stream_;
};

// Writes a whole file. Throws Error(io) as WholeFile does.
inline void write_file(const std::filesystem::path& path, std::string_view content) {
  WholeFile file(path);
  file.stream().write(content.data(), static_cast<std::streamsize>(content.size()));
  file.finish();
}

}  // namespace clcook::io
