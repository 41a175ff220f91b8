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
  explicit OpenFile(std::FILE* file) : file_(file) {}
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

// The functions up to create_private() are for files whose content decides what runs in this
// process. Only the process's user and root may have written them. Windows has no such modes: there
// only the rights of the folder count, and every folder is trusted.
//
// A folder is trusted when it, the folders above it and the links that lead to it belong to the user
// or root, and nobody else may write to it. Nobody else may write to the folders above either,
// unless they are sticky, as /tmp is: others could put another folder in its place.
struct FolderTrust {
  bool trusted = false;
  std::string wrong;  // why not, for people; empty where it is, or is not there and can be made
};
// `create` makes what is missing, with mode 0700, and nothing below a folder that is not trusted.
CLCOOK_INLINE FolderTrust trust_of(const std::string& folder, bool create = false);
#if defined(__unix__) || defined(__APPLE__)
// Whether only the user and root can have written an open file, and it is a regular one.
CLCOOK_INLINE bool is_trusted(int handle);
#endif
// Opens a regular file of a trusted folder, to be read; null where others own it or may write to it,
// or where the name is a link. Does not wait for a pipe's other end.
CLCOOK_INLINE std::FILE* open_trusted(const std::string& name);
// Opens a new file of mode 0600, to be written; null where there is something of that name.
CLCOOK_INLINE std::FILE* create_private(const std::string& name);

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
