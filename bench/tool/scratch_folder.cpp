#include "tool/scratch_folder.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <system_error>

#include <clcook/core/error.hpp>

namespace clcook::tool {

namespace fs = std::filesystem;

ScratchFolder::ScratchFolder(const std::string& name) {
  std::error_code error;
  const fs::path base = fs::temp_directory_path(error);
  std::string pattern =
      ((error ? fs::path("/tmp") : base) / ("clcook-" + name + "-XXXXXX")).string();
  if (mkdtemp(pattern.data()) == nullptr) {
    fail(Errc::io, "create a folder like " + pattern,
         std::string(std::strerror(errno)) + "; TMPDIR may name another place");
  }
  path_ = pattern;
}

ScratchFolder::~ScratchFolder() {
  std::error_code error;
  fs::remove_all(path_, error);
}

void ScratchFolder::write(const embedded::File& file) const {
  const fs::path path = path_ / file.name;
  std::ofstream out(path, std::ios::binary);
  if (!(out << file.text()).flush()) fail(Errc::io, "write " + path.string(), std::strerror(errno));
}

}  // namespace clcook::tool
