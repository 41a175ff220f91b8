#include "patch_picture.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace clcook::example {

using pictures::Picture;

namespace {

struct Vec {
  float x = 0, y = 0, z = 0;
};
Vec operator+(Vec a, Vec b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
Vec operator*(float s, Vec a) { return {s * a.x, s * a.y, s * a.z}; }
float dot(Vec a, Vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
Vec cross(Vec a, Vec b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
Vec unit(Vec a) {
  const float length = std::sqrt(dot(a, a));
  return length > 0 ? (1 / length) * a : Vec{0, 0, 1};
}

// A point of a patch with its normal.
struct Sample {
  Vec position;
  Vec normal;
};

Sample evaluate(const float* control, float u, float v) {
  const auto basis = [](float t, float* value, float* slope) {
    const float s = 1 - t;
    const float b[4] = {s * s * s, 3 * s * s * t, 3 * s * t * t, t * t * t};
    const float d[4] = {-s * s, s * s - 2 * s * t, 2 * s * t - t * t, t * t};
    std::copy_n(b, 4, value);
    std::copy_n(d, 4, slope);
  };
  float bu[4], du[4], bv[4], dv[4];
  basis(u, bu, du);
  basis(v, bv, dv);
  Vec position, along_u, along_v;
  for (int j = 0; j < 16; ++j) {
    const Vec p{control[4 * j], control[4 * j + 1], control[4 * j + 2]};
    position = position + bu[j % 4] * bv[j / 4] * p;
    along_u = along_u + du[j % 4] * bv[j / 4] * p;
    along_v = along_v + bu[j % 4] * dv[j / 4] * p;
  }
  return {position, unit(cross(along_u, along_v))};
}

// A picture of triangles with a depth buffer, 2 x 2 samples per pixel.
class Canvas {
 public:
  static constexpr int kSide = 2;

  Canvas(int width, int height)
      : width_(width * kSide),
        height_(height * kSide),
        color_(static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_)),
        depth_(color_.size(), -1e30f) {
    for (int y = 0; y < height_; ++y) {
      const float t = static_cast<float>(y) / static_cast<float>(height_);
      std::fill_n(color_.begin() + static_cast<std::ptrdiff_t>(y) * width_, width_,
                  Vec{0.96f - 0.12f * t, 0.97f - 0.11f * t, 0.99f - 0.08f * t});
    }
  }

  int width() const { return width_; }
  int height() const { return height_; }

  struct Corner {
    Vec at;  // x and y in samples, z towards the viewer
    Vec normal;
    float u, v;
  };

  // shade(normal, u, v) gives the colour, 0 to 1.
  template <class Shade>
  void triangle(const Corner& a, const Corner& b, const Corner& c, const Shade& shade) {
    const float area =
        (b.at.x - a.at.x) * (c.at.y - a.at.y) - (c.at.x - a.at.x) * (b.at.y - a.at.y);
    if (!(std::abs(area) > 1e-12f)) return;
    const auto low = [](float p, float q, float r) {
      return static_cast<int>(std::clamp(std::floor(std::min({p, q, r})), 0.0f, 1e6f));
    };
    const auto high = [](float p, float q, float r, int size) {
      return static_cast<int>(
          std::clamp(std::ceil(std::max({p, q, r})), -1.0f, static_cast<float>(size - 1)));
    };
    for (int y = low(a.at.y, b.at.y, c.at.y); y <= high(a.at.y, b.at.y, c.at.y, height_); ++y) {
      for (int x = low(a.at.x, b.at.x, c.at.x); x <= high(a.at.x, b.at.x, c.at.x, width_); ++x) {
        const float px = static_cast<float>(x) + 0.5f;
        const float py = static_cast<float>(y) + 0.5f;
        const float wb =
            ((px - a.at.x) * (c.at.y - a.at.y) - (c.at.x - a.at.x) * (py - a.at.y)) / area;
        const float wc =
            ((b.at.x - a.at.x) * (py - a.at.y) - (px - a.at.x) * (b.at.y - a.at.y)) / area;
        const float wa = 1 - wb - wc;
        if (wa < -1e-4f || wb < -1e-4f || wc < -1e-4f) continue;
        const std::size_t i = static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) +
                              static_cast<std::size_t>(x);
        const float z = wa * a.at.z + wb * b.at.z + wc * c.at.z;
        if (z <= depth_[i]) continue;
        depth_[i] = z;
        color_[i] = shade(unit(wa * a.normal + wb * b.normal + wc * c.normal),
                          wa * a.u + wb * b.u + wc * c.u, wa * a.v + wb * b.v + wc * c.v);
      }
    }
  }

  Picture picture() const {
    Picture out;
    out.width = width_ / kSide;
    out.height = height_ / kSide;
    out.rgba.resize(out.pixels() * 4, 255);
    for (std::size_t i = 0; i < out.pixels(); ++i) {
      const std::size_t x = i % static_cast<std::size_t>(out.width) * kSide;
      const std::size_t y = i / static_cast<std::size_t>(out.width) * kSide;
      Vec sum;
      for (std::size_t s = 0; s < kSide * kSide; ++s) {
        sum = sum + color_[(y + s / kSide) * static_cast<std::size_t>(width_) + x + s % kSide];
      }
      const Vec mean = (1.0f / (kSide * kSide)) * sum;
      const auto byte = [](float value) {
        return static_cast<std::uint8_t>(std::clamp(value * 255 + 0.5f, 0.0f, 255.0f));
      };
      out.rgba[4 * i] = byte(mean.x);
      out.rgba[4 * i + 1] = byte(mean.y);
      out.rgba[4 * i + 2] = byte(mean.z);
    }
    return out;
  }

 private:
  int width_;
  int height_;
  std::vector<Vec> color_;
  std::vector<float> depth_;
};

// The colour of a patch where the light comes over the viewer's left shoulder.
Vec shade(Vec base, Vec normal, float u, float v) {
  if (normal.z < 0) normal = -1.0f * normal;
  const Vec light = unit({-0.5f, 0.7f, 0.8f});
  const Vec halfway = unit(light + Vec{0, 0, 1});
  const float diffuse = std::max(0.0f, dot(normal, light));
  const float sky = 0.5f + 0.5f * normal.y;
  const float shine = std::pow(std::max(0.0f, dot(normal, halfway)), 60.0f);
  // A thin line along the border of the patch.
  const float border = std::min({u, v, 1 - u, 1 - v});
  const float line = border < 0.025f ? 0.6f : 1.0f;
  const float amount = line * (0.16f + 0.22f * sky + 0.66f * diffuse);
  const float gloss = 0.35f * shine;
  return amount * base + Vec{gloss, gloss, gloss};
}

}  // namespace

Picture draw_patches(const std::vector<float>& control, const io::PatchList& patches, int width,
                     int height) {
  // The view: turned about the vertical, tilted, without perspective; the box of all control points
  // fills the picture.
  const float turn = 0.62f, tilt = 0.48f;
  const auto view = [&](Vec p) {
    const Vec q{std::cos(turn) * p.x + std::sin(turn) * p.z, p.y,
                -std::sin(turn) * p.x + std::cos(turn) * p.z};
    return Vec{q.x, std::cos(tilt) * q.y - std::sin(tilt) * q.z,
               std::sin(tilt) * q.y + std::cos(tilt) * q.z};
  };
  Vec low{1e30f, 1e30f, 0}, high{-1e30f, -1e30f, 0};
  for (std::size_t i = 0; i < control.size(); i += 4) {
    const Vec p = view({control[i], control[i + 1], control[i + 2]});
    low = {std::min(low.x, p.x), std::min(low.y, p.y), 0};
    high = {std::max(high.x, p.x), std::max(high.y, p.y), 0};
  }
  Canvas canvas(width, height);
  const float scale = 0.94f * std::min(static_cast<float>(canvas.width()) / (high.x - low.x),
                                       static_cast<float>(canvas.height()) / (high.y - low.y));
  const Vec middle = 0.5f * (low + high);
  const auto place = [&](const Sample& sample, float u, float v) {
    const Vec p = view(sample.position);
    return Canvas::Corner{
        {0.5f * static_cast<float>(canvas.width()) + scale * (p.x - middle.x),
         0.5f * static_cast<float>(canvas.height()) - scale * (p.y - middle.y), p.z},
        view(sample.normal),
        u,
        v};
  };
  constexpr int kCuts = 10;
  for (std::size_t i = 0; i < patches.valences.size(); ++i) {
    const std::array<std::uint8_t, 4> regular{4, 4, 4, 4};
    const Vec base =
        patches.valences[i] == regular ? Vec{0.35f, 0.58f, 0.88f} : Vec{0.96f, 0.62f, 0.25f};
    std::vector<Canvas::Corner> corners;
    for (int j = 0; j <= kCuts; ++j) {
      for (int k = 0; k <= kCuts; ++k) {
        const float u = static_cast<float>(k) / kCuts;
        const float v = static_cast<float>(j) / kCuts;
        corners.push_back(place(evaluate(&control[64 * i], u, v), u, v));
      }
    }
    const auto paint = [&](Vec normal, float u, float v) { return shade(base, normal, u, v); };
    for (std::size_t j = 0; j < kCuts; ++j) {
      for (std::size_t k = 0; k < kCuts; ++k) {
        const std::size_t at = j * (kCuts + 1) + k;
        canvas.triangle(corners[at], corners[at + 1], corners[at + kCuts + 2], paint);
        canvas.triangle(corners[at], corners[at + kCuts + 2], corners[at + kCuts + 1], paint);
      }
    }
  }
  return canvas.picture();
}

}  // namespace clcook::example
