// The program cache: in memory, and on disk with every kind of broken file.
#include <clcook/core/cache.hpp>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <clcook/core/launch.hpp>
#include <clcook/registry/random.hpp>

#include "support/grid.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;

namespace {

std::size_t files_in(const std::filesystem::path& folder) {
  std::size_t count = 0;
  std::error_code error;
  for (auto it = std::filesystem::directory_iterator(folder, error);
       it != std::filesystem::directory_iterator(); ++it) {
    ++count;
  }
  return count;
}

void put64(std::string& file, std::size_t at, std::uint64_t value) {
  for (std::size_t i = 0; i < 8; ++i) file[at + i] = static_cast<char>((value >> (8 * i)) & 255U);
}

// Where the fields of a file begin.
constexpr std::size_t kMagic = 15;
constexpr std::size_t kFormatAt = kMagic;
constexpr std::size_t kKeySizeAt = kMagic + 8;
constexpr std::size_t kBinarySizeAt = kMagic + 16;
constexpr std::size_t kChecksumAt = kMagic + 24;
constexpr std::size_t kKeyAt = kMagic + 32;

Runtime with_cache(const std::filesystem::path& folder) {
  RuntimeOptions options;
  options.disk_cache = DiskCache(folder);
  return Runtime(runtime().queue(), options);
}

// Also where the implementation keeps programs itself, and a runtime has none of ours by default.
PickOptions with_standard_cache() {
  PickOptions options;
  options.runtime.disk_cache = DiskCache::standard();
  return options;
}

const char* const kSource =
    "__kernel void k(__global int* out) { out[get_global_id(0)] = VALUE; }\n";

// Builds the program with -DVALUE=value and returns what it computes.
int run_value(const Runtime& on, int value) {
  const cl::Program program =
      on.build(Source("value.cl", kSource), Defines().set("VALUE", value), "test/value");
  const cl::Buffer buffer = create_buffer(on, 4);
  Kernel kernel(on, program, "k");
  const cl::Event done = kernel(Launch{}, {}, buffer);
  return read_buffer<cl_int>(on, buffer, 1, {done})[0];
}

void check_stats(const Runtime& on, std::uint64_t memory, std::uint64_t disk,
                 std::uint64_t source) {
  const ProgramCache::Stats stats = on.cache().stats();
  CHECK(stats.from_memory == memory);
  CHECK(stats.from_disk == disk);
  CHECK(stats.from_source == source);
}

}  // namespace

TEST_CASE("what is stored is loaded") {
  const TempFolder folder;
  const DiskCache cache(folder / "deep" / "er");  // made when needed
  CHECK(cache.enabled());
  CHECK_FALSE(cache.load("key"));
  const std::string binaries[] = {"", "x", std::string(1000, '\0'), std::string("\xFF\x00\n", 3),
                                  std::string(1 << 20, 'b')};
  for (const std::string& binary : binaries) {
    REQUIRE(cache.store("key", binary));
    REQUIRE(cache.load("key"));
    CHECK(*cache.load("key") == binary);
    CHECK_FALSE(cache.load("key2"));
    CHECK_FALSE(cache.load("ke"));
    CHECK_FALSE(cache.load(""));
  }
  REQUIRE(cache.store("", "of the empty key"));
  CHECK(*cache.load("") == "of the empty key");
  CHECK(files_in(cache.folder()) == 2);  // and no temporary file
}

TEST_CASE("a cache without a folder is off") {
  const DiskCache off;
  CHECK_FALSE(off.enabled());
  CHECK_FALSE(off.store("key", "binary"));
  CHECK_FALSE(off.load("key"));
}

TEST_CASE("a file truncated at any length is a miss") {
  const TempFolder folder;
  const DiskCache cache(folder.path());
  REQUIRE(cache.store("the key", "the binary \x01\x02"));
  const std::string whole = read_bytes(cache.path_of("the key"));
  REQUIRE(whole.size() == kKeyAt + 7 + 13);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    write_bytes(cache.path_of("the key"), whole.substr(0, length));
    CAPTURE(length);
    CHECK_FALSE(cache.load("the key"));
  }
  for (const std::string& more : {std::string(1, '\0'), std::string("x"), whole}) {
    write_bytes(cache.path_of("the key"), whole + more);
    CHECK_FALSE(cache.load("the key"));
  }
  write_bytes(cache.path_of("the key"), whole);
  CHECK(cache.load("the key"));
}

TEST_CASE("a change of any bit is a miss") {
  const TempFolder folder;
  const DiskCache cache(folder.path());
  REQUIRE(cache.store("the key", "the binary"));
  const std::string whole = read_bytes(cache.path_of("the key"));
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string broken = whole;
      broken[i] = static_cast<char>(broken[i] ^ (1 << bit));
      write_bytes(cache.path_of("the key"), broken);
      CAPTURE(i);
      CAPTURE(bit);
      CHECK_FALSE(cache.load("the key"));
    }
  }
}

TEST_CASE("foreign files, other versions and huge lengths are misses") {
  const TempFolder folder;
  const DiskCache cache(folder.path());
  const std::string key = "key";
  REQUIRE(cache.store(key, "binary"));
  const std::string whole = read_bytes(cache.path_of(key));
  const auto misses = [&](const std::string& file) {
    write_bytes(cache.path_of(key), file);
    CHECK_FALSE(cache.load(key));
    REQUIRE(cache.store(key, "binary"));  // and is replaced by the next store
    CHECK(*cache.load(key) == "binary");
  };
  misses(
      "\x7F"
      "ELF and so on");
  misses(std::string(100000, '\0'));
  misses(whole + whole);
  for (const std::uint64_t format :
       {std::uint64_t{0}, std::uint64_t{2}, std::uint64_t{1} << 32, ~std::uint64_t{0}}) {
    std::string file = whole;
    put64(file, kFormatAt, format);
    misses(file);
  }
  for (const std::size_t field : {kKeySizeAt, kBinarySizeAt, kChecksumAt}) {
    for (const std::uint64_t value : {std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{1} << 63,
                                      std::uint64_t{1} << 32, ~std::uint64_t{0} - kKeyAt}) {
      std::string file = whole;
      put64(file, field, value);
      CAPTURE(field);
      CAPTURE(value);
      misses(file);
    }
  }
  // Lengths that balance each other: the key's last byte becomes part of the binary.
  std::string file = whole;
  put64(file, kKeySizeAt, key.size() - 1);
  put64(file, kBinarySizeAt, 7);
  put64(file, kChecksumAt, fnv1a("ybinary"));
  misses(file);
}

TEST_CASE("a long file that is not ours is not read whole") {
  const TempFolder folder;
  const DiskCache cache(folder.path());
  const std::string key = "a key";
  REQUIRE(cache.store(key, "binary"));
  const std::string whole = read_bytes(cache.path_of(key));
  const auto pages = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;  // KiB, the most so far
  };
  const long before = pages();
  // A gigabyte that takes no room on the disk, behind nothing, a wrong and a sound beginning.
  for (const std::string& begin : {std::string(), std::string(100, 'x'), whole}) {
    write_bytes(cache.path_of(key), begin);
    std::filesystem::resize_file(cache.path_of(key), std::uintmax_t{1} << 30);
    CHECK_FALSE(cache.load(key));
  }
  CHECK(pages() - before < 100 * 1024);
}

TEST_CASE("temporary files go with their process, or after a day") {
  const TempFolder folder;
  const DiskCache cache(folder.path());
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) _exit(0);
  REQUIRE(waitpid(child, nullptr, 0) == child);
  const auto temporary = [&](pid_t process, const char* more) {
    return cache.path_of("x") + text(".tmp-", process, more);
  };
  const std::string old = temporary(getpid(), "-2-3-4");
  const std::string young = temporary(getpid(), "-6-7-8");
  const std::string orphan = temporary(child, "-6-7-8");
  const std::filesystem::path others[] = {folder / "tuning.txt", folder / "notes.clbin.tmp-1",
                                          cache.path_of("y")};
  const auto two_days_ago = std::filesystem::file_time_type::clock::now() - std::chrono::hours(48);
  const auto make = [&](const std::filesystem::path& path, bool aged) {
    write_bytes(path, "half");
    if (aged) std::filesystem::last_write_time(path, two_days_ago);
  };
  make(old, true);
  make(young, false);
  make(orphan, false);
  for (const auto& path : others) make(path, true);
  std::filesystem::create_directory(cache.path_of("z") + ".tmp-9");
  CHECK_FALSE(cache.load("x"));
  REQUIRE(cache.store("key", "binary"));
  CHECK_FALSE(std::filesystem::exists(old));
  CHECK(std::filesystem::exists(young));
  CHECK_FALSE(std::filesystem::exists(orphan));
  for (const auto& path : others) CHECK(std::filesystem::exists(path));
  CHECK(files_in(folder.path()) == 6);  // with the folder and the new file
}

TEST_CASE("a sound file of another key under a forged name is a miss") {
  const TempFolder folder;
  const DiskCache cache(folder.path());
  REQUIRE(cache.store("key one", "binary"));
  for (const char* other : {"key two", "key on", "key one1", ""}) {
    std::filesystem::copy_file(cache.path_of("key one"), cache.path_of(other));
    CHECK_FALSE(cache.load(other));
  }
}

TEST_CASE("things that are no files are misses and stay") {
  const TempFolder folder;
  const DiskCache cache(folder.path());
  std::filesystem::create_directory(cache.path_of("folder"));
  CHECK_FALSE(cache.load("folder"));
  CHECK_FALSE(cache.store("folder", "binary"));
  CHECK(std::filesystem::is_directory(cache.path_of("folder")));
  REQUIRE(mkfifo(cache.path_of("pipe").c_str(), 0600) == 0);
  CHECK_FALSE(cache.load("pipe"));  // and does not wait for a writer
  std::filesystem::create_symlink(folder / "nowhere", cache.path_of("link"));
  CHECK_FALSE(cache.load("link"));
  std::filesystem::create_symlink("/dev/zero", cache.path_of("zero"));
  CHECK_FALSE(cache.load("zero"));
  CHECK(files_in(folder.path()) == 4);  // no temporary file is left
}

TEST_CASE("a folder that cannot be written makes store do nothing") {
  const TempFolder folder;
  write_bytes(folder / "file", "a regular file");
  for (const std::filesystem::path& path :
       {folder / "file", folder / "file" / "below", std::filesystem::path("/proc/clcook"),
        std::filesystem::path(std::string(5000, 'x')), folder / std::string("a\0b", 3)}) {
    const DiskCache cache(path);
    bool stored = true;
    CHECK_NOTHROW(stored = cache.store("key", "binary"));
    if (path != folder / std::string("a\0b", 3)) CHECK_FALSE(stored);
    CHECK_NOTHROW(cache.load("key"));
  }
  CHECK(read_bytes(folder / "file") == "a regular file");
}

// ---- whom the folder and the files belong to ----

namespace {

constexpr uid_t kOther = 54321;  // somebody else

bool can_chown() {
  if (geteuid() == 0) return true;
  MESSAGE("SKIPPED: only root can give files to other users");
  return false;
}

void set_mode(const std::filesystem::path& path, unsigned mode) {
  REQUIRE(chmod(path.c_str(), static_cast<mode_t>(mode)) == 0);
}
unsigned mode_of(const std::filesystem::path& path) {
  struct stat is {};
  REQUIRE(lstat(path.c_str(), &is) == 0);
  return is.st_mode & 07777U;
}
void give(const std::filesystem::path& path, uid_t user) {
  REQUIRE(lchown(path.c_str(), user, static_cast<gid_t>(-1)) == 0);
}

// A cache two folders below a temporary one, with a file of the key "key".
struct Stored {
  TempFolder top;
  DiskCache cache{(top / "above" / "cache").string()};

  Stored() { REQUIRE(cache.store("key", "binary")); }
  std::filesystem::path above() const { return top / "above"; }
  std::filesystem::path folder() const { return top / "above" / "cache"; }
  std::filesystem::path file() const { return cache.path_of("key"); }
  bool hit() const { return cache.load("key") == std::optional<std::string>("binary"); }
};

// Neither reads nor writes, and says of which path it does not like what.
void check_refused(const DiskCache& cache, const std::filesystem::path& path,
                   const std::string& what) {
  const std::size_t files = files_in(cache.folder());
  CHECK_FALSE(cache.load("key"));
  CHECK_FALSE(cache.store("key", "other"));
  CHECK_FALSE(cache.store("new", "other"));
  CHECK(files_in(cache.folder()) == files);
  const std::string refusal = cache.refusal();
  CAPTURE(refusal);
  CHECK(contains(refusal, path.string() + " "));
  CHECK(contains(refusal, what));
}

}  // namespace

TEST_CASE("of all modes, those that let others write are refused") {
  const Stored stored;
  std::size_t wrong = 0;
  std::size_t taken = 0;
  for (unsigned mode = 0; mode < 010000; ++mode) {
    // Others than root need the rights themselves.
    if (geteuid() != 0 && (mode & 0700) != 0700) continue;
    const bool open = (mode & 022) != 0;
    const bool sticky = (mode & 01000) != 0;
    set_mode(stored.folder(), mode);
    wrong += stored.hit() == !open && stored.cache.refusal().empty() == !open ? 0U : 1U;
    set_mode(stored.folder(), 0700);
    set_mode(stored.above(), mode);
    const bool movable = open && !sticky;
    wrong += stored.hit() == !movable && stored.cache.refusal().empty() == !movable ? 0U : 1U;
    set_mode(stored.above(), 0700);
    set_mode(stored.file(), mode);
    wrong += stored.hit() == !open && stored.cache.refusal().empty() ? 0U : 1U;
    set_mode(stored.file(), 0600);
    taken += stored.hit() ? 1U : 0U;
  }
  CHECK(wrong == 0);
  CHECK(taken == (geteuid() == 0 ? 4096 : 512));
}

TEST_CASE("a folder that others may write to is neither read nor written") {
  const Stored stored;
  for (const unsigned mode : {01777U, 0777U, 0775U, 0770U, 0720U, 0702U, 02775U, 03777U}) {
    CAPTURE(mode);
    char name[8];
    std::snprintf(name, sizeof name, "%04o", mode);
    set_mode(stored.folder(), mode);
    check_refused(stored.cache, stored.folder(), std::string("mode ") + name);
    set_mode(stored.folder(), 0755);
    CHECK(stored.hit());
    if ((mode & 01000) != 0) continue;
    set_mode(stored.above(), mode);
    check_refused(stored.cache, stored.above(), std::string("mode ") + name);
    // Nor is a folder made there.
    const DiskCache fresh((stored.above() / "fresh").string());
    check_refused(fresh, stored.above(), std::string("mode ") + name);
    CHECK_FALSE(std::filesystem::exists(fresh.folder()));
    set_mode(stored.above(), 0755);
  }
  CHECK(stored.hit());
}

TEST_CASE("a folder, one above it or a link to it that is somebody else's is refused") {
  if (!can_chown()) return;
  const Stored stored;
  const std::filesystem::path link = stored.top / "link";
  std::filesystem::create_symlink("above/cache", link);
  const DiskCache linked(link.string());
  for (const std::filesystem::path& path : {stored.above(), stored.folder(), link}) {
    const DiskCache& cache = path == link ? linked : stored.cache;
    CHECK(cache.load("key"));
    give(path, kOther);
    check_refused(cache, path, text("belongs to user ", kOther));
    give(path, 0);
    CHECK(cache.load("key"));
  }
}

TEST_CASE("a file that is somebody else's, or that others may write to, is built anew") {
  const Stored stored;
  const std::string whole = read_bytes(stored.file());
  const auto is_replaced = [&] {
    CHECK_FALSE(stored.hit());
    CHECK(stored.cache.refusal().empty());
    REQUIRE(stored.cache.store("key", "binary"));
    CHECK(stored.hit());
    CHECK(mode_of(stored.file()) == 0600);
    CHECK(files_in(stored.folder()) == 1);
  };
  for (const unsigned mode : {0666U, 0664U, 0620U, 0602U}) {
    set_mode(stored.file(), mode);
    is_replaced();
  }
  for (const unsigned mode : {0644U, 0640U, 0400U}) {  // as earlier versions wrote them
    set_mode(stored.file(), mode);
    CHECK(stored.hit());
  }
  // A link is not followed, and what it leads to stays as it is.
  for (const bool sound : {true, false}) {
    const std::filesystem::path target = stored.top / "target";
    write_bytes(target, sound ? whole : "precious");
    std::filesystem::remove(stored.file());
    std::filesystem::create_symlink(target, stored.file());
    is_replaced();
    CHECK(std::filesystem::is_regular_file(std::filesystem::symlink_status(stored.file())));
    CHECK(read_bytes(target) == (sound ? whole : "precious"));
  }
  std::filesystem::remove(stored.file());
  REQUIRE(mkfifo(stored.file().c_str(), 0600) == 0);
  is_replaced();
  if (!can_chown()) return;
  set_mode(stored.file(), 0600);
  give(stored.file(), kOther);
  is_replaced();
}

TEST_CASE("another user's program reads what root stored, and nothing of a third") {
  if (!can_chown()) return;
  const Stored stored;
  for (const auto& path : {stored.top.path(), stored.above(), stored.folder()})
    set_mode(path, 0755);
  set_mode(stored.file(), 0644);
  const auto hit_as = [&](uid_t user) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      if (setuid(user) != 0) _exit(9);
      _exit(stored.hit() ? 1 : 0);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    REQUIRE(WEXITSTATUS(status) < 2);
    return WEXITSTATUS(status) == 1;
  };
  CHECK(hit_as(kOther));
  for (const auto& path : {stored.top.path(), stored.above(), stored.folder(), stored.file()}) {
    CAPTURE(path);
    give(path, kOther);
    CHECK(hit_as(kOther));
    CHECK_FALSE(hit_as(kOther + 1));
    CHECK_FALSE(stored.hit());
    give(path, 0);
  }
  CHECK(stored.hit());
}

TEST_CASE("a folder behind links is judged with the folders that hold them") {
  const Stored stored;
  const std::filesystem::path place = stored.top / "place";
  std::filesystem::create_directory(place);
  const auto cache_at = [&](const std::filesystem::path& target) {
    std::filesystem::remove(place / "link");
    std::filesystem::create_symlink(target, place / "link");
    return DiskCache((place / "link").string());
  };
  for (const char* target : {"../above/cache", ".././above//cache/.", "../above/../above/cache/"}) {
    CAPTURE(target);
    CHECK(cache_at(target).load("key"));
    CHECK(DiskCache((place / target).string()).load("key"));
    set_mode(place, 0777);  // anybody may lead the link elsewhere
    check_refused(cache_at(target), place, "mode 0777");
    set_mode(place, 01777);
    CHECK(cache_at(target).load("key"));
    set_mode(place, 0700);
  }
  CHECK(cache_at(stored.folder()).load("key"));
  // The end of the way may not be sticky either, however it is named.
  set_mode(stored.folder(), 01777);
  check_refused(cache_at(stored.folder() / ""), stored.folder(), "mode 1777");
  std::filesystem::create_directory(stored.folder() / "below");
  check_refused(cache_at("../above/cache/below/.."), stored.folder(), "mode 1777");
  set_mode(stored.folder(), 0700);

  const DiskCache loop = cache_at("link");
  CHECK_FALSE(loop.load("key"));
  CHECK_FALSE(loop.store("key", "binary"));
  CHECK(contains(loop.refusal(), "link"));
  // One that leads to no folder yet: that is made.
  const DiskCache fresh = cache_at("../above/new/er");
  CHECK(fresh.refusal().empty());
  CHECK_FALSE(fresh.load("key"));
  CHECK(fresh.store("key", "binary"));
  CHECK(fresh.load("key"));
  CHECK(files_in(stored.above() / "new" / "er") == 1);
}

TEST_CASE("a relative folder is judged with the current one and those above") {
  const Stored stored;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(stored.above());
  for (const char* name : {"cache", "./cache/", "../above/cache"}) {
    CAPTURE(name);
    const DiskCache cache{std::string(name)};
    CHECK(cache.load("key"));
    set_mode(stored.above(), 0777);
    check_refused(cache, stored.above(), "mode 0777");
    set_mode(stored.above(), 0700);
  }
  std::filesystem::current_path(before);
}

TEST_CASE("folders and files are made for the user alone, whatever umask says") {
  for (const mode_t mask : {0U, 02U, 022U, 077U, 0177U, 0777U}) {
    CAPTURE(mask);
    const TempFolder top;
    const DiskCache cache((top / "a" / "b" / "c").string());
    const mode_t before = umask(mask);
    const bool done = cache.store("key", "binary");
    umask(before);
    CHECK(done);
    for (const auto& path : {top / "a", top / "a" / "b", top / "a" / "b" / "c"})
      CHECK(mode_of(path) == 0700);
    CHECK(mode_of(cache.path_of("key")) == 0600);
    CHECK(cache.load("key"));
  }
}

TEST_CASE("what is no folder and what cannot be looked at is named") {
  const TempFolder top;
  write_bytes(top / "file", "");
  CHECK(contains(DiskCache((top / "file").string()).refusal(), "/file is no folder"));
  CHECK(contains(DiskCache((top / "file" / "x").string()).refusal(), "/file is no folder"));
  CHECK(contains(DiskCache((top / std::string(300, 'x')).string()).refusal(), "looked at"));
  CHECK(contains(DiskCache((top / std::string("a\0b", 3)).string()).refusal(), "zero byte"));
  CHECK(DiskCache((top / "not" / "there").string()).refusal().empty());
  CHECK(DiskCache().refusal().empty());
}

TEST_CASE("a folder that cannot be made is named, and one that can is not") {
  if (!can_chown()) return;
  const TempFolder top;
  set_mode(top.path(), 0755);
  const std::string folder = (top / "not" / "there").string();
  CHECK(DiskCache(folder).refusal().empty());
  CHECK(DiskCache(folder).note().empty());
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    if (setuid(kOther) != 0) _exit(9);
    const DiskCache cache(folder);
    const bool told = contains(cache.refusal(), (top / "not").string() + " cannot be made: ") &&
                      contains(cache.note(), folder) && contains(cache.note(), cache.refusal());
    _exit(told && !cache.store("key", "binary") ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}

LONG_TEST_CASE("a planted program runs where the folder is trusted, and nowhere else", 16) {
  const TempFolder folder;
  const auto key_of = [](int value) {
    return ProgramCache::make_key(
        runtime().info(), Source("value.cl", kSource).flatten(),
        Runtime::build_options(runtime().info(), Defines().set("VALUE", value)));
  };
  CHECK(run_value(with_cache(folder.path()), 71) == 71);
  const DiskCache disk(folder.path());
  REQUIRE(disk.store(key_of(72), *disk.load(key_of(71))));
  CHECK(run_value(with_cache(folder.path()), 72) == 71);  // such is the harm
  set_mode(folder.path(), 01777);
  {
    const Runtime on = with_cache(folder.path());
    CHECK(run_value(on, 72) == 72);
    check_stats(on, 0, 0, 1);
  }
  CHECK(files_in(folder.path()) == 2);
  set_mode(folder.path(), 0700);
  if (!can_chown()) return;
  give(disk.path_of(key_of(72)), kOther);
  CHECK(run_value(with_cache(folder.path()), 72) == 72);
}

TEST_CASE("a full disk makes store do nothing and leaves no file") {
  const TempFolder folder;
  const DiskCache cache(folder.path());
  REQUIRE(cache.store("key", "old"));
  // A limit on the size of files stands in for the disk: writes past it fail.
  rlimit old{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &old) == 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  bool stored = true;
  {
    rlimit small = old;
    small.rlim_cur = 4096;
    REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
    stored = cache.store("key", std::string(100000, 'x'));
    setrlimit(RLIMIT_FSIZE, &old);
  }
  std::signal(SIGXFSZ, handler);
  CHECK_FALSE(stored);
  CHECK(files_in(folder.path()) == 1);
  CHECK(*cache.load("key") == "old");  // what was there is untouched
}

TEST_CASE("the standard folder follows the environment") {
  const ScopedVariable a("CLCOOK_CACHE", std::nullopt);
  const ScopedVariable b("CLCOOK_CACHE_DIR", "/somewhere/ours");
  const ScopedVariable c("XDG_CACHE_HOME", "/somewhere/xdg");
  const ScopedVariable d("HOME", "/somewhere/home");
  const ScopedVariable e("LOCALAPPDATA", std::nullopt);
  CHECK(DiskCache::standard().folder() == "/somewhere/ours");
  const ScopedVariable f("CLCOOK_CACHE_DIR", "");
  CHECK(DiskCache::standard().folder() == "/somewhere/xdg/clcook");
  const ScopedVariable g("XDG_CACHE_HOME", std::nullopt);
  CHECK(DiskCache::standard().folder() == "/somewhere/home/.cache/clcook");
  {
    const ScopedVariable off("CLCOOK_CACHE", "0");
    CHECK_FALSE(DiskCache::standard().enabled());
  }
  const ScopedVariable h("HOME", std::nullopt);
  CHECK_FALSE(DiskCache::standard().enabled());
}

LONG_TEST_CASE("writers and readers at the same time never see half a file", 16) {
  const TempFolder folder;
  const DiskCache cache(folder.path());
  std::vector<std::string> contents;
  for (std::size_t i = 0; i < 4; ++i) {
    contents.push_back(std::string(10000 + 5000 * i, static_cast<char>('a' + i)));
  }
  REQUIRE(cache.store("key", contents[0]));
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::atomic<int> missing{0};
  std::atomic<int> reads{0};
  std::atomic<int> failed_stores{0};
  std::vector<std::thread> threads;
  for (std::size_t w = 0; w < 4; ++w) {
    threads.emplace_back([&, w] {
      for (int i = 0; i < 200; ++i) {
        if (!cache.store("key", contents[w])) ++failed_stores;
        if (!cache.store(text("own ", w), contents[w])) ++failed_stores;
      }
    });
  }
  std::vector<std::thread> readers;
  for (int r = 0; r < 2; ++r) {
    readers.emplace_back([&] {
      while (!stop) {
        const auto got = cache.load("key");
        ++reads;
        if (!got) {
          ++missing;
        } else if (std::find(contents.begin(), contents.end(), *got) == contents.end()) {
          ++wrong;
        }
      }
    });
  }
  for (std::thread& one : threads) one.join();
  stop = true;
  for (std::thread& one : readers) one.join();
  CHECK(wrong.load() == 0);
  CHECK(missing.load() == 0);
  CHECK(failed_stores.load() == 0);
  CHECK(reads.load() > 0);
  CHECK(files_in(folder.path()) == 5);
}

LONG_TEST_CASE("a program comes from source, then from memory, then from disk", 16) {
  const TempFolder folder;
  const Runtime first = with_cache(folder.path());
  CHECK(run_value(first, 11) == 11);
  check_stats(first, 0, 0, 1);
  CHECK(run_value(first, 11) == 11);
  check_stats(first, 1, 0, 1);
  CHECK(run_value(first, 12) == 12);  // another definition is another program
  check_stats(first, 1, 0, 2);
  const Runtime second = with_cache(folder.path());
  CHECK(run_value(second, 11) == 11);
  CHECK(run_value(second, 12) == 12);
  check_stats(second, 0, 2, 0);
  CHECK(run_value(second.with_queue(first.queue()), 12) == 12);  // shares the memory
  check_stats(second, 1, 2, 0);
  CHECK(files_in(folder.path()) == 2);
}

TEST_CASE("the key holds text, options and device") {
  DeviceInfo info = runtime().info();
  std::set<std::string> keys;
  const auto add = [&](const std::string& source, const std::string& options) {
    CHECK(keys.insert(ProgramCache::make_key(info, source, options)).second);
  };
  add("source", "options");
  add("sourceo", "ptions");
  add("", "sourceoptions");
  add("source\n", "options");
  for (std::string DeviceInfo::*part :
       {&DeviceInfo::platform, &DeviceInfo::platform_version, &DeviceInfo::name,
        &DeviceInfo::vendor, &DeviceInfo::version, &DeviceInfo::driver}) {
    info = runtime().info();
    info.*part += "x";
    add("source", "options");
  }
}

TEST_CASE("an edited header is another program") {
  const TempFolder folder;
  const Runtime on = with_cache(folder.path());
  for (const int value : {1, 2, 1}) {
    Source source("h.cl", "#include <v.clh>\n__kernel void k(__global int* out) { out[0] = V; }\n");
    source.header("v.clh", text("#define V ", value, "\n"));
    const cl::Buffer buffer = create_buffer(on, 4);
    Kernel kernel(on, on.build(source, {}, "test/header"), "k");
    const cl::Event done = kernel(Launch{}, {}, buffer);
    CHECK(read_buffer<cl_int>(on, buffer, 1, {done})[0] == value);
  }
  check_stats(on, 1, 0, 2);
}

TEST_CASE("a broken file of any kind leads to a rebuild and is replaced") {
  const TempFolder folder;
  CHECK(run_value(with_cache(folder.path()), 5) == 5);
  std::filesystem::path file;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) file = entry.path();
  const std::string whole = read_bytes(file);
  std::vector<std::string> broken{"", "garbage", whole.substr(0, whole.size() / 2),
                                  whole.substr(0, whole.size() - 1), whole + "x"};
  std::string flipped = whole;
  flipped[whole.size() - 100] = static_cast<char>(flipped[whole.size() - 100] ^ 1);
  broken.push_back(flipped);
  for (const std::string& content : broken) {
    write_bytes(file, content);
    {
      const Runtime on = with_cache(folder.path());
      CHECK(run_value(on, 5) == 5);
      check_stats(on, 0, 0, 1);
    }
    CHECK(read_bytes(file).size() > 100);
    const Runtime next = with_cache(folder.path());  // the file was replaced by a good one
    CHECK(run_value(next, 5) == 5);
    check_stats(next, 0, 1, 0);
  }
}

TEST_CASE("a sound file with a binary that the driver refuses leads to a rebuild") {
  const TempFolder folder;
  const DiskCache disk(folder.path());
  const std::string key =
      ProgramCache::make_key(runtime().info(), Source("value.cl", kSource).flatten(),
                             Runtime::build_options(runtime().info(), Defines().set("VALUE", 6)));
  for (const std::string& binary : {std::string(), std::string("not a program")}) {
    REQUIRE(disk.store(key, binary));
    {
      const Runtime on = with_cache(folder.path());
      CHECK(run_value(on, 6) == 6);
      check_stats(on, 0, 0, 1);
    }
    REQUIRE(disk.load(key));
    CHECK(*disk.load(key) != binary);
  }
}

TEST_CASE("an unwritable cache folder changes nothing for the caller") {
  const TempFolder folder;
  write_bytes(folder / "file", "x");
  const Runtime on = with_cache(folder / "file" / "below");
  CHECK(run_value(on, 7) == 7);
  CHECK(run_value(on, 7) == 7);
  check_stats(on, 1, 0, 1);
}

TEST_CASE("CLCOOK_CACHE=0 writes nothing") {
  const TempFolder folder;
  const ScopedVariable dir("CLCOOK_CACHE_DIR", folder.path().string());
  {
    const ScopedVariable off("CLCOOK_CACHE", "0");
    const Runtime on(runtime().queue());
    CHECK(run_value(on, 8) == 8);
    check_stats(on, 0, 0, 1);
    CHECK(files_in(folder.path()) == 0);
  }
  const ScopedVariable standard("CLCOOK_CACHE", std::nullopt);
  {
    const Runtime on(runtime().queue());
    CHECK(run_value(on, 8) == 8);
  }
  CHECK(files_in(folder.path()) == (quirks::keeps_programs(runtime().info()) ? 0 : 1));
}

TEST_CASE("threads that ask for one program build it once") {
  const Runtime on = with_cache({});
  constexpr int kThreads = 8;
  std::atomic<int> ready{0};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      ++ready;
      while (ready < kThreads) std::this_thread::yield();
      try {
        if (run_value(on, 21) != 21) ++wrong;
      } catch (...) {
        ++wrong;
      }
    });
  }
  for (std::thread& one : threads) one.join();
  CHECK(wrong.load() == 0);
  check_stats(on, kThreads - 1, 0, 1);
}

LONG_TEST_CASE("threads that ask for different programs get their own", 16) {
  const TempFolder folder;
  const Runtime on = with_cache(folder.path());
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      try {
        for (int i = 0; i < 3; ++i) {
          if (run_value(on, 30 + (t + i) % 4) != 30 + (t + i) % 4) ++wrong;
        }
      } catch (...) {
        ++wrong;
      }
    });
  }
  for (std::thread& one : threads) one.join();
  CHECK(wrong.load() == 0);
  CHECK(on.cache().stats().from_source == 4);
  CHECK(on.cache().stats().from_memory == 8);
}

TEST_CASE("every waiter gets the log of a failed build, and a later request tries again") {
  const TempFolder folder;
  const Runtime on = with_cache(folder.path());
  const Source broken("broken.cl", "__kernel void k(void) { missing_name; }\n");
  std::atomic<int> ready{0};
  std::atomic<int> with_log{0};
  std::vector<std::thread> threads;
  constexpr int kThreads = 4;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      ++ready;
      while (ready < kThreads) std::this_thread::yield();
      try {
        on.build(broken, {}, "test/broken");
      } catch (const Error& error) {
        if (error.code == Errc::build_failed && contains(error.build_log, "missing_name"))
          ++with_log;
      }
    });
  }
  for (std::thread& one : threads) one.join();
  CHECK(with_log.load() == kThreads);
  const std::uint64_t waited = on.cache().stats().from_memory;
  const Error again = error_of([&] { on.build(broken, {}, "test/broken"); });
  CHECK(contains(again.build_log, "broken.cl:1:"));
  CHECK(on.cache().stats().from_memory == waited);  // tried again, not remembered
  CHECK(on.cache().stats().from_source == 0);
  CHECK(files_in(folder.path()) == 0);
  CHECK(run_value(on, 41) == 41);  // and the cache still works
}

// Run by the next test in a process of its own.
TEST_CASE("child: first program of a process" * doctest::skip()) {
  const Runtime on = Runtime::pick({}, with_standard_cache());
  const auto begin = std::chrono::steady_clock::now();
  on.build(Source("value.cl", kSource), Defines().set("VALUE", 51), "test/value");
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  const ProgramCache::Stats stats = on.cache().stats();
  std::printf("disk=%d source=%d ms=%.3f\n", static_cast<int>(stats.from_disk),
              static_cast<int>(stats.from_source), took.count());
}

LONG_TEST_CASE("a fresh process takes its program from a warm disk cache", 16) {
  const TempFolder folder;
  const auto first_program = [&](const std::string& pocl_cache) {
    return run_self("child: first program of a process",
                    {{"CLCOOK_CACHE", std::nullopt},
                     {"CLCOOK_CACHE_DIR", (folder / "ours").string()},
                     {"POCL_CACHE_DIR", (folder / pocl_cache).string()}});
  };
  // PoCL has a cache of its own: an empty one for each process.
  std::filesystem::create_directory(folder / "pocl1");
  std::filesystem::create_directory(folder / "pocl2");
  const Ran cold = first_program("pocl1");
  const Ran warm = first_program("pocl2");
  CAPTURE(cold.err);
  CAPTURE(warm.err);
  CHECK(cold.code == 0);
  CHECK(contains(cold.out, "disk=0 source=1"));
  CHECK(warm.code == 0);
  CHECK(contains(warm.out, "disk=1 source=0"));
  const auto line = [](const std::string& out) {
    return out.substr(out.find("disk="), out.find('\n', out.find("disk=")) - out.find("disk="));
  };
  MESSAGE("cold: ", line(cold.out), ", warm: ", line(warm.out));
}

// Run by the next test: a runtime that goes with the process, behind what the compiler leaves at the
// process's end.
TEST_CASE("child: one call of a static runtime" * doctest::skip()) {
  static const Runtime on = Runtime::pick({}, with_standard_cache());
  CHECK(run_value(on, 52) == 52);
}

TEST_CASE("a process whose runtime is a static object ends well and leaves its program") {
  const TempFolder folder;
  std::filesystem::create_directory(folder / "pocl");
  const Ran once = run_self("child: one call of a static runtime",
                            {{"CLCOOK_CACHE", std::nullopt},
                             {"CLCOOK_CACHE_DIR", (folder / "ours").string()},
                             {"POCL_CACHE_DIR", (folder / "pocl").string()}});
  CAPTURE(once.out);
  CAPTURE(once.err);
  CHECK(once.code == 0);
  CHECK(DiskCache((folder / "ours").string())
            .load(ProgramCache::make_key(
                runtime().info(), Source("value.cl", kSource).flatten(),
                Runtime::build_options(runtime().info(), Defines().set("VALUE", 52)))));
}

// Run by the next test, in eight processes at once.
TEST_CASE("child: programs from a shared folder" * doctest::skip()) {
  const Runtime on = Runtime::pick({}, with_standard_cache());
  int wrong = 0;
  for (int round = 0; round < 2; ++round) {
    const Runtime fresh(
        on.queue(),
        with_standard_cache().runtime);  // the second finds on disk what the first stored
    for (int value = 60; value < 66; ++value) wrong += run_value(fresh, value) == value ? 0 : 1;
  }
  std::printf("wrong=%d\n", wrong);
}

LONG_TEST_CASE("eight processes on one cold folder compute what they should", 16) {
  const TempFolder folder;
  std::vector<Ran> ran(clcook::testing::short_grid() ? 3 : 8);
  std::vector<std::thread> threads;
  // PoCL has a cache of its own: one for each process, so that only ours is shared.
  const TempFolder pocl;
  for (std::size_t i = 0; i < ran.size(); ++i) {
    std::filesystem::create_directory(pocl / std::to_string(i));
    threads.emplace_back([&, i] {
      ran[i] = run_self("child: programs from a shared folder",
                        {{"CLCOOK_CACHE", std::nullopt},
                         {"CLCOOK_CACHE_DIR", folder.path().string()},
                         {"POCL_CACHE_DIR", (pocl / std::to_string(i)).string()}});
    });
  }
  for (std::thread& one : threads) one.join();
  for (const Ran& one : ran) {
    CAPTURE(one.out);
    CAPTURE(one.err);
    CHECK(one.code == 0);
    CHECK(contains(one.out, "wrong=0"));
  }
  // Of each program one file, and nothing that was left.
  std::size_t programs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    CAPTURE(entry.path());
    CHECK_FALSE(contains(entry.path().filename().string(), ".tmp-"));
    programs += entry.path().extension() == ".clbin" ? 1U : 0U;
  }
  CHECK(programs >= 6);
  const Runtime on = with_cache(folder.path());
  for (int value = 60; value < 66; ++value) CHECK(run_value(on, value) == value);
  check_stats(on, 0, 6, 0);
}
