// The definitions of clcook/core/file.hpp.
#pragma once

#include <algorithm>
#include <clcook/core/file.hpp>

#if defined(__unix__) || defined(__APPLE__)
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
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

CLCOOK_INLINE void create_folders(const std::string& name) {
  for (std::size_t end = name.find('/', 1); end != std::string::npos; end = name.find('/', end + 1))
    mkdir(name.substr(0, end).c_str(), 0777);
  mkdir(name.c_str(), 0777);
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

CLCOOK_INLINE void create_folders(const std::string& name) {
  std::error_code error;
  std::filesystem::create_directories(name, error);
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
