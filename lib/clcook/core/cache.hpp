// The disk cache of program binaries.
#pragma once

#include <clcook/core/inline.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace clcook {

// FNV-1a, 64 bits.
CLCOOK_INLINE std::uint64_t fnv1a(std::string_view data,
                                  std::uint64_t hash = 14695981039346656037ULL);

// Binaries of built programs in a folder, one file per key.
//
// A file holds a magic number, the format version, the full key (compared byte by byte, so that
// equal hashes cannot confuse two programs), and the binary with its length and checksum. It is
// written to a temporary file and renamed, so readers never see half of one. store() removes
// temporary files whose process is gone, and those older than a day. If processes of several
// machines or containers share a folder, one may think that another is gone; the other's file is
// then lost, and the program is built once more. Nothing here throws: a file that is missing,
// foreign, truncated or damaged is a miss, a folder that cannot be written makes store() do
// nothing. Safe from several threads and processes.
//
// A binary is code that runs in the user's process. So the cache reads a file only if it belongs to
// the user or root and nobody else may write to it. The same must hold for the folder and for those
// above it; see refusal(). The cache creates folders with mode 0700, files with 0600. On Windows it
// checks none of this: there the rights of the folder keep others out.
class DiskCache {
 public:
  static constexpr std::uint32_t kFormat = 1;

  // An empty path turns the cache off.
  explicit DiskCache(std::string folder = {}) : folder_(std::move(folder)) {}

  // $CLCOOK_CACHE_DIR, else $XDG_CACHE_HOME/clcook, else $HOME/.cache/clcook (on Windows
  // %LOCALAPPDATA%\clcook); off with CLCOOK_CACHE=0 or when none of them is set.
  static DiskCache standard();

  bool enabled() const { return !folder_.empty(); }
  const std::string& folder() const { return folder_; }

  // Why the folder is neither read nor written, in words that name the folder and the rule. Empty
  // if the folder is used, or the cache is off. Reasons: others, or others of its group, may write to
  // the folder or to one above that is not sticky; somebody else owns one of these or a link on the
  // way; the folder is not there and cannot be made. Looks anew at each call.
  std::string refusal() const;

  // The same as a line for people: that the folder is not used, what follows, and why.
  std::string note() const;

  // The file of a key.
  std::string path_of(std::string_view key) const;

  // The binary stored for the key, if there is a sound one.
  std::optional<std::string> load(std::string_view key) const;

  // Stores a binary. Returns whether it is on disk now.
  bool store(std::string_view key, std::string_view binary) const;

 private:
  static constexpr std::string_view kMagic = "clcook-program\n";
  static constexpr std::string_view kEnding = ".clbin";
  static constexpr std::string_view kTemporary = ".tmp-";
  static constexpr long kMaxFile = 1L << 30;

  void remove_old_temporaries() const;

  static void put(std::string& out, std::uint64_t value);

  static bool take(std::string_view& in, std::uint64_t& value);

  // Of this process, thread, time and call.
  static std::string unique_suffix();

  std::string folder_;
};

}  // namespace clcook

#if CLCOOK_DEFINITIONS
#include <clcook/core/impl/cache.hpp>
#endif
