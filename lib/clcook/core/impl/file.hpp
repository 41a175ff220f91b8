// The definitions of clcook/core/file.hpp.
#pragma once

#include <algorithm>
#include <clcook/core/file.hpp>
#include <utility>

#if defined(__unix__) || defined(__APPLE__)
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#define CLCOOK_POSIX_FILES 1
#else
#include <chrono>
#include <filesystem>
#include <random>
#include <system_error>
#define CLCOOK_POSIX_FILES 0
#endif

namespace clcook::detail {

#if CLCOOK_POSIX_FILES

CLCOOK_INLINE bool is_file(const std::string& name) {
  struct stat is {};
  return stat(name.c_str(), &is) == 0 && S_ISREG(is.st_mode);
}

CLCOOK_INLINE bool is_folder(const std::string& name) {
  struct stat is {};
  return stat(name.c_str(), &is) == 0 && S_ISDIR(is.st_mode);
}

CLCOOK_INLINE bool exists(const std::string& name) {
  struct stat is {};
  return stat(name.c_str(), &is) == 0;
}

CLCOOK_INLINE double file_age(const std::string& name) {
  struct stat is {};
  return stat(name.c_str(), &is) == 0 ? std::difftime(std::time(nullptr), is.st_mtime) : 0;
}

CLCOOK_INLINE std::string file_identity(const std::string& name) {
  struct stat is {};
  if (stat(name.c_str(), &is) != 0) return name;
  return std::to_string(is.st_dev) + ":" + std::to_string(is.st_ino);
}

// Whether it belongs to the user whom this process acts as, or to root.
inline bool is_owned(const struct stat& is) { return is.st_uid == geteuid() || is.st_uid == 0; }
// Whether others may write to it. Access lists count: their mask is the mode's group.
inline bool is_shared(const struct stat& is) { return (is.st_mode & (S_IWGRP | S_IWOTH)) != 0; }

CLCOOK_INLINE bool is_trusted(int handle) {
  struct stat is {};
  return fstat(handle, &is) == 0 && S_ISREG(is.st_mode) && is_owned(is) && !is_shared(is);
}

// What is wrong with a folder or link on the way to a trusted folder, or with that itself.
inline std::string distrust(const std::string& name, const struct stat& is, bool itself) {
  if (!is_owned(is))
    return name + " belongs to user " + std::to_string(is.st_uid) + ", not to user " +
           std::to_string(geteuid()) + " or root";
  if (S_ISLNK(is.st_mode)) return "";
  if (!S_ISDIR(is.st_mode)) return name + " is no folder";
  if (!is_shared(is) || (!itself && (is.st_mode & S_ISVTX) != 0)) return "";
  char mode[8];
  std::snprintf(mode, sizeof mode, "%04o", static_cast<unsigned>(is.st_mode & 07777));
  return name + " has mode " + mode + ": " +
         ((is.st_mode & S_IWOTH) != 0 ? "others" : "others of its group") + " may write to it";
}

inline std::string failure_of(const std::string& name, const char* what) {
  return name + " cannot be " + what + ": " + std::strerror(errno);
}

// The content of a link; empty where it cannot be read.
inline std::string link_target(const std::string& name) {
  char target[4096];
  const ssize_t size = readlink(name.c_str(), target, sizeof target);
  if (size < 0 || static_cast<std::size_t>(size) == sizeof target) return "";
  return std::string(target, static_cast<std::size_t>(size));
}

// Puts the parts of a path on a stack, the first on top.
inline void push_parts(std::vector<std::string>& parts, const std::string& path) {
  std::size_t end = path.size();
  while (end > 0) {
    const std::size_t slash = path.rfind('/', end - 1);
    const std::size_t begin = slash == std::string::npos ? 0 : slash + 1;
    if (begin < end) parts.push_back(path.substr(begin, end - begin));
    end = begin == 0 ? 0 : begin - 1;
  }
}

// From the root down: nobody else can change an entry of a folder that is trusted, so that what was
// found of it still holds when the next one is looked at, and when a file is opened.
CLCOOK_INLINE FolderTrust trust_of(const std::string& folder, bool create) {
  constexpr int kMostLinks = 40;
  if (folder.find('\0') != std::string::npos) return {false, "the folder's name has a zero byte"};
  std::vector<std::string> left;
  push_parts(left, folder);
  if (folder.empty() || folder[0] != '/') {
    char* const here = realpath(".", nullptr);
    if (here == nullptr) return {false, failure_of("the current folder", "found")};
    push_parts(left, here);
    std::free(here);
  }
  std::string at = "/";  // without links and dots
  int links = 0;
  for (;;) {
    struct stat is {};
    if (lstat(at.c_str(), &is) != 0) {
      if (errno != ENOENT) return {false, failure_of(at, "looked at")};
      const std::string above = folder_of(at);
      if (!create && faccessat(AT_FDCWD, above.c_str(), W_OK | X_OK, AT_EACCESS) != 0)
        return {false, failure_of(at, "made")};
      if (!create) return {};
      if (mkdir(at.c_str(), 0700) == 0) {
        chmod(at.c_str(), 0700);  // whatever umask takes away
      } else if (errno != EEXIST) {
        return {false, failure_of(at, "made")};
      }
      if (lstat(at.c_str(), &is) != 0) return {false, failure_of(at, "looked at")};
    }
    std::string wrong = distrust(at, is, false);
    if (!wrong.empty()) return {false, std::move(wrong)};
    if (S_ISLNK(is.st_mode)) {
      const std::string target = link_target(at);
      if (target.empty() || ++links > kMostLinks)
        return {false, at + " is a link that cannot be followed"};
      push_parts(left, target);
      at = target[0] == '/' ? "/" : folder_of(at);
      continue;
    }
    if (left.empty()) {
      wrong = distrust(at, is, true);
      return {wrong.empty(), std::move(wrong)};
    }
    if (left.back() == "..") {
      at = folder_of(at);
    } else if (left.back() != ".") {
      at = joined(at, left.back());
    }
    left.pop_back();
  }
}

CLCOOK_INLINE std::FILE* open_trusted(const std::string& name) {
  const int handle = open(name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (handle < 0) return nullptr;
  std::FILE* const file = is_trusted(handle) ? fdopen(handle, "rb") : nullptr;
  if (file == nullptr) close(handle);
  return file;
}

CLCOOK_INLINE std::FILE* create_private(const std::string& name) {
  const int handle = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (handle < 0) return nullptr;
  // Whatever umask takes away.
  std::FILE* const file = fchmod(handle, 0600) == 0 ? fdopen(handle, "wb") : nullptr;
  if (file == nullptr) {
    close(handle);
    remove_file(name);
  }
  return file;
}

CLCOOK_INLINE void remove_file(const std::string& name) { std::remove(name.c_str()); }

CLCOOK_INLINE bool rename_file(const std::string& from, const std::string& to) {
  return std::rename(from.c_str(), to.c_str()) == 0;
}

CLCOOK_INLINE std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  DIR* const open = opendir(folder.c_str());
  if (open == nullptr) return names;
  while (const dirent* const entry = readdir(open)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  closedir(open);
  std::sort(names.begin(), names.end());
  return names;
}

#else

CLCOOK_INLINE bool is_file(const std::string& name) {
  std::error_code error;
  return std::filesystem::is_regular_file(name, error);
}

CLCOOK_INLINE bool is_folder(const std::string& name) {
  std::error_code error;
  return std::filesystem::is_directory(name, error);
}

CLCOOK_INLINE bool exists(const std::string& name) {
  std::error_code error;
  return std::filesystem::exists(name, error);
}

CLCOOK_INLINE double file_age(const std::string& name) {
  std::error_code error;
  const auto written = std::filesystem::last_write_time(name, error);
  const std::chrono::duration<double> age = std::filesystem::file_time_type::clock::now() - written;
  return error ? 0 : age.count();
}

CLCOOK_INLINE std::string file_identity(const std::string& name) {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::canonical(name, error);
  return error ? name : path.string();
}

CLCOOK_INLINE FolderTrust trust_of(const std::string& folder, bool create) {
  std::error_code error;
  if (create) std::filesystem::create_directories(folder, error);
  return {is_folder(folder), error ? folder + " cannot be made" : ""};
}

CLCOOK_INLINE std::FILE* open_trusted(const std::string& name) {
  return is_file(name) ? std::fopen(name.c_str(), "rb") : nullptr;
}

CLCOOK_INLINE std::FILE* create_private(const std::string& name) {
  return std::fopen(name.c_str(), "wb");
}

CLCOOK_INLINE void remove_file(const std::string& name) {
  std::error_code error;
  std::filesystem::remove(name, error);
}

CLCOOK_INLINE bool rename_file(const std::string& from, const std::string& to) {
  std::error_code error;
  std::filesystem::rename(from, to, error);
  return !error;
}

CLCOOK_INLINE std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error))
    names.push_back(at->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

#endif

CLCOOK_INLINE unsigned long process_id() {
#if CLCOOK_POSIX_FILES
  return static_cast<unsigned long>(getpid());
#else
  return std::random_device()();
#endif
}

CLCOOK_INLINE bool process_runs(unsigned long id) {
#if CLCOOK_POSIX_FILES
  return kill(static_cast<pid_t>(id), 0) == 0 || errno != ESRCH;
#else
  static_cast<void>(id);
  return true;
#endif
}

CLCOOK_INLINE bool read_rest(std::FILE* file, std::string& out) {
  char block[16384];
  for (;;) {
    const std::size_t count = std::fread(block, 1, sizeof block, file);
    out.append(block, count);
    if (count < sizeof block) return std::ferror(file) == 0;
  }
}

CLCOOK_INLINE std::string joined(const std::string& folder, std::string_view name) {
  if (folder.empty() || (!name.empty() && name[0] == '/')) return std::string(name);
  return folder + (folder.back() == '/' ? "" : "/") + std::string(name);
}

CLCOOK_INLINE std::string folder_of(const std::string& name) {
#if CLCOOK_POSIX_FILES
  const std::size_t slash = name.rfind('/');
#else
  const std::size_t slash = name.find_last_of("/\\");
#endif
  if (slash == std::string::npos) return ".";
  return slash == 0 ? name.substr(0, 1) : name.substr(0, slash);
}

}  // namespace clcook::detail
