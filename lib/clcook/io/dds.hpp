// Reads and writes the layout of DDS files with BC6H textures: mip chains, arrays, cube maps. std
// only.
//
//   const std::string blocks(2 * 2 * 16, '\0');  // of 8 x 8 texels
//   const std::string file =
//       clcook::io::write_dds({clcook::io::DdsFormat::bc6h_uf16, 8, 8, 1, 1, false}, blocks);
//   const clcook::io::Dds dds = clcook::io::parse_dds(file);
//   const clcook::io::DdsLevel level = dds.level(0, 0);  // where slice 0, mip 0 lies in the file
//
// A file is a header of 148 bytes (128 in the legacy form), then for each slice (array element,
// cube face) all mips from large to small, each the rows of its blocks without padding. A block is
// 16 bytes for 4 x 4 texels. All header fields are 32-bit little-endian.
//
// The reader believes no size field. From width, height, mipMapCount and arraySize it computes
// where every mip lies, and checks the sum against the length of the file. It allocates only one
// entry per mip and warning. It ignores what it does not need: existing writers disagree about the
// flags and caps of a DX10 file, pitchOrLinearSize, the reserved words and miscFlags2.
//
// The reader accepts slips of writers if the length of the file leaves only one reading, and lists
// them in Dds::warnings: an arraySize that counts the faces of cubes, or is 0; a resourceDimension
// of 0; more mips than the sides have, with or without a block behind each slice for every mip too
// many; bytes behind the last mip; and, in a texture of one slice, missing small mips.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <clcook/io/format_error.hpp>

namespace clcook::io {

// DXGI_FORMAT_BC6H_UF16 and DXGI_FORMAT_BC6H_SF16.
enum class DdsFormat : std::uint32_t { bc6h_uf16 = 95, bc6h_sf16 = 96 };

constexpr std::size_t kDdsHeaderBytes = 148;
constexpr std::size_t kDdsLegacyHeaderBytes = 128;
constexpr std::uint64_t kDdsBlockBytes = 16;
constexpr std::uint32_t kDdsMaxSide = 1u << 20;  // texels; more is refused as nonsense

// What is done about bytes after the last mip.
enum class DdsTrailing {
  refuse,  // they are an error
  allow,   // Dds::trailing_bytes counts them, and there is a warning
};

// One mip of one slice.
struct DdsLevel {
  std::uint32_t width = 0;  // texels
  std::uint32_t height = 0;
  std::uint32_t blocks_wide = 0;
  std::uint32_t blocks_high = 0;
  std::uint64_t offset = 0;  // of its first byte in the file
  std::uint64_t bytes = 0;   // blocks_wide x blocks_high x 16

  std::uint64_t row_bytes() const { return blocks_wide * kDdsBlockBytes; }
};

// The layout of a file. Made by dds_layout or parse_dds only; all sums in it are exact.
struct Dds {
  DdsFormat format = DdsFormat::bc6h_uf16;
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::uint32_t array_size = 1;  // of a cube map: the number of cubes
  bool cube = false;             // six slices each: +x -x +y -y +z -z
  bool legacy = false;           // FourCC "BC6H" without a DX10 header
  std::uint64_t slices = 1;      // array_size, times 6 for cubes
  std::uint64_t data_offset = kDdsHeaderBytes;
  std::uint64_t slice_bytes = 0;      // from one slice to the next: all mips, as a rule no more
  std::uint64_t data_bytes = 0;       // all slices
  std::uint64_t trailing_bytes = 0;   // after the last mip
  std::vector<DdsLevel> mips;         // of slice 0; at least one
  std::vector<std::string> warnings;  // what is wrong with the file, a line each

  // Throws FormatError when there is no such slice or mip.
  DdsLevel level(std::uint64_t slice, std::size_t mip) const {
    if (slice >= slices || mip >= mips.size()) {
      throw FormatError("DDS", "slice " + std::to_string(slice) + ", mip " + std::to_string(mip) +
                                   " asked for; there are " + std::to_string(slices) +
                                   " slices of " + std::to_string(mips.size()) + " mips");
    }
    DdsLevel out = mips[mip];
    out.offset += slice * slice_bytes;
    return out;
  }
};

// What a texture is to hold.
struct DdsDescription {
  DdsFormat format = DdsFormat::bc6h_uf16;
  std::uint32_t width = 1;
  std::uint32_t height = 1;
  std::uint32_t mips = 1;  // 1 .. dds_max_mips; halving, rounded down, at least 1
  std::uint32_t array_size = 1;
  bool cube = false;
};

// Mips down to 1 x 1.
constexpr std::uint32_t dds_max_mips(std::uint32_t width, std::uint32_t height) {
  std::uint32_t count = 1;
  for (std::uint32_t side = width > height ? width : height; side > 1; side /= 2) ++count;
  return count;
}

namespace detail {

[[noreturn]] inline void dds_fail(const std::string& message) { throw FormatError("DDS", message); }

inline std::string hexadecimal(std::uint32_t value) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08X", static_cast<unsigned>(value));
  return text;
}

// As it lies in the file, unprintable characters as dots.
inline std::string four_cc(std::uint32_t value) {
  std::string text = "\"";
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned c = value >> (8 * i) & 255;
    text += c >= 32 && c < 127 ? static_cast<char>(c) : '.';
  }
  return text + "\" (" + hexadecimal(value) + ")";
}

// The little-endian word at a byte; the caller has checked the length.
inline std::uint32_t word_at(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    value |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  }
  return value;
}

inline void put_word(std::string& bytes, std::size_t at, std::uint32_t value) {
  for (std::size_t i = 0; i < 4; ++i) {
    bytes[at + i] = static_cast<char>(static_cast<unsigned char>(value >> (8 * i)));
  }
}

}  // namespace detail

// Where everything lies in a file of this texture. Throws FormatError when a value is out of range,
// the blocks of one mip are 2^32 or more, or the bytes of the file 2^63 or more.
inline Dds dds_layout(const DdsDescription& what) {
  const std::string sides = std::to_string(what.width) + " x " + std::to_string(what.height);
  if (what.format != DdsFormat::bc6h_uf16 && what.format != DdsFormat::bc6h_sf16) {
    detail::dds_fail("dxgiFormat is " + std::to_string(static_cast<std::uint32_t>(what.format)) +
                     "; only 95 (BC6H_UF16) and 96 (BC6H_SF16) are known here");
  }
  if (what.width == 0 || what.height == 0 || what.width > kDdsMaxSide ||
      what.height > kDdsMaxSide) {
    detail::dds_fail("width x height is " + sides + "; each must be 1 .. " +
                     std::to_string(kDdsMaxSide));
  }
  const std::uint32_t most = dds_max_mips(what.width, what.height);
  if (what.mips == 0 || what.mips > most) {
    detail::dds_fail("mipMapCount is " + std::to_string(what.mips) + "; " + sides +
                     " texels have 1 .. " + std::to_string(most));
  }
  if (what.array_size == 0) detail::dds_fail("arraySize is 0; must be 1 or more");
  if (what.cube && what.width != what.height) {
    detail::dds_fail("width x height is " + sides + "; the faces of a cube map are square");
  }

  Dds out;
  out.format = what.format;
  out.width = what.width;
  out.height = what.height;
  out.array_size = what.array_size;
  out.cube = what.cube;
  out.slices = std::uint64_t{what.array_size} * (what.cube ? 6 : 1);
  for (std::uint32_t mip = 0; mip < what.mips; ++mip) {
    DdsLevel level;
    level.width = std::max(1u, what.width >> mip);
    level.height = std::max(1u, what.height >> mip);
    level.blocks_wide = (level.width + 3) / 4;
    level.blocks_high = (level.height + 3) / 4;
    const std::uint64_t blocks = std::uint64_t{level.blocks_wide} * level.blocks_high;
    if (blocks > std::numeric_limits<std::uint32_t>::max()) {
      detail::dds_fail("width x height is " + sides + ", " + std::to_string(blocks) +
                       " blocks; one mip may have 4294967295");
    }
    level.offset = out.data_offset + out.slice_bytes;
    level.bytes = blocks * kDdsBlockBytes;
    out.slice_bytes += level.bytes;  // at most 21 mips below 2^36 bytes each
    out.mips.push_back(level);
  }
  const std::uint64_t limit = std::uint64_t{1} << 63;
  if (out.slices > (limit - kDdsHeaderBytes - 1) / out.slice_bytes) {
    detail::dds_fail("arraySize is " + std::to_string(what.array_size) + " with " +
                     std::to_string(out.slice_bytes) +
                     " bytes for each slice; the file would pass 2^63 bytes");
  }
  out.data_bytes = out.slices * out.slice_bytes;
  return out;
}

namespace detail {

// What the header of a file says, slips of its writer put right.
struct DdsHeader {
  DdsDescription what;
  bool legacy = false;
  std::uint32_t surplus_mips = 0;  // beyond those that the sides have
  std::vector<std::string> warnings;
};

// `head` is at least as much of the file as its header, or all of it.
inline DdsHeader dds_header_of(std::string_view head) {
  const auto need = [&](std::size_t bytes, const char* what) {
    if (head.size() < bytes) {
      dds_fail(std::to_string(head.size()) + " bytes are too few: " + what + " ends at byte " +
               std::to_string(bytes));
    }
  };
  const auto word = [&](std::size_t at) { return word_at(head, at); };
  const auto text = [](std::uint32_t value) { return std::to_string(value); };

  need(4, "the magic number");
  if (word(0) != 0x20534444) {
    dds_fail("the magic number is " + detail::four_cc(word(0)) + "; must be \"DDS \"");
  }
  need(kDdsLegacyHeaderBytes, "the header");
  if (word(4) != 124) dds_fail("size of the header is " + text(word(4)) + "; must be 124");
  if (word(76) != 32) dds_fail("size of ddspf is " + text(word(76)) + "; must be 32");
  if ((word(80) & 4) == 0) {
    dds_fail("flags of ddspf are " + hexadecimal(word(80)) +
             "; without FOURCC (0x4) the texels are not BC6H");
  }
  const std::uint32_t four_cc = word(84);
  constexpr std::uint32_t kDx10 = 0x30315844;
  constexpr std::uint32_t kBc6h = 0x48364342;
  if (four_cc != kDx10 && four_cc != kBc6h) {
    dds_fail("fourCC is " + detail::four_cc(four_cc) +
             "; only \"DX10\" and \"BC6H\" can hold BC6H");
  }
  DdsHeader out;
  out.legacy = four_cc == kBc6h;
  const std::uint32_t caps2 = word(112);
  if (word(24) > 1 || (caps2 & 0x200000) != 0) {
    dds_fail("depth is " + text(word(24)) + " and caps2 " + hexadecimal(caps2) +
             "; volume textures are not known here");
  }

  out.what.height = word(12);
  out.what.width = word(16);
  out.what.mips = std::max(1u, word(28));  // 0 and 1 both mean one mip
  const std::uint32_t most = dds_max_mips(out.what.width, out.what.height);
  constexpr std::uint32_t kSlip = 32;  // a count that is further off means nothing
  if (out.what.mips > most && out.what.mips - most < kSlip) {
    out.warnings.push_back("mipMapCount is " + text(out.what.mips) + "; " + text(out.what.width) +
                           " x " + text(out.what.height) + " texels have " + text(most));
    out.surplus_mips = out.what.mips - most;
    out.what.mips = most;
  }
  if (out.legacy) {
    // A cube map here must have all six faces.
    constexpr std::uint32_t kCube = 0x200;
    constexpr std::uint32_t kFaces = 0xFC00;
    out.what.cube = (caps2 & kCube) != 0;
    if (out.what.cube ? (caps2 & kFaces) != kFaces : (caps2 & kFaces) != 0) {
      dds_fail("caps2 is " + hexadecimal(caps2) +
               "; a cube map has CUBEMAP (0x200) and all six faces (0xFC00)");
    }
    return out;
  }
  need(kDdsHeaderBytes, "the DX10 header");
  const std::uint32_t format = word(128);
  if (format != 95 && format != 96) {
    dds_fail("dxgiFormat is " + text(format) +
             (format == 94 ? " (BC6H_TYPELESS, neither signed nor unsigned)" : "") +
             "; only 95 (BC6H_UF16) and 96 (BC6H_SF16) are known here");
  }
  if (word(132) == 0) {
    out.warnings.push_back("resourceDimension is 0; taken as 3 (two dimensions)");
  } else if (word(132) != 3) {
    dds_fail("resourceDimension is " + text(word(132)) + "; must be 3 (two dimensions)");
  }
  out.what.format = static_cast<DdsFormat>(format);
  out.what.cube = (word(136) & 4) != 0;
  out.what.array_size = word(140);
  if (out.what.array_size == 0) {
    out.warnings.push_back("arraySize is 0; taken as 1");
    out.what.array_size = 1;
  }
  return out;
}

// The layout of what a header says, with so many blocks behind the mips of each slice.
inline Dds dds_layout_of(const DdsHeader& header, std::uint32_t array_size, std::uint32_t blocks) {
  DdsDescription what = header.what;
  what.array_size = array_size;
  Dds out = dds_layout(what);
  out.warnings = header.warnings;
  out.legacy = header.legacy;
  if (out.legacy) {
    out.data_offset = kDdsLegacyHeaderBytes;
    for (DdsLevel& mip : out.mips) mip.offset -= kDdsHeaderBytes - kDdsLegacyHeaderBytes;
  }
  out.slice_bytes += blocks * kDdsBlockBytes;
  return out;
}

// Whether the slices fill the file.
inline bool dds_fills(const Dds& dds, std::uint64_t file_bytes) {
  const std::uint64_t bytes = file_bytes - std::min(file_bytes, dds.data_offset);
  return bytes % dds.slices == 0 && bytes / dds.slices == dds.slice_bytes;
}

// The first reading of a header that fills the file; what the header says where none does.
inline Dds dds_reading(const DdsHeader& header, std::uint64_t file_bytes) {
  const std::uint32_t count = header.what.array_size;
  const bool faces = header.what.cube && count % 6 == 0;
  for (const std::uint32_t array_size : {count, faces ? count / 6 : count}) {
    for (const std::uint32_t blocks : {0u, header.surplus_mips}) {
      Dds out = dds_layout_of(header, array_size, blocks);
      if (!dds_fills(out, file_bytes)) continue;
      out.data_bytes = out.slices * out.slice_bytes;
      if (array_size != count) {
        out.warnings.push_back("arraySize is " + std::to_string(count) +
                               " and counts the faces; the file has room for " +
                               std::to_string(array_size) + " x 6");
      }
      return out;
    }
  }
  return dds_layout_of(header, count, 0);
}

}  // namespace detail

// Reads the layout of a file of `file_bytes` bytes from its beginning: `head` holds its first 148
// bytes, or all of it when it is shorter, and may hold more. Throws FormatError.
inline Dds parse_dds(std::string_view head, std::uint64_t file_bytes,
                     DdsTrailing trailing = DdsTrailing::allow) {
  // A file is as long as it says, and the head may be shorter than it was promised to be.
  const auto there = static_cast<std::size_t>(std::min<std::uint64_t>(head.size(), file_bytes));
  const detail::DdsHeader header = detail::dds_header_of(head.substr(0, there));
  Dds out = detail::dds_reading(header, file_bytes);
  std::uint64_t end = out.data_offset + out.data_bytes;
  const std::string sizes =
      std::to_string(out.slices) + " slices of " + std::to_string(out.mips.size()) + " mips of " +
      std::to_string(out.width) + " x " + std::to_string(out.height) + " texels end at byte " +
      std::to_string(end) + ", the file at byte " + std::to_string(file_bytes);
  if (file_bytes < end) {
    // With several slices nobody knows whether the last one is cut off or all lack a mip.
    while (out.slices == 1 && out.mips.size() > 1 && file_bytes < end) {
      end = out.mips.back().offset;
      out.mips.pop_back();
    }
    if (file_bytes < end) detail::dds_fail("the file is cut off: " + sizes);
    out.slice_bytes = out.data_bytes = end - out.data_offset;
    out.warnings.push_back("small mips are missing, and " + std::to_string(out.mips.size()) +
                           " are there: " + sizes);
  }
  out.trailing_bytes = file_bytes - end;
  if (out.trailing_bytes == 0) return out;
  if (trailing == DdsTrailing::refuse) detail::dds_fail("bytes are left over: " + sizes);
  if (out.mips.size() < header.what.mips) return out;  // a piece of the next mip; that was told
  // Another number of mips would move every slice but the first.
  detail::DdsHeader other = header;
  const std::uint32_t most = dds_max_mips(out.width, out.height);
  for (other.what.mips = 1; out.slices > 1 && other.what.mips <= most; ++other.what.mips) {
    if (!detail::dds_fills(detail::dds_layout_of(other, out.array_size, 0), file_bytes)) continue;
    detail::dds_fail("bytes are left over, as if mipMapCount were " +
                     std::to_string(other.what.mips) + ": " + sizes);
  }
  out.warnings.push_back("bytes are left over: " + sizes);
  return out;
}

// Reads the layout of a whole file in memory.
inline Dds parse_dds(std::string_view file, DdsTrailing trailing = DdsTrailing::allow) {
  return parse_dds(file, file.size(), trailing);
}

inline Dds parse_dds(const void* file, std::size_t bytes,
                     DdsTrailing trailing = DdsTrailing::allow) {
  return parse_dds(std::string_view(static_cast<const char*>(file), bytes), trailing);
}

// The header of a file: 148 bytes, always with a DX10 part. The data of dds_layout(what) follows.
// Throws FormatError as dds_layout does.
inline std::string dds_header(const DdsDescription& what) {
  const Dds layout = dds_layout(what);
  std::string out(kDdsHeaderBytes, '\0');
  const auto put = [&](std::size_t at, std::uint32_t value) { detail::put_word(out, at, value); };
  const bool several = what.mips > 1;
  put(0, 0x20534444);
  put(4, 124);
  // CAPS, HEIGHT, WIDTH, PIXELFORMAT, LINEARSIZE and, for a chain, MIPMAPCOUNT.
  put(8, 0x1u | 0x2u | 0x4u | 0x1000u | 0x80000u | (several ? 0x20000u : 0u));
  put(12, what.height);
  put(16, what.width);
  // The field has no room for more than 4 GiB; no reader of sense believes it.
  put(20, static_cast<std::uint32_t>(std::min<std::uint64_t>(
              layout.mips[0].bytes, std::numeric_limits<std::uint32_t>::max())));
  put(28, what.mips);
  put(76, 32);
  put(80, 4);
  put(84, 0x30315844);
  // TEXTURE; COMPLEX for a chain or a cube; MIPMAP for a chain.
  put(108, 0x1000u | (several || what.cube ? 0x8u : 0u) | (several ? 0x400000u : 0u));
  put(112, what.cube ? 0xFE00u : 0u);
  put(128, static_cast<std::uint32_t>(what.format));
  put(132, 3);
  put(136, what.cube ? 4u : 0u);
  put(140, what.array_size);
  put(144, 3);  // alpha is opaque
  return out;
}

// A whole file. `data` is every mip of every slice in the order of the file; throws FormatError
// when it has another length.
inline std::string write_dds(const DdsDescription& what, std::string_view data) {
  const Dds layout = dds_layout(what);
  if (data.size() != layout.data_bytes) {
    detail::dds_fail(std::to_string(data.size()) + " bytes given for " +
                     std::to_string(layout.slices) + " slices of " +
                     std::to_string(layout.slice_bytes) + " bytes");
  }
  std::string out = dds_header(what);
  out.append(data);
  return out;
}

}  // namespace clcook::io
