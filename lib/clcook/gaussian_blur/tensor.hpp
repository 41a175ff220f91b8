// The methods tensor and tensor_split: products of band matrices on the matrix units of NVIDIA
// GPUs, rows and columns in one launch, see kernels/gaussian_blur/tensor.cl, or for large radii in
// two, see tensor_passes.hpp. tensor multiplies halves and sums in float, tensor_split makes two
// halves of each value and weight and adds three products. For pixels of 4 float channels; tensor
// takes bytes too, always in two launches.
#pragma once

#include <algorithm>
#include <clcook/core/half.hpp>
#include <clcook/core/math.hpp>
#include <clcook/embedded/gaussian_blur.hpp>
#include <clcook/gaussian_blur/matrix_units.hpp>
#include <clcook/gaussian_blur/method.hpp>
#include <clcook/gaussian_blur/tensor_passes.hpp>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace clcook::gaussian {

// A value as a half, rounded to nearest even: its bits, and what they stand for. |value| < 65504.
struct Half {
  std::uint32_t bits = 0;
  double value = 0;

  static Half of(double value) {
    const std::uint16_t bits = to_half(value);
    return {bits, finite_half(bits)};
  }
};

// The weights of an axis as halves, times the power of two that brings the first one to 2^top / 2
// to 2^top.
struct HalfWeights : WeightErrors {
  std::vector<Half> high;
  std::vector<Half> low;  // what `high` lacks
  double unit = 1;        // the power of two, which is what the sum would be but for roundings
  double sum = 0;         // of the whole filter as it is stored

  HalfWeights() = default;
  HalfWeights(const FilterAxis& axis, bool split, int top) {
    int exponent = 0;
    math::frexp(axis.weights[0], &exponent);
    unit = math::ldexp(1.0, top - exponent);
    std::vector<double> stored;
    for (std::size_t k = 0; k < axis.weights.size(); ++k) {
      const double weight = unit * axis.weights[k];
      high.push_back(Half::of(weight));
      low.push_back(Half::of(weight - high.back().value));
      stored.push_back(high.back().value + (split ? low.back().value : 0));
      sum += (k == 0 ? 1 : 2) * stored.back();
    }
    for (double& weight : stored) weight /= sum;
    compare(axis, stored);
  }
};

// How a radius class is compiled and launched; definitions CLCOOK_TENSOR_... of the kernel.
struct TensorShape {
  int chunks = 0;      // of 8 rows in registers: for radii up to 4 (chunks - 2)
  int stage = 0;       // of them loaded at once
  int warps = 0;       // of a group
  bool early = false;  // asks for pixels a stage before they are loaded
  int resident = 0;    // groups that a multiprocessor is given at once
  double copies = 0;   // time on a large picture, in those of a copy

  int radius() const { return 4 * (chunks - 2); }
};

template <bool split>
class Tensor : public Method {
 public:
  struct Design {
    HalfWeights x;
    HalfWeights y;
  };

  // The smallest class of the one launch that holds the radius, and null where none does.
  static const TensorShape* shape(const Problem& p, const Axes& axes) {
    if (p.pixel == Pixel::u8) return nullptr;
    const int radius = std::max(axes.x.radius, axes.y.radius);
    static const std::vector<TensorShape> floats{{3, 2, 4, false, 2, 1.1},
                                                 {6, 2, 4, false, 2, 1.12}};
    static const std::vector<TensorShape> splits{{3, 2, 4, true, 2, 1.11},
                                                 {6, 1, 4, true, 2, 1.34}};
    for (const TensorShape& one : split ? splits : floats) {
      if (radius <= one.radius()) return &one;
    }
    return nullptr;
  }

  static Offer offer(const Runtime& runtime, const Problem& p, const Axes& axes, Design& design) {
    const std::string lacks = lacks_matrix_units(runtime);
    if (!lacks.empty()) return Offer::no(Lacks::feature, lacks);
    if (channels_of(p) != 4)
      return Offer::no(Lacks::problem, text("needs 4 channels, got ", channels_of(p)));
    const bool bytes = p.pixel == Pixel::u8;
    if (p.pixel != Pixel::f32 && (split || !bytes)) {
      return Offer::no(Lacks::problem,
                       split ? "takes float pixels only" : "takes float and byte pixels only");
    }
    if (may_be_anything(p))
      return Offer::no(Lacks::problem, "makes halves of the values: needs Problem::peak");
    if (!bytes && !math::is_within(p.peak, 1e-30, 1e30))
      return Offer::no(Lacks::problem, text("takes a peak of 1e-30 to 1e30, got ", p.peak));
    const int radius = std::max(axes.x.radius, axes.y.radius);
    const TensorShape* best = shape(p, axes);
    if (best == nullptr && radius > TensorPasses::kMostRadius)
      return Offer::no(Lacks::problem, text("has no class for a radius of ", radius));
    if (is_constant(p.border)) {
      for (const float value : p.outside) {
        const auto exact = static_cast<double>(value);
        if (bytes && !(math::is_within(exact, 0, 255) && exact == math::floor(exact)))
          return Offer::no(Lacks::problem,
                           text("needs Problem::outside in whole levels, got ", exact));
        if (!math::is_within(exact, -peak_of(p), peak_of(p)))
          return Offer::no(Lacks::problem,
                           text("needs Problem::outside within the peak, got ", exact));
      }
    }
    HalfWeights& x = design.x;
    HalfWeights& y = design.y;
    x = HalfWeights(axes.x, split, kTop);
    y = axes.x.sigma == axes.y.sigma ? x : HalfWeights(axes.y, split, kTop);
    Offer out;
    const double steps = (axes.x.radius + axes.y.radius) / 8 + 4;  // additions of 16 products
    // The weights are off by `off`; their errors sum up to 0, so their sizes count with half of the
    // range of the values, which of floats is twice the peak. An addition of 16 products, or of
    // each of three times 16, is off by four units in the last place at most, the scales by a
    // rounding each.
    const double others = (x.off + y.off) * (bytes ? 0.5 : 1) + 4 * 0x1p-24;
    if (split) {
      // A value and its two halves differ by 2^-24, the blurred rows again; the product of the two
      // low halves, left out, is below 2^-24 for each axis.
      out.max_error = others + 4 * 0x1p-24 + 3 * steps * 0x1p-21;
    } else {
      // A value within the peak is off by 2^-12 as a half, a byte not at all. A blurred row is
      // within x.unit, where it is off by 2^-12 of that, but for what the sum is above it, and
      // there it is rounded to it or up. Bytes are in 256ths.
      const double row = std::max(0x1p-12 * x.unit, x.sum - x.unit) / x.sum;
      out.max_error = others + (bytes ? row * 256 / 255 : 0x1p-12 + row) + steps * 0x1p-21;
    }
    double copies = 0;
    if (best != nullptr) {
      copies = best->copies;
    } else {
      const int pieces = TensorPasses::pieces(axes.x) + TensorPasses::pieces(axes.y);
      // Of bytes a guess, not measured: the products take as long, the pixels a quarter.
      copies = split ? 1.4 + 0.085 * pieces : bytes ? 2.6 + 0.14 * pieces : 1.3 + 0.035 * pieces;
    }
    if (runtime.info().cpu) copies *= 1e4;  // emulated
    out.work = {copies * bytes_of(p), copies * bytes_of(p), 0, best != nullptr ? 1.0 : 2.0};
    return out;
  }

  static std::vector<CompileUnit> units(const Problem& p, const Axes& axes, const DeviceInfo&) {
    const TensorShape* best = shape(p, axes);
    if (best == nullptr) return TensorPasses::units(p, split);
    Defines defines;
    if (is_constant(p.border)) defines.flag("CLCOOK_TENSOR_CONSTANT");
    if (split) defines.flag("CLCOOK_TENSOR_SPLIT");
    if (best->early) defines.flag("CLCOOK_TENSOR_PREFETCH");
    defines.set("CLCOOK_TENSOR_STAGE", best->stage);
    defines.set("CLCOOK_TENSOR_CHUNKS", best->chunks);
    defines.set("CLCOOK_TENSOR_WARPS", best->warps);
    return {unit("gaussian_blur_tensor", embedded::gaussian_blur_tensor, defines,
                 {static_cast<std::size_t>(32 * best->warps), 1, 1})};
  }

  Tensor(const Runtime& runtime, const Problem& problem, const Axes& axes, const Design& design,
         const std::vector<cl::Program>& programs)
      : runtime_(runtime),
        problem_(problem),
        shape_(shape(problem, axes)),
        taps_x_(axes.x.taps()),
        taps_y_(axes.y.taps()) {
    program_ = programs[0];
    const HalfWeights& x = design.x;
    const HalfWeights& y = design.y;
    const auto words = [&](bool columns, int chunks) {
      const HalfWeights& weights = columns ? y : x;
      std::vector<std::uint32_t> out = fragments(weights.high, chunks, columns);
      if (split) {
        const auto low = fragments(weights.low, chunks, columns);
        out.insert(out.end(), low.begin(), low.end());
      }
      return out;
    };
    const auto upload = [&](const std::vector<std::uint32_t>& all) {
      return create_buffer(runtime, all.size() * sizeof all[0], CL_MEM_READ_ONLY, all.data());
    };
    // Split values are scaled so that what the halves lack is no subnormal half, and the blurred
    // rows likewise.
    const double up = problem.pixel == Pixel::u8 ? 0x1p-8 : (split ? 0x1p11 : 1) / problem.peak;
    scale_.in = static_cast<cl_float>(up);
    scale_.mid = split ? static_cast<cl_float>(1 / x.sum) : 1.0f;
    scale_.out = static_cast<cl_float>(1 / (up * x.sum * static_cast<double>(scale_.mid) * y.sum));
    if (shape_ != nullptr) {
      std::vector<std::uint32_t> all = words(false, shape_->chunks);
      const std::vector<std::uint32_t> more = words(true, shape_->chunks);
      all.insert(all.end(), more.begin(), more.end());
      weights_ = upload(all);
      return;
    }
    passes_.program = program_;
    passes_.pieces_x = TensorPasses::pieces(axes.x);
    passes_.pieces_y = TensorPasses::pieces(axes.y);
    passes_.rows = upload(words(false, 2 * passes_.pieces_x));
    passes_.columns = upload(words(true, 2 * passes_.pieces_y));
    passes_.split = split;
    passes_.scale = scale_;
  }

  cl::Event enqueue(const Call& call, Scratch& scratch,
                    const std::vector<cl::Event>& wait) override {
    if (shape_ == nullptr) return passes_.enqueue(problem_, call, scratch, wait);
    const Region& region = call.region;
    const std::size_t bytes = pixel_bytes(problem_);
    // As many segments as make one wave of groups.
    const int across = 16 * shape_->warps;
    const int strips = (region.width - 1) / across + 1;
    const int tiles = (region.height - 1) / 16 + 1;
    const int wave = static_cast<int>(runtime_.info().compute_units) * shape_->resident;
    const int segments = std::clamp(
        static_cast<int>(wave / (static_cast<double>(strips) * problem_.batch)), 1, tiles);
    const int segment = ((tiles - 1) / segments + 1) * 16;
    Kernel kernel(call.runtime, program_, "gaussian_blur_tensor");
    return kernel(Launch::groups({static_cast<std::size_t>(strips),
                                  static_cast<std::size_t>((region.height - 1) / segment + 1),
                                  static_cast<std::size_t>(problem_.batch)},
                                 {static_cast<std::size_t>(32 * shape_->warps), 1, 1}),
                  wait, call.src.buffer, kernel_view(call.src, bytes), call.dst.buffer,
                  kernel_view(call.dst, bytes), kernel_picture(problem_, region), cl_int{segment},
                  weights_, scale_);
  }

  bool uses_scratch() const override { return shape_ == nullptr; }

  std::string describe() const override {
    return text("rows of ", taps_x_, " and columns of ", taps_y_, " taps as products of ",
                split ? "halves in two parts" : "halves",
                shape_ != nullptr ? ", one launch" : ", two launches");
  }

  // The matrix A of the rows or of the columns for each 16 inputs of the band, as the lanes of a
  // warp have it: [piece][lane][register], two halves in each. The kernel says which element is
  // where.
  static std::vector<std::uint32_t> fragments(const std::vector<Half>& weights, int chunks,
                                              bool columns) {
    // The pixel of 16 that slot k of a product stands for.
    const auto pixel = [&](int k) { return columns ? k : k % 8 / 2 + 4 * (k % 2) + 8 * (k / 8); };
    const int pieces = (chunks + 1) / 2;
    const int pad = 4 * (chunks - 2);
    std::vector<std::uint32_t> out;
    for (int piece = 0; piece < pieces; ++piece) {
      for (int lane = 0; lane < 32; ++lane) {
        for (int r = 0; r < 4; ++r) {
          std::uint32_t word = 0;
          for (int h = 0; h < 2; ++h) {
            const int row = lane / 4 + r % 2 * 8;
            const int column = lane % 4 * 2 + h + r / 2 * 8;
            const int distance = piece * 16 + pixel(column) - pad - pixel(row);
            const auto tap = static_cast<std::size_t>(std::abs(distance));
            if (tap < weights.size()) word |= weights[tap].bits << (16 * h);
          }
          out.push_back(word);
        }
      }
    }
    return out;
  }

 private:
  static constexpr int kTop = split ? 10 : 0;

  Runtime runtime_;
  Problem problem_;
  const TensorShape* shape_;  // null: passes_
  int taps_x_;
  int taps_y_;
  cl::Program program_;
  cl::Buffer weights_;
  TensorPasses passes_;
  TensorScale scale_;
};

}  // namespace clcook::gaussian
