// Writing files whole or not at all: links, special files, and writing that fails.
#include <clcook/io/whole_file.hpp>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <future>
#include <stdexcept>
#include <thread>

#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;
using io::WholeFile;
using io::write_file;
namespace fs = std::filesystem;

namespace {

std::size_t files_in(const TempFolder& folder) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& one : fs::recursive_directory_iterator(folder.path())) ++count;
  return count;
}

// The message of a refused path; nothing else may have happened in the folder.
std::string refused(const fs::path& path, const TempFolder& folder) {
  const std::size_t before = files_in(folder);
  const Error error = error_of([&] { write_file(path, "new"); });
  CHECK(error.code == Errc::io);
  CHECK(contains(error.what(), path.string()));
  CHECK(files_in(folder) == before);
  return error.what();
}

}  // namespace

TEST_CASE("a file is made, and replaced") {
  const TempFolder folder;
  const std::string content("one\0two\r\n\xff", 10);
  write_file(folder / "file", content);
  CHECK(read_bytes(folder / "file") == content);
  write_file(folder / "file", "");
  CHECK(read_bytes(folder / "file").empty());
  write_file(folder / "file", std::string(3 << 20, 'x'));
  CHECK(fs::file_size(folder / "file") == 3 << 20);
  CHECK(files_in(folder) == 1);
}

TEST_CASE("a name without a folder is a file of the working folder") {
  const TempFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  write_file("file", "content");
  fs::create_symlink("file", "link");
  write_file("link", "through the link");
  fs::current_path(before);
  CHECK(read_bytes(folder / "file") == "through the link");
}

TEST_CASE("what is not finished leaves the old file, and nothing beside it") {
  const TempFolder folder;
  write_bytes(folder / "file", "old");
  {
    WholeFile file(folder / "file");
    file.stream() << "half of the new" << std::flush;
    CHECK(read_bytes(folder / "file") == "old");
    CHECK(files_in(folder) == 2);
  }
  CHECK(read_bytes(folder / "file") == "old");
  CHECK_THROWS_AS(
      [&] {
        WholeFile file(folder / "other");
        file.stream() << "something";
        throw std::runtime_error("in between");
      }(),
      std::runtime_error);
  CHECK(files_in(folder) == 1);
}

TEST_CASE("two at a time: each is whole, the last one stays") {
  const TempFolder folder;
  WholeFile one(folder / "file");
  WholeFile two(folder / "file");
  one.stream() << "one";
  two.stream() << "two";
  two.finish();
  CHECK(read_bytes(folder / "file") == "two");
  one.finish();
  CHECK(read_bytes(folder / "file") == "one");
  CHECK(files_in(folder) == 1);
}

TEST_CASE("writing that fails in the middle leaves the old file") {
  const TempFolder folder;
  write_bytes(folder / "file", "old");
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  rlimit little = before;
  little.rlim_cur = 4096;
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  REQUIRE(setrlimit(RLIMIT_FSIZE, &little) == 0);
  std::string said;
  try {
    write_file(folder / "file", std::string(1 << 20, 'x'));
  } catch (const Error& error) {
    said = error.what();
  }
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  CHECK(contains(said, "cannot write all of it"));
  CHECK(contains(said, (folder / "file").string()));
  CHECK(read_bytes(folder / "file") == "old");
  CHECK(files_in(folder) == 1);
}

TEST_CASE("the permissions of a file stay, and a new one has those of the mask") {
  const TempFolder folder;
  write_bytes(folder / "file", "old");
  fs::permissions(folder / "file", static_cast<fs::perms>(0640));
  write_file(folder / "file", "new");
  CHECK(fs::status(folder / "file").permissions() == static_cast<fs::perms>(0640));
  const mode_t mask = umask(027);
  write_file(folder / "fresh", "new");
  umask(mask);
  CHECK(fs::status(folder / "fresh").permissions() == static_cast<fs::perms>(0640));
}

TEST_CASE("a symbolic link stays one, and what it leads to is written") {
  const TempFolder folder;
  fs::create_directories(folder / "far");
  write_bytes(folder / "far" / "file", "old");
  fs::create_symlink("far/file", folder / "relative");
  fs::create_symlink(folder / "relative", folder / "absolute");
  write_file(folder / "absolute", "new");
  CHECK(fs::is_symlink(folder / "absolute"));
  CHECK(fs::is_symlink(folder / "relative"));
  CHECK(fs::is_regular_file(fs::symlink_status(folder / "far" / "file")));
  CHECK(read_bytes(folder / "far" / "file") == "new");

  fs::create_symlink("far/absent", folder / "dangling");
  write_file(folder / "dangling", "made");
  CHECK(fs::is_symlink(folder / "dangling"));
  CHECK(read_bytes(folder / "far" / "absent") == "made");

  fs::create_directory_symlink("far", folder / "to_folder");
  write_file(folder / "to_folder" / "file", "in a folder behind a link");
  CHECK(fs::is_symlink(folder / "to_folder"));
  CHECK(read_bytes(folder / "far" / "file") == "in a folder behind a link");
  CHECK(contains(refused(folder / "to_folder", folder), "is a folder"));

  fs::create_symlink("circle2", folder / "circle1");
  fs::create_symlink("circle1", folder / "circle2");
  refused(folder / "circle1", folder);
  fs::create_symlink("no/such/place", folder / "nowhere");
  CHECK(contains(refused(folder / "nowhere", folder), "there is no folder"));
}

TEST_CASE("a FIFO is written to and stays one, also behind a link") {
  const TempFolder folder;
  REQUIRE(mkfifo((folder / "fifo").c_str(), 0600) == 0);
  fs::create_symlink("fifo", folder / "link");
  const std::string content(200000, 'y');  // more than a FIFO holds
  for (const char* name : {"fifo", "link"}) {
    CAPTURE(name);
    std::future<std::string> reader =
        std::async(std::launch::async, [&] { return read_bytes(folder / "fifo"); });
    write_file(folder / name, content);
    CHECK(reader.get() == content);
    CHECK(fs::is_fifo(folder / "fifo"));
    CHECK(files_in(folder) == 2);
  }
}

TEST_CASE("missing folders are not made, and a folder is no file") {
  const TempFolder folder;
  CHECK(contains(refused(folder / "sub" / "file", folder), "there is no folder"));
  CHECK(!fs::exists(folder / "sub"));
  CHECK(contains(refused(folder.path(), folder), "is a folder"));
  write_bytes(folder / "file", "x");
  refused(folder / "file" / "below", folder);
  CHECK(read_bytes(folder / "file") == "x");
  refused(folder / std::string(300, 'n'), folder);
  refused("", folder);
}

TEST_CASE("a folder that nothing may be written to") {
  if (geteuid() == 0) {
    MESSAGE("SKIPPED: root may write everywhere");
    return;
  }
  const TempFolder folder;
  fs::create_directories(folder / "locked");
  fs::permissions(folder / "locked", static_cast<fs::perms>(0500));
  CHECK(contains(refused(folder / "locked" / "file", folder), "cannot create the file"));
  fs::permissions(folder / "locked", static_cast<fs::perms>(0700));
}
