// Gaussian blur of pictures of two to four channels in two passes over lines.
//
//   using clcook::LineBlur;
//   LineBlur blur{runtime, {1920, 1080, 64.0, LineBlur::RadiusFraction(0.5)}};
//   cl::Event done = blur(src, dst, {uploaded});
//
// The taps are all offsets k with |k| <= radius; the weight of k is
// exp(-(k / radius)^2 / (2 relative_sigma^2)), normalised. radius 64 with a relative_sigma of 0.5 is
// a Gaussian of 32 pixels, cut at 64. Positions outside of the picture take the nearest border
// pixel. The sum between the passes is kept in float; results are rounded to nearest even.
// Each channel is blurred alone, unless Problem::alpha says that the last one is straight alpha.
// Then colours are multiplied by alpha as they are read, and divided by the blurred alpha as they
// are written. A colour under alpha 0 does not count, and where the blurred alpha is 0 colours are
// 0.
#pragma once

#include <algorithm>
#include <clcook/core/inline.hpp>
#include <clcook/core/kernel_types.hpp>
#include <clcook/core/math.hpp>
#include <clcook/core/pixel.hpp>
#include <clcook/core/plan.hpp>
#include <clcook/core/quirks.hpp>
#include <clcook/core/view.hpp>
#include <clcook/embedded/line_blur.hpp>
#include <clcook/gaussian_blur/method.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace clcook {
namespace line_blur {

using Pixel = PixelType;

// A length in units of the radius. It is a type of its own, so that nobody passes a sigma in pixels,
// which GaussianBlur takes, by mistake.
struct RadiusFraction {
  RadiusFraction() = default;
  explicit constexpr RadiusFraction(double of_radius) : value(of_radius) {}

  double value = 0;
};

struct Problem {
  int width = 0;      // pixels, 1 to kMaxSize
  int height = 0;     // pixels, 1 to kMaxSize
  double radius = 0;  // pixels, 0 to kMaxRadius, may be fractional; below 1 the blur is
                      // a copy
  RadiusFraction relative_sigma{};  // standard deviation; 0 makes the blur a copy
  Pixel pixel = Pixel::rgba32f;     // of two to four channels
  // What the last channel is. Straight alpha goes from 0 to 1, of integers to the largest one. With
  // it a pixel weighs as much in the colours as its alpha says, and errors are those of colours times
  // alpha. Premultiplied colours are blurred like any channel; a copy is a copy.
  Alpha alpha = Alpha::none;
};

// How to run, for tuning; 0 is open.
struct Tune {
  int group = 0;  // work-items per work-group. coalesced and coalesced_store: 64, 128, 256, 512 or
                  // 1024. fused: 128; cpu_fused, cpu_bytes: 1
};

// What kernels take by value, as in kernels/line_blur.cl; the test view_header asks the device.
// pass_t
struct KernelPass {
  cl_int length = 0;
  cl_int lines = 0;
  cl_int segment = 0;
  cl_int tile_taps = 0;
  cl_int more_pairs = 0;
};

// taps_t
struct KernelTaps {
  cl_int side = 0;
  cl_int step = 1;
  cl_float inverse_radius = 0;
  cl_float factor = 0;
  cl_float divisor = 0;
};

static_assert(sizeof(KernelPass) == 20 && sizeof(KernelTaps) == 20);

struct Spec : PlainSpec {
  using Problem = line_blur::Problem;
  using Tune = line_blur::Tune;
  using Row = VariantRow<Spec>;
  static constexpr const char* kName = "LineBlur";
  static constexpr const char* kRecipe = "line_blur";
  static constexpr bool kChecksMemory = true;
  static constexpr int kMaxSize = 1 << 30;
  static constexpr int kMaxRadius = 1 << 20;
  static constexpr std::size_t kCell = 16;  // bytes of the float4 in scratch and local memory
  // What a variant uses at most: every OpenCL 1.2 GPU has it.
  static constexpr std::size_t kLocalBytes = 32 * 1024;
  static constexpr int kCopyGroup = 64;
  static constexpr int kBlockPixels = 128;  // of coalesced
  static constexpr int kBlockLines = 8;
  // Of linear_pairs. Texture units keep 8 bits of the place between two texels, as CUDA documents and
  // Direct3D demands. Multiples of 1 / 256 are exact there and in float, up to so many texels.
  static constexpr double kPlaces = 256;
  static constexpr int kMaxLinear = 1 << 16;

  // One launch of a call.
  struct Pass : KernelPass {
    Launch launch;
    std::size_t cells = 0;  // float4 of local memory
    std::size_t unit = 0;   // its program
  };

  // How a variant cuts a problem for a device, or why it cannot.
  struct Cut : clcook::Design {
    std::vector<Pass> passes;                        // with two, the first is from lines to columns
    std::size_t scratch_cells = 0;                   // float4 of global memory
    std::shared_ptr<const gaussian::Design> method;  // of fused, cpu_fused and cpu_bytes
    Lacks lacks = Lacks::nothing;
    std::string why;
  };

  using Design = Cut;

  struct Resources {
    std::shared_ptr<const Cut> cut;
    KernelTaps taps;
    cl::Buffer weights;
    cl::Buffer scratch;
    cl::Image2D between;  // of variants that read images: the picture between the passes
    std::unique_ptr<gaussian::Method> method;  // the same, its scratch in `memory`
    std::shared_ptr<gaussian::Memory> memory;  // its order is of all scratch memory
  };

  // Rows of pixels.
  struct Rows {
    cl::Buffer buffer;
    KernelView view;
  };

  // A launch with the arguments that all kernels begin with. Of variants that read an image, src is
  // not read, and dst is not written where there is an image to write.
  struct Call {
    Kernel kernel;
    const Resources& r;
    const Pass& pass;
    Rows src;
    Rows dst;
    std::vector<cl::Event> wait;
    cl::Image2D src_image;
    cl::Image2D dst_image;

    template <class... More>
    cl::Event operator()(const More&... more) {
      const KernelPass& cut = pass;
      return kernel(pass.launch, wait, src.buffer, src.view, dst.buffer, dst.view, cut, more...);
    }
    template <class... More>
    cl::Event on_images(const More&... more) {
      const KernelPass& cut = pass;
      if (dst_image() != nullptr)
        return kernel(pass.launch, wait, src_image, dst_image, cut, more...);
      return kernel(pass.launch, wait, src_image, dst.buffer, dst.view, cut, more...);
    }
    LocalBytes tile() const { return {pass.cells * kCell}; }
  };

  struct Traits {
    Cut (*cut)(const Setup<Spec>&);
    bool has_table = false;      // weights made on the host
    bool is_pairs = false;       // taps in pairs
    bool is_padded = false;      // a float4 more after every 32 of local memory
    bool is_blocked = false;     // a group makes kBlockPixels of kBlockLines lines
    bool is_subsampled = false;  // at most 65 taps, subsampling_step() apart
    bool is_image = false;       // the source is an image
    bool is_linear = false;      // with two taps per read
    bool is_method = false;      // a method of the Gaussian blur with the weights of this blur
    bool is_bytes = false;       // of it: in integers
  };

  static const std::vector<Row>& variants() {
    const auto tiles = [](Call& c) { return c(c.r.taps, c.tile()); };
    const auto blocks = [](Call& c) {
      return c(cl_int{2 * c.r.taps.side + 1}, c.r.weights, c.tile());
    };
    const auto on_images = [](Call& c) { return c.on_images(cl_int{c.r.taps.side}, c.r.weights); };
    static const std::vector<Row> all{
        Row("naive", "one work-group per line; a global read and an exponential per tap",
            {two_passes})
            .runs([](Call& c) { return c(c.r.taps); })
            .baseline()
            .tunes(),
        Row("local_line", "the line is read once into local memory", {cut_tiles})
            .runs(tiles)
            .against("naive", "the line in local memory")
            .tunes(),
        Row("subsampled", "at most 65 taps, spread over the radius (an approximation)", {cut_tiles})
            .runs(tiles)
            .with(&Traits::is_subsampled)
            .against("local_line", "at most 65 taps (an approximation)")
            .approximate()
            .tunes(),
        Row("symmetric", "the same taps in pairs: one weight for two", {cut_tiles})
            .runs(tiles)
            .with(&Traits::is_subsampled, &Traits::is_pairs)
            .against("subsampled", "taps in pairs: one weight for two")
            .approximate()
            .tunes(),
        Row("unrolled", "symmetric with the loop over 32 pairs unrolled", {cut_tiles})
            .runs(tiles)
            .with(&Traits::is_subsampled, &Traits::is_pairs)
            .against("symmetric", "the loop over 32 pairs unrolled")
            .approximate()
            .tunes(),
        Row("padded", "symmetric with padded local memory, against bank conflicts", {cut_tiles})
            .runs(tiles)
            .with(&Traits::is_subsampled, &Traits::is_pairs, &Traits::is_padded)
            .against("symmetric", "a padded layout of local memory")
            .approximate()
            .tunes(),
        Row("weights_table", "local_line with all taps and weights made once on the host",
            {cut_tiles})
            .runs([](Call& c) { return c(c.r.taps.side, c.r.weights, c.tile()); })
            .with(&Traits::has_table)
            .against("local_line", "weights made once, on the host")
            .tunes(),
        Row("coalesced_store",
            "8 lines per group and contiguous transposed stores, an item's outputs one by one",
            {cut_blocks})
            .runs(blocks)
            .with(&Traits::has_table, &Traits::is_blocked)
            .against("weights_table",
                     "8 lines per group, so that neighbouring items store neighbours")
            .tunes(),
        Row("coalesced",
            "coalesced_store with an item's outputs at once, their window in registers",
            {cut_blocks})
            .runs(blocks)
            .with(&Traits::has_table, &Traits::is_blocked)
            .against("coalesced_store", "an item's outputs at once, from a window in registers")
            .preferred()
            .tunes({{"group", {128, 1024, 512, 256, 64}}}),
        Row("fused", "a kernel of gaussian_blur, both passes in one launch, radii up to 10",
            {cut_method})
            .with(&Traits::is_method)
            .against("coalesced", "both passes in one launch, columns in registers")
            .tunes({{"group", {gaussian::kFusedGroup}}}),
        Row("cpu_fused", "for CPUs: gaussian_blur's, one launch, a ring of lines", {cut_method})
            .with(&Traits::is_method)
            .against("weights_table", "both passes in one launch, a tile per work-item, in vectors")
            .for_cpus_only(),
        Row("cpu_bytes", "for CPUs, bytes, small radii: gaussian_blur's, in 16 bits", {cut_method})
            .with(&Traits::is_method, &Traits::is_bytes)
            .against("cpu_fused", "bytes in vectors of 16 bits, columns from the source as it lies")
            .costs_like("cpu_fused")
            .for_cpus_only(),
        // The caller of an automatic plan has buffers.
        Row("image_line", "naive on images: a read through the texture unit per tap", {two_passes})
            .runs([](Call& c) { return c.on_images(c.r.taps); })
            .with(&Traits::is_image)
            .against("naive", "images, read through the texture unit")
            .by_name()
            .need("images of the pixel type")
            .tunes(),
        Row("image_table", "image_line with weights made once on the host", {two_passes})
            .runs(on_images)
            .with(&Traits::has_table, &Traits::is_image)
            .against("image_line", "weights made once, on the host")
            .by_name()
            .need("images of the pixel type")
            .tunes(),
        Row("linear_pairs",
            "image_table with two taps per read, mixed by the linear filter (an approximation)",
            {two_passes})
            .runs(on_images)
            .with(&Traits::has_table, &Traits::is_image, &Traits::is_linear)
            .against("image_table", "two taps per read, mixed by the linear filter")
            .approximate()
            .need("images of the pixel type, filtered linearly")
            .tunes(),
    };
    return all;
  }

  static const std::vector<Axis<Tune>>& axes() {
    static const std::vector<Axis<Tune>> all{
        axis("group", &Tune::group, {256, 1024, 512, 128, 64}).on_cpus(1)};
    return all;
  }

  static std::vector<Pixel> pixel_types() { return pixel_types_from(2); }

  static void check(const Problem& p) {
    check_range(kName, "width", p.width, 1, kMaxSize);
    check_range(kName, "height", p.height, 1, kMaxSize);
    check_range(kName, "radius", p.radius, 0, kMaxRadius);
    const double sigma = p.relative_sigma.value;
    if (!(math::isfinite(sigma) && sigma >= 0)) {
      fail(Errc::invalid_argument, kName,
           text("relative_sigma must be finite and not negative, got ", sigma));
    }
    check_pixel_type(p.pixel, pixel_types(), kName);
    check_alpha(p.alpha, channels_of(p.pixel), kName);
    const auto pixels = static_cast<std::uint64_t>(p.width) * static_cast<std::uint64_t>(p.height);
    if (pixels > std::numeric_limits<std::size_t>::max() / (2 * kCell)) {
      fail(Errc::invalid_argument, kName,
           text("width ", p.width, " times height ", p.height, " overflows the address range"));
    }
  }

  static void check_tune(const Setup<Spec>& s) {
    if (s.row.traits.is_blocked)
      check_one_of(kName, "group", s.tune.group, {64, 128, 256, 512, 1024});
    if (s.row.traits.is_method && !s.row.is_for_cpus)
      check_one_of(kName, "group of fused", s.tune.group, {gaussian::kFusedGroup});
  }

  static double pixels(const Problem& p) { return static_cast<double>(p.width) * p.height; }
  static double bytes(const Problem& p) {
    return 2.0 * static_cast<double>(pixel_bytes(p.pixel)) * pixels(p);
  }

  // Where both passes fit into one launch, another variant wins than with long lines of taps.
  static std::vector<std::string> tuning_names(const Problem& p) {
    if (static_cast<int>(p.radius) > gaussian::kMaxFusedRadius) return {kRecipe};
    return {text(kRecipe, "/", gaussian::kMaxFusedRadius), kRecipe};
  }

  static bool is_straight(const Problem& p) { return p.alpha == Alpha::straight; }
  // Whether the second pass takes a program of its own: it reads what the first has written.
  static bool has_two_programs(const Setup<Spec>& s) {
    const Problem& p = s.problem;
    return p.pixel != Pixel::rgba32f || is_straight(p) || s.row.traits.is_image;
  }
  static bool is_copy(const Problem& p) { return p.radius < 1 || p.relative_sigma.value == 0; }
  static int subsampling_step(double radius) {
    return std::max(1, (static_cast<int>(radius) + 31) / 32);
  }
  // Distance of a variant's taps.
  static int step(const Row& row, double radius) {
    return row.traits.is_subsampled ? subsampling_step(radius) : 1;
  }
  // Taps on each side of the centre.
  static int side(const Setup<Spec>& s) {
    return static_cast<int>(s.problem.radius) / step(s.row, s.problem.radius);
  }

  static std::shared_ptr<const Design> derive(const Setup<Spec>& s) {
    if (!is_copy(s.problem)) return std::make_shared<const Cut>(s.row.traits.cut(s));
    Cut out;
    out.passes = {line_pass(s.problem.width, s.problem.height, kCopyGroup)};
    return std::make_shared<const Cut>(std::move(out));
  }

  // The error is that of two passes over values of magnitude at most m = 1, in units u = 2^-24, the
  // relative error of one rounding; the approximate variants are compared with the sum over their
  // own taps. N taps give, per pass:
  //   table    Each weight is rounded once (u), each product enters the sum through one fma. A sum
  //            of N fma carries at most N u times the sum of |w| |s| <= m (1 + u). Together (N + 1)
  //            u m; 2 more cover the second-order terms and the growth of m from the first pass.
  //   exp      The weights are not normalised; numerator and denominator are sums of N terms: N u
  //            each. A weight is good to 17 u: exp to 3 ulp (6 u), the factor 1 u, and the argument
  //            x = (k / R)^2 / s1 to 10 u (1 / R, its product and s1 rounded, the square doubles
  //            them, the division 2.5 ulp), which is 10 u x e^-x in the weight, with a mean of x
  //            over the weights of at most 1. The same weights stand in both sums, so the mean
  //            moves by at most twice that, 34 u. The final division is good to 2.5 ulp (5 u).
  //            Together (2 N + 39) u m, and 5 for second-order terms. The additions of pairs and
  //            the doubled weights stay within N.
  //   straight alpha: kAlphaRoundings, once.
  //   fused, cpu_fused, cpu_bytes: what the method of the Gaussian blur offers.
  //   images   A texel of integers is good to 1.5 ulp (3 u) and its sum is multiplied by the largest
  //            integer (1 u), in the first pass.
  //   linear   A read at the place f between the taps a and b is (1 - f) a + f b; each product and
  //            the sum round: 2 u m. f is off by up to half of 1 / kPlaces, and a and b are at most
  //            2 m apart: 1 / kPlaces. The weights of all reads are positive and their sum is 1, so
  //            these are the errors of a pass, and no value grows.
  static Offer offer(const Runtime& runtime, const Setup<Spec>& s) {
    if (s.row.traits.is_blocked && quirks::breaks_item_loops(s.device))
      return Offer::no(Lacks::implementation, "it is miscompiled by " + s.device.platform_version);
    const Cut& cut = *s.design;
    if (cut.lacks != Lacks::nothing) return Offer::no(cut.lacks, cut.why);
    if (s.row.traits.is_image) {
      if (Offer lacking = lacking_images(runtime, s); !lacking.can()) return lacking;
    }
    Offer out;
    if (is_method(s)) {
      out = method_offer(runtime, s);
      if (!out.can()) return out;
      if (s.row.is_for_cpus) out.cost = microseconds(device_rates(runtime), out.work);
    }
    // With two passes the picture between them, once out and once in.
    const double between =
        cut.passes.size() < 2 ? 0 : static_cast<double>(kCell) * pixels(s.problem);
    out.work.bytes_read = out.work.bytes_written = bytes(s.problem) / 2 + between;
    out.work.launches = is_method(s) ? 1 : static_cast<double>(cut.passes.size());
    if (is_copy(s.problem)) return out;
    const double taps = 2.0 * side(s) + 1;
    out.work.operations =
        2 * pixels(s.problem) * (is_method(s) ? channels_of(s.problem.pixel) : 4) * taps * 2;
    if (!is_method(s))
      out.max_error = 2 * (s.row.traits.has_table ? taps + 3 : 2 * taps + 44) * 0x1p-24;
    if (is_straight(s.problem)) out.max_error += kAlphaRoundings;
    if (s.row.traits.is_image) out.max_error += 4 * 0x1p-24;
    if (s.row.traits.is_linear) out.max_error += 2 * (1 / kPlaces + 2 * 0x1p-24);
    return out;
  }

  static std::vector<CompileUnit> units(const Setup<Spec>& s) {
    if (is_method(s)) return method_units(s);
    const Problem& p = s.problem;
    const bool is_image = s.row.traits.is_image;
    const Stored stored{p.pixel, is_straight(p) && !is_copy(p)};
    const Stored between{Pixel::rgba32f, false, is_image};
    std::vector<CompileUnit> out;
    if (is_image) {
      out = {unit(s, {p.pixel, false, true}, between), unit(s, between, stored)};
    } else if (!has_two_programs(s) || is_copy(p)) {
      out = {unit(s, stored, stored)};
    } else {
      out = {unit(s, stored, between), unit(s, between, stored)};
    }
    for (const Pass& pass : s.design->passes) {
      std::size_t& bytes = out[pass.unit].local_bytes;
      bytes = std::max(bytes, pass.cells * kCell);
    }
    return out;
  }

  static Resources allocate(const Runtime& runtime, const Setup<Spec>& s,
                            const std::vector<cl::Program>& programs) {
    const Problem& p = s.problem;
    Resources out;
    out.memory = std::make_shared<gaussian::Memory>();
    out.cut = s.design;
    if (is_copy(p)) return out;
    if (is_method(s)) {
      out.method = s.design->method->make(runtime, programs);
      return out;
    }
    out.taps.side = side(s);
    out.taps.step = step(s.row, p.radius);
    // Beyond these limits of sigma the float arithmetic of the kernels would overflow, and the
    // weights no longer change: all but the centre are 0, or all are equal.
    const double sigma = std::clamp(p.relative_sigma.value, 1e-9, 1e9);
    out.taps.inverse_radius = static_cast<cl_float>(1 / p.radius);
    out.taps.factor = static_cast<cl_float>(1 / (2.5066282746310002 * sigma));
    out.taps.divisor = static_cast<cl_float>(2 * sigma * sigma);
    if (s.row.traits.has_table) {
      const std::vector<float> table = s.row.traits.is_linear ? linear_reads(p) : weights(p);
      out.weights =
          create_buffer(runtime, table.size() * sizeof(float), CL_MEM_READ_ONLY, table.data());
    }
    if (s.row.traits.is_image) {  // transposed
      out.between = create_image(runtime, static_cast<std::size_t>(p.height),
                                 static_cast<std::size_t>(p.width), image_format(Pixel::rgba32f));
    } else {
      out.scratch = create_buffer(runtime, out.cut->scratch_cells * kCell);
    }
    return out;
  }

 private:
  // fused, cpu_fused and cpu_bytes are the Gaussian blur's methods of these names. A copy is the same
  // for all.
  static bool is_method(const Setup<Spec>& s) {
    return s.row.traits.is_method && !is_copy(s.problem);
  }
  static Offer method_offer(const Runtime& runtime, const Setup<Spec>& s);
  static std::vector<CompileUnit> method_units(const Setup<Spec>& s);

  static int ceil_div(int a, int b) { return a / b + (a % b != 0 ? 1 : 0); }
  static int round_up(int a, int b) { return ceil_div(a, b) * b; }

  // What kernels read or write.
  struct Stored {
    Pixel pixel;
    bool is_straight;
    bool is_image = false;
  };

  static CompileUnit unit(const Setup<Spec>& s, const Stored& src, const Stored& dst) {
    CompileUnit out = variant_unit(s, embedded::line_blur);
    const auto name = [](const Stored& stored) {
      return text(pixel_type_name(stored.pixel, kName), stored.is_straight ? " straight" : "",
                  stored.is_image ? " image" : "");
    };
    out.label = name(src) + " -> " + name(dst);
    if (is_copy(s.problem)) {  // the same for every variant
      out.kernel = "line_blur_copy";
      out.defines = Defines().flag("CLCOOK_LINE_BLUR_ONLY").flag("CLCOOK_LINE_BLUR_COPY");
      out.group = {kCopyGroup, 1, 1};
    } else if (s.row.traits.is_blocked) {
      out.defines.set("CLCOOK_LINE_BLUR_OUTPUTS", kBlockPixels * kBlockLines / s.tune.group)
          .set("CLCOOK_LINE_BLUR_SEGMENT", kBlockPixels)
          .set("CLCOOK_LINE_BLUR_LINES", kBlockLines)
          .set("CLCOOK_LINE_BLUR_UNROLL", unrolled(s));
    } else {
      out.defines.set("CLCOOK_LINE_BLUR_GROUP", s.tune.group);
    }
    const auto set_type = [&](const char* side, Pixel pixel) {
      if (pixel != Pixel::rgba32f)
        out.defines.flag(side + upper_case(pixel_type_name(pixel, kName)));
    };
    if (!src.is_image) set_type("CLCOOK_SRC_", src.pixel);
    set_type("CLCOOK_DST_", dst.pixel);
    if (src.is_image && is_integer(channel_of(src.pixel)))
      out.defines.set("CLCOOK_LINE_BLUR_TEXEL_TOP", top_of(channel_of(src.pixel)));
    if (dst.is_image) out.defines.flag("CLCOOK_DST_IMAGE");
    if (src.is_straight || dst.is_straight)
      set_straight_alpha(out.defines, channel_of(s.problem.pixel));
    if (src.is_straight) out.defines.flag("CLCOOK_SRC_STRAIGHT");
    if (dst.is_straight) out.defines.flag("CLCOOK_DST_STRAIGHT");
    return out;
  }

  // Of the taps -radius to radius; their sum is 1.
  static std::vector<double> exact_weights(const Problem& p) {
    const int radius = static_cast<int>(p.radius);
    std::vector<double> out(static_cast<std::size_t>(2 * radius + 1));
    double sum = 0;
    for (int k = -radius; k <= radius; ++k) {
      const double d = k == 0 ? 0 : k / p.radius / p.relative_sigma.value;
      sum += out[static_cast<std::size_t>(k + radius)] = std::exp(-d * d / 2);
    }
    for (double& weight : out) weight /= sum;
    return out;
  }

  static std::vector<float> weights(const Problem& p) {
    const std::vector<double> exact = exact_weights(p);
    return {exact.begin(), exact.end()};
  }

  // Place and weight of the radius + 1 reads of linear_pairs. The taps of each side are in pairs,
  // nearest first. With an odd radius the centre belongs to both sides, half of it to each: so no
  // read touches a pixel outside of the window.
  static std::vector<float> linear_reads(const Problem& p) {
    const std::vector<double> exact = exact_weights(p);
    const int radius = static_cast<int>(p.radius);
    const auto weight = [&](int k) {
      return exact[static_cast<std::size_t>(k + radius)] / (k == 0 && radius % 2 != 0 ? 2 : 1);
    };
    std::vector<float> out;
    const auto add = [&](double offset, double sum) {
      out.push_back(static_cast<float>(0.5 + offset));  // the middle of a texel is at 0.5
      out.push_back(static_cast<float>(sum));
    };
    if (radius % 2 == 0) add(0, weight(0));
    for (int tap = radius % 2 == 0 ? 1 : 0; tap < radius; tap += 2) {
      const double sum = weight(tap) + weight(tap + 1);
      const double share = sum > 0 ? weight(tap + 1) / sum : 0;
      const double place = tap + std::nearbyint(share * kPlaces) / kPlaces;
      add(-place, sum);
      add(place, sum);
    }
    return out;
  }

  // A work-group per line.
  static Pass line_pass(int length, int lines, int group) {
    return {{length, lines},
            Launch::groups({static_cast<std::size_t>(lines), 1, 1},
                           {static_cast<std::size_t>(group), 1, 1})};
  }

  // Along the rows, then along the columns.
  static Cut two_passes(const Setup<Spec>& s) {
    const Problem& p = s.problem;
    Cut out;
    out.passes = {line_pass(p.width, p.height, s.tune.group),
                  line_pass(p.height, p.width, s.tune.group)};
    if (has_two_programs(s)) out.passes[1].unit = 1;
    if (!s.row.traits.is_image)
      out.scratch_cells = static_cast<std::size_t>(p.width) * static_cast<std::size_t>(p.height);
    return out;
  }

  // What the variants that read an image lack.
  static Offer lacking_images(const Runtime& runtime, const Setup<Spec>& s) {
    const Problem& p = s.problem;
    if (is_copy(p)) return Offer::no(Lacks::problem, "the blur is a copy, which needs no image");
    if (is_straight(p)) {
      return Offer::no(Lacks::problem,
                       "colours of straight alpha would be mixed before they are weighted");
    }
    const char* pixel = pixel_type_name(p.pixel, kName);
    if (channels_of(p.pixel) != 4)
      return Offer::no(Lacks::problem, text("it takes pixels of four channels, got ", pixel));
    if (s.row.traits.is_linear && std::max(p.width, p.height) > kMaxLinear) {
      return Offer::no(Lacks::problem, text("places between texels are exact in lines of at most ",
                                            kMaxLinear, ", got ", p.width, " x ", p.height));
    }
    const auto width = static_cast<std::size_t>(p.width);
    const auto height = static_cast<std::size_t>(p.height);
    std::string why =
        why_no_image(runtime, width, height, float_image_format(p.pixel), CL_MEM_READ_ONLY, pixel);
    if (why.empty()) {
      why = why_no_image(runtime, height, width, image_format(Pixel::rgba32f), CL_MEM_READ_WRITE,
                         "rgba32f");
    }
    if (why.empty() && s.row.traits.is_linear && runtime.info().embedded_profile)
      why = "the device has OpenCL's embedded profile, which filters no images of floats";
    return why.empty() ? Offer() : Offer::no(Lacks::feature, why);
  }

  static Cut refused(Lacks lacks, std::string why) {
    Cut out;
    out.lacks = lacks;
    out.why = std::move(why);
    return out;
  }

  static std::size_t local_budget(const DeviceInfo& device) {
    if (device.local_mem == 0) return kLocalBytes;  // not known
    return std::min<std::size_t>(kLocalBytes, device.local_mem);
  }

  // Cuts lines into segments and the window into tiles, so that the local memory suffices.
  static Cut cut_tiles(const Setup<Spec>& s) {
    const Traits& how = s.row.traits;
    const int group = s.tune.group;
    const int radius = side(s);
    const int distance = step(s.row, s.problem.radius);
    const int budget = static_cast<int>(local_budget(s.device) / kCell);
    const int cells = how.is_padded ? budget / 33 * 32 : budget;
    const int reach = 2 * radius * distance;  // from the first to the last tap
    const bool one_tile = reach <= cells - group;
    // Further tiles of pairs are two windows of at least a group each.
    const int most_group = how.is_pairs && !one_tile ? cells / 2 : cells;
    if (group > most_group) {
      return refused(
          Lacks::local_memory,
          text("the radius ", s.problem.radius, " needs a group of at most ", most_group,
               " work-items for ", local_budget(s.device), " bytes of local memory, got ", group));
    }
    Cut out = two_passes(s);
    for (Pass& pass : out.passes) {
      int used = 0;
      if (one_tile) {
        const int segments = ceil_div(pass.length, cells - reach);
        pass.segment = std::min(cells - reach, round_up(ceil_div(pass.length, segments), group));
        used = pass.segment + reach;
      } else {
        pass.segment = group;  // one output per item: its sum lives across the tiles
      }
      if (how.is_pairs) {
        pass.tile_taps = one_tile ? radius : std::min(radius, (cells - group) / (2 * distance));
        pass.more_pairs = (cells / 2 - group) / distance + 1;
        if (!one_tile) {
          used = std::max(group + 2 * pass.tile_taps * distance,
                          2 * (group + (pass.more_pairs - 1) * distance));
        }
      } else {
        pass.tile_taps = one_tile ? 2 * radius + 1 : (cells - group) / distance + 1;
        if (!one_tile) used = group + (pass.tile_taps - 1) * distance;
      }
      pass.cells = static_cast<std::size_t>(how.is_padded ? used + used / 32 : used);
    }
    return out;
  }

  // Taps of a round of the loops of coalesced.
  static int unrolled(const Setup<Spec>& s) {
    return std::max(8, kBlockPixels * kBlockLines / s.tune.group);
  }

  // Cuts the picture into blocks and the window into tiles, so that the local memory suffices.
  static Cut cut_blocks(const Setup<Spec>& s) {
    const int unroll = unrolled(s);
    // Local memory of one position of all lines, and the weight of a tap.
    const std::size_t position = (kBlockLines + 1) * kCell;
    const std::size_t tap = position + sizeof(float);
    const std::size_t fixed = kBlockPixels * position;
    const std::size_t local = local_budget(s.device);
    const int limit = static_cast<int>(local > fixed ? (local - fixed) / tap : 0) / unroll * unroll;
    if (limit == 0) {
      return refused(
          Lacks::local_memory,
          text("it needs ", fixed + static_cast<std::size_t>(unroll) * tap,
               " bytes of local memory, which exceed the device's limit of ", s.device.local_mem));
    }
    const int taps = 2 * side(s) + 1;
    const int tile_taps = round_up(ceil_div(taps, ceil_div(taps, limit)), unroll);
    Cut out = two_passes(s);
    for (Pass& pass : out.passes) {
      pass.tile_taps = tile_taps;
      pass.cells = (kBlockPixels + static_cast<std::size_t>(tile_taps)) * (kBlockLines + 1) +
                   static_cast<std::size_t>(tile_taps) / 4;  // the weights, behind the pixels
      const auto count = [](int items, int size) {
        return static_cast<std::size_t>(ceil_div(items, size));
      };
      pass.launch =
          Launch::groups({count(pass.length, kBlockPixels) * count(pass.lines, kBlockLines), 1, 1},
                         {static_cast<std::size_t>(s.tune.group), 1, 1});
    }
    return out;
  }

  // What no method of the Gaussian blur can do, whatever the device; it cuts the picture itself.
  static Cut cut_method(const Setup<Spec>& s) {
    const Problem& p = s.problem;
    if (side(s) > gaussian::kMaxFilterRadius)
      return refused(Lacks::problem, text("it takes a radius of at most ",
                                          gaussian::kMaxFilterRadius, ", got ", p.radius));
    if (std::max(p.width, p.height) > gaussian::kMaxSize) {
      return refused(Lacks::problem, text("it takes at most ", gaussian::kMaxSize,
                                          " pixels in a line, got ", p.width, " x ", p.height));
    }
    return {};
  }
};

}  // namespace line_blur

// A plan: constructed once, called often.
//
// Construction also uploads the weights and allocates scratch memory, which cpu_fused does in its
// first call and fused needs none of. Sigma and the size of the picture are not part of the programs,
// nor is the radius, but that fused has one up to 4, one up to 8 and one up to 10.
// Thread-safe as Plan says. Calls of one plan and its copies share its scratch memory and therefore
// run one after the other on the device; use one plan per stream of work for more.
class LineBlur : public Plan<line_blur::Spec> {
 public:
  using Pixel = line_blur::Pixel;
  using Alpha = clcook::Alpha;
  using RadiusFraction = line_blur::RadiusFraction;
  using Plan::Plan;

  static constexpr int kMaxSize = Spec::kMaxSize;
  static constexpr int kMaxRadius = Spec::kMaxRadius;

  // Enqueues the blur of `src` into `dst` behind the events of `wait` and returns the last event.
  // Offsets and pitches of the views are multiples of the pixel size, with 3 channels of the channel
  // size. The views must not overlap.
  // Throws Error(invalid_argument), with nothing enqueued, when a view breaks a rule.
  cl::Event operator()(const BufferView& src, const BufferView& dst,
                       const std::vector<cl::Event>& wait = {}) const {
    need_source(false);
    const CheckedView from = check_view(runtime(), src, layout(), Access::read, kName, "src");
    const CheckedView to = check_view(runtime(), dst, layout(), Access::write, kName, "dst");
    check_disjoint(from, to, kName, "src", "dst");
    check_wait(runtime(), wait, kName);
    if (is_copy(problem())) return enqueue(runtime(), from, to, wait);
    CallScope scope(runtime(), resources().memory->call_order);
    enqueue(scope.runtime(), from, to, scope.wait_list(wait));
    return scope.end();
  }

  // The same for the variants that read an image. The picture is the whole image, of the size of the
  // problem: CL_RGBA with CL_UNORM_INT8, CL_UNORM_INT16, CL_HALF_FLOAT or CL_FLOAT.
  cl::Event operator()(const cl::Image2D& src, const BufferView& dst,
                       const std::vector<cl::Event>& wait = {}) const {
    need_source(true);
    const Problem& p = problem();
    check_image(runtime(), src, static_cast<std::size_t>(p.width),
                static_cast<std::size_t>(p.height), float_image_format(p.pixel), kName, "src");
    const CheckedView to = check_view(runtime(), dst, layout(), Access::write, kName, "dst");
    check_wait(runtime(), wait, kName);
    CallScope scope(runtime(), resources().memory->call_order);
    enqueue(scope.runtime(), to, to, scope.wait_list(wait), src);
    return scope.end();
  }

  // The same on images: CL_RGBA with CL_FLOAT for rgba32f, CL_HALF_FLOAT for rgba16f, CL_UNORM_INT8
  // or CL_UNSIGNED_INT8 for rgba8, CL_UNORM_INT16 or CL_UNSIGNED_INT16 for rgba16. The pixels go
  // through buffers of the plan, so src and dst may be the same image. Not for the variants that read
  // an image.
  cl::Event operator()(const ImageView& src, const ImageView& dst,
                       const std::vector<cl::Event>& wait = {}) const {
    const Problem& p = problem();
    need_source(false);
    const ImageLayout texels{static_cast<std::size_t>(p.width), static_cast<std::size_t>(p.height),
                             pixel_bytes(p.pixel), stored_formats(p.pixel)};
    gaussian::Memory& memory = *resources().memory;
    return memory.staging.run(
        runtime(), texels, src, dst, wait, memory.call_order, kName,
        [&](CallScope& scope, const auto& from, const auto& to, const auto& before) {
          return enqueue(scope.runtime(), from, to, before);
        });
  }

  // Whether the blur of this problem is a copy: only the centre has a tap.
  static bool is_copy(const Problem& problem) { return Spec::is_copy(problem); }

  // Distance in pixels of the taps of the approximate variants: ceil(floor(radius) / 32).
  static int subsampling_step(double radius) { return Spec::subsampling_step(radius); }

  // The pixel type of that name. Throws Error(invalid_argument) that lists the names.
  static Pixel parse_pixel(std::string_view name) { return parse_pixel_type(name, kName); }

 private:
  static constexpr const char* kName = Spec::kName;

  void need_source(bool image) const {
    if (image == row().traits.is_image) return;
    fail(Errc::invalid_argument, kName,
         text("the variant ", row().name,
              image ? " reads and writes buffers, got a 2-D image to read"
                    : " reads a 2-D image and writes a buffer, got others"));
  }

  RowLayout layout() const {
    const std::size_t bytes = pixel_bytes(problem().pixel);
    return {static_cast<std::size_t>(problem().width) * bytes,
            static_cast<std::size_t>(problem().height), pixel_step(problem().pixel)};
  }

  // Enqueues the passes. Of variants that read an image, `src` is not read.
  cl::Event enqueue(const Runtime& on, const CheckedView& src, const CheckedView& dst,
                    const std::vector<cl::Event>& wait, const cl::Image2D& image = {}) const {
    const Spec::Resources& r = resources();
    if (r.method != nullptr) {
      const Problem& p = problem();
      return r.method->enqueue({on, nullptr, src, dst, {0, 0, p.width, p.height}},
                               r.memory->scratch, wait);
    }
    const Spec::Pass& first = r.cut->passes.front();
    Spec::Call call{kernel(on), r, first, rows(src), rows(dst), wait, image, r.between};
    if (is_copy(problem())) return call();
    // The intermediate picture is transposed: one row of it per column.
    const Spec::Pass& second = r.cut->passes.back();
    call.dst = {r.scratch, {0, static_cast<cl_ulong>(first.lines)}};
    const cl::Event done = row().run(call);
    Spec::Call columns{kernel(on, second.unit),
                       r,
                       second,
                       {r.scratch, {0, static_cast<cl_ulong>(second.length)}},
                       rows(dst),
                       {done},
                       r.between,
                       {}};
    return row().run(columns);
  }

  Spec::Rows rows(const CheckedView& view) const {
    return {view.buffer, kernel_view(view, pixel_step(problem().pixel))};
  }
};

CLCOOK_PLAN(line_blur::Spec);

}  // namespace clcook

#if CLCOOK_DEFINITIONS
#include <clcook/gaussian_blur/impl_line.hpp>
#endif
