// Channels as they are stored, for the data of tests.
#pragma once

#include <algorithm>
#include <clcook/core/error.hpp>
#include <clcook/core/half.hpp>
#include <clcook/core/pixel.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace clcook {

// A half, NaN and infinities included.
inline double half_value(std::uint16_t half) {
  if ((half & 0x7C00) != 0x7C00) return finite_half(half);
  if ((half & 0x3FF) != 0) return std::numeric_limits<double>::quiet_NaN();
  return (half & 0x8000) != 0 ? -HUGE_VAL : HUGE_VAL;
}

// The bytes of values in units of the type, rounded to nearest even; integers saturated, 0 for NaN.
template <class Value>
std::vector<unsigned char> store_channels(Channel channel, const std::vector<Value>& values) {
  const std::size_t bytes = channel_bytes(channel);
  std::vector<unsigned char> out(values.size() * bytes);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto value = static_cast<double>(values[i]);
    const auto single = static_cast<float>(value);
    std::uint16_t word = 0;
    if (is_integer(channel) && !std::isnan(value)) {
      const auto most = static_cast<double>(top_of(channel));
      word = static_cast<std::uint16_t>(std::nearbyint(std::min(std::max(value, 0.0), most)));
    } else if (!is_integer(channel) && bytes == sizeof word) {
      word = to_half(value);
    }
    const auto byte = static_cast<unsigned char>(word);
    const void* from = &word;
    if (bytes == sizeof byte) from = &byte;
    if (bytes == sizeof single) from = &single;
    std::memcpy(out.data() + i * bytes, from, bytes);
  }
  return out;
}

// The value of channel `i`.
inline double load_channel(Channel channel, const unsigned char* bytes, std::size_t i) {
  if (channel_bytes(channel) == 1) return bytes[i];
  if (channel_bytes(channel) == 4) {
    float value = 0;
    std::memcpy(&value, bytes + 4 * i, 4);
    return static_cast<double>(value);
  }
  std::uint16_t word = 0;
  std::memcpy(&word, bytes + 2 * i, 2);
  return is_integer(channel) ? word : half_value(word);
}

// The value that the type holds for it.
inline float stored_value(Channel channel, float value) {
  const std::vector<unsigned char> bytes = store_channels<float>(channel, {value});
  return static_cast<float>(load_channel(channel, bytes.data(), 0));
}

// Which value of a picture of rows of `width` pixels is meant.
inline std::string place_of(std::size_t value, int width, int channels) {
  const auto each = static_cast<std::size_t>(channels);
  const auto columns = static_cast<std::size_t>(width);
  const std::size_t pixel = value / each;
  return text("x ", pixel % columns, ", y ", pixel / columns, ", channel ", value % each);
}

}  // namespace clcook
