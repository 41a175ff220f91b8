// Gaussian blur of RGBA pictures in two passes over lines.
//
//   clcook::LineBlur blur{runtime, {width, height, radius, sigma}};
//   cl::Event done = blur(src, dst, {uploaded});
//
// The taps are all offsets k with |k| <= radius; the weight of k is exp(-(k / radius)^2 / (2
// sigma^2)), normalised. sigma is in units of the radius: radius 64 with sigma 0.5 is a Gaussian of
// 32 pixels, cut at
// 64. Positions outside of the picture take the nearest border pixel. The sum between the passes is
// kept in float; 8-bit results are rounded to nearest even.
#pragma once

#include <algorithm>
#include <clcook/core/defines.hpp>
#include <clcook/core/error.hpp>
#include <clcook/core/launch.hpp>
#include <clcook/core/names.hpp>
#include <clcook/core/quirks.hpp>
#include <clcook/core/runtime.hpp>
#include <clcook/core/source.hpp>
#include <clcook/core/view.hpp>
#include <clcook/embedded/line_blur.hpp>
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

// A plan: constructed once, called often.
//
// Construction builds the programs (or takes them from the runtime's cache: the radius, sigma and
// the size of the picture are no part of them), allocates scratch memory, uploads the weights, and
// checks everything that does not depend on the buffers. Calls enqueue and return; they never block
// on the device.
//
// All const member functions may be called from several threads. Calls of one plan share its
// scratch memory and therefore run one after the other on the device; use one plan per stream of
// work for more. Copies are cheap and share the scratch memory too.
class LineBlur {
 public:
  enum class Pixel {
    rgba32f,  // 4 floats, 16 bytes
    rgba8,    // 4 unsigned bytes
  };

  struct Problem {
    int width = 0;      // pixels, 1 to kMaxSize
    int height = 0;     // pixels, 1 to kMaxSize
    double radius = 0;  // pixels, 0 to kMaxRadius, may be fractional; below 1 the blur is a copy
    double sigma = 0;   // standard deviation in units of the radius; 0 makes the blur a copy
    Pixel pixel = Pixel::rgba32f;
  };

  enum class Variant {
    automatic,   // what was measured to be fastest; without that cpu_strip on CPUs, else coalesced
    naive,       // one work-group per line, every tap from global memory, weights computed per tap
    local_line,  // the line in local memory
    subsampled,  // at most 65 taps, `step` pixels apart: an approximation, see subsampling_step()
    symmetric,   // the same taps in pairs with one weight
    unrolled,    // symmetric with the loop over the pairs unrolled
    padded,      // symmetric with padded local memory
    weights_table,  // local_line with weights computed on the host
    coalesced,      // several lines per group, sums in registers, contiguous stores
    cpu_strip,      // for CPUs: explicit vectors, both passes in one launch
  };

  // How to run, for tuning; the defaults are good.
  struct Tune {
    int group = 0;  // work-items per work-group, 0 for the variant's default. coalesced: 64, 128,
                    // 256, 512 or 1024. cpu_strip: only 0 or 1.
  };

  static constexpr int kMaxSize = 1 << 30;
  static constexpr int kMaxRadius = 1 << 20;

  // Throws Error: invalid_argument for a value out of range, unsupported where the device cannot
  // run the variant at this group size, out_of_resources, build_failed.
  LineBlur(const Runtime& runtime, const Problem& problem, Variant variant, Tune tune)
      : state_(make_state(runtime, problem, variant, tune)) {}
  explicit LineBlur(const Runtime& runtime, const Problem& problem,
                    Variant variant = Variant::automatic)
      : LineBlur(runtime, problem, variant, Tune{}) {}

  // Enqueues the blur of `src` into `dst` behind the events of `wait` and returns the last event.
  // Offsets and pitches of the views are multiples of the pixel size. The views must not overlap.
  // Throws Error(invalid_argument), with nothing enqueued, when a view breaks a rule.
  cl::Event operator()(const BufferView& src, const BufferView& dst,
                       const std::vector<cl::Event>& wait = {}) const {
    const State& state = *state_;
    const RowLayout layout = row_layout(state.problem);
    const CheckedView from = check_view(state.runtime, src, layout, Access::read, kName, "src");
    const CheckedView to = check_view(state.runtime, dst, layout, Access::write, kName, "dst");
    check_disjoint(from, to, kName, "src", "dst");
    check_wait(wait, kName);
    const std::lock_guard<std::mutex> lock(state.mutex);
    return enqueue(from, to, chained(wait, state_->last));
  }

  // The same on images: CL_RGBA with CL_FLOAT for rgba32f, with CL_UNORM_INT8 or CL_UNSIGNED_INT8
  // for rgba8. The pixels go through buffers of the plan, so src and dst may be the same image.
  cl::Event operator()(const ImageView& src, const ImageView& dst,
                       const std::vector<cl::Event>& wait = {}) const {
    const State& state = *state_;
    const auto width = static_cast<std::size_t>(state.problem.width);
    const auto height = static_cast<std::size_t>(state.problem.height);
    const auto check_image = [&](const ImageView& view, Access access, const char* name) {
      if (state.problem.pixel == Pixel::rgba32f) {
        check_view(state.runtime, view, width, height, {{CL_RGBA, CL_FLOAT}}, access, kName, name);
      } else {
        check_view(state.runtime, view, width, height,
                   {{CL_RGBA, CL_UNORM_INT8}, {CL_RGBA, CL_UNSIGNED_INT8}}, access, kName, name);
      }
    };
    check_image(src, Access::read, "src");
    check_image(dst, Access::write, "dst");
    check_wait(wait, kName);
    const RowLayout layout = row_layout(state.problem);
    const std::lock_guard<std::mutex> lock(state.mutex);
    if (state.staging_in() == nullptr) {
      cl::Buffer in = create_buffer(state.runtime, layout.row_bytes * layout.rows);
      state.staging_out = create_buffer(state.runtime, layout.row_bytes * layout.rows);
      state.staging_in = std::move(in);
    }
    const CheckedView from =
        check_view(state.runtime, state.staging_in, layout, Access::read, kName, "staging");
    const CheckedView to =
        check_view(state.runtime, state.staging_out, layout, Access::write, kName, "staging");
    const std::size_t region[3] = {width, height, 1};
    const std::size_t from_origin[3] = {src.x, src.y, 0};
    const std::size_t to_origin[3] = {dst.x, dst.y, 0};
    std::vector<cl_event> waits;
    for (const cl::Event& event : chained(wait, state_->last)) waits.push_back(event());
    cl_event copied = nullptr;
    check(clEnqueueCopyImageToBuffer(state.runtime.queue()(), src.image(), state.staging_in(),
                                     from_origin, region, 0, static_cast<cl_uint>(waits.size()),
                                     waits.empty() ? nullptr : waits.data(), &copied),
          "clEnqueueCopyImageToBuffer");
    state.last = cl::Event(copied);
    const cl::Event blurred = enqueue(from, to, {state.last});
    const cl_event blurred_handle = blurred();
    cl_event stored = nullptr;
    check(clEnqueueCopyBufferToImage(state.runtime.queue()(), state.staging_out(), dst.image(), 0,
                                     to_origin, region, 1, &blurred_handle, &stored),
          "clEnqueueCopyBufferToImage");
    state.last = cl::Event(stored);
    return state.last;
  }

  const Problem& problem() const { return state_->problem; }
  // The variant that runs; never automatic.
  Variant variant() const { return state_->variant; }
  // The work-group size that runs.
  int group() const { return state_->group; }

  // Whether the blur of this problem is a copy: only the centre has a tap.
  static bool is_copy(const Problem& problem) { return problem.radius < 1 || problem.sigma == 0; }

  // Distance in pixels of the taps of subsampled, symmetric, unrolled and padded:
  // ceil(floor(radius) / 32).
  static int subsampling_step(double radius) {
    return std::max(1, (static_cast<int>(radius) + 31) / 32);
  }

  // A program of a variant: the definitions that select it.
  struct Unit {
    std::string kernel;
    Pixel src;
    Pixel dst;
    Defines defines;
  };

  // The programs that a plan of this variant, pixel type and group size consists of, in the order
  // of the passes. `group` 0 means the default. For tools; plans call it themselves.
  static std::vector<Unit> units(Variant variant, Pixel pixel, int group = 0) {
    if (variant == Variant::cpu_strip || pixel == Pixel::rgba32f)
      return {unit(variant, pixel, pixel, group)};
    return {unit(variant, Pixel::rgba8, Pixel::rgba32f, group),
            unit(variant, Pixel::rgba32f, Pixel::rgba8, group)};
  }

  // Work-items per work-group where Tune::group is 0.
  static int default_group(Variant variant) {
    if (variant == Variant::cpu_strip) return 1;
    return variant == Variant::coalesced ? 128 : 256;
  }

 private:
  static constexpr const char* kName = "LineBlur";
  static constexpr std::size_t kPixelBytes = 16;  // of the float4 in scratch and local memory
  static constexpr std::size_t kLocalBytes =
      32 * 1024;  // what a variant uses at most: every OpenCL 1.2 GPU has it
  static constexpr int kCoalescedSegment = 128;
  static constexpr int kCoalescedLines = 8;
  static constexpr int kStripRows = 8;
  static constexpr int kStripPixels = 12;
  static constexpr std::size_t kStripRingBytes = 512 * 1024;  // half of a usual L2 cache

  // One pass over lines, as the kernels take it.
  struct Pass {
    cl::Program program;
    cl_int length = 0;
    cl_int lines = 0;
    cl_int segment = 0;
    cl_int tile_taps = 0;  // or the pairs of the first tile
    cl_int more_pairs = 0;
    std::size_t cells = 0;  // float4 of local memory
  };

  struct Strip {
    int tile = 0;
    int rows = 0;
    int ring = 0;
    std::size_t tiles = 0;
    std::size_t strips = 0;
    std::size_t task_pixels = 0;
  };

  struct State {
    Runtime runtime;
    Problem problem;
    Variant variant = Variant::naive;
    int group = 0;
    bool copy = false;
    cl_int radius = 0;
    cl_int step = 1;
    cl_float4 gauss{};  // 1 / radius, 1 / (sigma sqrt(2 pi)), 2 sigma^2
    std::string kernel;
    std::vector<Pass> passes;  // one for a copy and for cpu_strip, else two
    Strip strip;
    cl::Buffer weights;
    cl::Buffer scratch;
    // Guarded by the mutex: the last command that uses the scratch and staging memory.
    mutable std::mutex mutex;
    mutable cl::Event last;
    mutable cl::Buffer staging_in;
    mutable cl::Buffer staging_out;

    State(Runtime rt, const Problem& p) : runtime(std::move(rt)), problem(p) {}
  };

  static RowLayout row_layout(const Problem& problem) {
    const std::size_t bytes = pixel_bytes(problem.pixel);
    return {static_cast<std::size_t>(problem.width) * bytes,
            static_cast<std::size_t>(problem.height), bytes};
  }

  static std::size_t pixel_bytes(Pixel pixel) { return pixel == Pixel::rgba32f ? 16 : 4; }

  static int ceil_div(int a, int b) { return a / b + (a % b != 0 ? 1 : 0); }
  static int round_up(int a, int b) { return ceil_div(a, b) * b; }

  static void check_problem(const Problem& p) {
    const auto size = [](const char* name, int value) {
      if (value < 1 || value > kMaxSize) {
        fail(Errc::invalid_argument, kName,
             text(name, " must be 1 to ", kMaxSize, ", got ", value));
      }
    };
    size("width", p.width);
    size("height", p.height);
    if (!(p.radius >= 0 && p.radius <= kMaxRadius)) {
      fail(Errc::invalid_argument, kName,
           text("radius must be 0 to ", kMaxRadius, ", got ", p.radius));
    }
    if (!(p.sigma >= 0) || std::isinf(p.sigma)) {
      fail(Errc::invalid_argument, kName,
           text("sigma must be finite and not negative, got ", p.sigma));
    }
    if (p.pixel != Pixel::rgba32f && p.pixel != Pixel::rgba8) {
      fail(Errc::invalid_argument, kName,
           text("pixel must be rgba32f or rgba8, got the value ", static_cast<int>(p.pixel)));
    }
    const auto pixels = static_cast<std::uint64_t>(p.width) * static_cast<std::uint64_t>(p.height);
    if (pixels > std::numeric_limits<std::size_t>::max() / (2 * kPixelBytes)) {
      fail(Errc::invalid_argument, kName,
           text("width ", p.width, " times height ", p.height, " overflows the address range"));
    }
  }

  static bool one_of_the_groups(int group) {
    return group == 64 || group == 128 || group == 256 || group == 512 || group == 1024;
  }

  static Unit unit(Variant variant, Pixel src, Pixel dst, int group) {
    const std::string name = to_string(variant);
    std::string upper = name;
    for (char& c : upper) {
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    Unit out{"line_blur_" + name, src, dst, {}};
    out.defines.flag("CLCOOK_LINE_BLUR_ONLY").flag("CLCOOK_LINE_BLUR_" + upper);
    if (src == Pixel::rgba8) out.defines.flag("CLCOOK_SRC_RGBA8");
    if (dst == Pixel::rgba8) out.defines.flag("CLCOOK_DST_RGBA8");
    if (group == 0) group = default_group(variant);
    if (variant != Variant::coalesced && variant != Variant::cpu_strip) {
      out.defines.set("CLCOOK_LINE_BLUR_GROUP", group);
    }
    if (variant == Variant::coalesced) {
      out.defines.set("CLCOOK_LINE_BLUR_OUTPUTS", kCoalescedSegment * kCoalescedLines / group);
    }
    return out;
  }

  static Unit copy_unit(Pixel pixel) {
    Unit out{"line_blur_copy", pixel, pixel, {}};
    out.defines.flag("CLCOOK_LINE_BLUR_ONLY").flag("CLCOOK_LINE_BLUR_COPY");
    if (pixel == Pixel::rgba8) out.defines.flag("CLCOOK_SRC_RGBA8").flag("CLCOOK_DST_RGBA8");
    return out;
  }

  static bool is_pairs(Variant v) {
    return v == Variant::symmetric || v == Variant::unrolled || v == Variant::padded;
  }
  static bool is_local(Variant v) {
    return v == Variant::local_line || v == Variant::weights_table || v == Variant::subsampled ||
           is_pairs(v);
  }
  static bool has_table(Variant v) {
    return v == Variant::weights_table || v == Variant::coalesced || v == Variant::cpu_strip;
  }

  static std::shared_ptr<const State> make_state(const Runtime& runtime, const Problem& problem,
                                                 Variant variant, Tune tune) {
    check_problem(problem);
    to_string(variant);  // refuses a value that is no variant
    auto state = std::make_shared<State>(runtime, problem);
    choose(runtime, problem, variant, tune);
    state->variant = variant;
    if (tune.group < 0)
      fail(Errc::invalid_argument, kName, text("group must not be negative, got ", tune.group));
    state->group = tune.group == 0 ? default_group(variant) : tune.group;
    if (variant == Variant::coalesced && !one_of_the_groups(state->group)) {
      fail(Errc::invalid_argument, kName,
           text("the variant coalesced takes a group of 64, 128, 256, 512 or 1024 work-items, got ",
                state->group));
    }
    if (variant == Variant::coalesced && quirks::breaks_item_loops(runtime.info())) {
      fail(Errc::unsupported, kName,
           "the variant coalesced is miscompiled by " + runtime.info().platform_version);
    }
    if (variant == Variant::cpu_strip && state->group != 1) {
      fail(Errc::invalid_argument, kName,
           text("the variant cpu_strip takes a group of 1 work-item, got ", state->group));
    }
    state->copy = is_copy(problem);
    if (state->copy) {
      state->group = 64;  // the same copy for every variant
      state->kernel = "line_blur_copy";
      Pass pass;
      pass.length = problem.width;
      pass.lines = problem.height;
      pass.program = build(runtime, copy_unit(problem.pixel));
      state->passes.push_back(std::move(pass));
    } else {
      state->kernel = std::string("line_blur_") + to_string(variant);
      plan_taps(*state);
      plan_passes(*state);
    }
    for (const Pass& pass : state->passes) {
      const Kernel kernel(runtime, pass.program, state->kernel);
      kernel.check_launch(launch(*state, pass), pass.cells * kPixelBytes);
    }
    return state;
  }

  // Fills in what the caller left open: from what was measured, else the built-in defaults.
  static void choose(const Runtime& runtime, const Problem& problem, Variant& variant, Tune& tune) {
    const double bytes =
        2.0 * static_cast<double>(pixel_bytes(problem.pixel)) * problem.width * problem.height;
    const bool automatic = variant == Variant::automatic;
    const TuningChoice choice = runtime.tuning().choose(runtime.info(), "line_blur", bytes,
                                                        automatic ? "" : to_string(variant));
    const bool measured = choice.match != TuningChoice::Match::none;
    if (automatic) {
      if (measured) {
        variant = parse_variant(choice.entry.variant);
      } else {
        variant = runtime.info().cpu ? Variant::cpu_strip : Variant::coalesced;
      }
    }
    if (tune.group != 0 || !measured) return;
    const int group = choice.entry.integer("group", 0);
    if (group > 0 && static_cast<std::size_t>(group) <= runtime.info().max_group)
      tune.group = group;
  }

  static cl::Program build(const Runtime& runtime, const Unit& unit) {
    return runtime.build(
        Source(embedded::line_blur), unit.defines,
        unit.kernel + (unit.src == unit.dst
                           ? std::string(" ") + to_string(unit.src)
                           : text(" ", to_string(unit.src), " to ", to_string(unit.dst))));
  }

  // Taps: an integer radius, the distance of the taps, and the weights as a factor or a table.
  static void plan_taps(State& state) {
    const Problem& p = state.problem;
    const int radius = static_cast<int>(p.radius);
    const bool sparse = state.variant == Variant::subsampled || is_pairs(state.variant);
    state.step = sparse ? subsampling_step(p.radius) : 1;
    state.radius = radius / state.step;
    // Beyond these limits of sigma the float arithmetic of the kernels would overflow, and the
    // weights no longer change: all but the centre are 0, or all are equal.
    const double sigma = std::clamp(p.sigma, 1e-9, 1e9);
    state.gauss.s[0] = static_cast<cl_float>(1 / p.radius);
    state.gauss.s[1] = static_cast<cl_float>(1 / (2.5066282746310002 * sigma));
    state.gauss.s[2] = static_cast<cl_float>(2 * sigma * sigma);
    if (!has_table(state.variant)) return;
    std::vector<double> exact(static_cast<std::size_t>(2 * radius + 1));
    double sum = 0;
    for (int k = -radius; k <= radius; ++k) {
      const double d = k == 0 ? 0 : k / p.radius / p.sigma;
      sum += exact[static_cast<std::size_t>(k + radius)] = std::exp(-d * d / 2);
    }
    std::vector<float> table(exact.size());
    for (std::size_t i = 0; i < exact.size(); ++i) table[i] = static_cast<float>(exact[i] / sum);
    state.weights =
        create_buffer(state.runtime, table.size() * sizeof(float), CL_MEM_READ_ONLY, table.data());
  }

  static void plan_passes(State& state) {
    const Problem& p = state.problem;
    const std::vector<Unit> programs = units(state.variant, p.pixel, state.group);
    if (state.variant == Variant::cpu_strip) {
      Pass pass;
      pass.length = p.width;
      pass.lines = p.height;
      pass.program = build(state.runtime, programs[0]);
      state.passes.push_back(std::move(pass));
      plan_strip(state);
      const std::size_t tasks = state.strip.tiles * state.strip.strips;
      if (state.strip.task_pixels > std::numeric_limits<std::size_t>::max() / kPixelBytes / tasks) {
        fail(Errc::unsupported, kName,
             text("the scratch memory for radius ", p.radius, " overflows the address range"));
      }
      state.scratch = create_buffer(state.runtime, tasks * state.strip.task_pixels * kPixelBytes);
      return;
    }
    for (int i = 0; i < 2; ++i) {
      Pass pass =
          i == 0 ? plan_pass(state, p.width, p.height) : plan_pass(state, p.height, p.width);
      pass.program = i < static_cast<int>(programs.size())
                         ? build(state.runtime, programs[static_cast<std::size_t>(i)])
                         : state.passes[0].program;
      state.passes.push_back(std::move(pass));
    }
    state.scratch =
        create_buffer(state.runtime, static_cast<std::size_t>(p.width) *
                                         static_cast<std::size_t>(p.height) * kPixelBytes);
  }

  // Cuts lines into segments and the window into tiles, so that the local memory suffices.
  static Pass plan_pass(const State& state, int length, int lines) {
    Pass pass;
    pass.length = length;
    pass.lines = lines;
    const std::size_t local = std::min<std::size_t>(kLocalBytes, state.runtime.info().local_mem);
    const int taps = 2 * state.radius + 1;
    if (state.variant == Variant::coalesced) {
      const int unroll = std::max(8, kCoalescedSegment * kCoalescedLines / state.group);
      const std::size_t row =
          (kCoalescedLines + 1) * kPixelBytes;  // local memory of one position of 8 lines
      const std::size_t fixed = kCoalescedSegment * row;
      const std::size_t most = local > fixed ? (local - fixed) / (row + sizeof(float)) : 0;
      const int limit = static_cast<int>(most) / unroll * unroll;
      if (limit == 0) {
        fail(Errc::unsupported, kName,
             text("the variant coalesced needs ",
                  fixed + static_cast<std::size_t>(unroll) * (row + sizeof(float)),
                  " bytes of local memory, the device has ", state.runtime.info().local_mem));
      }
      const int tiles = ceil_div(taps, limit);
      pass.tile_taps = round_up(ceil_div(taps, tiles), unroll);
      pass.cells =
          (kCoalescedSegment + static_cast<std::size_t>(pass.tile_taps)) * (kCoalescedLines + 1) +
          static_cast<std::size_t>(pass.tile_taps) / 4;  // the weights, behind the pixels
      return pass;
    }
    if (!is_local(state.variant)) return pass;

    const bool padded = state.variant == Variant::padded;
    const int budget = static_cast<int>(local / kPixelBytes);
    const int cells = padded ? budget / 33 * 32 : budget;
    const int reach = 2 * state.radius * state.step;  // from the first to the last tap
    const bool one_tile = reach <= cells - state.group;
    // Further tiles of pairs are two windows of at least a group each.
    const int most_group = is_pairs(state.variant) && !one_tile ? cells / 2 : cells;
    if (state.group > most_group) {
      fail(Errc::unsupported, kName,
           text("the variant ", to_string(state.variant), " with radius ", state.problem.radius,
                " needs a group of at most ", most_group, " work-items for ", local,
                " bytes of local memory, got ", state.group));
    }
    int used = 0;
    if (one_tile) {
      const int segments = ceil_div(length, cells - reach);
      pass.segment = std::min(cells - reach, round_up(ceil_div(length, segments), state.group));
      used = pass.segment + reach;
    } else {
      pass.segment = state.group;  // one output per item: its sum lives across the tiles
    }
    if (is_pairs(state.variant)) {
      pass.tile_taps = one_tile ? state.radius
                                : std::min(state.radius, (cells - state.group) / (2 * state.step));
      pass.more_pairs = (cells / 2 - state.group) / state.step + 1;
      if (!one_tile) {
        used = std::max(state.group + 2 * pass.tile_taps * state.step,
                        2 * (state.group + (pass.more_pairs - 1) * state.step));
      }
    } else {
      pass.tile_taps = one_tile ? taps : (cells - state.group) / state.step + 1;
      if (!one_tile) used = state.group + (pass.tile_taps - 1) * state.step;
    }
    pass.cells = static_cast<std::size_t>(padded ? used + used / 32 : used);
    return pass;
  }

  // Cuts the picture into tasks of cpu_strip: tiles of columns whose ring of rows fits in the L2
  // cache, and strips of rows only where the tiles are fewer than the cores.
  static void plan_strip(State& state) {
    const Problem& p = state.problem;
    Strip& s = state.strip;
    const int cores =
        std::max(1, static_cast<int>(std::min<cl_uint>(state.runtime.info().compute_units, 4096)));
    const int window = round_up(2 * state.radius + 2 * kStripRows, kStripRows);
    const auto ring_bytes =
        static_cast<std::size_t>(std::min(window, round_up(p.height, kStripRows))) * kPixelBytes;
    const int widest = std::max(2, static_cast<int>(std::min<std::size_t>(
                                       kStripRingBytes / ring_bytes / kStripPixels, 64)));
    const int units = ceil_div(p.width, kStripPixels);
    int tiles = ceil_div(units, widest);
    tiles = std::min(round_up(tiles, cores), std::max(tiles, units / 2));
    s.tile = ceil_div(units, tiles) * kStripPixels;
    s.tiles = static_cast<std::size_t>(ceil_div(p.width, s.tile));
    // A strip filters 2 radius rows more than it makes, so it is at least that high.
    const int wanted =
        s.tiles >= static_cast<std::size_t>(cores) ? 1 : ceil_div(cores, static_cast<int>(s.tiles));
    const int strips = std::clamp(p.height / std::max(2 * state.radius, kStripRows), 1, wanted);
    s.rows = round_up(ceil_div(p.height, strips), kStripRows);
    s.strips = static_cast<std::size_t>(ceil_div(p.height, s.rows));
    const auto span = static_cast<std::int64_t>(s.rows) + 2 * state.radius;
    s.ring = std::min(
        window, round_up(static_cast<int>(std::min<std::int64_t>(span, p.height)), kStripRows));
    const std::size_t tile = static_cast<std::size_t>(s.tile);
    s.task_pixels = kStripRows * (tile + 2 * static_cast<std::size_t>(state.radius)) +
                    static_cast<std::size_t>(s.ring) * tile;
    s.task_pixels = (s.task_pixels + 3) / 4 * 4;
  }

  static Launch launch(const State& state, const Pass& pass) {
    const auto group = static_cast<std::size_t>(state.group);
    if (state.copy)
      return Launch::groups({static_cast<std::size_t>(pass.lines), 1, 1}, {group, 1, 1});
    if (state.variant == Variant::cpu_strip)
      return Launch::groups({state.strip.tiles, state.strip.strips, 1}, {1, 1, 1});
    if (state.variant == Variant::coalesced) {
      const auto segments = static_cast<std::size_t>(ceil_div(pass.length, kCoalescedSegment));
      return Launch::groups(
          {segments * static_cast<std::size_t>(ceil_div(pass.lines, kCoalescedLines)), 1, 1},
          {group, 1, 1});
    }
    return Launch::groups({static_cast<std::size_t>(pass.lines), 1, 1}, {group, 1, 1});
  }

  // Enqueues the passes and remembers the last. Needs the mutex.
  cl::Event enqueue(const CheckedView& src, const CheckedView& dst,
                    const std::vector<cl::Event>& wait) const {
    const State& s = *state_;
    const std::size_t bytes = pixel_bytes(s.problem.pixel);
    const cl_ulong src_offset = src.offset / bytes;
    const cl_ulong src_pitch = src.pitch / bytes;
    const cl_ulong dst_offset = dst.offset / bytes;
    const cl_ulong dst_pitch = dst.pitch / bytes;
    const Pass& first = s.passes.front();
    Kernel kernel(s.runtime, first.program, s.kernel);
    if (s.copy) {
      s.last = kernel(launch(s, first), wait, src.buffer, src_offset, src_pitch, dst.buffer,
                      dst_offset, dst_pitch, first.length);
      return s.last;
    }
    if (s.variant == Variant::cpu_strip) {
      s.last = kernel(launch(s, first), wait, src.buffer, src_offset, src_pitch, dst.buffer,
                      dst_offset, dst_pitch, first.length, first.lines, s.radius, s.weights,
                      static_cast<cl_int>(s.strip.tile), static_cast<cl_int>(s.strip.rows),
                      static_cast<cl_int>(s.strip.ring), s.scratch,
                      static_cast<cl_ulong>(s.strip.task_pixels));
      return s.last;
    }
    const Pass& second = s.passes.back();
    Kernel second_kernel(s.runtime, second.program, s.kernel);
    // The intermediate picture is transposed: one row of it per column.
    s.last = enqueue_pass(kernel, first, wait, src.buffer, src_offset, src_pitch, s.scratch, 0,
                          static_cast<cl_ulong>(first.lines));
    s.last = enqueue_pass(second_kernel, second, {s.last}, s.scratch, 0,
                          static_cast<cl_ulong>(second.length), dst.buffer, dst_offset, dst_pitch);
    return s.last;
  }

  cl::Event enqueue_pass(Kernel& kernel, const Pass& pass, const std::vector<cl::Event>& wait,
                         const cl::Buffer& src, cl_ulong src_offset, cl_ulong src_pitch,
                         const cl::Buffer& dst, cl_ulong dst_offset, cl_ulong dst_pitch) const {
    const State& s = *state_;
    const Launch where = launch(s, pass);
    const LocalBytes tile{pass.cells * kPixelBytes};
    const auto run = [&](const auto&... more) {
      return kernel(where, wait, src, src_offset, src_pitch, dst, dst_offset, dst_pitch,
                    pass.length, more...);
    };
    switch (s.variant) {
      case Variant::naive:
        return run(s.radius, s.gauss);
      case Variant::local_line:
        return run(s.radius, s.gauss, pass.segment, pass.tile_taps, tile);
      case Variant::subsampled:
        return run(s.radius, s.step, s.gauss, pass.segment, pass.tile_taps, tile);
      case Variant::symmetric:
      case Variant::unrolled:
      case Variant::padded:
        return run(s.radius, s.step, s.gauss, pass.segment, pass.tile_taps, pass.more_pairs, tile);
      case Variant::weights_table:
        return run(s.radius, s.weights, pass.segment, pass.tile_taps, tile);
      case Variant::coalesced:
        return run(pass.lines, static_cast<cl_int>(2 * s.radius + 1), s.weights, pass.tile_taps,
                   tile);
      case Variant::automatic:
      case Variant::cpu_strip:
        break;
    }
    fail(Errc::invalid_argument, kName,
         text("the variant ", to_string(s.variant), " has no line pass"));
  }

  std::shared_ptr<const State> state_;

 public:
  // Every variant that runs, in the order of the recipe.
  static constexpr Variant kVariants[] = {
      Variant::naive,         Variant::local_line, Variant::subsampled,
      Variant::symmetric,     Variant::unrolled,   Variant::padded,
      Variant::weights_table, Variant::coalesced,  Variant::cpu_strip};

  static const char* to_string(Variant variant) {
    switch (variant) {
      case Variant::automatic:
        return "automatic";
      case Variant::naive:
        return "naive";
      case Variant::local_line:
        return "local_line";
      case Variant::subsampled:
        return "subsampled";
      case Variant::symmetric:
        return "symmetric";
      case Variant::unrolled:
        return "unrolled";
      case Variant::padded:
        return "padded";
      case Variant::weights_table:
        return "weights_table";
      case Variant::coalesced:
        return "coalesced";
      case Variant::cpu_strip:
        return "cpu_strip";
    }
    fail(Errc::invalid_argument, kName,
         text("there is no variant of the value ", static_cast<int>(variant)));
  }

  static const char* to_string(Pixel pixel) { return pixel == Pixel::rgba8 ? "rgba8" : "rgba32f"; }

  // The variant of that name, automatic included. Throws Error(invalid_argument) that lists the
  // names.
  static Variant parse_variant(std::string_view name) {
    return parse_name<Variant>(kName, "variant", name, kVariants,
                               [](Variant variant) { return to_string(variant); },
                               {Variant::automatic});
  }

  // The pixel type of that name. Throws Error(invalid_argument) that lists the names.
  static Pixel parse_pixel(std::string_view name) {
    constexpr Pixel kPixels[] = {Pixel::rgba32f, Pixel::rgba8};
    return parse_name<Pixel>(kName, "pixel type", name, kPixels,
                             [](Pixel pixel) { return to_string(pixel); });
  }
};

}  // namespace clcook
