// The card of the recipe line_blur.
//
// Problem: a Gaussian blur of a picture, separable, as two passes over lines. The article that this
// recipe goes back to optimises a Unity compute shader step by step. Why naive is slow: every tap
// is a read of global memory and an exponential, 2R + 1 of each per pixel and pass, although a line
// has far fewer pixels than that and the weights are the same for all; and the transposed store
// writes one pixel per memory transaction. What each variant changes: see its summary, and
// docs/line_blur.md. When it does not help: on a CPU, local memory is ordinary memory and barriers
// cut loops; the variants up to coalesced gain little there, and cpu_strip has nothing of them.
#pragma once

#include <clcook/line_blur.hpp>
#include <clcook/reference/line_blur.hpp>
#include <clcook/registry/guarded_buffer.hpp>
#include <clcook/registry/random.hpp>
#include <clcook/registry/recipe.hpp>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace clcook::cookbook {
namespace line_blur_card {

// The problem of a shape; recipe.parameters names its values. Sources start one pixel later than
// results, so that an exchange of the two offsets shows.
inline LineBlur::Problem problem(const Params& shape) {
  const auto size = [&](const char* name) {
    const std::int64_t value = shape.integer(name);
    if (value < 1 || value > LineBlur::kMaxSize) {
      fail(Errc::invalid_argument, "line_blur",
           text(name, " must be 1 to ", LineBlur::kMaxSize, ", got ", value));
    }
    return static_cast<int>(value);
  };
  LineBlur::Problem out;
  out.width = size("width");
  out.height = size("height");
  out.radius = shape.real("radius");
  out.sigma = shape.real("sigma");
  out.pixel = LineBlur::parse_pixel(shape.word("pixel", "rgba32f"));
  return out;
}

inline bool is_sparse(LineBlur::Variant v) {
  return v == LineBlur::Variant::subsampled || v == LineBlur::Variant::symmetric ||
         v == LineBlur::Variant::unrolled || v == LineBlur::Variant::padded;
}

inline bool has_table(LineBlur::Variant v) {
  return v == LineBlur::Variant::weights_table || v == LineBlur::Variant::coalesced ||
         v == LineBlur::Variant::cpu_strip;
}

inline int step(LineBlur::Variant v, double radius) {
  return is_sparse(v) ? reference::line_blur::subsampling_step(radius) : 1;
}

// How far a result may lie from the exact one, for N taps and values of magnitude at most m. u =
// 2^-24, the relative error of one rounding. Per pass:
//   table    Each weight is rounded once (u), each product enters the sum through one fma. A sum of
//   N fma carries at
//            most N u times the sum of |w| |s| <= m (1 + u). Together (N + 1) u m; 2 more cover the
//            second-order terms and the growth of m from the first pass.
//   exp      The weights are not normalised; numerator and denominator are sums of N terms: N u
//            each. A weight is good to 17 u: exp to 3 ulp (6 u), the factor 1 u, and the argument
//            x = (k / R)^2 / s1 to 10 u (1 / R, its product and s1 rounded, the square doubles
//            them, the division 2.5 ulp), which is 10 u x e^-x in the weight, with a mean of x over
//            the weights of at most 1. The same weights stand in both sums, so the mean moves by at
//            most twice that, 34 u. The final division is good to 2.5 ulp (5 u). Together (2 N +
//            39) u m, and 5 for second-order terms. The additions of pairs and the doubled weights
//            stay within N.
//   copy     Exact.
// Two passes: twice that. 8-bit results are rounded once more: half a level.
inline double bound(LineBlur::Variant variant, const LineBlur::Problem& p, double magnitude) {
  const double level = p.pixel == LineBlur::Pixel::rgba8 ? 0.5 : 0;
  if (LineBlur::is_copy(p)) return 0;
  const int side = static_cast<int>(p.radius) / step(variant, p.radius);
  const double taps = 2.0 * side + 1;
  const double units = has_table(variant) ? taps + 3 : 2 * taps + 44;
  return 2 * units * 0x1p-24 * magnitude + level;
}

class BlurCase : public Case {
 public:
  BlurCase(const Runtime& runtime, const Params& shape, std::uint64_t seed)
      : runtime_(runtime), problem_(problem(shape)) {
    const std::size_t bytes = problem_.pixel == LineBlur::Pixel::rgba8 ? 4 : 16;
    const auto extra = [&](const char* name) {
      const std::int64_t value = shape.integer(name, 0);
      if (value < 0 || value > 1 << 20) {
        fail(Errc::invalid_argument, "line_blur", text(name, " must be 0 to 1048576, got ", value));
      }
      return static_cast<std::size_t>(value);
    };
    const std::size_t offset = extra("offset");
    const std::size_t row = static_cast<std::size_t>(problem_.width) * bytes;
    const auto rows = static_cast<std::size_t>(problem_.height);
    const std::size_t pitch = row + extra("pad") * bytes;
    // 0xFF in the poison makes every float a NaN. The result's is another, so that poison which is
    // copied past the end of a row shows.
    src_.emplace(runtime, row, rows, (offset == 0 ? 0 : offset + 1) * bytes, pitch, 0xFF);
    dst_.emplace(runtime, row, rows, offset * bytes, pitch, 0xCD);
    Random random(seed);
    const std::size_t values = static_cast<std::size_t>(problem_.width) * rows * 4;
    if (bytes == 16) {
      floats_.resize(values);
      for (float& value : floats_) value = random.uniform(-1.0f, 1.0f);
    } else {
      bytes_.resize(values);
      for (unsigned char& value : bytes_) value = static_cast<unsigned char>(random.below(256));
    }
  }

  void prepare(const std::string& variant, const Params& tune) override {
    LineBlur::Tune how;
    how.group = static_cast<int>(tune.integer("group", 0));
    blur_.emplace(runtime_, problem_, LineBlur::parse_variant(variant), how);
  }

  void poison() override {
    src_->poison();
    dst_->poison();
  }

  cl::Event upload(const std::vector<cl::Event>& wait) override {
    return src_->upload(floats_.empty() ? static_cast<const void*>(bytes_.data()) : floats_.data(),
                        wait);
  }

  cl::Event run(const std::vector<cl::Event>& wait) override {
    return blur()(src_->view(), dst_->view(), wait);
  }

  Diff check(const std::vector<cl::Event>& wait) override {
    Diff diff;
    const std::vector<unsigned char> got = dst_->read(wait, diff, "dst");
    const std::vector<double>& expected = reference();
    const double limit = bound(blur().variant(), problem_, floats_.empty() ? 255.0 : 1.0);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      double value = 0;
      if (floats_.empty()) {
        value = got[i];
      } else {
        float one = 0;
        std::memcpy(&one, got.data() + i * sizeof one, sizeof one);
        value = one;
      }
      diff.compare(Where{i, problem_.width}, expected[i], value, limit);
    }
    return diff;
  }

  Work work() const override {
    Work work;
    const double pixels = static_cast<double>(problem_.width) * problem_.height;
    const double bytes = problem_.pixel == LineBlur::Pixel::rgba8 ? 4 : 16;
    work.bytes_read = pixels * bytes;
    work.bytes_written = pixels * bytes;
    if (!LineBlur::is_copy(problem_)) {
      const LineBlur::Variant variant = blur().variant();
      // The intermediate picture, once out and once in; cpu_strip keeps it in the cache.
      if (variant != LineBlur::Variant::cpu_strip) {
        work.bytes_read += pixels * 16;
        work.bytes_written += pixels * 16;
      }
      const int side = static_cast<int>(problem_.radius) / step(variant, problem_.radius);
      work.operations = 2 * pixels * 4 * (2.0 * side + 1) * 2;
    }
    return work;
  }

 private:
  // Says which channel of which pixel; turned into text for the first mismatch only.
  struct Where {
    std::size_t index;
    int width;
    friend std::ostream& operator<<(std::ostream& out, const Where& where) {
      const std::size_t pixel = where.index / 4;
      const auto columns = static_cast<std::size_t>(where.width);
      return out << "x " << pixel % columns << ", y " << pixel / columns << ", channel "
                 << where.index % 4;
    }
  };

  const LineBlur& blur() const {
    if (!blur_) fail(Errc::invalid_argument, "line_blur", "prepare() was not called");
    return *blur_;
  }

  const std::vector<double>& reference() {
    const int distance = step(blur().variant(), problem_.radius);
    const auto found = reference_.find(distance);
    if (found != reference_.end()) return found->second;
    const auto taps = reference::line_blur::taps(problem_.radius, problem_.sigma, distance);
    const auto width = static_cast<std::size_t>(problem_.width);
    const auto height = static_cast<std::size_t>(problem_.height);
    return reference_[distance] =
               floats_.empty() ? reference::line_blur::blur(bytes_.data(), width, height, taps)
                               : reference::line_blur::blur(floats_.data(), width, height, taps);
  }

  Runtime runtime_;
  LineBlur::Problem problem_;
  std::optional<GuardedBuffer> src_;
  std::optional<GuardedBuffer> dst_;
  std::vector<float> floats_;
  std::vector<unsigned char> bytes_;
  std::optional<LineBlur> blur_;
  std::map<int, std::vector<double>> reference_;  // by the distance of the taps
};

inline Params shape(int width, int height, double radius, double sigma, const char* pixel,
                    int offset = 0, int pad = 0, bool tiny = false) {
  Params out{{"width", std::int64_t{width}},
             {"height", std::int64_t{height}},
             {"radius", radius},
             {"sigma", sigma},
             {"pixel", std::string(pixel)}};
  if (offset != 0) out.set("offset", std::int64_t{offset});
  if (pad != 0) out.set("pad", std::int64_t{pad});
  if (tiny) out.set("tiny", std::int64_t{1});
  return out;
}

}  // namespace line_blur_card

inline Recipe line_blur() {
  using line_blur_card::shape;
  Recipe recipe;
  recipe.name = "line_blur";
  recipe.title = "Gaussian blur by lines";
  recipe.technique = "memory locality";
  recipe.summary =
      "A separable blur with two transposing passes, from a global read and an exponential per tap "
      "to register-blocked "
      "sums with contiguous stores.";
  const auto axis = [](std::int64_t first) {
    Axis group{"group", {first}};
    for (const std::int64_t value : {1024, 512, 256, 128, 64}) {
      if (value != first) group.values.emplace_back(value);
    }
    return std::vector<Axis>{group};
  };
  const auto add = [&](LineBlur::Variant variant, const char* summary) {
    VariantInfo info;
    info.name = LineBlur::to_string(variant);
    info.summary = summary;
    info.baseline = variant == LineBlur::Variant::naive;
    info.approximate = line_blur_card::is_sparse(variant);
    if (variant != LineBlur::Variant::cpu_strip) {
      info.tunes = axis(LineBlur::default_group(variant));
    }
    recipe.variants.push_back(std::move(info));
  };
  add(LineBlur::Variant::naive,
      "one work-group per line; a global read and an exponential per tap");
  add(LineBlur::Variant::local_line, "the line is read once into local memory");
  add(LineBlur::Variant::subsampled, "at most 65 taps, spread over the radius (an approximation)");
  add(LineBlur::Variant::symmetric, "the same taps in pairs: one weight for two");
  add(LineBlur::Variant::unrolled, "symmetric with the loop over 32 pairs unrolled");
  add(LineBlur::Variant::padded, "symmetric with padded local memory, against bank conflicts");
  add(LineBlur::Variant::weights_table,
      "local_line with all taps and weights made once on the host");
  add(LineBlur::Variant::coalesced,
      "8 lines per group, several outputs per item in registers, contiguous transposed stores");
  add(LineBlur::Variant::cpu_strip,
      "for CPUs: float16 vectors, both passes in one launch, a ring of rows in the L2 cache");

  recipe.parameters = {
      Parameter::integer("width", "pixels", 1, LineBlur::kMaxSize),
      Parameter::integer("height", "pixels", 1, LineBlur::kMaxSize),
      Parameter::real("radius", "pixels", 0, LineBlur::kMaxRadius),
      Parameter::real("sigma", "of the weights, in radii", 0, std::numeric_limits<double>::max()),
      Parameter::word("pixel", "type of a pixel", {"rgba32f", "rgba8"}, "rgba32f"),
      Parameter::integer("offset", "pixels before the first row", 0, 1 << 20, "0"),
      Parameter::integer("pad", "pixels behind each row", 0, 1 << 20, "0"),
  };
  recipe.test_shapes = {
      shape(1, 1, 3, 0.5, "rgba32f", 0, 0, true),
      shape(7, 3, 2.5, 0.5, "rgba32f", 3, 2, true),
      shape(3, 5, 4, 0.7, "rgba8", 1, 5, true),
      shape(3, 2, 0, 0.5, "rgba32f", 2, 3, true),
      shape(1, 97, 5, 0.5, "rgba32f"),
      shape(97, 1, 5, 0.5, "rgba8"),
      shape(63, 5, 4, 0.5, "rgba32f"),
      shape(64, 7, 9.5, 0.4, "rgba8", 5, 3),
      shape(65, 9, 16, 0.7, "rgba32f", 7, 9),
      shape(127, 3, 33, 0.5, "rgba32f"),
      shape(131, 37, 40.25, 0.5, "rgba8"),
      shape(255, 2, 6, 1, "rgba32f"),
      shape(257, 3, 31, 0.5, "rgba8"),
      shape(2, 1025, 10, 0.5, "rgba32f"),
      shape(2307, 3, 64, 0.5, "rgba32f", 1, 1),
      shape(300, 1, 1100, 0.5, "rgba8"),
      shape(37, 29, 100, 0.5, "rgba32f"),
      shape(53, 41, 0, 0.5, "rgba8", 3, 4),
      shape(41, 23, 0.75, 0.5, "rgba32f", 0, 3),
      shape(23, 17, 5, 0, "rgba32f"),
      shape(31, 19, 6, 1e-12, "rgba32f"),
      shape(31, 19, 6, 1e12, "rgba8"),
  };
  recipe.bench_shapes = {
      shape(1920, 1080, 64, 0.5, "rgba32f"), shape(1920, 1080, 64, 0.5, "rgba8"),
      shape(3840, 2160, 64, 0.5, "rgba32f"), shape(3840, 2160, 64, 0.5, "rgba8"),
      shape(512, 512, 64, 0.5, "rgba32f"),
  };
  recipe.quick_shape = shape(256, 144, 64, 0.5, "rgba32f");
  recipe.problem_bytes = [](const Params& shape) {
    const LineBlur::Problem p = line_blur_card::problem(shape);
    return 2.0 * (p.pixel == LineBlur::Pixel::rgba8 ? 4 : 16) * p.width * p.height;
  };
  recipe.make = [](const Runtime& runtime, const Params& shape, std::uint64_t seed) {
    return std::unique_ptr<Case>(new line_blur_card::BlurCase(runtime, shape, seed));
  };
  recipe.units = [](const std::string& variant, const Params& tune, const Params& shape) {
    std::vector<CompileUnit> out;
    const auto pixel = LineBlur::parse_pixel(shape.word("pixel", "rgba32f"));
    for (const LineBlur::Unit& unit : LineBlur::units(LineBlur::parse_variant(variant), pixel,
                                                      static_cast<int>(tune.integer("group", 0)))) {
      out.push_back({unit.kernel,
                     text(LineBlur::to_string(unit.src), " -> ", LineBlur::to_string(unit.dst)),
                     Source(embedded::line_blur), unit.defines, ""});
    }
    return out;
  };
  return recipe;
}

}  // namespace clcook::cookbook
