// The examples' pictures: what is read, what is refused, and that nothing is half written.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <pictures/picture.hpp>
#include <string>
#include <vector>

#include "clcook_places.hpp"
#include "support/data.hpp"
#include "support/grid.hpp"
#include "support/sha256.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;

namespace {

Ran line_blur(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), built_program("line_blur"));
  arguments.push_back("--no-table");
  return run_program(arguments, {});
}

// Exit code 2, a message with `part`, and no file but those that were there.
void refused(const std::vector<std::string>& arguments, const std::string& part,
             const TempFolder& folder) {
  const auto files = [&] {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& one :
         std::filesystem::recursive_directory_iterator(folder.path()))
      ++count;
    return count;
  };
  const std::size_t before = files();
  const Ran ran = line_blur(arguments);
  CAPTURE(ran.out);
  CAPTURE(ran.err);
  CHECK(ran.code != 0);
  CHECK(contains(ran.err, part));
  CHECK(files() == before);
}

}  // namespace

TEST_CASE("a PNG holds every pixel, a JPEG its size, and broken ones are refused") {
  const TempFolder folder;
  const std::string png = (folder / "picture.png").string();
  const std::string jpeg = (folder / "picture.jpeg").string();
  pictures::Picture picture{5, 3, {}};
  for (std::size_t i = 0; i < picture.pixels() * 4; ++i)
    picture.rgba.push_back(static_cast<std::uint8_t>(37 * i));
  pictures::write_picture(png, picture);
  pictures::write_picture(jpeg, picture);
  CHECK(pictures::read_picture(png).rgba == picture.rgba);
  CHECK(pictures::read_picture(jpeg).width == 5);
  CHECK(pictures::read_picture(jpeg).height == 3);
  CHECK(pictures::png_bytes("here", picture) == read_bytes(png));
  for (const std::string& path : {png, jpeg}) {
    const std::string whole = read_bytes(path);
    const std::vector<std::uint8_t> pixels = pictures::read_picture(path).rgba;
    for (std::size_t length = 0; length < whole.size(); ++length) {
      CAPTURE(length);
      write_bytes(folder / "cut", whole.substr(0, length));
      try {
        // The end of a PNG holds no pixels: its last chunk of 12 bytes, and a checksum of 4.
        const pictures::Picture cut = pictures::read_picture((folder / "cut").string());
        CHECK(cut.rgba == pixels);
        CHECK(length + 16 >= whole.size());
      } catch (const Error& error) {
        CHECK(error.code == Errc::io);
      }
    }
  }
  CHECK(error_of([&] { pictures::write_picture("x.gif", picture); }).code ==
        Errc::invalid_argument);
  CHECK(error_of([&] { pictures::check_size("x", 0, 5); }).code == Errc::io);
  CHECK(error_of([&] { pictures::check_size("x", 1ULL << 33, 1ULL << 33); }).code == Errc::io);
  CHECK_NOTHROW(pictures::check_size("x", 1 << 14, 1 << 15));
  CHECK_THROWS_AS(pictures::check_size("x", 1 << 15, (1 << 14) + 1), Error);
}

TEST_CASE("a small file that promises a huge picture is refused before memory is taken for it") {
  for (const char* name : {"huge_promise.png", "huge_promise.jpg"}) {
    CAPTURE(name);
    const std::string bytes = read_bytes(std::filesystem::path(CLCOOK_SOURCE_DIR) / "tests" /
                                         "fuzz" / "seeds" / "picture" / name);
    const Error error = error_of([&] { pictures::parse_picture("picture", bytes); });
    CHECK(error.code == Errc::io);
    CHECK(contains(error.what(), "cannot hold 20000 x 20000 pixels"));
  }
  // What compresses best of all is still taken.
  pictures::Picture flat{4096, 4096, std::vector<std::uint8_t>(std::size_t{4} << 24, 255)};
  const TempFolder folder;
  for (const char* name : {"flat.png", "flat.jpg"}) {
    CAPTURE(name);
    pictures::write_picture((folder / name).string(), flat);
    CHECK(pictures::read_picture((folder / name).string()).rgba == flat.rgba);
  }
}

LONG_TEST_CASE("a scene is rendered, blurred and written, alike on every run", 16) {
  if (not_built("line_blur")) return;
  const TempFolder folder;
  const std::string one = (folder.path() / "one.png").string();
  const std::string two = (folder.path() / "two.png").string();
  const std::string scene = (folder.path() / "scene.png").string();
  REQUIRE(line_blur({"scene:64x40", one, "--radius", "4", "--input", scene}).code == 0);
  REQUIRE(line_blur({scene, two, "--radius", "4"}).code == 0);
  CHECK(read_bytes(one) == read_bytes(two));
  CHECK(read_bytes(one) != read_bytes(scene));
  CHECK(contains(read_bytes(one).substr(0, 8), "PNG"));
  REQUIRE(line_blur({scene, two, "--radius", "0", "--pixel", "rgba8"}).code == 0);
  CHECK(read_bytes(scene) == read_bytes(two));
}

TEST_CASE("missing and broken pictures are errors that name the file") {
  if (not_built("line_blur")) return;
  const TempFolder folder;
  const std::string out = (folder.path() / "out.png").string();
  const auto file = [&](const char* name, const std::string& content) {
    const std::filesystem::path path = folder.path() / name;
    write_bytes(path, content);
    return path.string();
  };
  refused({(folder.path() / "absent.png").string(), out}, "absent.png", folder);
  refused({folder.path().string(), out}, "folder", folder);
  refused({file("empty.png", ""), out}, "empty", folder);
  refused({file("text.png", "no picture"), out}, "neither PNG nor JPEG", folder);
  REQUIRE(line_blur({"scene:32x24", (folder.path() / "whole.png").string()}).code == 0);
  const std::string whole = read_bytes(folder.path() / "whole.png");
  for (const std::size_t length :
       {std::size_t{8}, std::size_t{20}, std::size_t{33}, whole.size() / 2, whole.size() - 13}) {
    CAPTURE(length);
    refused({file("cut.png", whole.substr(0, length)), out}, "cut.png", folder);
  }
  std::string damaged = whole;
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 0x55);
  refused({file("damaged.png", damaged), out}, "damaged.png", folder);
  refused({file("cut.jpg", "\xff\xd8\xff\xe0 no more"), out}, "cut.jpg", folder);
}

TEST_CASE("a picture with small damage is used, with one warning that names the file") {
  if (not_built("line_blur")) return;
  const TempFolder folder;
  const std::string whole = read_bytes(small_data("pictures/hubble.jpg"));
  const std::string stray = (folder / "stray.jpg").string();
  const std::string out = (folder / "out.png").string();
  write_bytes(stray, whole.substr(0, 2) + "stray" + whole.substr(2));
  const Ran ran = line_blur({stray, out});
  CAPTURE(ran.err);
  CHECK(ran.code == 0);
  CHECK(count_of(ran.err, "warning: " + stray + ": JPEG: ") == 1);
  CHECK(pictures::read_picture(out).width == 61);
}

TEST_CASE("values out of range and unknown names are refused before anything is written") {
  if (not_built("line_blur")) return;
  const TempFolder folder;
  const std::string out = (folder.path() / "out.png").string();
  refused({"scene:16x16", out, "--radius", "-1"}, "radius", folder);
  refused({"scene:16x16", out, "--radius", "nan"}, "radius", folder);
  refused({"scene:16x16", out, "--sigma", "-0.5"}, "sigma", folder);
  refused({"scene:16x16", out, "--variant", "fastest"}, "fastest", folder);
  refused({"scene:16x16", out, "--device", "no_such_device"}, "no_such_device", folder);
  refused({"scene:16", out}, "scene:WIDTHxHEIGHT", folder);
  refused({"scene:0x16", out}, "0 x 16", folder);
  refused({"scene:-4x16", out}, "scene", folder);
  refused({out}, "both or none", folder);
  refused({"scene:16x16", "/proc/no/such/place.png"}, "/proc/no/such/place.png", folder);
  refused({"scene:16x16", (folder.path() / "sub" / "out.png").string()}, "there is no folder",
          folder);
}

TEST_CASE("a picture is written as its name ends, and another ending is refused before any work") {
  if (not_built("line_blur")) return;
  const TempFolder folder;
  const auto path = [&](const char* name) { return (folder.path() / name).string(); };
  REQUIRE(line_blur({"scene:64x40", path("out.png"), "--radius", "4"}).code == 0);
  for (const char* name : {"out.jpg", "out.JPEG"}) {
    REQUIRE(line_blur({"scene:64x40", path(name), "--radius", "4"}).code == 0);
    CHECK(read_bytes(path(name)).substr(0, 3) == "\xff\xd8\xff");
  }
  // What is read back is the same picture: the next blur of either gives nearly the same bytes.
  REQUIRE(line_blur({path("out.jpg"), path("again.png"), "--radius", "0"}).code == 0);
  CHECK(contains(line_blur({path("out.jpg"), path("again.png")}).out, "64 x 40"));
  refused({"scene:16x16", path("out.txt")}, ".png, .jpg or .jpeg", folder);
  refused({"scene:16x16", path("out")}, ".png, .jpg or .jpeg", folder);
  refused({"scene:16x16", path("new.png"), "--input", path("copy.webp")}, "copy.webp", folder);
  refused({path("missing.png"), path("out.txt")}, "out.txt", folder);
}

TEST_CASE("every example that writes a picture refuses an ending that it does not know") {
  const TempFolder folder;
  const std::string out = (folder.path() / "out.txt").string();
  const std::vector<std::vector<std::string>> commands = {{"argument_swap", out},
                                                          {"bc6h_decode", "scene:16x16", out},
                                                          {"folded_switch", "sponge", "x.bv", out},
                                                          {"gaussian_blur", "scene:16x16", out},
                                                          {"gbuffer_shade", out},
                                                          {"group_size", out},
                                                          {"group_swizzle", out},
                                                          {"halo_tile", "scene:16x16", out},
                                                          {"local_multipass", out},
                                                          {"stream_compaction", "scene:16x16", out},
                                                          {"threshold_count", "scene:16x16", out},
                                                          {"vertex_transform", out}};
  for (std::vector<std::string> command : commands) {
    if (not_built(command[0])) continue;
    command[0] = built_program(command[0]);
    // Before any work: not even a device is asked for.
    const Ran ran = run_program(command, {{"OCL_ICD_VENDORS", "/nonexistent"}});
    CAPTURE(command[0]);
    CAPTURE(ran.err);
    CHECK(ran.code != 0);
    CHECK(contains(ran.err, ".png, .jpg or .jpeg"));
    CHECK(std::filesystem::is_empty(folder.path()));
  }
}

TEST_CASE("real pictures are read as another program reads them") {
  const auto rgb = [](const pictures::Picture& picture) {
    std::string out;
    for (std::size_t i = 0; i < picture.rgba.size(); ++i) {
      if (i % 4 != 3) out += static_cast<char>(picture.rgba[i]);
    }
    return out;
  };
  const pictures::Picture png =
      pictures::read_picture(small_data("pictures/astronaut.png").string());
  CHECK(png.width == 48);
  CHECK(png.height == 40);
  CHECK(sha256(rgb(png)) == "38ec84638f66a8374e3f9e47a67d9b5b26eddd8dbbdd24eb52415c4b748d3e81");
  // Decoders of JPEG may differ by a level or two.
  const pictures::Picture jpeg = pictures::read_picture(small_data("pictures/hubble.jpg").string());
  REQUIRE((jpeg.width == 61 && jpeg.height == 43));
  const double mean[] = {76.84, 79.03, 78.23};
  const struct {
    std::size_t pixel;
    int rgb[3];
  } known[] = {{0, {8, 10, 5}}, {42 * 61 + 60, {10, 11, 13}}, {20 * 61 + 30, {168, 171, 178}}};
  for (std::size_t c = 0; c < 3; ++c) {
    double sum = 0;
    for (std::size_t i = 0; i < jpeg.pixels(); ++i) sum += jpeg.rgba[4 * i + c];
    CHECK(std::abs(sum / static_cast<double>(jpeg.pixels()) - mean[c]) < 1);
    for (const auto& one : known) CHECK(std::abs(jpeg.rgba[4 * one.pixel + c] - one.rgb[c]) <= 3);
  }
}

LONG_TEST_CASE("real pictures, PNG and JPEG, through an example", 16) {
  if (not_built("line_blur")) return;
  std::vector<std::filesystem::path> files{small_data("pictures/astronaut.png"),
                                           small_data("pictures/hubble.jpg")};
  for (const char* name : {"astronaut.png", "hubble_deep_field.jpg"}) {
    if (const auto picture = test_data(name)) files.push_back(*picture);
  }
  for (const std::filesystem::path& picture : files) {
    CAPTURE(picture);
    const TempFolder folder;
    const std::string out = (folder.path() / "out.png").string();
    CHECK(line_blur({picture.string(), out, "--radius", "6"}).code == 0);
    CHECK(read_bytes(out).size() > 1000);
    const std::string whole = read_bytes(picture);
    write_bytes(folder.path() / "cut", whole.substr(0, whole.size() / 3));
    refused({(folder.path() / "cut").string(), out}, "cut", folder);
  }
}

LONG_TEST_CASE("a picture of yours is filtered as it is, and only the test scene gets noise", 16) {
  if (not_built("halo_tile") || not_built("line_blur")) return;
  const TempFolder folder;
  const std::string in = (folder / "in.png").string();
  const std::string out = (folder / "out.png").string();
  const std::string copy = (folder / "copy.png").string();
  const auto halo_tile = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), built_program("halo_tile"));
    arguments.insert(arguments.end(), {"--input", copy, "--rounds", "1"});
    return run_program(arguments);
  };
  const int width = 21;
  const int height = 13;
  pictures::Picture picture{width, height, {}};
  std::uint32_t state = 7;
  for (int i = 0; i < width * height * 4; ++i) {
    state = state * 1664525 + 1013904223;
    picture.rgba.push_back(i % 4 == 3 ? 255 : static_cast<std::uint8_t>(state >> 24));
  }
  pictures::write_picture(in, picture);
  const Ran ran = halo_tile({in, out, "--filter", "median"});
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  CHECK(pictures::read_picture(copy).rgba == picture.rgba);
  // The median of the file, pixels beyond the border those at it.
  const auto at = [&](int x, int y, int c) {
    x = std::clamp(x, 0, width - 1);
    y = std::clamp(y, 0, height - 1);
    return picture.rgba[static_cast<std::size_t>((y * width + x) * 4 + c)];
  };
  std::vector<std::uint8_t> medians;
  for (int i = 0; i < width * height * 4; ++i) {
    std::vector<std::uint8_t> near;
    for (int j = 0; j < 9; ++j)
      near.push_back(at(i / 4 % width + j % 3 - 1, i / 4 / width + j / 3 - 1, i % 4));
    std::nth_element(near.begin(), near.begin() + 4, near.end());
    medians.push_back(near[4]);
  }
  CHECK(pictures::read_picture(out).rgba == medians);

  REQUIRE(halo_tile({"scene:40x30", out, "--filter", "median"}).code == 0);
  const std::vector<std::uint8_t> noisy = pictures::read_picture(copy).rgba;
  REQUIRE(line_blur({"scene:40x30", out, "--input", copy}).code == 0);
  CHECK(pictures::read_picture(copy).rgba != noisy);

  // Nor is there an older frame that nobody gave.
  const Ran alone = halo_tile({in, out, "--filter", "clamp"});
  CHECK(alone.code == 2);
  CHECK(contains(alone.err, "--history"));
  CHECK(halo_tile({in, out, "--filter", "median", "--history", in}).code == 2);
  CHECK(halo_tile({"scene:40x30", out, "--filter", "clamp", "--history", in}).code == 2);
}
