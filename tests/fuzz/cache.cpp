// Files of the program cache. The first byte of the input says whether the checksum of the rest is
// put right, without which damage would end there; the rest is the file.
#include <fcntl.h>
#include <unistd.h>

#include <clcook/core/cache.hpp>
#include <filesystem>

#include "fuzz/fuzz.hpp"

namespace {

constexpr std::string_view kKey = "the key";
constexpr std::size_t kChecksumAt = 15 + 3 * 8;
constexpr std::size_t kBinaryAt = kChecksumAt + 8 + kKey.size();

// A cache in a folder of its own, and its one file.
struct Cache {
  std::string folder;
  clcook::DiskCache cache;
  int file = -1;

  Cache() {
    folder = (std::filesystem::temp_directory_path() / "clcook-fuzz-XXXXXX").string();
    CLCOOK_FUZZ_CHECK(mkdtemp(folder.data()) != nullptr);
    cache = clcook::DiskCache(folder);
    file = open(cache.path_of(kKey).c_str(), O_RDWR | O_CREAT, 0600);
    CLCOOK_FUZZ_CHECK(file >= 0);
  }
  ~Cache() {
    close(file);
    std::error_code error;
    std::filesystem::remove_all(folder, error);
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Cache one;
  std::string_view in = clcook::fuzz::view(data, size);
  const bool mend = clcook::fuzz::take<std::uint8_t>(in) % 2 == 1;
  std::string file(in);
  if (mend && file.size() >= kBinaryAt) {
    const std::uint64_t checksum = clcook::fnv1a(std::string_view(file).substr(kBinaryAt));
    for (unsigned i = 0; i < 8; ++i)
      file[kChecksumAt + i] = static_cast<char>((checksum >> (8 * i)) & 255U);
  }
  CLCOOK_FUZZ_CHECK(ftruncate(one.file, static_cast<off_t>(file.size())) == 0);
  CLCOOK_FUZZ_CHECK(pwrite(one.file, file.data(), file.size(), 0) ==
                    static_cast<ssize_t>(file.size()));
  const auto loaded = one.cache.load(kKey);
  if (!loaded) return 0;
  // Whatever is loaded is what store() would have written.
  CLCOOK_FUZZ_CHECK(file.size() >= kBinaryAt && file.substr(kBinaryAt) == *loaded);
  CLCOOK_FUZZ_CHECK(file.substr(kChecksumAt + 8, kKey.size()) == kKey);
  return 0;
}
