// What the pixels of a picture are stored as: the words of all operations.
//
//   clcook::pixel_bytes(clcook::PixelType::rgba8);           // 4
//   clcook::channel_of(clcook::PixelType::rgba16f);          // Channel::f16
//   clcook::parse_pixel_type("r32f", "MyOperation");         // PixelType::r32f
#pragma once

#include <clcook/core/defines.hpp>
#include <clcook/core/error.hpp>
#include <clcook/core/names.hpp>
#include <clcook/core/opencl.hpp>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace clcook {

// What a channel is stored as. Integers are rounded to nearest even and saturated.
enum class Channel {
  u8,   // unsigned byte
  u16,  // unsigned short
  f16,  // half, IEEE 754 binary16; rounded to nearest even
  f32,  // float
};

// All that the host knows of a type of channels. The other place that knows one is pixel.clh.
struct ChannelRow {
  using Value = Channel;
  Channel value;
  const char* name;  // kernels are told CLCOOK_CHANNEL_ and the name in capitals
  std::size_t bytes;
  float top;               // the largest integer; 0: a floating-point type
  cl_channel_type stored;  // of images whose texels are read as they are stored
  cl_channel_type
      normalized;  // of images of the same bits that are read as 0 to 1; 0: there are none
};

inline constexpr ChannelRow kChannels[] = {
    {Channel::u8, "u8", 1, 255, CL_UNSIGNED_INT8, CL_UNORM_INT8},
    {Channel::u16, "u16", 2, 65535, CL_UNSIGNED_INT16, CL_UNORM_INT16},
    {Channel::f16, "f16", 2, 0, CL_HALF_FLOAT, 0},
    {Channel::f32, "f32", 4, 0, CL_FLOAT, 0}};

// What the last of 2 or 4 channels is.
enum class Alpha {
  none,           // a channel like the others
  straight,       // alpha, by which the colours are not multiplied, as in a PNG
  premultiplied,  // alpha, by which the colours are multiplied
};

inline constexpr Named<Alpha> kAlphas[] = {
    {Alpha::none, "none"}, {Alpha::straight, "straight"}, {Alpha::premultiplied, "premultiplied"}};

// One to four channels, interleaved; with three of them nothing lies between pixels. An operation says
// which of them it takes. Names say r, g, b, a for the channels in their order: a picture of b, g, r
// is one of three channels too.
enum class PixelType {
  r8,
  rg8,
  rgb8,
  rgba8,
  r16,
  rg16,
  rgb16,
  rgba16,
  r16f,
  rg16f,
  rgb16f,
  rgba16f,
  r32f,
  rg32f,
  rgb32f,
  rgba32f
};

// What a type of pixels means.
struct PixelRow {
  using Value = PixelType;
  PixelType value;
  const char* name;
  Channel channel;
  int channels;
};

inline constexpr PixelRow kPixelTypes[] = {{PixelType::r8, "r8", Channel::u8, 1},
                                           {PixelType::rg8, "rg8", Channel::u8, 2},
                                           {PixelType::rgb8, "rgb8", Channel::u8, 3},
                                           {PixelType::rgba8, "rgba8", Channel::u8, 4},
                                           {PixelType::r16, "r16", Channel::u16, 1},
                                           {PixelType::rg16, "rg16", Channel::u16, 2},
                                           {PixelType::rgb16, "rgb16", Channel::u16, 3},
                                           {PixelType::rgba16, "rgba16", Channel::u16, 4},
                                           {PixelType::r16f, "r16f", Channel::f16, 1},
                                           {PixelType::rg16f, "rg16f", Channel::f16, 2},
                                           {PixelType::rgb16f, "rgb16f", Channel::f16, 3},
                                           {PixelType::rgba16f, "rgba16f", Channel::f16, 4},
                                           {PixelType::r32f, "r32f", Channel::f32, 1},
                                           {PixelType::rg32f, "rg32f", Channel::f32, 2},
                                           {PixelType::rgb32f, "rgb32f", Channel::f32, 3},
                                           {PixelType::rgba32f, "rgba32f", Channel::f32, 4}};

// These throw Error(invalid_argument) for an unknown value; `where` names the operation.
inline const char* pixel_type_name(PixelType type, const char* where) {
  return name_of(kPixelTypes, type, where, "pixel type");
}
inline PixelType parse_pixel_type(std::string_view name, const char* where) {
  return value_of(kPixelTypes, name, where, "pixel type");
}
// These throw Error(invalid_argument) too; check_alpha() also where no channel can be alpha.
inline const char* alpha_name(Alpha alpha, const char* where) {
  return name_of(kAlphas, alpha, where, "alpha");
}
inline Alpha parse_alpha(std::string_view name, const char* where) {
  return value_of(kAlphas, name, where, "alpha");
}
inline void check_alpha(Alpha alpha, int channels, const char* where) {
  const char* name = alpha_name(alpha, where);
  if (alpha != Alpha::none && channels != 2 && channels != 4) {
    fail(
        Errc::invalid_argument, where,
        text("alpha ", name, " needs 2 or 4 channels, of which the last is alpha, got ", channels));
  }
}

// The types with at least so many channels, for an operation that takes these; in the order of the
// table.
inline std::vector<PixelType> pixel_types_from(int channels) {
  std::vector<PixelType> out;
  for (const PixelRow& row : kPixelTypes) {
    if (row.channels >= channels) out.push_back(row.value);
  }
  return out;
}
inline std::vector<std::string> pixel_type_names(const std::vector<PixelType>& types) {
  std::vector<std::string> out;
  for (const PixelType type : types) out.emplace_back(row_of(kPixelTypes, type).name);
  return out;
}

// For an operation that takes some of the types.
inline void check_pixel_type(PixelType type, const std::vector<PixelType>& taken,
                             const char* where) {
  const char* name = pixel_type_name(type, where);
  std::string list;
  for (const PixelType one : taken) {
    if (one == type) return;
    list += std::string(list.empty() ? "" : ", ") + pixel_type_name(one, where);
  }
  fail(Errc::invalid_argument, where, text("takes the pixel types ", list, ", got ", name));
}

// The type of pixels with so many of these channels, 1 to 4.
constexpr PixelType pixel_type(Channel channel, int channels) {
  return static_cast<PixelType>(4 * static_cast<int>(channel) + channels - 1);
}
constexpr Channel channel_of(PixelType type) { return row_of(kPixelTypes, type).channel; }
constexpr int channels_of(PixelType type) { return row_of(kPixelTypes, type).channels; }

constexpr std::size_t channel_bytes(Channel channel) { return row_of(kChannels, channel).bytes; }
constexpr bool is_integer(Channel channel) { return row_of(kChannels, channel).top > 0; }
// The value of an integer that counts as 1: the largest one. Of floating-point types 1.
constexpr float top_of(Channel channel) {
  return is_integer(channel) ? row_of(kChannels, channel).top : 1.0f;
}
constexpr std::size_t pixel_bytes(PixelType type) {
  return channel_bytes(channel_of(type)) * static_cast<std::size_t>(channels_of(type));
}

// What offsets and pitches of rows of such pixels are multiples of, in bytes: a pixel, of three channels
// a channel, since rows of these are often filled up to some power of two.
constexpr std::size_t pixel_step(PixelType type) {
  return channels_of(type) == 3 ? channel_bytes(channel_of(type)) : pixel_bytes(type);
}

// The format of images whose texels are read as they are stored: integers as integers. Of three
// channels it is one that no device has.
constexpr cl_image_format image_format(PixelType type) {
  constexpr cl_channel_order kOrders[] = {CL_R, CL_RG, CL_RGB, CL_RGBA};
  return {kOrders[channels_of(type) - 1], row_of(kChannels, channel_of(type)).stored};
}

// The format of images of the same bits that read_imagef() reads: integers as 0 to 1. A linear filter
// takes these.
constexpr cl_image_format float_image_format(PixelType type) {
  cl_image_format out = image_format(type);
  const cl_channel_type normalized = row_of(kChannels, channel_of(type)).normalized;
  if (normalized != 0) out.image_channel_data_type = normalized;
  return out;
}

// The formats of images whose texels are stored as such pixels: bits that a copy to a buffer keeps. The
// first three of four channels may come in either order. None for three channels.
inline std::vector<cl_image_format> stored_formats(PixelType type) {
  if (channels_of(type) == 3) return {};
  std::vector<cl_image_format> out{image_format(type)};
  const cl_channel_type normalized = row_of(kChannels, channel_of(type)).normalized;
  if (normalized != 0) out.push_back({out[0].image_channel_order, normalized});
  if (type == PixelType::rgba8)  // the other order of four bytes that devices have
    out.insert(out.end(), {{CL_BGRA, CL_UNSIGNED_INT8}, {CL_BGRA, CL_UNORM_INT8}});
  return out;
}

// The first channels of a constant pixel of straight alpha, with colours times alpha as
// clcook_weighted() of alpha.clh computes them.
template <class Values>
Values weighted_by_alpha(Values values, Channel channel, int channels) {
  const auto last = static_cast<std::size_t>(channels) - 1;
  const auto alpha = values[last];
  for (std::size_t c = 0; c < last; ++c)
    values[c] = alpha == 0 ? 0 : values[c] * (alpha / top_of(channel));
  return values;
}

// What multiplying by straight alpha and dividing by it adds to an error, in units of the largest
// value. A product is rounded twice, and so is 1 / top. The divisor is off by 2.5 units in the last
// place, and the product with it is rounded. For values up to 1 in size each rounding is at most
// 2^-24.
inline constexpr double kAlphaRoundings = 8 * 0x1p-24;

// Definitions for pixel.clh, and for alpha.clh.
inline void set_pixel(Defines& defines, Channel channel, int channels) {
  defines.flag("CLCOOK_CHANNEL_" + upper_case(row_of(kChannels, channel).name));
  defines.set("CLCOOK_CHANNELS", channels);
}

// Definitions for pixel.clh of which halfs and floats are keys: integers in the order of the values.
inline void set_keys(Defines& defines, Channel channel, int channels) {
  if (is_integer(channel)) return set_pixel(defines, channel, channels);
  defines.flag(channel == Channel::f16 ? "CLCOOK_CHANNEL_KEY16" : "CLCOOK_CHANNEL_KEY32");
  defines.set("CLCOOK_CHANNELS", channels);
}

// Alpha goes from 0 to top_of().
inline void set_straight_alpha(Defines& defines, Channel channel) {
  defines.set("CLCOOK_ALPHA_TOP", top_of(channel));
}

}  // namespace clcook
