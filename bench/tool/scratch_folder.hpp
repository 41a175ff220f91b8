// A folder that goes with the object that made it.
#pragma once

#include <filesystem>
#include <string>

#include <clcook/core/embedded_file.hpp>

namespace clcook::tool {

// A new empty folder "clcook-NAME-XXXXXX" where temporary files go, removed with all that is in it.
// Throws Error(io) when it cannot be made.
class ScratchFolder {
 public:
  explicit ScratchFolder(const std::string& name);
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();

  const std::filesystem::path& path() const { return path_; }
  std::string operator/(const char* name) const { return (path_ / name).string(); }
  // Writes a file that this program carries. Throws Error(io).
  void write(const embedded::File& file) const;

 private:
  std::filesystem::path path_;
};

}  // namespace clcook::tool
