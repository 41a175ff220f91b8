// Files and folders, for the library's own use: <filesystem> and <fstream> take as long to compile as
// half of CL/opencl.hpp. Names are as the C library takes them.
#pragma once

#include <clcook/core/inline.hpp>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace clcook::detail {

// An open file, or null.
class OpenFile {
 public:
  OpenFile(const std::string& name, const char* mode) : file_(std::fopen(name.c_str(), mode)) {}
  ~OpenFile() {
    if (file_ != nullptr) std::fclose(file_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  std::FILE* get() const { return file_; }
  // Whether everything that was written went well.
  bool close() {
    std::FILE* file = file_;
    file_ = nullptr;
    return file != nullptr && std::fclose(file) == 0;
  }

 private:
  std::FILE* file_;
};

CLCOOK_INLINE bool is_file(const std::string& name);  // behind links, a regular one
CLCOOK_INLINE bool is_folder(const std::string& name);
CLCOOK_INLINE bool exists(const std::string& name);
// Seconds since it was last written; 0 where that is not known.
CLCOOK_INLINE double file_age(const std::string& name);
CLCOOK_INLINE void create_folders(const std::string& name);
CLCOOK_INLINE void remove_file(const std::string& name);
// Also over a file that is there.
CLCOOK_INLINE bool rename_file(const std::string& from, const std::string& to);
// The names in a folder, sorted; empty where it cannot be read.
CLCOOK_INLINE std::vector<std::string> names_in(const std::string& folder);
// What all names of one file have in common, links included; the name where that is not known.
CLCOOK_INLINE std::string file_identity(const std::string& name);
// The rest of an open file; whether that could be read.
CLCOOK_INLINE bool read_rest(std::FILE* file, std::string& out);
CLCOOK_INLINE unsigned long process_id();
// Whether a process of that id may be running here.
CLCOOK_INLINE bool process_runs(unsigned long id);
// "folder/name"; the name where that is absolute.
CLCOOK_INLINE std::string joined(const std::string& folder, std::string_view name);
// The folder of a file: "." where the name has none.
CLCOOK_INLINE std::string folder_of(const std::string& name);

}  // namespace clcook::detail

#if CLCOOK_DEFINITIONS
#include <clcook/core/impl/file.hpp>
#endif
