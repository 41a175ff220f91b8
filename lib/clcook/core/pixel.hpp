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
#include <initializer_list>
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

inline constexpr Named<Channel> kChannels[] = {
    {Channel::u8, "u8"}, {Channel::u16, "u16"}, {Channel::f16, "f16"}, {Channel::f32, "f32"}};

// What the last of 2 or 4 channels is.
enum class Alpha {
  none,           // a channel like the others
  straight,       // alpha, by which the colours are not multiplied, as in a PNG
  premultiplied,  // alpha, by which the colours are multiplied
};

inline constexpr Named<Alpha> kAlphas[] = {
    {Alpha::none, "none"}, {Alpha::straight, "straight"}, {Alpha::premultiplied, "premultiplied"}};

// One or four channels, interleaved. An operation says which of them it takes.
enum class PixelType { r8, rgba8, r16, rgba16, r16f, rgba16f, r32f, rgba32f };

inline constexpr Named<PixelType> kPixelTypes[] = {
    {PixelType::r8, "r8"},         {PixelType::rgba8, "rgba8"},    {PixelType::r16, "r16"},
    {PixelType::rgba16, "rgba16"}, {PixelType::r16f, "r16f"},      {PixelType::rgba16f, "rgba16f"},
    {PixelType::r32f, "r32f"},     {PixelType::rgba32f, "rgba32f"}};

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

// For an operation that takes some of the types.
inline void check_pixel_type(PixelType type, std::initializer_list<PixelType> taken,
                             const char* where) {
  const char* name = pixel_type_name(type, where);
  std::string list;
  for (const PixelType one : taken) {
    if (one == type) return;
    list += std::string(list.empty() ? "" : ", ") + pixel_type_name(one, where);
  }
  fail(Errc::invalid_argument, where, text("takes the pixel types ", list, ", got ", name));
}

constexpr Channel channel_of(PixelType type) {
  return static_cast<Channel>(static_cast<int>(type) / 2);
}
constexpr int channels_of(PixelType type) { return static_cast<int>(type) % 2 == 0 ? 1 : 4; }

constexpr std::size_t channel_bytes(Channel channel) {
  return channel == Channel::u8 ? 1 : channel == Channel::f32 ? 4 : 2;
}
constexpr bool is_integer(Channel channel) {
  return channel == Channel::u8 || channel == Channel::u16;
}
constexpr std::size_t pixel_bytes(PixelType type) {
  return channel_bytes(channel_of(type)) * static_cast<std::size_t>(channels_of(type));
}

// The format of images whose texels are read as they are stored: integers as integers.
constexpr cl_image_format image_format(PixelType type) {
  const Channel channel = channel_of(type);
  return {static_cast<cl_channel_order>(channels_of(type) == 4 ? CL_RGBA : CL_R),
          static_cast<cl_channel_type>(channel == Channel::u8    ? CL_UNSIGNED_INT8
                                       : channel == Channel::u16 ? CL_UNSIGNED_INT16
                                       : channel == Channel::f16 ? CL_HALF_FLOAT
                                                                 : CL_FLOAT)};
}

// The formats of images whose texels are stored as such pixels: bits that a copy to a buffer keeps.
inline std::vector<cl_image_format> stored_formats(PixelType type) {
  std::vector<cl_image_format> out{image_format(type)};
  if (is_integer(channel_of(type))) {
    const bool bytes = channel_of(type) == Channel::u8;
    out.push_back({out[0].image_channel_order,
                   static_cast<cl_channel_type>(bytes ? CL_UNORM_INT8 : CL_UNORM_INT16)});
  }
  return out;
}

// Alpha where nothing is transparent.
constexpr float top_alpha(Channel channel) {
  return channel == Channel::u8 ? 255.0f : channel == Channel::u16 ? 65535.0f : 1.0f;
}

// The first channels of a constant pixel of straight alpha, with colours times alpha as
// clcook_weighted() of alpha.clh computes them.
template <class Values>
Values weighted_by_alpha(Values values, Channel channel, int channels) {
  const auto last = static_cast<std::size_t>(channels) - 1;
  const auto alpha = values[last];
  for (std::size_t c = 0; c < last; ++c)
    values[c] = alpha == 0 ? 0 : values[c] * (alpha / top_alpha(channel));
  return values;
}

// What multiplying by straight alpha and dividing by it adds to an error, in units of the largest
// value. A product is rounded twice, and so is 1 / top. The divisor is off by 2.5 units in the last
// place, and the product with it is rounded. For values up to 1 in size each rounding is at most
// 2^-24.
inline constexpr double kAlphaRoundings = 8 * 0x1p-24;

// Definitions for pixel.clh, and for alpha.clh.
inline void set_pixel(Defines& defines, Channel channel, int channels) {
  defines.flag(channel == Channel::u8    ? "CLCOOK_CHANNEL_U8"
               : channel == Channel::u16 ? "CLCOOK_CHANNEL_U16"
               : channel == Channel::f16 ? "CLCOOK_CHANNEL_F16"
                                         : "CLCOOK_CHANNEL_F32");
  defines.set("CLCOOK_CHANNELS", channels);
}

inline void set_straight_alpha(Defines& defines, Channel channel) {
  defines.set("CLCOOK_ALPHA_TOP", top_alpha(channel));
}

}  // namespace clcook
