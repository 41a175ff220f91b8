// What the numbers of a PNG or JPEG file become, against files that are written here byte by byte.
#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <pictures/picture.hpp>
#include <string>
#include <utility>
#include <vector>

#include "clcook_places.hpp"
#include "support/testing.hpp"

namespace {

using namespace clcook;
using namespace clcook::testing;
using pictures::parse_picture;
using pictures::Picture;

using Numbers = std::vector<unsigned>;

std::string big_endian(std::uint32_t value, unsigned bytes) {
  std::string out;
  while (bytes-- > 0) out += static_cast<char>(value >> (8 * bytes) & 255);
  return out;
}

std::string chunk(const std::string& name, const std::string& content) {
  const std::string body = name + content;
  std::uint32_t sum = ~std::uint32_t{0};
  for (const char c : body) {
    sum ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ ((sum & 1) != 0 ? 0xEDB88320u : 0);
  }
  return big_endian(static_cast<std::uint32_t>(content.size()), 4) + body + big_endian(~sum, 4);
}

// A stream of zlib in which nothing is compressed.
std::string stored(const std::string& bytes) {
  std::string out = "\x78\x01";
  for (std::size_t at = 0; at == 0 || at < bytes.size(); at += 65535) {
    const std::string part = bytes.substr(at, 65535);
    const auto size = static_cast<unsigned>(part.size());
    out += static_cast<char>(at + part.size() == bytes.size());
    for (const unsigned one : {size, ~size})
      out += {static_cast<char>(one & 255), static_cast<char>(one >> 8 & 255)};
    out += part;
  }
  std::uint32_t a = 1;
  std::uint32_t b = 0;
  for (const char c : bytes) {
    a = (a + static_cast<unsigned char>(c)) % 65521;
    b = (b + a) % 65521;
  }
  return out + big_endian(b << 16 | a, 4);
}

// A PNG as its standard describes one. `numbers` are the samples row by row.
struct Png {
  unsigned width = 1;
  unsigned height = 1;
  unsigned depth = 8;
  unsigned type = 0;
  bool interlaced = false;
  Numbers numbers;
  std::string before_palette;
  std::string palette;
  std::string behind_palette;
  std::string behind_pixels;

  unsigned channels() const { return type == 2 ? 3 : type == 4 ? 2 : type == 6 ? 4 : 1; }

  // One row of filter 0 of every dx-th pixel from x.
  std::string row(unsigned x, unsigned y, unsigned dx) const {
    std::string out(1, '\0');
    unsigned bits = 0;
    for (; x < width; x += dx) {
      for (unsigned c = 0; c < channels(); ++c) {
        const unsigned number = numbers[(std::size_t{y} * width + x) * channels() + c];
        if (depth >= 8) {
          out += big_endian(number, depth / 8);
          continue;
        }
        if (bits % 8 == 0) out += '\0';
        bits += depth;
        out.back() = static_cast<char>(static_cast<unsigned char>(out.back()) |
                                       number << ((8 - bits % 8) % 8));
      }
    }
    return out.size() == 1 ? "" : out;
  }

  std::string file() const {
    std::string rows;
    const std::vector<std::array<unsigned, 4>> passes =
        interlaced ? std::vector<std::array<unsigned, 4>>{{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8},
                                                          {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2},
                                                          {0, 1, 1, 2}}
                   : std::vector<std::array<unsigned, 4>>{{0, 0, 1, 1}};
    for (const auto& [x, first, dx, dy] : passes) {
      for (unsigned y = first; y < height; y += dy) rows += row(x, y, dx);
    }
    std::string head = big_endian(width, 4) + big_endian(height, 4);
    for (const unsigned one : {depth, type, 0u, 0u, unsigned{interlaced}})
      head += static_cast<char>(one);
    return "\x89PNG\r\n\x1a\n" + chunk("IHDR", head) + before_palette +
           (palette.empty() ? "" : chunk("PLTE", palette)) + behind_palette +
           chunk("IDAT", stored(rows)) + behind_pixels + chunk("IEND", "");
  }
};

// A sample of 1 to 16 bits as 8: the nearest.
unsigned eight_bits(unsigned number, unsigned depth) {
  const unsigned most = (1u << depth) - 1;
  return static_cast<unsigned>((std::uint64_t{number} * 510 + most) / (2 * most));
}

// Numbers without a pattern, the extremes among them.
Numbers scattered(std::size_t count, unsigned most) {
  Numbers out;
  std::uint32_t state = 7;
  for (std::size_t i = 0; i < count; ++i) {
    state = state * 1664525 + 1013904223;
    const unsigned any = (state >> 12) % (most + 1);
    out.push_back(state >> 30 == 0 ? 0 : state >> 30 == 1 ? most : any);
  }
  return out;
}

// What must be read. `transparent` is the colour of tRNS, or the alphas of a palette.
std::vector<std::uint8_t> expected(const Png& png, const Numbers& transparent) {
  std::vector<std::uint8_t> out;
  const unsigned channels = png.channels();
  for (std::size_t i = 0; i < png.numbers.size(); i += channels) {
    const Numbers pixel(png.numbers.begin() + static_cast<std::ptrdiff_t>(i),
                        png.numbers.begin() + static_cast<std::ptrdiff_t>(i + channels));
    Numbers rgba;
    if (png.type == 3) {
      for (unsigned c = 0; c < 3; ++c)
        rgba.push_back(static_cast<unsigned char>(png.palette[3 * pixel[0] + c]));
      rgba.push_back(pixel[0] < transparent.size() ? transparent[pixel[0]] : 255);
    } else {
      const bool grey = png.type == 0 || png.type == 4;
      for (unsigned c = 0; c < 3; ++c) rgba.push_back(eight_bits(pixel[grey ? 0 : c], png.depth));
      rgba.push_back(png.type >= 4          ? eight_bits(pixel.back(), png.depth)
                     : pixel == transparent ? 0
                                            : 255);
    }
    for (const unsigned one : rgba) out.push_back(static_cast<std::uint8_t>(one));
  }
  return out;
}

std::string join(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += line + "\n";
  return out;
}

// The chunks that say something about colours, as they may stand in a file of this type.
std::vector<std::string> colour_chunks(const Png& png) {
  const std::string primaries = big_endian(31270, 4) + big_endian(32900, 4) + big_endian(64000, 4) +
                                big_endian(33000, 4) + big_endian(30000, 4) + big_endian(60000, 4) +
                                big_endian(15000, 4) + big_endian(6000, 4);
  std::vector<std::string> out{"",
                               chunk("gAMA", big_endian(100000, 4)),
                               chunk("gAMA", big_endian(45455, 4)),
                               chunk("gAMA", big_endian(220000, 4)),
                               chunk("sRGB", std::string(1, '\0')),
                               chunk("cHRM", primaries),
                               chunk("gAMA", big_endian(100000, 4)) + chunk("cHRM", primaries)};
  out.push_back(chunk("iCCP", std::string("broken\0\0", 8) + stored("no profile")));
  out.push_back(chunk("cICP", std::string("\x09\x10\0\x01", 4)));
  const std::size_t significant = png.type == 3 ? 3 : png.channels();
  out.push_back(chunk("sBIT", std::string(significant, '\1')));
  return out;
}

// The bytes of a small JPEG.
std::string jpeg_file(const Picture& picture) {
  const TempFolder folder;
  const std::string path = (folder / "one.jpg").string();
  pictures::write_picture(path, picture);
  return read_bytes(path);
}

Picture coloured(int width, int height) {
  Picture out{width, height, {}};
  for (const unsigned one : scattered(out.pixels() * 4, 255))
    out.rgba.push_back(static_cast<std::uint8_t>(one));
  for (std::size_t i = 3; i < out.rgba.size(); i += 4) out.rgba[i] = 255;
  return out;
}

// TIFF data with two entries, the second of which is the orientation.
std::string exif(unsigned orientation, bool little, unsigned type = 3) {
  const auto number = [&](std::uint32_t value, unsigned bytes) {
    std::string out = big_endian(value, bytes);
    return little ? std::string(out.rbegin(), out.rend()) : out;
  };
  const std::string value =
      type == 3 ? number(orientation, 2) + number(0, 2) : number(orientation, 4);
  return (little ? "II" : "MM") + number(42, 2) + number(10, 4) + "??" + number(2, 2) +
         number(0x010E, 2) + number(2, 2) + number(4, 4) + std::string("abc\0", 4) +
         number(0x0112, 2) + number(type, 2) + number(1, 4) + value + number(0, 4);
}

std::string with_exif(const std::string& jpeg, const std::string& data) {
  const std::string content = std::string("Exif\0\0", 6) + data;
  return jpeg.substr(0, 2) + "\xff\xe1" +
         big_endian(static_cast<std::uint32_t>(content.size() + 2), 2) + content + jpeg.substr(2);
}

// Where the standard says that the first row and the first column of the file are seen.
Picture seen(const Picture& stored_rows, unsigned orientation) {
  static const char* const kSides[8][2] = {
      {"top", "left"}, {"top", "right"}, {"bottom", "right"}, {"bottom", "left"},
      {"left", "top"}, {"right", "top"}, {"right", "bottom"}, {"left", "bottom"}};
  const std::string row_at = kSides[orientation - 1][0];
  const std::string column_at = kSides[orientation - 1][1];
  const bool turned = row_at == "left" || row_at == "right";
  Picture out{turned ? stored_rows.height : stored_rows.width,
              turned ? stored_rows.width : stored_rows.height,
              {}};
  out.rgba.resize(stored_rows.rgba.size());
  for (int row = 0; row < stored_rows.height; ++row) {
    for (int column = 0; column < stored_rows.width; ++column) {
      int x = 0;
      int y = 0;
      const auto put = [&](const std::string& side, int distance) {
        if (side == "left") x = distance;
        if (side == "right") x = out.width - 1 - distance;
        if (side == "top") y = distance;
        if (side == "bottom") y = out.height - 1 - distance;
      };
      put(row_at, row);
      put(column_at, column);
      for (int c = 0; c < 4; ++c) {
        out.rgba[static_cast<std::size_t>(4 * (y * out.width + x) + c)] =
            stored_rows.rgba[static_cast<std::size_t>(4 * (row * stored_rows.width + column) + c)];
      }
    }
  }
  return out;
}

// The places of the markers of a JPEG of one scan up to that scan, the start marker left out.
std::vector<std::size_t> marker_places(const std::string& jpeg) {
  std::vector<std::size_t> out;
  for (std::size_t at = 2;;) {
    REQUIRE(static_cast<unsigned char>(jpeg.at(at)) == 0xFF);
    out.push_back(at);
    if (static_cast<unsigned char>(jpeg[at + 1]) == 0xDA) return out;
    at += 2 + 256u * static_cast<unsigned char>(jpeg[at + 2]) +
          static_cast<unsigned char>(jpeg[at + 3]);
  }
}

}  // namespace

TEST_CASE("the numbers of a PNG are its pixels: every colour type, depth and chunk about colours") {
  int files = 0;
  for (const unsigned type : {0u, 2u, 3u, 4u, 6u}) {
    for (const unsigned depth : {1u, 2u, 4u, 8u, 16u}) {
      if (depth < 8 ? type != 0 && type != 3 : depth == 16 && type == 3) continue;
      for (const bool transparent : {false, true}) {
        if (transparent && type >= 4) continue;
        for (const bool interlaced : {false, true}) {
          Png png{13, 11, depth, type, interlaced, {}, {}, {}, {}, {}};
          const unsigned most = type == 3 ? std::min(199u, (1u << depth) - 1) : (1u << depth) - 1;
          png.numbers = scattered(std::size_t{13} * 11 * png.channels(), most);
          if (type == 3) {
            for (const unsigned one : scattered(3 * (std::size_t{most} + 1), 255))
              png.palette += static_cast<char>(one);
          }
          Numbers alpha;
          std::string transparency;
          if (transparent && type == 3) {
            alpha = scattered((std::size_t{most} + 1) / 2, 255);
            for (const unsigned one : alpha) transparency += static_cast<char>(one);
          } else if (transparent) {
            alpha.assign(png.numbers.begin(), png.numbers.begin() + png.channels());
            // Of a colour that differs in one bit alone nothing is transparent.
            png.numbers.resize(png.numbers.size() - png.channels());
            png.numbers.insert(png.numbers.end(), alpha.begin(), alpha.end());
            png.numbers.back() ^= 1;
            for (const unsigned one : alpha) transparency += big_endian(one, 2);
          }
          if (transparent) png.behind_palette = chunk("tRNS", transparency);
          for (const std::string& colours : colour_chunks(png)) {
            png.before_palette = colours;
            CAPTURE(type);
            CAPTURE(depth);
            CAPTURE(transparent);
            CAPTURE(interlaced);
            CAPTURE(colours.substr(0, 16));
            const Picture picture = parse_picture("picture", png.file());
            CHECK((picture.width == 13 && picture.height == 11));
            CHECK(picture.rgba == expected(png, alpha));
            CHECK(join(picture.warnings).empty());
            ++files;
          }
        }
      }
    }
  }
  CHECK(files == 520);
}

TEST_CASE("each of the 65536 levels of a PNG of 16 bits becomes the nearest of 256") {
  Png png{256, 256, 16, 0, false, {}, {}, {}, {}, {}};
  for (unsigned v = 0; v < 65536; ++v) png.numbers.push_back(v);
  for (const std::string& colours : {std::string(), chunk("gAMA", big_endian(100000, 4))}) {
    png.before_palette = colours;
    const Picture picture = parse_picture("picture", png.file());
    std::size_t wrong = 0;
    for (std::size_t v = 0; v < 65536; ++v) {
      if (picture.rgba[4 * v] != (v * 255 + 32767) / 65535) ++wrong;
      if (v % 257 == 0 && picture.rgba[4 * v] != v / 257) ++wrong;
      if (picture.rgba[4 * v + 3] != 255) ++wrong;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("an interlaced PNG of any size, and one wider than a million pixels") {
  for (unsigned width = 1; width <= 17; ++width) {
    for (unsigned height = 1; height <= 9; ++height) {
      Png png{width, height, 8,  0, true, scattered(std::size_t{width} * height, 255),
              {},    {},     {}, {}};
      CAPTURE(width);
      CAPTURE(height);
      CHECK(parse_picture("picture", png.file()).rgba == expected(png, {}));
    }
  }
  const Png wide{1000001, 1, 1, 0, false, Numbers(1000001, 1), {}, {}, {}, {}};
  CHECK(parse_picture("picture", wide.file()).width == 1000001);
}

TEST_CASE("a PNG whose pixels are all there is read with a warning, any other is refused") {
  Png png{9, 7, 8, 2, false, scattered(std::size_t{9} * 7 * 3, 255), {}, {}, {}, {}};
  png.before_palette = chunk("tEXt", std::string("a\0b", 3));
  const std::string whole = png.file();
  const std::vector<std::uint8_t> pixels = expected(png, {});
  CHECK(join(parse_picture("picture", whole).warnings).empty());
  CHECK(parse_picture("picture", whole + "behind the end").rgba == pixels);
  std::size_t refused = 0;
  std::size_t warned = 0;
  for (std::size_t at = 8; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x21);
    CAPTURE(at);
    try {
      const Picture picture = parse_picture("picture", damaged);
      CHECK(picture.rgba == pixels);
      CHECK(picture.warnings.size() == 1);
      ++warned;
    } catch (const Error& error) {
      CHECK(error.code == Errc::io);
      ++refused;
    }
  }
  CHECK(refused > 200);
  CHECK(warned > 10);
  const std::size_t end = whole.size() - 12;
  for (std::size_t length = 0; length < whole.size(); ++length) {
    CAPTURE(length);
    if (length < end) {
      CHECK(error_of([&] { parse_picture("picture", whole.substr(0, length)); }).code == Errc::io);
    } else {
      const Picture picture = parse_picture("picture", whole.substr(0, length));
      CHECK(picture.rgba == pixels);
      CHECK(contains(join(picture.warnings), "cut off"));
    }
  }
}

TEST_CASE("all eight orientations, in both byte orders, of JPEG and PNG") {
  const std::string jpeg = jpeg_file(coloured(13, 7));
  const Picture as_stored = parse_picture("picture", jpeg);
  Png png{5, 3, 8, 6, false, scattered(std::size_t{5} * 3 * 4, 255), {}, {}, {}, {}};
  const Picture rows{5, 3, expected(png, {})};
  for (unsigned orientation = 1; orientation <= 8; ++orientation) {
    for (const bool little : {false, true}) {
      for (const unsigned type : {3u, 4u}) {
        CAPTURE(orientation);
        CAPTURE(little);
        const std::string data = exif(orientation, little, type);
        const Picture one = parse_picture("picture", with_exif(jpeg, data));
        const Picture wanted = seen(as_stored, orientation);
        CHECK((one.width == wanted.width && one.height == wanted.height));
        CHECK(one.rgba == wanted.rgba);
        Png before = png;
        before.behind_palette = chunk("eXIf", data);
        Png behind = png;
        behind.behind_pixels = chunk("eXIf", data);
        for (const Png& other : {before, behind}) {
          const Picture two = parse_picture("picture", other.file());
          const Picture upright = seen(rows, orientation);
          CHECK((two.width == upright.width && two.height == upright.height));
          CHECK(two.rgba == upright.rgba);
          CHECK(join(two.warnings).empty());
        }
      }
    }
  }
}

TEST_CASE("Exif data that are broken or say nothing turn nothing, and are no error") {
  const std::string jpeg = jpeg_file(coloured(13, 7));
  const Picture as_stored = parse_picture("picture", jpeg);
  const auto unturned = [&](const std::string& data) {
    const Picture picture = parse_picture("picture", with_exif(jpeg, data));
    return picture.rgba == as_stored.rgba && picture.warnings.empty();
  };
  for (const unsigned value : {0u, 9u, 255u, 256u, 0x600u, 65535u})
    CHECK(unturned(exif(value, true)));
  const std::string whole = exif(6, false);
  REQUIRE_FALSE(unturned(whole));
  // The last byte that counts is that of the value.
  for (std::size_t length = 0; length < whole.size() - 6; ++length) {
    CAPTURE(length);
    CHECK(unturned(whole.substr(0, length)));
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char value : {'\0', '\x7f', '\xff'}) {
      std::string damaged = whole;
      damaged[at] = value;
      CHECK_NOTHROW(parse_picture("picture", with_exif(jpeg, damaged)));
    }
  }
  // A directory beyond the end, and one that lies on its own header.
  for (const char* place : {"\xff\xff\xff\xff", "\x7f\xff\xff\xf0"})
    CHECK(unturned(whole.substr(0, 4) + place + whole.substr(8)));
  CHECK(unturned(whole.substr(0, 4) + std::string(4, '\0') + whole.substr(8)));
}

TEST_CASE("a JPEG with what decoders warn of gives its pixels and a warning") {
  const std::string jpeg = jpeg_file(coloured(33, 18));
  const Picture whole = parse_picture("picture", jpeg);
  CHECK(whole.warnings.empty());
  const auto warned = [&](const std::string& file, const std::string& part) {
    const Picture picture = parse_picture("picture", file);
    CHECK(picture.rgba == whole.rgba);
    CHECK(picture.warnings.size() == 1);
    CHECK(contains(join(picture.warnings), part));
  };
  for (const std::size_t place : marker_places(jpeg)) {
    CAPTURE(place);
    for (const std::string& stray : {std::string(1, '\0'), std::string("\x12\x34\x56"),
                                     std::string("\xff\0\xff\0", 4), std::string(300, 'x')})
      warned(jpeg.substr(0, place) + stray + jpeg.substr(place), "extraneous bytes before marker");
  }
  // Up to eight bytes the decoder takes for a part of the pixels' last bits.
  warned(jpeg.substr(0, jpeg.size() - 2) + std::string(20, 'x') + jpeg.substr(jpeg.size() - 2),
         "before marker 0xd9");
  const std::size_t version = jpeg.find("JFIF") + 5;
  for (const char major : {'\0', '\2', '\xff'}) {
    std::string odd = jpeg;
    odd[version] = major;
    CAPTURE(int{major});
    warned(odd, "unknown JFIF revision");
  }
  // Nobody warns of what follows the end, of fill bytes, or of a newer minor version.
  std::string newer = jpeg;
  newer[version + 1] = '\x07';
  for (const std::string& file : {jpeg + "behind the end", jpeg + jpeg, newer,
                                  jpeg.substr(0, 2) + "\xff\xff" + jpeg.substr(2)}) {
    const Picture picture = parse_picture("picture", file);
    CHECK(picture.rgba == whole.rgba);
    CHECK(picture.warnings.empty());
  }
  // Bytes that miss within the pixels: others give what can be decoded, too.
  const std::size_t middle = (marker_places(jpeg).back() + jpeg.size()) / 2;
  const Picture half = parse_picture("picture", jpeg.substr(0, middle) + "\xff\xd9");
  CHECK(half.width == 33);
  CHECK(contains(join(half.warnings), "premature end"));
}

TEST_CASE("a JPEG that is cut off is refused, whatever else there is to warn of") {
  const std::string jpeg = jpeg_file(coloured(33, 18));
  const std::string stray = jpeg.substr(0, 2) + "stray" + jpeg.substr(2);
  for (const std::string& file : {jpeg, stray}) {
    for (std::size_t length = 2; length < file.size(); ++length) {
      const Error error = error_of([&] { parse_picture("here", file.substr(0, length)); });
      CAPTURE(length);
      CHECK(error.code == Errc::io);
      CHECK(contains(error.what(), "here: the JPEG is cut off: it has no end marker"));
    }
  }
}

TEST_CASE("CMYK and YCCK become RGB: 255 is no ink") {
  for (const char* name : {"cmyk.jpg", "ycck.jpg"}) {
    CAPTURE(name);
    const Picture picture = parse_picture(
        "picture",
        read_bytes(std::filesystem::path(CLCOOK_SOURCE_DIR) / "tests/fuzz/seeds/picture" / name));
    REQUIRE((picture.width == 33 && picture.height == 21));
    int largest = 0;
    for (int y = 0; y < 21; ++y) {
      for (int x = 0; x < 33; ++x) {
        const int ink[3] = {255 * x / 33, 255 * y / 21, 255 - 255 * (x + y) / 54};
        const int black = 255 - (x * 7 + y * 5) % 200;
        for (int c = 0; c < 3; ++c) {
          const int got = picture.rgba[static_cast<std::size_t>(4 * (y * 33 + x) + c)];
          largest = std::max(largest, std::abs(got - (ink[c] * black + 127) / 255));
        }
        CHECK(picture.rgba[static_cast<std::size_t>(4 * (y * 33 + x) + 3)] == 255);
      }
    }
    CHECK(largest <= 8);  // what JPEG loses at quality 100
    CHECK(picture.warnings.empty());
  }
}

TEST_CASE("JPEG files that no decoder here knows are refused by what they are") {
  std::string jpeg = jpeg_file(coloured(16, 16));
  const auto message = [&](std::size_t from_frame, char value) {
    std::string other = jpeg;
    for (const std::size_t place : marker_places(jpeg)) {
      if (jpeg[place + 1] == '\xc0') other[place + from_frame] = value;
    }
    return std::string(error_of([&] { parse_picture("here", other); }).what());
  };
  CHECK(contains(message(1, '\xc3'), "cannot decode the JPEG: Unsupported JPEG process"));
  CHECK(contains(message(4, 12), "cannot decode the JPEG: Unsupported JPEG data precision 12"));
  CHECK(contains(message(9, 2), "cannot decode the JPEG"));
  CHECK(contains(message(6, 0), "a picture of 16 x 0 pixels"));
}
