#include "course/exercise.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include <clcook/embedded/course.hpp>
#include <clcook/reference/argument_swap.hpp>
#include <clcook/reference/bc6h_mode.hpp>
#include <clcook/reference/folded_switch.hpp>
#include <clcook/reference/gbuffer_shade.hpp>
#include <clcook/reference/group_swizzle.hpp>
#include <clcook/reference/halo_tile.hpp>
#include <clcook/reference/line_blur.hpp>
#include <clcook/reference/local_multipass.hpp>
#include <clcook/reference/stream_compaction.hpp>
#include <clcook/reference/threshold_count.hpp>

#include <clcook/embedded/argument_swap.hpp>
#include <clcook/embedded/bc6h_mode.hpp>
#include <clcook/embedded/folded_switch.hpp>
#include <clcook/embedded/gbuffer_shade.hpp>
#include <clcook/embedded/group_swizzle.hpp>
#include <clcook/embedded/halo_tile.hpp>
#include <clcook/embedded/line_blur.hpp>
#include <clcook/embedded/local_multipass.hpp>
#include <clcook/embedded/stream_compaction.hpp>
#include <clcook/embedded/threshold_count.hpp>

#include <clcook/core/error.hpp>

namespace clcook::tool::course {

namespace {

using described::Argument;
using described::Description;
using described::Names;
using described::Type;
using Bytes = std::vector<unsigned char>;
using Contents = std::vector<Bytes>;

// ---- Writing a description ----------------------------------------------------------------------

template <class T>
T* values(Bytes& bytes) {
  return reinterpret_cast<T*>(bytes.data());
}
template <class T>
std::size_t count_of(const Bytes& bytes) {
  return bytes.size() / sizeof(T);
}
template <class T>
T value_of(const Bytes& bytes) {
  T out;
  std::memcpy(&out, bytes.data(), sizeof out);
  return out;
}

Argument& argument(Description& about, const char* type, const char* name, Argument::Kind kind) {
  about.arguments.emplace_back();
  Argument& one = about.arguments.back();
  one.kind = kind;
  one.name = name;
  one.place = "the argument";
  if (!described::find_type(type, one.type))
    fail(Errc::invalid_argument, "course", std::string("there is no type ") + type);
  return one;
}

// What is read: `count` elements, an expression of the sizes.
using Make = std::function<void(Bytes& bytes, const Names& names, std::uint64_t seed)>;
void input(Description& about, const char* type, const char* name, const char* count,
           const Make& make) {
  Argument& one = argument(about, type, name, Argument::Kind::buffer);
  one.count = {count, one.place};
  one.access = Argument::Access::read;
  one.fill.kind = described::Fill::Kind::made;
  one.fill.make = make;
}

void output(Description& about, const char* type, const char* name, const char* count) {
  Argument& one = argument(about, type, name, Argument::Kind::buffer);
  one.count = {count, one.place};
  one.access = Argument::Access::write;
  about.compare.outputs.push_back(about.arguments.size() - 1);
}

// A scalar that is one of the problem's sizes, or a number.
void size(Description& about, const char* name, const char* expression) {
  Argument& one = argument(about, "int", name, Argument::Kind::scalar);
  one.values = {{expression, one.place}};
}
void number(Description& about, const char* type, const char* name, std::vector<double> constants) {
  Argument& one = argument(about, type, name, Argument::Kind::scalar);
  one.values.resize(constants.size());
  one.constants = std::move(constants);
}

Make floats(float low, float high) {
  return [low, high](Bytes& bytes, const Names&, std::uint64_t seed) {
    Random random(seed);
    for (std::size_t i = 0; i < count_of<float>(bytes); ++i)
      values<float>(bytes)[i] = random.uniform(low, high);
  };
}

Make words() {
  return [](Bytes& bytes, const Names&, std::uint64_t seed) {
    Random random(seed);
    for (std::size_t i = 0; i < count_of<std::uint32_t>(bytes); ++i)
      values<std::uint32_t>(bytes)[i] = random.bits32();
  };
}

int whole(const Names& names, const char* name) { return static_cast<int>(names.at(name)); }

// ---- Problems -----------------------------------------------------------------------------------

// Never a multiple of a group's size, and never the same again.
Params items(Random& random, std::uint64_t results) {
  const std::uint64_t most = std::max<std::uint64_t>(results, 3);
  Params out;
  out.set("count", static_cast<std::int64_t>((most - most / 4 + random.below(most / 2 + 1)) | 1U));
  return out;
}

Params chunks(Random& random, std::uint64_t results) {
  Params out = items(random, results);
  if (results == kCounted)
    out.set("count", static_cast<std::int64_t>((5 * 8192 - random.below(800)) | 1U));
  return out;
}

Params picture(Random& random, std::uint64_t results) {
  const double side = std::sqrt(static_cast<double>(std::max<std::uint64_t>(results, 4)));
  const double shape = 0.5 + static_cast<double>(random.uniform());
  const auto width = static_cast<std::int64_t>(side * shape) | 1;
  Params out;
  if (results == kTiny) {
    // More than a group's size in both directions, of the usual groups.
    out.set("width", static_cast<std::int64_t>(67 + 2 * random.below(3)));
    out.set("height", static_cast<std::int64_t>(17 + 2 * random.below(2)));
    return out;
  }
  if (results == kCounted) {
    // Of any group's size in both directions, but for a few.
    out.set("width", static_cast<std::int64_t>(255 - 2 * random.below(4)));
    out.set("height", static_cast<std::int64_t>(63 - 2 * random.below(2)));
    return out;
  }
  out.set("width", width);
  out.set("height", (static_cast<std::int64_t>(results) / width + 1) | 1);
  return out;
}

Params patches(Random& random, std::uint64_t results) {
  Params out;
  const std::uint64_t most = std::max<std::uint64_t>(results / 16, 1);
  out.set("patches", static_cast<std::int64_t>(most + random.below(most + 1)));
  return out;
}

// ---- The exercises ------------------------------------------------------------------------------

void two_calls(Random& random, Description& about) {
  const auto media = [](float low, float high) {
    return [low, high](Bytes& bytes, const Names&, std::uint64_t seed) {
      Random numbers(seed + (low > 1.3f ? 1 : 0));
      for (std::size_t i = 0; i < count_of<float>(bytes); i += 2) {
        values<float>(bytes)[i] = numbers.uniform(low, high);
        values<float>(bytes)[i + 1] = numbers.uniform(0.0f, 0.01f);
      }
    };
  };
  input(about, "float2", "outside", "count", media(1.0f, 1.2f));
  input(about, "float2", "inside", "count", media(1.4f, 1.8f));
  // Some are not a number.
  input(about, "float", "cosine", "count", [](Bytes& bytes, const Names&, std::uint64_t seed) {
    Random numbers(seed);
    for (std::size_t i = 0; i < count_of<float>(bytes); ++i)
      values<float>(bytes)[i] =
          numbers.below(32) == 0 ? std::nanf("") : numbers.uniform(-1.0f, 1.0f);
  });
  output(about, "float", "out", "count");
  size(about, "count", "count");
  const double first = 1.4 + 0.2 * static_cast<double>(random.uniform());
  const double last = 2.2 + 0.3 * static_cast<double>(random.uniform());
  const auto points = static_cast<int>(5 + random.below(6));
  number(about, "float2", "band", {first, last});
  number(about, "int", "points", {static_cast<double>(points)});
  about.compare.absolute = 2e-4;  // Total reflection begins with a root, steep at 0.
  about.compare.reference = [](Contents& all, const Names&) {
    namespace reference = clcook::reference::argument_swap;
    const float* band = values<float>(all[5]);
    const int count_of_points = value_of<int>(all[6]);
    for (std::size_t i = 0; i < count_of<float>(all[3]); ++i) {
      const float* a = values<float>(all[0]) + 2 * i;
      const float* b = values<float>(all[1]) + 2 * i;
      values<float>(all[3])[i] = static_cast<float>(reference::ray(
          {static_cast<double>(a[0]), static_cast<double>(a[1])},
          {static_cast<double>(b[0]), static_cast<double>(b[1])},
          static_cast<double>(values<float>(all[2])[i]), static_cast<double>(band[0]),
          static_cast<double>(band[1]), count_of_points));
    }
  };
}

void block_modes(Random&, Description& about) {
  input(about, "uint", "headers", "count", words());
  output(about, "uchar", "modes", "count");
  size(about, "count", "count");
  about.compare.reference = [](Contents& all, const Names&) {
    for (std::size_t i = 0; i < all[1].size(); ++i)
      all[1][i] = clcook::reference::bc6h_mode::mode_index(values<std::uint32_t>(all[0])[i]);
  };
}

void thresholds(Random&, Description& about) {
  // Some values are thresholds, some not a number.
  const auto falling = [](std::uint64_t seed, std::size_t count) {
    Random random(seed * 7 + 1);
    std::vector<float> out(count);
    for (float& one : out) one = random.uniform(-1.0f, 1.0f);
    std::sort(out.begin(), out.end(), [](float a, float b) { return a > b; });
    return out;
  };
  input(about, "float", "x", "count", [falling](Bytes& bytes, const Names&, std::uint64_t seed) {
    const std::vector<float> steps = falling(seed, 12);
    Random random(seed);
    for (std::size_t i = 0; i < count_of<float>(bytes); ++i) {
      const std::uint64_t kind = random.below(16);
      values<float>(bytes)[i] = kind == 0   ? std::nanf("")
                                : kind == 1 ? steps[random.below(steps.size())]
                                            : random.uniform(-1.2f, 1.2f);
    }
  });
  input(about, "float", "thresholds", "12",
        [falling](Bytes& bytes, const Names&, std::uint64_t seed) {
          const std::vector<float> steps = falling(seed, count_of<float>(bytes));
          std::memcpy(bytes.data(), steps.data(), bytes.size());
        });
  output(about, "uchar", "slots", "count");
  size(about, "count", "count");
  about.compare.reference = [](Contents& all, const Names&) {
    const std::vector<float> steps(values<float>(all[1]),
                                   values<float>(all[1]) + count_of<float>(all[1]));
    for (std::size_t i = 0; i < all[2].size(); ++i)
      all[2][i] = static_cast<unsigned char>(
          clcook::reference::threshold_count::slot(values<float>(all[0])[i], steps));
  };
}

std::string transposed(const std::string&, const Names& names, std::size_t element) {
  const auto height = static_cast<std::size_t>(names.at("height"));
  return "pixel x = " + std::to_string(element / height) +
         ", y = " + std::to_string(element % height) + " of src, dst[" + std::to_string(element) +
         "]";
}

std::string pixel(const std::string& name, const Names& names, std::size_t element) {
  const auto width = static_cast<std::size_t>(names.at("width"));
  return "pixel x = " + std::to_string(element % width) +
         ", y = " + std::to_string(element / width) + " of " + name;
}

// The sums of the taps along rows, stored transposed.
void blurred(Contents& all, const Names& names,
             const std::vector<clcook::reference::line_blur::Tap>& taps) {
  const int width = whole(names, "width");
  const int height = whole(names, "height");
  std::vector<double> line(static_cast<std::size_t>(width));
  for (int y = 0; y < height; ++y) {
    for (int c = 0; c < 4; ++c) {
      for (int x = 0; x < width; ++x)
        line[static_cast<std::size_t>(x)] =
            static_cast<double>(values<float>(all[0])[(y * width + x) * 4 + c]);
      const std::vector<double> sums = clcook::reference::line_blur::filter(line, taps);
      for (int x = 0; x < width; ++x)
        values<float>(all[1])[(x * height + y) * 4 + c] =
            static_cast<float>(sums[static_cast<std::size_t>(x)]);
    }
  }
}

template <int radius>
void blur_lines(Random&, Description& about) {
  input(about, "float4", "src", "width * height", floats(0.0f, 1.0f));
  output(about, "float4", "dst", "width * height");
  size(about, "width", "width");
  size(about, "height", "height");
  // Not symmetric, so that their order is seen.
  static const std::string taps = std::to_string(2 * radius + 1);
  input(about, "float", "weights", taps.c_str(),
        [](Bytes& bytes, const Names&, std::uint64_t seed) {
          Random random(seed + 3);
          const std::size_t count = count_of<float>(bytes);
          for (std::size_t i = 0; i < count; ++i)
            values<float>(bytes)[i] = random.uniform(0.5f, 1.5f) / static_cast<float>(count);
        });
  about.compare.absolute = 1e-5;  // 2 radius + 1 products of at most 1.5 / (2 radius + 1)
  about.compare.where = transposed;
  about.compare.reference = [](Contents& all, const Names& names) {
    std::vector<clcook::reference::line_blur::Tap> taps_of;
    for (int k = -radius; k <= radius; ++k)
      taps_of.push_back({k, static_cast<double>(values<float>(all[4])[k + radius])});
    blurred(all, names, taps_of);
  };
}

void symmetric_taps(Random& random, Description& about) {
  constexpr int radius = 12;
  input(about, "float4", "src", "width * height", floats(0.0f, 1.0f));
  output(about, "float4", "dst", "width * height");
  size(about, "width", "width");
  size(about, "height", "height");
  const float sigma = random.uniform(0.4f, 0.7f);
  const auto wide = static_cast<double>(sigma);
  number(about, "float", "inverse", {static_cast<double>(1.0f / radius)});
  number(about, "float", "divisor", {2 * wide * wide});
  about.compare.absolute = 1e-5;  // a mean of numbers up to 1; exp() has 3 ulp
  about.compare.where = transposed;
  about.compare.reference = [wide](Contents& all, const Names& names) {
    blurred(all, names, clcook::reference::line_blur::taps(radius, wide));
  };
}

void dilate(Random&, Description& about) {
  // Below 0, so that a place outside which counts as 0 is seen.
  input(about, "float", "src", "width * height", floats(-1.5f, -0.5f));
  output(about, "float", "dst", "width * height");
  size(about, "width", "width");
  size(about, "height", "height");
  about.compare.where = pixel;
  about.compare.reference = [](Contents& all, const Names& names) {
    namespace reference = clcook::reference::halo_tile;
    reference::Volume in;
    in.width = whole(names, "width");
    in.height = whole(names, "height");
    in.values.assign(values<float>(all[0]), values<float>(all[0]) + count_of<float>(all[0]));
    const std::vector<float> out =
        reference::dilation(in, 2, clcook::reference::Border::clamp, {0, 0, 0, 0});
    std::memcpy(all[1].data(), out.data(), all[1].size());
  };
}

constexpr std::size_t kChunk = 8192;

void compact(Random& random, Description& about) {
  const auto threshold = static_cast<std::uint32_t>(20000 + random.below(25000));
  input(about, "uint", "pixels", "count", words());
  input(about, "uint", "first", "ceil_div(count, 8192)",
        [threshold](Bytes& bytes, const Names& names, std::uint64_t seed) {
          // The sums over the groups before, of the same pixels.
          Bytes pixels(4 * static_cast<std::size_t>(names.at("count")));
          words()(pixels, names, seed);
          std::uint32_t sum = 0;
          for (std::size_t i = 0; i < count_of<std::uint32_t>(pixels); ++i) {
            if (i % kChunk == 0) values<std::uint32_t>(bytes)[i / kChunk] = sum;
            sum += clcook::reference::stream_compaction::brightness(
                       values<std::uint32_t>(pixels)[i]) >= threshold
                       ? 1U
                       : 0U;
          }
        });
  output(about, "uint", "kept", "count");
  size(about, "count", "count");
  number(about, "uint", "threshold", {static_cast<double>(threshold)});
  about.compare.reference = [threshold](Contents& all, const Names&) {
    const std::vector<std::uint32_t> pixels(
        values<std::uint32_t>(all[0]),
        values<std::uint32_t>(all[0]) + count_of<std::uint32_t>(all[0]));
    const auto kept = clcook::reference::stream_compaction::bright(pixels, threshold);
    // Behind them nothing is written.
    std::fill(all[2].begin(), all[2].end(), static_cast<unsigned char>(0xCD));
    if (!kept.empty()) std::memcpy(all[2].data(), kept.data(), 4 * kept.size());
  };
}

void control_points(Random&, Description& about) {
  input(about, "float4", "vertices", "8 * patches + 40", floats(-1.0f, 1.0f));
  input(about, "uint", "indices", "16 * patches",
        [](Bytes& bytes, const Names& names, std::uint64_t seed) {
          Random random(seed + 5);
          const auto count = static_cast<std::uint64_t>(8 * names.at("patches") + 40);
          for (std::size_t i = 0; i < count_of<std::uint32_t>(bytes); ++i)
            values<std::uint32_t>(bytes)[i] = static_cast<std::uint32_t>(random.below(count));
        });
  output(about, "float4", "result", "16 * patches");
  size(about, "patches", "patches");
  about.compare.absolute = 1e-6;  // a mean of at most 9 points of at most 1
  about.compare.where = [](const std::string&, const Names&, std::size_t element) {
    return "control point " + std::to_string(element % 16) + " of patch " +
           std::to_string(element / 16);
  };
  about.compare.reference = [](Contents& all, const Names&) {
    for (std::size_t patch = 0; patch < count_of<std::uint32_t>(all[1]) / 16; ++patch) {
      for (std::size_t c = 0; c < 4; ++c) {
        std::vector<double> points(16);
        for (std::size_t i = 0; i < 16; ++i)
          points[i] = static_cast<double>(
              values<float>(all[0])[4 * values<std::uint32_t>(all[1])[16 * patch + i] + c]);
        const auto made = clcook::reference::folded_switch::bezier({4, 4, 4, 4}, points);
        for (std::size_t i = 0; i < 16; ++i)
          values<float>(all[2])[(16 * patch + i) * 4 + c] = static_cast<float>(made[i]);
      }
    }
  };
}

void gather(Random& random, Description& about) {
  input(about, "float4", "src", "width * height", floats(0.0f, 1.0f));
  output(about, "float4", "dst", "width * height");
  size(about, "width", "width");
  size(about, "height", "height");
  const auto taps = static_cast<int>(3 + random.below(5));
  const auto radius = static_cast<int>(9 + random.below(4));
  number(about, "int", "taps", {static_cast<double>(taps)});
  number(about, "int", "radius", {static_cast<double>(radius)});
  about.compare.absolute = 1e-6;
  about.compare.where = pixel;
  about.compare.reference = [taps, radius](Contents& all, const Names& names) {
    const int width = whole(names, "width");
    const int height = whole(names, "height");
    const clcook::reference::group_swizzle::Picture src{values<float>(all[0]), width, height};
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        const auto mean = clcook::reference::group_swizzle::gather(src, x, y, taps, radius);
        for (std::size_t c = 0; c < 4; ++c)
          values<float>(all[1])[static_cast<std::size_t>(y * width + x) * 4 + c] =
              static_cast<float>(mean[c]);
      }
    }
  };
}

// A net of particles: springs along rows and columns, in four colours.
constexpr int kNet = 9;
constexpr int kParticles = kNet * kNet;

std::vector<std::vector<std::uint32_t>> net() {
  std::vector<std::vector<std::uint32_t>> colours(4);
  for (int y = 0; y < kNet; ++y) {
    for (int x = 0; x < kNet; ++x) {
      const auto at = static_cast<std::uint32_t>(y * kNet + x);
      if (x + 1 < kNet) {
        auto& row = colours[static_cast<std::size_t>(x % 2)];
        row.push_back(at);
        row.push_back(at + 1);
      }
      if (y + 1 < kNet) {
        auto& column = colours[static_cast<std::size_t>(2 + y % 2)];
        column.push_back(at);
        column.push_back(at + static_cast<std::uint32_t>(kNet));
      }
    }
  }
  return colours;
}

constexpr int kConstraints = 2 * kNet * (kNet - 1);

void solve(Random& random, Description& about) {
  input(about, "float4", "src", "81 * islands", [](Bytes& bytes, const Names&, std::uint64_t seed) {
    Random numbers(seed);
    for (std::size_t i = 0; i < count_of<float>(bytes) / 4; ++i) {
      const auto at = i % kParticles;
      float* p = values<float>(bytes) + 4 * i;
      p[0] = static_cast<float>(at % kNet) + numbers.uniform(-0.2f, 0.2f);
      p[1] = static_cast<float>(at / kNet) + numbers.uniform(-0.2f, 0.2f);
      p[2] = numbers.uniform(-0.2f, 0.2f);
      p[3] = at < kNet ? 0.0f : numbers.uniform(0.5f, 2.0f);
    }
  });
  output(about, "float4", "dst", "81 * islands");
  static const std::string constraints = std::to_string(kConstraints);
  input(about, "uint4", "constraints", constraints.c_str(),
        [](Bytes& bytes, const Names&, std::uint64_t seed) {
          Random numbers(seed + 9);
          std::uint32_t* to = values<std::uint32_t>(bytes);
          for (const auto& colour : net()) {
            for (std::size_t i = 0; i < colour.size(); i += 2) {
              const float stiffness = numbers.uniform(0.5f, 1.0f);
              const float pull = stiffness * numbers.uniform(0.9f, 1.1f);
              *to++ = colour[i];
              *to++ = colour[i + 1];
              std::memcpy(to++, &pull, 4);
              std::memcpy(to++, &stiffness, 4);
            }
          }
        });
  input(about, "uint", "first", "5", [](Bytes& bytes, const Names&, std::uint64_t) {
    std::uint32_t sum = 0;
    std::uint32_t* to = values<std::uint32_t>(bytes);
    for (const auto& colour : net()) {
      *to++ = sum;
      sum += static_cast<std::uint32_t>(colour.size() / 2);
    }
    *to = sum;
  });
  const auto iterations = static_cast<int>(5 + random.below(4));
  size(about, "colours", "4");
  number(about, "int", "iterations", {static_cast<double>(iterations)});
  size(about, "particles", "81");
  about.compare.absolute = 1e-4;  // some hundred steps of numbers up to 10
  about.compare.where = [](const std::string&, const Names&, std::size_t element) {
    return "particle " + std::to_string(element % kParticles) + " of island " +
           std::to_string(element / kParticles);
  };
  about.compare.reference = [iterations](Contents& all, const Names&) {
    namespace reference = clcook::reference::local_multipass;
    all[1] = all[0];
    std::vector<reference::Constraint> list;
    const std::uint32_t* from = values<std::uint32_t>(all[2]);
    for (int i = 0; i < kConstraints; ++i, from += 4) {
      reference::Constraint one{from[0], from[1], 0, 0};
      float pull = 0;
      std::memcpy(&pull, from + 2, 4);
      std::memcpy(&one.stiffness, from + 3, 4);
      one.rest = pull / one.stiffness;
      list.push_back(one);
    }
    for (std::size_t i = 0; i < count_of<float>(all[1]); i += std::size_t{4} * kParticles)
      reference::solve(values<float>(all[1]) + i, list, static_cast<std::uint32_t>(iterations));
  };
}

Params islands(Random& random, std::uint64_t results) {
  const std::uint64_t most = std::max<std::uint64_t>(results / 500, 1);
  Params out;
  out.set("islands", static_cast<std::int64_t>(most + random.below(most + 1)));
  return out;
}

void shade(Random& random, Description& about) {
  input(about, "uint4", "gbuffer", "count", [](Bytes& bytes, const Names&, std::uint64_t seed) {
    Random numbers(seed);
    for (std::size_t i = 0; i < count_of<std::uint32_t>(bytes); ++i) {
      values<std::uint32_t>(bytes)[i] = numbers.bits32();
      if (i % 4 == 2) {
        const float depth = numbers.uniform(-1.2f, 1.2f);
        std::memcpy(values<std::uint32_t>(bytes) + i, &depth, 4);
      }
    }
  });
  const auto lights = static_cast<int>(9 + random.below(12));
  const std::uint32_t fog = random.bits32() & 0xFFFFFFU;
  static const std::string most = "32";
  input(about, "int4", "lights", most.c_str(), [](Bytes& bytes, const Names&, std::uint64_t seed) {
    Random numbers(seed + 11);
    for (std::size_t i = 0; i < count_of<std::int32_t>(bytes); ++i)
      values<std::int32_t>(bytes)[i] = i % 4 == 3
                                           ? static_cast<std::int32_t>(numbers.bits32() & 0xFFFFFFU)
                                           : static_cast<std::int32_t>(numbers.below(171)) - 85;
  });
  number(about, "int", "light_count", {static_cast<double>(lights)});
  number(about, "uint", "fog_colour", {static_cast<double>(fog)});
  output(about, "uint", "result", "count");
  size(about, "count", "count");
  about.compare.reference = [lights, fog](Contents& all, const Names&) {
    namespace reference = clcook::reference::gbuffer_shade;
    const auto byte = [](std::uint32_t word, int which) {
      return static_cast<int>(word >> (8 * which) & 255U);
    };
    std::vector<reference::Light> list;
    for (int l = 0; l < lights; ++l) {
      const std::int32_t* from = values<std::int32_t>(all[1]) + 4 * l;
      const auto colour = static_cast<std::uint32_t>(from[3]);
      list.push_back(
          {{from[0], from[1], from[2]}, {byte(colour, 0), byte(colour, 1), byte(colour, 2)}});
    }
    for (std::size_t i = 0; i < count_of<std::uint32_t>(all[4]); ++i) {
      const std::uint32_t* from = values<std::uint32_t>(all[0]) + 4 * i;
      reference::Texel texel{};
      for (int c = 0; c < 3; ++c) {
        texel.normal[static_cast<std::size_t>(c)] =
            static_cast<signed char>(from[0] >> (8 * c) & 255U);
        texel.albedo[static_cast<std::size_t>(c)] = byte(from[1], c);
      }
      texel.ambient = byte(from[0], 3);
      std::memcpy(&texel.depth, from + 2, 4);
      texel.shadow = from[3];
      values<std::uint32_t>(all[4])[i] =
          reference::shade(texel, list, {byte(fog, 0), byte(fog, 1), byte(fog, 2)});
    }
  };
}

}  // namespace

namespace {

// The text of a file of docs/course.
std::string course_file(const std::string& name) {
  for (const embedded::File& file : embedded::course) {
    if (file.name == name) return file.text();
  }
  fail(Errc::io, name, "is not in this program");
}

// The place of a word in a list, as the value of an enum.
template <class Enum>
Enum one_of(std::initializer_list<const char*> words, const std::string& word) {
  const auto found = std::find(words.begin(), words.end(), word);
  if (found == words.end()) fail(Errc::invalid_argument, "course", "what is '" + word + "'?");
  return static_cast<Enum>(found - words.begin());
}

Exercise read_page(const std::string& name) {
  const std::string page = course_file(name + ".md");
  const std::size_t toml = page.find('\n', page.rfind("<!-- toml:")) + 1;
  const auto from = nlohmann::json::parse(described::json_of_toml(
      page.substr(toml, page.rfind("-->") - toml), "docs/course/" + name + ".md"));
  Exercise out;
  out.name = name;
  out.number = std::stoi(name);
  const std::size_t title = page.find(": ") + 2;
  out.title = page.substr(title, page.find('\n') - title);
  for (const auto& [key, member] : {std::pair("aim", &Exercise::aim),
                                    {"recipe", &Exercise::recipe},
                                    {"variant", &Exercise::variant},
                                    {"kernel", &Exercise::kernel},
                                    {"result", &Exercise::result},
                                    {"before", &Exercise::before},
                                    {"behind", &Exercise::behind}})
    from.at(key).get_to(out.*member);
  from.at("hints").get_to(out.hints);
  from.at("goal_global").get_to(out.goal_global);
  from.at("goal_local").get_to(out.goal_local);
  out.extent = from.value("extent", "");
  out.constants = from.value("constants", out.constants);
  out.grid = one_of<Grid>({"items", "picture", "tiles", "groups"}, from.at("grid"));
  for (const auto& [figure, share] :
       from.at("limits").get<std::vector<std::pair<std::string, double>>>())
    out.limits.push_back(
        {one_of<Figure>({"steps", "memory", "registers", "stores", "loads", "reach"}, figure),
         share});
  return out;
}

}  // namespace

const std::vector<Exercise>& exercises() {
  static const std::vector<Exercise> all = [] {
    std::vector<Exercise> out;
    const auto add = [&](const char* name, auto describe, auto problem) {
      out.push_back(read_page(name));
      out.back().describe = describe;
      out.back().problem = problem;
    };
    add("01_two_calls", two_calls, items);
    add("02_table", block_modes, items);
    add("03_thresholds", thresholds, items);
    add("04_local_line", blur_lines<12>, picture);
    add("05_transposed_store", blur_lines<4>, picture);
    add("06_symmetric_taps", symmetric_taps, picture);
    add("07_halo_tile", dilate, picture);
    add("08_compaction", compact, chunks);
    add("09_folded_switch", control_points, patches);
    add("10_group_order", gather, picture);
    add("11_local_passes", solve, islands);
    add("12_registers", shade, items);
    return out;
  }();
  return all;
}

std::string start_of(const Exercise& exercise) { return course_file(exercise.name + ".cl"); }

namespace {

// The text of the file that the recipe's kernel is in.
std::string recipe_text(const Exercise& exercise) {
  for (const embedded::File* file :
       {&embedded::argument_swap, &embedded::bc6h_mode, &embedded::threshold_count,
        &embedded::line_blur, &embedded::halo_tile, &embedded::stream_compaction,
        &embedded::folded_switch, &embedded::group_swizzle, &embedded::local_multipass,
        &embedded::gbuffer_shade}) {
    if (file->name == exercise.recipe + ".cl") return file->text();
  }
  fail(Errc::io, exercise.recipe, "has no kernel in this program");
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at))
    text.replace(at, from.size(), to);
  return text;
}

described::Located placed(const std::string& text, const std::string& place) {
  return {text, place};
}

// The launch that an entry asks for.
void geometry(const Exercise& exercise, const Entry& entry, described::KernelEntry& out) {
  const auto& local = entry.geometry.local;
  const auto& outputs = entry.geometry.outputs;
  const auto covered = [&](const std::string& size, std::size_t d) {
    return "round_up(ceil_div(" + size + ", " + std::to_string(outputs[d]) + "), " +
           std::to_string(local[d]) + ")";
  };
  const auto tiles = [&](const char* size, std::size_t d) {
    return "ceil_div(" + std::string(size) + ", " + std::to_string(outputs[d] * local[d]) + ")";
  };
  switch (exercise.grid) {
    case Grid::items:
      out.global = {placed(covered(exercise.extent, 0), entry.file)};
      break;
    case Grid::picture:
      out.global = {placed(covered("width", 0), entry.file),
                    placed(covered("height", 1), entry.file)};
      break;
    case Grid::tiles:
      out.global = {
          placed(tiles("width", 0) + " * " + tiles("height", 1) + " * " + std::to_string(local[0]),
                 entry.file),
          placed(std::to_string(local[1]), entry.file)};
      break;
    case Grid::groups:
      out.global = {
          placed(replaced("(" + exercise.extent + ") * LOCAL", "LOCAL", std::to_string(local[0])),
                 entry.file)};
      break;
  }
  for (std::size_t d = 0; d < out.global.size(); ++d)
    out.local.push_back(placed(std::to_string(local[d]), entry.file));
}

}  // namespace

Description description_of(const Exercise& exercise, std::uint64_t seed, std::uint64_t sizes,
                           const std::vector<Entry>& entries) {
  Random numbers(seed);
  Random random(sizes);
  Description out;
  out.file = out.name = out.title = exercise.name;
  out.time_limit = 10;
  exercise.describe(numbers, out);
  std::string options;
  for (const auto& [name, value] : exercise.constants)
    options += (options.empty() ? "-D" : " -D") + name + "=" + std::to_string(value);

  // Oclgrind runs the first; the last is large enough for many groups on a CPU.
  for (const std::uint64_t results :
       {kTiny, std::uint64_t{1}, std::uint64_t{90}, std::uint64_t{9000}, std::uint64_t{60000}})
    out.check_shapes.push_back(exercise.problem(random, results));
  out.check_shapes.front().set("tiny", std::int64_t{1});
  out.bench_shapes = {exercise.problem(random, kCounted)};
  for (const Params::Entry& entry : out.bench_shapes.front().entries())
    out.sizes.push_back(entry.name);

  const auto add = [&](const std::string& name, const std::string& file, const Source& source) {
    out.kernels.emplace_back();
    described::KernelEntry& kernel = out.kernels.back();
    kernel.name = name;
    kernel.place = file;
    kernel.function = exercise.kernel;
    kernel.source = source;
    kernel.options = {options, file};
    for (std::size_t i = 0; i < out.arguments.size(); ++i) kernel.arguments.push_back(i);
    return &kernel;
  };
  for (const Entry& entry : entries)
    geometry(exercise, entry, *add(entry.name, entry.file, Source(entry.file, entry.text)));
  const std::string goal = exercise.before + "#define __kernel static inline\n" +
                           "#define reqd_work_group_size(x, y, z)\n" + recipe_text(exercise) +
                           "\n#undef __kernel\n#undef reqd_work_group_size\n" + exercise.behind;
  described::KernelEntry* recipe =
      add("recipe", exercise.recipe + ".cl", Source("recipe.cl", goal));
  for (const std::string& one : exercise.goal_global) recipe->global.push_back({one, "the recipe"});
  for (const std::string& one : exercise.goal_local) recipe->local.push_back({one, "the recipe"});
  recipe->baseline = true;
  return out;
}

}  // namespace clcook::tool::course
