// The disk cache of program binaries.
#pragma once

#include <atomic>
#include <chrono>
#include <clcook/core/error.hpp>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

namespace clcook {

// FNV-1a, 64 bits.
inline std::uint64_t fnv1a(std::string_view data, std::uint64_t hash = 14695981039346656037ULL) {
  for (const char c : data) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 1099511628211ULL;
  }
  return hash;
}

// Binaries of built programs in a folder, one file per key.
//
// A file holds a magic number, the format version, the full key (compared byte by byte, so that
// equal hashes cannot confuse two programs), and the binary with its length and checksum. It is
// written to a temporary file and renamed, so readers never see half of one. Nothing here throws: a
// file that is missing, foreign, truncated or damaged is a miss, a folder that cannot be written
// makes store() do nothing. Safe from several threads and processes.
class DiskCache {
 public:
  static constexpr std::uint32_t kFormat = 1;

  // An empty path turns the cache off.
  explicit DiskCache(std::filesystem::path folder = {}) : folder_(std::move(folder)) {}

  // $CLCOOK_CACHE_DIR, else $XDG_CACHE_HOME/clcook, else $HOME/.cache/clcook (on Windows
  // %LOCALAPPDATA%\clcook); off with CLCOOK_CACHE=0 or when none of them is set.
  static DiskCache standard() {
    const auto variable = [](const char* name) -> std::string {
      const char* value = std::getenv(name);
      return value == nullptr ? "" : value;
    };
    if (variable("CLCOOK_CACHE") == "0") return DiskCache();
    if (const auto dir = variable("CLCOOK_CACHE_DIR"); !dir.empty()) return DiskCache(dir);
    if (const auto dir = variable("XDG_CACHE_HOME"); !dir.empty()) {
      return DiskCache(std::filesystem::path(dir) / "clcook");
    }
    if (const auto dir = variable("HOME"); !dir.empty()) {
      return DiskCache(std::filesystem::path(dir) / ".cache" / "clcook");
    }
    if (const auto dir = variable("LOCALAPPDATA"); !dir.empty()) {
      return DiskCache(std::filesystem::path(dir) / "clcook");
    }
    return DiskCache();
  }

  bool enabled() const { return !folder_.empty(); }
  const std::filesystem::path& folder() const { return folder_; }

  // The file of a key.
  std::filesystem::path path_of(std::string_view key) const {
    static const char* digits = "0123456789abcdef";
    std::string name;
    const std::uint64_t hash = fnv1a(key);
    for (int shift = 60; shift >= 0; shift -= 4) name += digits[(hash >> shift) & 15];
    return folder_ / (name + ".clbin");
  }

  // The binary stored for the key, if there is a sound one.
  std::optional<std::string> load(std::string_view key) const {
    if (!enabled()) return std::nullopt;
    try {
      const std::filesystem::path path = path_of(key);
      std::error_code error;
      // Opening a pipe would wait for a writer.
      if (!std::filesystem::is_regular_file(path, error)) return std::nullopt;
      std::ifstream in(path, std::ios::binary);
      if (!in) return std::nullopt;
      // The size of the open file: another process may replace the one at this path meanwhile.
      in.seekg(0, std::ios::end);
      const std::streamoff size = in.tellg();
      in.seekg(0);
      if (!in || size < 0 || size > kMaxFile) return std::nullopt;
      std::string file(static_cast<std::size_t>(size), '\0');
      in.read(file.data(), static_cast<std::streamsize>(file.size()));
      if (in.gcount() != static_cast<std::streamsize>(file.size())) return std::nullopt;
      std::string_view rest = file;
      std::uint64_t key_size = 0;
      std::uint64_t binary_size = 0;
      std::uint64_t checksum = 0;
      std::uint64_t format = 0;
      if (rest.substr(0, kMagic.size()) != kMagic) return std::nullopt;
      rest.remove_prefix(kMagic.size());
      if (!take(rest, format) || format != kFormat) return std::nullopt;
      if (!take(rest, key_size) || !take(rest, binary_size) || !take(rest, checksum))
        return std::nullopt;
      if (key_size != key.size() || rest.size() < key_size || rest.substr(0, key.size()) != key)
        return std::nullopt;
      rest.remove_prefix(key.size());
      if (rest.size() != binary_size || fnv1a(rest) != checksum) return std::nullopt;
      return std::string(rest);
    } catch (...) {
      return std::nullopt;
    }
  }

  // Stores a binary. Returns whether it is on disk now.
  bool store(std::string_view key, std::string_view binary) const {
    if (!enabled()) return false;
    std::filesystem::path temporary;
    try {
      std::error_code error;
      std::filesystem::create_directories(folder_, error);
      temporary = path_of(key);
      temporary += unique_suffix();
      {
        std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
        if (!out) return false;
        std::string header(kMagic);
        put(header, kFormat);
        put(header, key.size());
        put(header, binary.size());
        put(header, fnv1a(binary));
        out.write(header.data(), static_cast<std::streamsize>(header.size()));
        out.write(key.data(), static_cast<std::streamsize>(key.size()));
        out.write(binary.data(), static_cast<std::streamsize>(binary.size()));
        out.flush();
        if (!out) {
          out.close();
          std::filesystem::remove(temporary, error);
          return false;
        }
      }
      std::filesystem::rename(temporary, path_of(key), error);
      if (error) {
        std::filesystem::remove(temporary, error);
        return false;
      }
      return true;
    } catch (...) {
      std::error_code error;
      if (!temporary.empty()) std::filesystem::remove(temporary, error);
      return false;
    }
  }

 private:
  static constexpr std::string_view kMagic = "clcook-program\n";
  static constexpr std::streamoff kMaxFile = std::streamoff{1} << 30;

  static void put(std::string& out, std::uint64_t value) {
    for (int i = 0; i < 8; ++i) out += static_cast<char>((value >> (8 * i)) & 255U);
  }

  static bool take(std::string_view& in, std::uint64_t& value) {
    if (in.size() < 8) return false;
    value = 0;
    for (unsigned i = 0; i < 8; ++i) {
      value |= static_cast<std::uint64_t>(static_cast<unsigned char>(in[i])) << (8 * i);
    }
    in.remove_prefix(8);
    return true;
  }

  static std::string unique_suffix() {
    static std::atomic<std::uint64_t> counter{0};
    std::random_device random;
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    const auto thread = std::hash<std::thread::id>{}(std::this_thread::get_id());
    return text(".tmp-", random(), "-", now, "-", thread, "-", counter++);
  }

  std::filesystem::path folder_;
};

}  // namespace clcook
