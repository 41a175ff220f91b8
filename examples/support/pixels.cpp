#include "pixels.hpp"

#include <algorithm>
#include <clcook/reference/alpha.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace clcook::example {

std::vector<unsigned char> stored(const pictures::Picture& picture, bool as_floats) {
  if (!as_floats) return picture.rgba;
  std::vector<unsigned char> out(picture.rgba.size() * sizeof(float));
  for (std::size_t i = 0; i < picture.rgba.size(); ++i) {
    const float value = static_cast<float>(picture.rgba[i]) / 255.0f;
    std::memcpy(out.data() + i * sizeof value, &value, sizeof value);
  }
  return out;
}

Alpha alpha_of(const pictures::Picture& picture) {
  for (std::size_t i = 3; i < picture.rgba.size(); i += 4) {
    if (picture.rgba[i] != 255) return Alpha::straight;
  }
  return Alpha::none;
}

std::vector<float> values_of(const std::vector<unsigned char>& pixels, bool as_floats,
                             Alpha alpha) {
  std::vector<float> out;
  if (as_floats) {
    out.resize(pixels.size() / sizeof(float));
    std::memcpy(out.data(), pixels.data(), out.size() * sizeof(float));
  } else {
    out.assign(pixels.begin(), pixels.end());
  }
  if (alpha != Alpha::straight) return out;
  std::vector<double> weighted(out.begin(), out.end());
  reference::weight_by_alpha(weighted, 4, as_floats ? 1 : 255);
  return {weighted.begin(), weighted.end()};
}

pictures::Picture picture_of(const std::vector<unsigned char>& pixels, bool as_floats, int width,
                             int height) {
  if (!as_floats) return {width, height, pixels};
  pictures::Picture out{width, height, {}};
  for (const float value : values_of(pixels, true))
    out.rgba.push_back(static_cast<std::uint8_t>(std::clamp(value * 255.0f + 0.5f, 0.0f, 255.0f)));
  return out;
}

}  // namespace clcook::example
