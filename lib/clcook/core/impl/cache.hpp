// The definitions of clcook/core/cache.hpp.
#pragma once

#include <atomic>
#include <chrono>
#include <clcook/core/cache.hpp>
#include <clcook/core/error.hpp>
#include <clcook/core/file.hpp>
#include <cstddef>
#include <cstdlib>

namespace clcook {

CLCOOK_INLINE std::uint64_t fnv1a(std::string_view data, std::uint64_t hash) {
  for (const char c : data) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 1099511628211ULL;
  }
  return hash;
}

CLCOOK_INLINE DiskCache DiskCache::standard() {
  const auto variable = [](const char* name) -> std::string {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  if (variable("CLCOOK_CACHE") == "0") return DiskCache();
  if (const auto dir = variable("CLCOOK_CACHE_DIR"); !dir.empty()) return DiskCache(dir);
  if (const auto dir = variable("XDG_CACHE_HOME"); !dir.empty()) {
    return DiskCache(detail::joined(dir, "clcook"));
  }
  if (const auto dir = variable("HOME"); !dir.empty()) {
    return DiskCache(detail::joined(dir, ".cache/clcook"));
  }
  if (const auto dir = variable("LOCALAPPDATA"); !dir.empty()) {
    return DiskCache(detail::joined(dir, "clcook"));
  }
  return DiskCache();
}

CLCOOK_INLINE std::string DiskCache::path_of(std::string_view key) const {
  static const char* digits = "0123456789abcdef";
  std::string name;
  const std::uint64_t hash = fnv1a(key);
  for (int shift = 60; shift >= 0; shift -= 4) name += digits[(hash >> shift) & 15];
  return detail::joined(folder_, name.append(kEnding));
}

CLCOOK_INLINE std::string DiskCache::refusal() const {
  return enabled() ? detail::trust_of(folder_).wrong : "";
}

CLCOOK_INLINE std::string DiskCache::note() const {
  const std::string why = refusal();
  if (why.empty()) return "";
  return "cache of programs: " + folder_ +
         " is not used, and every process builds its programs from source: " + why;
}

CLCOOK_INLINE std::optional<std::string> DiskCache::load(std::string_view key) const {
  if (!enabled()) return std::nullopt;
  try {
    if (!detail::trust_of(folder_).trusted) return std::nullopt;
    const detail::OpenFile in(detail::open_trusted(path_of(key)));
    if (in.get() == nullptr) return std::nullopt;
    // The size of the open file: another process may replace the one at this path meanwhile.
    if (std::fseek(in.get(), 0, SEEK_END) != 0) return std::nullopt;
    const long size = std::ftell(in.get());
    if (size < 0 || size > kMaxFile || std::fseek(in.get(), 0, SEEK_SET) != 0) return std::nullopt;
    const auto read = [&](std::string& out) {
      return std::fread(out.data(), 1, out.size(), in.get()) == out.size();
    };
    // First what tells a file of this key: of another one no more is read, however long it is.
    std::string head(kMagic.size() + 4 * 8 + key.size(), '\0');
    if (static_cast<std::size_t>(size) < head.size() || !read(head)) return std::nullopt;
    std::string_view rest = head;
    std::uint64_t key_size = 0;
    std::uint64_t binary_size = 0;
    std::uint64_t checksum = 0;
    std::uint64_t format = 0;
    if (rest.substr(0, kMagic.size()) != kMagic) return std::nullopt;
    rest.remove_prefix(kMagic.size());
    if (!take(rest, format) || format != kFormat) return std::nullopt;
    if (!take(rest, key_size) || !take(rest, binary_size) || !take(rest, checksum))
      return std::nullopt;
    if (key_size != key.size() || rest != key ||
        binary_size != static_cast<std::size_t>(size) - head.size())
      return std::nullopt;
    std::string binary(static_cast<std::size_t>(binary_size), '\0');
    if (!read(binary) || fnv1a(binary) != checksum) return std::nullopt;
    return binary;
  } catch (...) {
    return std::nullopt;
  }
}

CLCOOK_INLINE bool DiskCache::store(std::string_view key, std::string_view binary) const {
  if (!enabled()) return false;
  std::string temporary;
  try {
    if (!detail::trust_of(folder_, true).trusted) return false;
    remove_old_temporaries();
    const std::string path = path_of(key);
    temporary = path + unique_suffix();
    std::string header(kMagic);
    put(header, kFormat);
    put(header, key.size());
    put(header, binary.size());
    put(header, fnv1a(binary));
    detail::OpenFile out(detail::create_private(temporary));
    if (out.get() == nullptr) return false;
    bool written = true;
    for (const std::string_view part : {std::string_view(header), key, binary})
      written = written && std::fwrite(part.data(), 1, part.size(), out.get()) == part.size();
    if (out.close() && written && detail::rename_file(temporary, path)) return true;
  } catch (...) {
  }
  if (!temporary.empty()) detail::remove_file(temporary);
  return false;
}

CLCOOK_INLINE void DiskCache::remove_old_temporaries() const {
  constexpr double kDay = 24 * 60 * 60;
  for (const std::string& name : detail::names_in(folder_)) {
    if (name.find(kEnding) != 16 ||
        name.compare(16 + kEnding.size(), kTemporary.size(), kTemporary))
      continue;
    const std::string path = detail::joined(folder_, name);
    if (!detail::is_file(path)) continue;
    const unsigned long process =
        std::strtoul(name.c_str() + 16 + kEnding.size() + kTemporary.size(), nullptr, 10);
    if (!detail::process_runs(process) || detail::file_age(path) > kDay) detail::remove_file(path);
  }
}

CLCOOK_INLINE void DiskCache::put(std::string& out, std::uint64_t value) {
  for (int i = 0; i < 8; ++i) out += static_cast<char>((value >> (8 * i)) & 255U);
}

CLCOOK_INLINE bool DiskCache::take(std::string_view& in, std::uint64_t& value) {
  if (in.size() < 8) return false;
  value = 0;
  for (unsigned i = 0; i < 8; ++i) {
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(in[i])) << (8 * i);
  }
  in.remove_prefix(8);
  return true;
}

CLCOOK_INLINE std::string DiskCache::unique_suffix() {
  static std::atomic<std::uint64_t> counter{0};
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  // Threads have stacks of their own.
  const auto thread = reinterpret_cast<std::uintptr_t>(&now);
  return text(kTemporary, detail::process_id(), "-", now, "-", thread, "-", counter++);
}

}  // namespace clcook
