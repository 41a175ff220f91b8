// The method tensor_bytes: byte pictures of 4 channels as products of band matrices of bytes on the
// matrix units of NVIDIA GPUs, rows and columns in one launch; see
// kernels/gaussian_blur/tensor_bytes.cl.
#pragma once

#include <algorithm>
#include <clcook/core/math.hpp>
#include <clcook/embedded/gaussian_blur.hpp>
#include <clcook/gaussian_blur/matrix_units.hpp>
#include <clcook/gaussian_blur/method.hpp>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace clcook::gaussian {

// What weights and blurred rows are stored as: bytes; both 16 bits; or weights of 16 bits and rows
// of bytes, where what the rounding of a row leaves is carried into the next one.
enum class BytesStore { coarse, fine, carry };

// The weights of an axis as whole numbers with the sum 2^shift, by the largest remainder: each is
// less than 1 off.
struct ByteWeights : WeightErrors {
  std::vector<int> taps;  // 0 .. radius
  int shift = 0;
  BytesStore store = BytesStore::coarse;
  double missing = 0;  // of the sum

  // Coarse weights are bytes, the first one from 126 on. Fine ones have 16 bits and the sum 2^16,
  // or one less where a single tap has all of it. Those of `carry` have 16 bits, as many of them as
  // there are, and a sum of at most 2^22: times 256 it is an int.
  ByteWeights() = default;
  ByteWeights(const FilterAxis& axis, BytesStore stored_as) : store(stored_as) {
    const int most = store == BytesStore::coarse ? 255 : 65535;
    const int fit = static_cast<int>(math::floor(math::log2((most - 0.01) / axis.weights[0])));
    shift = store == BytesStore::fine ? 16 : std::min(fit, 22);
    std::vector<double> exact;
    int left = 1 << shift;
    for (const double weight : axis.weights) {
      exact.push_back(math::ldexp(weight, shift));
      taps.push_back(static_cast<int>(exact.back()));
      left -= (taps.size() == 1 ? 1 : 2) * taps.back();
    }
    std::vector<std::size_t> order;
    for (std::size_t k = 1; k < taps.size(); ++k) order.push_back(k);
    std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) {
      const double one = exact[i] - taps[i];
      const double other = exact[j] - taps[j];
      return one != other ? one > other : i < j;
    });
    for (const std::size_t k : order) {
      if (left < 2) break;
      ++taps[k];
      left -= 2;
    }
    taps[0] = std::min(taps[0] + left, most);
    missing = 1;
    std::vector<double> stored;
    for (const int tap : taps) {
      stored.push_back(math::ldexp(tap, -shift));
      missing -= (stored.size() == 1 ? 1 : 2) * stored.back();
    }
    compare(axis, stored);
  }
};

// How a radius class is compiled and launched; definitions CLCOOK_BYTES_... of the kernel.
struct BytesShape {
  int pieces = 0;  // of 16 rows in registers: for radii up to 8 (pieces - 1)
  BytesStore store = BytesStore::coarse;
  bool share = false;  // the warps of a group share the pixels in local memory
  int warps = 0;       // of a group
  int resident = 0;    // groups that a multiprocessor is given at once
  double copies = 0;   // time on a large picture, in those of a copy

  int radius() const { return 8 * (pieces - 1); }
};

class TensorBytes : public Method {
 public:
  // No value is further off than this, in levels, before it is rounded to a byte.
  static double max_error(const ByteWeights& x, const ByteWeights& y) {
    // The errors of the weights sum up to `missing`, so that their sizes count with half of the
    // range of the values.
    const double weights = 127.5 * (x.off + y.off + x.missing + y.missing);
    if (x.store == BytesStore::fine) {
      // Rows are off by half of 2^-8 levels. A low byte of a weight times that of a row, left out,
      // is within 127.5 of the mean that is added, and that is rounded.
      double low = 0;
      for (std::size_t k = 0; k < y.taps.size(); ++k) low += (k == 0 ? 1 : 2) * (y.taps[k] & 255);
      return weights + 0x1p-9 + 0x1p-17 + 127.5 * 0x1p-24 * low;
    }
    if (y.taps.size() == 1) return weights;  // the rows are the result
    return weights + (x.store == BytesStore::carry ? worst_carry(y) : worst_rows(y));
  }

  // A class, its weights, and what comes of them.
  struct Design {
    const BytesShape* shape = nullptr;
    ByteWeights x;
    ByteWeights y;
    double max_error = 0;  // levels
  };
  // The cheapest class that holds the radius and promises the quality, or the best one; empty
  // where none holds the radius.
  static std::optional<Design> design(const Problem& p, const Axes& axes) {
    constexpr BytesStore kCoarse = BytesStore::coarse;
    constexpr BytesStore kFine = BytesStore::fine;
    // The times were measured on an H200, but that of the last class: a guess, for what it does
    // more than the one before. The coarse class of 3 pieces is faster in groups of one warp than
    // of two or four, the one of 2 pieces slower; for the others that was not measured.
    static const std::vector<BytesShape> all{{2, kFine, false, 4, 4, 1.65},
                                             {3, kCoarse, false, 1, 16, 1.65},
                                             {3, kFine, false, 4, 2, 2.6},
                                             {5, kCoarse, true, 4, 3, 2.35},
                                             {5, kFine, true, 4, 2, 3.4},
                                             {9, kCoarse, true, 4, 2, 3.45},
                                             {9, BytesStore::carry, true, 4, 2, 4.8}};
    const int radius = std::max(axes.x.radius, axes.y.radius);
    std::optional<Design> best;
    for (const BytesShape& one : all) {
      if (radius > one.radius()) continue;
      if (best && psnr_of(best->max_error / 255) >= p.quality) break;
      Design next{&one, ByteWeights(axes.x, one.store), ByteWeights(axes.y, one.store), 0};
      next.max_error = max_error(next.x, next.y);
      if (!best || next.max_error < best->max_error) best = std::move(next);
    }
    return best;
  }

  static Offer offer(const Runtime& runtime, const Problem& p, const Axes& axes, Design& chosen) {
    const std::string lacks = lacks_matrix_units(runtime);
    if (!lacks.empty()) return Offer::no(Lacks::feature, lacks);
    if (p.pixel != Pixel::u8) return Offer::no(Lacks::problem, "takes byte pixels only");
    if (channels_of(p) != 4)
      return Offer::no(Lacks::problem, text("needs 4 channels, got ", channels_of(p)));
    std::optional<Design> best = design(p, axes);
    if (!best)
      return Offer::no(Lacks::problem, text("has no class for a radius of ",
                                            std::max(axes.x.radius, axes.y.radius)));
    if (is_constant(p.border)) {
      for (const float value : p.outside) {
        if (!(math::is_within(static_cast<double>(value), 0, 255) && value == math::floor(value)))
          return Offer::no(Lacks::problem,
                           text("needs Problem::outside in whole levels, got ", value));
      }
    }
    Offer out;
    out.max_error = best->max_error / 255;
    const double copies = best->shape->copies * (runtime.info().cpu ? 1e4 : 1);  // emulated
    out.work = {copies * values_of(p), copies * values_of(p), 0, 1};
    out.units = {unit_of(p, *best->shape)};
    chosen = std::move(*best);
    return out;
  }

  static std::vector<CompileUnit> units(const Problem& p, const Axes& axes, const DeviceInfo&) {
    const std::optional<Design> best = design(p, axes);
    if (!best) return {};
    return {unit_of(p, *best->shape)};
  }

  TensorBytes(const Runtime& runtime, const Problem& problem, const Axes& axes,
              const Design& design, const std::vector<cl::Program>& programs)
      : runtime_(runtime),
        problem_(problem),
        shape_(*design.shape),
        taps_x_(axes.x.taps()),
        taps_y_(axes.y.taps()) {
    program_ = programs[0];
    const ByteWeights& x = design.x;
    const ByteWeights& y = design.y;
    std::vector<std::uint32_t> words = fragments(x, shape_.pieces, false);
    const std::vector<std::uint32_t> more = fragments(y, shape_.pieces, true);
    words.insert(words.end(), more.begin(), more.end());
    // Then what lies outside of the picture, four times.
    std::uint32_t beyond = 0;
    for (unsigned c = 0; is_constant(problem.border) && c < 4; ++c)
      beyond |= static_cast<std::uint32_t>(problem.outside[c]) << (8 * c);
    words.insert(words.end(), 4, beyond);
    weights_ =
        create_buffer(runtime, words.size() * sizeof words[0], CL_MEM_READ_ONLY, words.data());
    rows_ = Rounding(x);
    columns_ = Rounding(y);
  }

  // Rows of a segment: as many segments as make one wave of groups, or two where they stay much
  // longer than what they blur along rows beyond their ends.
  static int segment_rows(const DeviceInfo& device, const Problem& p, const BytesShape& shape,
                          const Region& region) {
    const int strips = (region.width - 1) / (16 * shape.warps) + 1;
    const int tiles = (region.height - 1) / 16 + 1;
    const auto length = [&](int waves) {
      const int groups = waves * static_cast<int>(device.compute_units) * shape.resident;
      const int segments =
          std::clamp(static_cast<int>(groups / (static_cast<double>(strips) * p.batch)), 1, tiles);
      return (tiles - 1) / segments + 1;
    };
    const int twice = length(2);
    return (twice >= 8 * (shape.pieces - 1) ? twice : length(1)) * 16;
  }

  cl::Event enqueue(const Call& call, Scratch&, const std::vector<cl::Event>& wait) override {
    const Region& region = call.region;
    const std::size_t bytes = pixel_bytes(problem_);
    const KernelView src = kernel_view(call.src, bytes);
    const KernelView dst = kernel_view(call.dst, bytes);
    const bool src_whole =
        (src.offset + static_cast<cl_ulong>(region.x)) % 4 == 0 && src.pitch % 4 == 0;
    const bool dst_whole = dst.offset % 4 == 0 && dst.pitch % 4 == 0;
    const int strips = (region.width - 1) / (16 * shape_.warps) + 1;
    const int segment = segment_rows(runtime_.info(), problem_, shape_, region);
    Kernel kernel(call.runtime, program_, "gaussian_blur_tensor_bytes");
    return kernel(Launch::groups({static_cast<std::size_t>(strips),
                                  static_cast<std::size_t>((region.height - 1) / segment + 1),
                                  static_cast<std::size_t>(problem_.batch)},
                                 {static_cast<std::size_t>(32 * shape_.warps), 1, 1}),
                  wait, call.src.buffer, src, call.dst.buffer, dst,
                  cl_int{(src_whole ? 1 : 0) + (dst_whole ? 2 : 0)},
                  kernel_picture(problem_, region), cl_int{segment}, weights_, rows_,
                  cl_int{taps_y_ > 1 ? 1 : 0}, columns_);
  }

  bool uses_scratch() const override { return false; }

  std::string describe() const override {
    return text("rows of ", taps_x_, " and columns of ", taps_y_, " taps as products of bytes",
                shape_.store == BytesStore::fine    ? " in two parts"
                : shape_.store == BytesStore::carry ? ", weights in two parts, rows that carry on"
                                                    : "",
                ", one launch");
  }

  // The matrix A of the rows or of the columns for each 16 inputs of the band, as the lanes of a
  // warp have it: [part][piece][lane][register], 4 bytes in each. The kernel says which element is
  // where. The first of two parts is the high byte.
  static std::vector<std::uint32_t> fragments(const ByteWeights& weights, int pieces,
                                              bool columns) {
    const auto result = [&](int m) { return columns ? m : m % 8 / 2 * 4 + m % 2 + m / 8 * 2; };
    const auto input = [&](int k) { return columns ? k / 4 * 2 + k % 2 + k % 4 / 2 * 8 : k; };
    const int pad = 8 * (pieces - 1);
    const int parts = weights.store == BytesStore::coarse ? 1 : 2;
    std::vector<std::uint32_t> out;
    for (int part = 0; part < parts; ++part) {
      for (int piece = 0; piece < pieces; ++piece) {
        for (int lane = 0; lane < 32; ++lane) {
          for (int r = 0; r < 2; ++r) {
            std::uint32_t word = 0;
            for (int j = 0; j < 4; ++j) {
              const int distance =
                  piece * 16 + input(lane % 4 * 4 + j) - pad - result(lane / 4 + 8 * r);
              const auto tap = static_cast<std::size_t>(std::abs(distance));
              const int weight = tap < weights.taps.size() ? weights.taps[tap] : 0;
              const int byte = part == parts - 1 ? weight & 255 : weight >> 8;
              word |= static_cast<std::uint32_t>(byte) << (8 * j);
            }
            out.push_back(word);
          }
        }
      }
    }
    return out;
  }

 private:
  static CompileUnit unit_of(const Problem& p, const BytesShape& shape) {
    Defines defines;
    if (is_constant(p.border)) defines.flag("CLCOOK_BYTES_CONSTANT");
    if (shape.store == BytesStore::fine) defines.flag("CLCOOK_BYTES_FINE");
    if (shape.store == BytesStore::carry) defines.flag("CLCOOK_BYTES_CARRY");
    if (shape.share) defines.flag("CLCOOK_BYTES_SHARE");
    defines.set("CLCOOK_BYTES_PIECES", shape.pieces);
    defines.set("CLCOOK_BYTES_WARPS", shape.warps);
    return unit("gaussian_blur_tensor_bytes", embedded::gaussian_blur_tensor_bytes, defines,
                {static_cast<std::size_t>(32 * shape.warps), 1, 1});
  }

  // rounding_t of the kernel: how the sums of an axis are rounded: what 1 and 1/2 are, and where
  // the result is: in two bytes, from the bit `shift` of them on. Of fine weights the unit is that
  // of high bytes.
  struct Rounding {
    cl_int unit = 256;
    cl_int middle = 0x8000;
    cl_int shift = 0;
    cl_uint order = 0x6521;

    Rounding() = default;
    explicit Rounding(const ByteWeights& weights) {
      if (weights.store == BytesStore::fine) {
        double low = 0;
        for (std::size_t k = 0; k < weights.taps.size(); ++k)
          low += (k == 0 ? 1 : 2) * (weights.taps[k] & 255);
        middle += static_cast<cl_int>(low * 127.5 / 256 + 0.5);
      } else {
        unit = 1 << weights.shift;
        middle = unit / 2;
        shift = weights.shift % 8;
        order = 0x5410 + 0x1111 * static_cast<cl_uint>(weights.shift / 8);
      }
    }
  };

  // The largest error, in levels, that the rounding of the rows leaves to the columns: a row that
  // is rounded up from the fraction 1 - d on is off by less than d or by up to 1 - d, where d is an
  // odd multiple of 1/32 for each of 16 rows.
  static double worst_rows(const ByteWeights& y) {
    double worst = 0;
    for (unsigned from = 0; from < 16; ++from) {
      double sum = 0;
      for (std::size_t k = 0; k < 2 * y.taps.size() - 1; ++k) {
        const std::size_t row = (from + k) % 16;
        const std::size_t order = row % 2 * 8 + row / 2 % 2 * 4 + row / 4 % 2 * 2 + row / 8;
        const double d = (2 * static_cast<double>(order) + 1) / 32;
        const std::size_t tap = k < y.taps.size() ? y.taps.size() - 1 - k : k - (y.taps.size() - 1);
        sum += math::ldexp(y.taps[tap], -y.shift) * std::max(d, 1 - d);
      }
      worst = std::max(worst, sum);
    }
    return worst;
  }

  // The same where what the rounding leaves is carried on. A row is off by what it took over less
  // what it leaves, both at most half a level, so that what it leaves counts with the difference of
  // its weight and that of the next row of the lane. Of 8 rows each of 4 lanes has two.
  static double worst_carry(const ByteWeights& y) {
    const int radius = static_cast<int>(y.taps.size()) - 1;
    double worst = 0;
    for (int from = 0; from < 8; ++from) {
      int sum = 0;
      for (int lane = 0; lane < 4; ++lane) {
        int before = 0;
        for (int k = -radius; k <= radius; ++k) {
          if ((k + radius + from) % 8 / 2 != lane) continue;
          const int tap = y.taps[static_cast<std::size_t>(std::abs(k))];
          sum += std::abs(tap - before);
          before = tap;
        }
        sum += before;
      }
      worst = std::max(worst, math::ldexp(sum, -y.shift - 1));
    }
    return worst;
  }

  Runtime runtime_;
  Problem problem_;
  BytesShape shape_;
  int taps_x_;
  int taps_y_;
  cl::Program program_;
  cl::Buffer weights_;
  Rounding rows_;
  Rounding columns_;
};

}  // namespace clcook::gaussian
