// A small rasteriser for the examples whose result is a shape: triangles with smooth normals, one
// light with soft shadows, a perspective camera.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <pictures/picture.hpp>
#include <vector>

namespace clcook::example {

using pictures::Picture;

struct Vec3 {
  float x = 0, y = 0, z = 0;
  friend Vec3 operator+(Vec3 a, Vec3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
  friend Vec3 operator-(Vec3 a, Vec3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
  friend Vec3 operator*(Vec3 a, float s) { return {a.x * s, a.y * s, a.z * s}; }
};
inline Vec3 product(Vec3 a, Vec3 b) { return {a.x * b.x, a.y * b.y, a.z * b.z}; }
inline float dot(Vec3 a, Vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline Vec3 cross(Vec3 a, Vec3 b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
inline Vec3 normalised(Vec3 a) {
  const float length = std::sqrt(dot(a, a));
  return length > 0 ? a * (1 / length) : Vec3{0, 1, 0};
}

// A grid of width x height vertices, drawn from both sides.
struct Grid {
  std::size_t width = 0;
  std::size_t height = 0;
  std::vector<Vec3> vertices;  // rows
  Vec3 front;                  // colours in linear light, 0 to 1
  Vec3 back;
  float gloss = 0;
  // Squares of this many cells alternate with a darker tone, 0 for none.
  std::size_t checker = 0;
};

inline Grid sphere(Vec3 centre, float radius, Vec3 colour) {
  Grid out{97, 49, {}, colour, colour, 0.5f, 0};
  for (std::size_t j = 0; j < out.height; ++j) {
    const float v = 3.14159265f * static_cast<float>(j) / 48;
    for (std::size_t i = 0; i < out.width; ++i) {
      const float u = 2 * 3.14159265f * static_cast<float>(i) / 96;
      out.vertices.push_back(
          centre +
          Vec3{std::sin(v) * std::cos(u), std::cos(v), std::sin(v) * std::sin(u)} * radius);
    }
  }
  return out;
}

struct Camera {
  Vec3 eye;
  Vec3 at;
  float focal = 2;  // the picture's height is 2 / focal at distance 1
};

// Draws the grids on a checkered floor at y = 0. Deterministic.
class Scene3d {
 public:
  explicit Scene3d(Camera camera) : camera_(camera) {}

  void add(Grid grid) { grids_.push_back(std::move(grid)); }

  Picture render(int width, int height) const {
    const Sun sun = shadows();
    const View view(camera_, width * kSamples, height * kSamples);
    Image image(static_cast<std::size_t>(view.wide) * static_cast<std::size_t>(view.high));
    draw_floor(sun, view, image);
    for (const Grid& grid : grids_) draw(grid, sun, view, image);
    return reduced(image, width, height);
  }

 private:
  static constexpr int kSamples = 2;
  static constexpr int kShadow = 2048;

  // The light, with the depth along it over the floor's middle.
  struct Sun {
    Vec3 light = normalised({0.45f, 0.85f, 0.35f});
    Vec3 side = normalised(cross({0, 1, 0}, light));
    Vec3 up = cross(light, side);
    Vec3 centre{};
    float reach = 0;
    std::vector<float> shadow;

    Vec3 place(Vec3 p) const {
      const Vec3 q = p - centre;
      const float scale = kShadow / (2 * reach);
      return Vec3{(dot(q, side) + reach) * scale, (dot(q, up) + reach) * scale, -dot(q, light)};
    }

    float lit(Vec3 p, float bias) const {
      const Vec3 q = place(p);
      float sum = 0;
      for (int dy = -3; dy <= 3; ++dy) {
        for (int dx = -3; dx <= 3; ++dx) {
          const int x = static_cast<int>(q.x) + dx;
          const int y = static_cast<int>(q.y) + dy;
          const bool outside = x < 0 || y < 0 || x >= kShadow || y >= kShadow;
          sum += outside || q.z - bias < shadow[static_cast<std::size_t>(y) * kShadow +
                                                static_cast<std::size_t>(x)]
                     ? 1.0f
                     : 0.0f;
        }
      }
      return sum / 49;
    }
  };

  struct View {
    View(const Camera& camera, int width, int height)
        : eye(camera.eye),
          wide(width),
          high(height),
          forward(normalised(camera.at - camera.eye)),
          right(normalised(cross(forward, {0, 1, 0}))),
          above(cross(right, forward)),
          zoom(camera.focal * static_cast<float>(height) / 2) {}

    Vec3 project(Vec3 p) const {
      const Vec3 q = p - eye;
      const float depth = std::max(dot(q, forward), 1e-3f);
      return Vec3{static_cast<float>(wide) / 2 + dot(q, right) * zoom / depth,
                  static_cast<float>(high) / 2 - dot(q, above) * zoom / depth, depth};
    }

    Vec3 shade(const Sun& from, Vec3 colour, Vec3 p, Vec3 n, float gloss) const {
      const Vec3 view = normalised(eye - p);
      const float sun = std::max(dot(n, from.light), 0.0f) * from.lit(p + n * 0.01f, 0.02f);
      const Vec3 half = normalised(from.light + view);
      const float shine = gloss * sun * std::pow(std::max(dot(n, half), 0.0f), 40.0f);
      const float sky = 0.5f + 0.5f * n.y;
      const Vec3 ambient = Vec3{0.20f, 0.24f, 0.32f} * sky + Vec3{0.12f, 0.10f, 0.08f} * (1 - sky);
      return product(colour, ambient + Vec3{1.0f, 0.94f, 0.84f} * (0.95f * sun)) +
             Vec3{1, 1, 1} * shine;
    }

    Vec3 eye;
    int wide, high;
    Vec3 forward, right, above;
    float zoom;
  };

  struct Image {
    explicit Image(std::size_t count)
        : colour(count), depth(count, std::numeric_limits<float>::max()) {}
    std::vector<Vec3> colour;
    std::vector<float> depth;
  };

  Sun shadows() const {
    Sun sun;
    sun.centre = middle();
    sun.reach = extent();
    sun.shadow.assign(std::size_t{kShadow} * kShadow, std::numeric_limits<float>::max());
    for (const Grid& grid : grids_) {
      for_triangles(grid, [&](std::size_t a, std::size_t b, std::size_t c, std::size_t) {
        fill(
            kShadow, kShadow,
            {sun.place(grid.vertices[a]), sun.place(grid.vertices[b]), sun.place(grid.vertices[c])},
            [&](std::size_t at, float wa, float wb, float wc, const std::array<Vec3, 3>& t) {
              const float depth = wa * t[0].z + wb * t[1].z + wc * t[2].z;
              sun.shadow[at] = std::min(sun.shadow[at], depth);
            });
      });
    }
    return sun;
  }

  // Sky and floor, by rays.
  static void draw_floor(const Sun& sun, const View& view, Image& image) {
    for (int y = 0; y < view.high; ++y) {
      for (int x = 0; x < view.wide; ++x) {
        const float u =
            (static_cast<float>(x) + 0.5f - static_cast<float>(view.wide) / 2) / view.zoom;
        const float v =
            (static_cast<float>(view.high) / 2 - static_cast<float>(y) - 0.5f) / view.zoom;
        const Vec3 ray = normalised(view.forward + view.right * u + view.above * v);
        const std::size_t at = static_cast<std::size_t>(y) * static_cast<std::size_t>(view.wide) +
                               static_cast<std::size_t>(x);
        const Vec3 haze{0.62f, 0.72f, 0.84f};
        image.colour[at] = haze;
        if (ray.y >= -1e-4f) continue;
        const float distance = -view.eye.y / ray.y;
        const Vec3 p = view.eye + ray * distance;
        const bool dark =
            (static_cast<int>(std::floor(p.x)) + static_cast<int>(std::floor(p.z))) & 1;
        const Vec3 colour = dark ? Vec3{0.34f, 0.35f, 0.38f} : Vec3{0.46f, 0.47f, 0.50f};
        const float far = 1 - std::exp(-std::max(distance - 8.0f, 0.0f) * 0.06f);
        image.colour[at] = view.shade(sun, colour, p, {0, 1, 0}, 0) * (1 - far) + haze * far;
        image.depth[at] = distance * dot(ray, view.forward);
      }
    }
  }

  static void draw(const Grid& grid, const Sun& sun, const View& view, Image& image) {
    const std::vector<Vec3> normals = vertex_normals(grid);
    for_triangles(grid, [&](std::size_t a, std::size_t b, std::size_t c, std::size_t cell) {
      fill(view.wide, view.high,
           {view.project(grid.vertices[a]), view.project(grid.vertices[b]),
            view.project(grid.vertices[c])},
           [&](std::size_t at, float wa, float wb, float wc, const std::array<Vec3, 3>& t) {
             const float inverse = wa / t[0].z + wb / t[1].z + wc / t[2].z;
             const float z = 1 / inverse;
             if (z >= image.depth[at]) return;
             image.depth[at] = z;
             const float pa = wa / t[0].z * z;
             const float pb = wb / t[1].z * z;
             const float pc = wc / t[2].z * z;
             const Vec3 p = grid.vertices[a] * pa + grid.vertices[b] * pb + grid.vertices[c] * pc;
             Vec3 n = normalised(normals[a] * pa + normals[b] * pb + normals[c] * pc);
             const bool behind = dot(n, view.eye - p) < 0;
             if (behind) n = n * -1;
             Vec3 colour = behind ? grid.back : grid.front;
             if (grid.checker != 0) {
               const bool dark =
                   ((cell % grid.width / grid.checker) + (cell / grid.width / grid.checker)) % 2 !=
                   0;
               if (dark) colour = colour * 0.72f;
             }
             image.colour[at] = view.shade(sun, colour, p, n, grid.gloss);
           });
    });
  }

  // The mean of the samples of each pixel, as bytes.
  static Picture reduced(const Image& image, int width, int height) {
    const std::size_t wide = static_cast<std::size_t>(width) * kSamples;
    Picture out{width, height,
                std::vector<std::uint8_t>(static_cast<std::size_t>(width) *
                                          static_cast<std::size_t>(height) * 4)};
    std::uint8_t* to = out.rgba.data();
    const auto byte = [](float value) {
      return static_cast<std::uint8_t>(255 * std::pow(value, 1 / 2.2f) + 0.5f);
    };
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        Vec3 sum;
        for (int j = 0; j < kSamples; ++j) {
          for (int i = 0; i < kSamples; ++i) {
            const Vec3 one = image.colour[static_cast<std::size_t>(y * kSamples + j) * wide +
                                          static_cast<std::size_t>(x * kSamples + i)];
            sum = sum + Vec3{std::min(one.x, 1.0f), std::min(one.y, 1.0f), std::min(one.z, 1.0f)};
          }
        }
        sum = sum * (1.0f / (kSamples * kSamples));
        for (const float value : {sum.x, sum.y, sum.z}) *to++ = byte(value);
        *to++ = 255;
      }
    }
    return out;
  }

  // Calls draw with the vertices of each triangle, and with the first vertex of its cell.
  template <class Draw>
  static void for_triangles(const Grid& grid, const Draw& draw) {
    for (std::size_t y = 0; y + 1 < grid.height; ++y) {
      for (std::size_t x = 0; x + 1 < grid.width; ++x) {
        const std::size_t a = y * grid.width + x;
        draw(a, a + 1, a + grid.width, a);
        draw(a + 1, a + grid.width + 1, a + grid.width, a);
      }
    }
  }

  static std::vector<Vec3> vertex_normals(const Grid& grid) {
    std::vector<Vec3> out(grid.vertices.size());
    for_triangles(grid, [&](std::size_t a, std::size_t b, std::size_t c, std::size_t) {
      const Vec3 n =
          cross(grid.vertices[c] - grid.vertices[a], grid.vertices[b] - grid.vertices[a]);
      for (const std::size_t v : {a, b, c}) out[v] = out[v] + n;
    });
    for (Vec3& n : out) n = normalised(n);
    return out;
  }

  // Calls draw(pixel, weights, triangle) for every pixel centre inside a triangle of pixels.
  template <class Draw>
  static void fill(int width, int height, const std::array<Vec3, 3>& t, const Draw& draw) {
    const auto edge = [](Vec3 a, Vec3 b, float x, float y) {
      return (b.x - a.x) * (y - a.y) - (b.y - a.y) * (x - a.x);
    };
    const float area = edge(t[0], t[1], t[2].x, t[2].y);
    if (area == 0) return;
    const auto low = [](float a, float b, float c) {
      return std::max(static_cast<int>(std::min({a, b, c})), 0);
    };
    const auto high = [](float a, float b, float c, int limit) {
      return static_cast<int>(std::min(std::max({a, b, c}) + 1, static_cast<float>(limit)));
    };
    for (int y = low(t[0].y, t[1].y, t[2].y); y < high(t[0].y, t[1].y, t[2].y, height); ++y) {
      for (int x = low(t[0].x, t[1].x, t[2].x); x < high(t[0].x, t[1].x, t[2].x, width); ++x) {
        const float px = static_cast<float>(x) + 0.5f;
        const float py = static_cast<float>(y) + 0.5f;
        const float wa = edge(t[1], t[2], px, py) / area;
        const float wb = edge(t[2], t[0], px, py) / area;
        const float wc = 1 - wa - wb;
        if (wa < 0 || wb < 0 || wc < 0) continue;
        draw(static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                 static_cast<std::size_t>(x),
             wa, wb, wc, t);
      }
    }
  }

  Vec3 middle() const {
    Vec3 low{1e9f, 1e9f, 1e9f};
    Vec3 high = low * -1;
    bounds(low, high);
    return (low + high) * 0.5f;
  }

  float extent() const {
    Vec3 low{1e9f, 1e9f, 1e9f};
    Vec3 high = low * -1;
    bounds(low, high);
    return std::sqrt(dot(high - low, high - low)) * 0.5f + 0.1f;
  }

  void bounds(Vec3& low, Vec3& high) const {
    for (const Grid& grid : grids_) {
      for (const Vec3& v : grid.vertices) {
        low = {std::min(low.x, v.x), std::min(low.y, v.y), std::min(low.z, v.z)};
        high = {std::max(high.x, v.x), std::max(high.y, v.y), std::max(high.z, v.z)};
      }
    }
  }

  Camera camera_;
  std::vector<Grid> grids_;
};

}  // namespace clcook::example
