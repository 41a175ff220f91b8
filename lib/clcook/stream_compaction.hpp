// Stream compaction: the indices of the bright pixels of a picture, in order.
//
//   clcook::StreamCompaction compact{runtime, {width, height}};
//   cl::Event done = compact(src, dst, kept, 200 * 256, {uploaded});  // at least 200 bright
//
// A pixel is r, g, b, with or without a fourth channel, or r, g with a b of 0; pixel (x, y) has the index
// y * width + x. It is kept when 54 r + 183 g + 19 b >= threshold; the weights sum to 256, so threshold
// 256 t means a brightness of t, in units of the pixel type. A pixel of one channel is its own
// brightness: it is kept when 256 r >= threshold. Problem::weights are others, such as 19, 183, 54 for
// pictures whose channels are b, g, r. Of halfs and floats the sum is fma(54, r, fma(183, g, 19 b)),
// and a NaN is never kept. dst receives the indices of the kept pixels, ascending, as 32-bit numbers, and
// keeps what it held behind them; kept receives their number. A problem that is not `ordered` may
// get them in any order, a different one for each call.
#pragma once

#include <algorithm>
#include <array>
#include <clcook/core/math.hpp>
#include <clcook/core/pixel.hpp>
#include <clcook/core/plan.hpp>
#include <clcook/core/quirks.hpp>
#include <clcook/core/sub_group.hpp>
#include <clcook/core/view.hpp>
#include <clcook/embedded/stream_compaction.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <vector>

namespace clcook {
namespace stream_compaction {

constexpr std::size_t kMaxPixels = 0xFFFFFFFFu;

// A number of pixels, of any integer: an int, as other operations have their sizes, or a std::size_t.
class Count {
 public:
  template <class Int, std::enable_if_t<std::is_integral_v<Int>, int> = 0>
  constexpr Count(Int count)  // NOLINT(google-explicit-constructor)
      : count_(static_cast<std::size_t>(count)) {}
  constexpr operator std::size_t() const { return count_; }  // NOLINT(google-explicit-constructor)

 private:
  std::size_t count_;
};

struct Problem {
  Count width = 0;   // pixels
  Count height = 1;  // rows; width times height is 1 to kMaxPixels
  PixelType pixel = PixelType::rgba8;
  bool ordered = true;  // whether the indices must ascend
  // Of the first three channels: 0 to 255 each, 1 to 256 together, so that sums of whole numbers are
  // exact. A picture of one channel takes none but these.
  std::array<int, 3> weights{54, 183, 19};

  std::size_t pixels() const { return width * height; }
};

// How to run, for tuning; 0 is open.
struct Tune {
  int group = 0;     // work-items per work-group: 32, 64, 128, 256, 512 or 1024
  int counts = 0;    // of groups, that a work-item of the scan adds at a time: 1, 2, 4, 8 or 16
  int patience = 0;  // of look_back: looks without news before a group is counted by one that waits
                     // for it; 1 to 65536
};

struct Spec : PlainSpec {
  using Problem = stream_compaction::Problem;
  using Tune = stream_compaction::Tune;
  struct Traits {
    double flag_bytes = 0;    // per pixel, stored by the first pass; 0: the last reads pixels again
    bool sub_groups = false;  // compiled with <clcook/sub_group.clh>
    bool one_pass = false;    // a kernel that keeps state between calls; else count, scan, write
    bool ordered = true;
    const char* mark = nullptr;  // whose first pass stores the flags, where it has none of its own
  };
  struct Resources {
    cl::Buffer counts;  // a uint per group; of one pass two more in front
    cl::Buffer flags;   // of the variants that store them
    std::shared_ptr<CallOrder> call_order;
  };

  // A call, for the function of a row.
  struct Call {
    const Setup<Spec>& setup;
    const Resources& r;
    std::vector<Kernel> kernels;
    const CheckedView& src;
    const CheckedView& dst;
    const CheckedView& kept;
    double threshold;
    std::vector<cl::Event> wait;

    // All groups.
    Launch launch() const {
      const bool runs = setup.row.is_for_cpus;
      return Launch::groups({groups(setup), 1, 1},
                            {runs ? 1 : static_cast<std::size_t>(setup.tune.group), 1, 1});
    }
    cl_ulong pixels() const { return setup.problem.pixels(); }
    cl_ulong dst_offset() const { return dst.offset / 4; }
    cl_ulong kept_offset() const { return kept.offset / 4; }

    // A launch of kernels[pass] that compares the pixels with the threshold.
    template <class... More>
    cl::Event compare(std::size_t pass, const std::vector<cl::Event>& behind, const More&... more) {
      const Problem& p = setup.problem;
      const std::size_t bytes = pixel_step(p.pixel);
      const auto offset = static_cast<cl_ulong>(src.offset / bytes);
      const auto run = [&](const auto&... source) {
        return p.pixel == PixelType::rgba8
                   ? kernels[pass](launch(), behind, source..., more..., whole_threshold(threshold))
                   : kernels[pass](launch(), behind, source..., more...,
                                   float_threshold(threshold));
      };
      if (p.height == 1) return run(src.buffer, offset);
      return run(src.buffer, offset, static_cast<cl_uint>(p.width),
                 static_cast<cl_ulong>(src.pitch / bytes));
    }
    // The sums of the groups' counts, by one group.
    cl::Event scan(const cl::Event& counted) {
      const Launch one =
          Launch::groups({1, 1, 1}, {static_cast<std::size_t>(setup.tune.group), 1, 1});
      return kernels[1](one, {counted}, r.counts, static_cast<cl_uint>(groups(setup)), kept.buffer,
                        kept_offset());
    }
  };
  using Row = VariantRow<Spec>;
  static constexpr const char* kName = "StreamCompaction";
  static constexpr const char* kRecipe = "stream_compaction";
  static constexpr bool kChecksMemory = true;
  static constexpr std::size_t kPixelsPerItem = 32;
  static constexpr std::size_t kRun = 8192;                // pixels of an item of cpu_runs
  static constexpr std::size_t kAlone = 2 * kRun;          // up to which it has one item
  static constexpr std::size_t kMaxOnePass = 0x3FFFFFFFu;  // pixels

  static const std::vector<Row>& variants() {
    static const std::vector<Row> all{
        Row("int_flags", "32 flags per item as ints, held across the group's scan")
            .runs(compare_twice)
            .baseline(),
        Row("predicates", "int_flags that holds nothing: the pixels are compared again")
            .runs(compare_twice)
            .against("int_flags", "nothing is held: pixels are compared again"),
        Row("bit_runs", "int_flags with the 32 flags in one register")
            .runs(compare_twice)
            .against("int_flags", "the 32 flags are the bits of one register"),
        Row("bit_reads", "bit_runs with neighbouring reads, flags exchanged in local memory")
            .runs(compare_twice)
            .against("bit_runs", "neighbouring items read neighbours"),
        Row("bit_flags", "bit_reads with neighbouring stores, positions by popcount")
            .runs(compare_twice)
            .against("bit_reads", "neighbouring items store neighbours"),
        Row("byte_words", "the first pass stores the flags, a byte each; pixels are read once")
            .runs(store_flags)
            .set(&Traits::flag_bytes, 1)
            .against("int_flags", "the first pass stores the flags, bytes: pixels are read once"),
        Row("word_runs", "byte_words with a bit each")
            .runs(store_flags)
            .set(&Traits::flag_bytes, 0.125)
            .set(&Traits::mark, "bit_words_mark")
            .against("byte_words", "a flag is a bit instead of a byte"),
        Row("bit_words", "word_runs with neighbouring stores, positions by popcount")
            .runs(store_flags)
            .set(&Traits::flag_bytes, 0.125)
            .against("word_runs", "neighbouring items store neighbours")
            .tunes({{"group", {256, 32}}}),
        Row("ballot_words",
            "bit_words with flags by ballots, sums by sub-groups, words by shuffles")
            .runs(store_flags)
            .set(&Traits::flag_bytes, 0.125)
            .with(&Traits::sub_groups)
            .against("bit_words", "ballots, sums and shuffles of sub-groups")
            .tunes({{"group", {256, 128, 64}}}),
        Row("look_back",
            "one pass: a group adds up what the groups before it have published, and pixels are "
            "read once")
            .runs(pass_once)
            .with(&Traits::sub_groups, &Traits::one_pass)
            .against("ballot_words", "one pass: a group adds up what those before it published")
            .tunes({{"group", {512, 256, 128}}}),
        Row("unordered", "look_back without the order: a group takes the next free places")
            .runs(pass_once)
            .with(&Traits::sub_groups, &Traits::one_pass)
            .set(&Traits::ordered, false)
            .against("look_back", "a group takes the next free places")
            .tunes({{"group", {512, 256, 128}}}),
        Row("cpu_runs", "an item counts and writes a long run by itself, without branches")
            .runs(count_runs)
            .against("predicates", "a long run per work-item, no barriers")
            .for_cpus(),
    };
    return all;
  }

  static const std::vector<Axis<Tune>>& axes() {
    static const std::vector<Axis<Tune>> all{
        axis("group", &Tune::group).only({32, 64, 128, 256, 512, 1024}),
        axis("counts", &Tune::counts, {16}).only({1, 2, 4, 8, 16}),
        axis("patience", &Tune::patience)};
    return all;
  }

  static void check(const Problem& p) {
    if (p.width < 1 || p.height < 1 || p.width > kMaxPixels / p.height) {
      fail(Errc::invalid_argument, kName,
           text("pixels must be 1 to ", kMaxPixels, ", got ", static_cast<std::size_t>(p.width),
                p.height == 1 ? "" : text(" x ", static_cast<std::size_t>(p.height))));
    }
    pixel_type_name(p.pixel, kName);
    if (channels_of(p.pixel) == 1 && p.weights != Problem().weights) {
      fail(Errc::invalid_argument, kName,
           text("a pixel of one channel is its own brightness, so it takes no weights, got ",
                p.weights[0], ", ", p.weights[1], ", ", p.weights[2]));
    }
    for (const int weight : p.weights) check_range(kName, "weights", weight, 0, 255);
    check_range(kName, "the sum of the weights", p.weights[0] + p.weights[1] + p.weights[2], 1,
                256);
  }

  // On a CPU the scan and its barriers are loops, and a group that waits keeps the others from
  // running.
  static Tune defaults(const Row& row, const Problem&, const DeviceInfo& device) {
    const int group = row.traits.one_pass ? 512 : 256;
    return {device.cpu ? 32 : group, 0, device.cpu ? 1 : 256};
  }

  static void check_tune(const Setup<Spec>& s) {
    check_range(kName, "patience", s.tune.patience, 1, 65536);
  }

  static std::vector<std::string> tuning_names(const Problem& p) {
    if (p.ordered) return {};
    return {"stream_compaction/unordered"};
  }
  // Of the pixels and of a list of all of them.
  static double bytes(const Problem& p) {
    return (pixel_size(p) + 4) * static_cast<double>(p.pixels());
  }
  static double pixel_size(const Problem& p) { return static_cast<double>(pixel_bytes(p.pixel)); }

  // The pixels are read twice, or once and the flags in between; without the list.
  static Offer offer(const Runtime& runtime, const Setup<Spec>& s) {
    const Traits& traits = s.row.traits;
    if (s.problem.ordered && !traits.ordered)
      return Offer::no(Lacks::problem, "the indices come in any order, and ascend they must");
    if (traits.one_pass && s.problem.pixels() > kMaxOnePass) {
      return Offer::no(Lacks::problem, text("a group's word holds a count of at most ", kMaxOnePass,
                                            " pixels, got ", s.problem.pixels()));
    }
    if (traits.one_pass && s.tune.group > 512) {
      return Offer::no(Lacks::local_memory, text("a group of ", s.tune.group,
                                                 " lists its pixels in 64 KiB of local memory; at "
                                                 "most 512 items are offered"));
    }
    const auto pixels = static_cast<double>(s.problem.pixels());
    const double flags = traits.flag_bytes;
    Offer out;
    const double each = pixel_size(s.problem);
    const bool once = flags > 0 || traits.one_pass;
    out.work.bytes_read = pixels * ((once ? each : 2 * each) + flags);
    out.work.bytes_written = pixels * flags;
    if (traits.sub_groups) {
      const SubGroups lanes = sub_groups(runtime);
      if (lanes.kind == SubGroupKind::local && quirks::loses_flags(runtime.info()))
        return Offer::no(Lacks::feature,
                         "PoCL 7 loses flags where it has no sub-groups of its own");
      out.last = lanes.kind == SubGroupKind::local;  // a barrier or two for each exchange
      out.units = units(s, lanes);
    }
    return out;
  }

  // The most lanes that a group is a multiple of, but not more than 32: a run is 32 times as long.
  static std::size_t lanes_of(const SubGroups& groups, int group) {
    std::size_t best = groups.sizes.front();
    for (const std::size_t size : groups.sizes) {
      if (size <= 32 && static_cast<std::size_t>(group) % size == 0) best = size;
    }
    return best;
  }

  // In the order of the passes. Only a runtime knows native sub-groups; see offer().
  static std::vector<CompileUnit> units(const Setup<Spec>& s) {
    return units(s, quirks::is_nvidia(s.device) ? ptx_sub_groups(s.device) : local_sub_groups());
  }
  static std::vector<CompileUnit> units(const Setup<Spec>& s, const SubGroups& lanes) {
    const auto& file = embedded::stream_compaction;
    const Traits& traits = s.row.traits;
    const bool runs = s.row.is_for_cpus;
    const Launch::Sizes group{runs ? 1u : static_cast<std::size_t>(s.tune.group), 1, 1};
    std::vector<CompileUnit> all;
    if (traits.one_pass) {
      all.push_back(variant_unit(s, file));
    } else if (is_alone(s)) {
      all.push_back(variant_unit(s, file, group));
      all[0].kernel += "_alone";
    } else {
      CompileUnit indices = variant_unit(s, file, group);
      CompileUnit flags = indices;
      if (runs) {
        flags.kernel += "_count";
      } else if (traits.mark != nullptr) {
        flags = kernel_unit(s, traits.mark, file);
      } else if (traits.flag_bytes > 0) {
        flags.kernel += "_mark";
      } else {
        flags = kernel_unit(s, "count", file);
      }
      flags.label = "flags";
      indices.label = "indices";
      all = {flags, kernel_unit(s, "scan", file), indices};
      all[1].defines.set("CLCOOK_STREAM_COMPACTION_COUNTS", s.tune.counts);
    }
    for (CompileUnit& unit : all) {
      unit.defines.set("CLCOOK_STREAM_COMPACTION_GROUP", s.tune.group);
    }
    for (CompileUnit* unit : {&all.front(), &all.back()}) {
      if (traits.sub_groups)
        unit->defines.add(sub_group_defines(lanes, lanes_of(lanes, s.tune.group)));
      if (traits.one_pass && traits.ordered)
        unit->defines.set("CLCOOK_STREAM_COMPACTION_PATIENCE", s.tune.patience);
      if (traits.one_pass && s.device.cpu)
        unit->defines.flag("CLCOOK_STREAM_COMPACTION_ONE_WALKER");
      if (runs) unit->defines.set("CLCOOK_STREAM_COMPACTION_RUN", static_cast<int>(kRun));
      if (s.problem.height > 1) unit->defines.flag("CLCOOK_STREAM_COMPACTION_ROWS");
      if (s.problem.pixel != PixelType::rgba8) {
        unit->defines.flag("CLCOOK_STREAM_COMPACTION_FLOATS");
        set_pixel(unit->defines, channel_of(s.problem.pixel), channels_of(s.problem.pixel));
      }
      if (s.problem.weights != Problem().weights) {
        unit->defines.set("CLCOOK_STREAM_COMPACTION_WR", s.problem.weights[0]);
        unit->defines.set("CLCOOK_STREAM_COMPACTION_WG", s.problem.weights[1]);
        unit->defines.set("CLCOOK_STREAM_COMPACTION_WB", s.problem.weights[2]);
      }
    }
    return all;
  }

  // Whether one item of cpu_runs does it all.
  static bool is_alone(const Setup<Spec>& s) {
    return s.row.is_for_cpus && s.problem.pixels() <= kAlone;
  }

  // Groups of all passes but the scan.
  static std::size_t groups(const Setup<Spec>& s) {
    if (is_alone(s)) return 1;
    const std::size_t each =
        s.row.is_for_cpus ? kRun : static_cast<std::size_t>(s.tune.group) * kPixelsPerItem;
    return (s.problem.pixels() + each - 1) / each;
  }

  static Resources allocate(const Runtime& runtime, const Setup<Spec>& s,
                            const std::vector<cl::Program>&) {
    const std::size_t count = groups(s);
    const Traits& traits = s.row.traits;
    Resources out;
    out.call_order = std::make_shared<CallOrder>();
    if (traits.one_pass) {
      const std::vector<cl_uint> zeros(count + 2);
      out.counts =
          create_buffer(runtime, zeros.size() * sizeof(cl_uint), CL_MEM_READ_WRITE, zeros.data());
    } else {
      out.counts = create_buffer(runtime, count * sizeof(cl_uint));
    }
    if (const double bytes = traits.flag_bytes; bytes > 0) {
      const std::size_t items = count * static_cast<std::size_t>(s.tune.group);
      const auto each = static_cast<std::size_t>(kPixelsPerItem * bytes);
      out.flags = create_buffer(runtime, items * each);
    }
    return out;
  }

 private:
  static cl::Event pass_once(Call& c) {
    return c.compare(0, c.wait, c.r.counts, c.dst.buffer, c.dst_offset(), c.kept.buffer,
                     c.kept_offset(), c.pixels());
  }

  // Counts, sums, and the indices from the pixels again.
  static cl::Event compare_twice(Call& c) {
    const cl::Event counted = c.compare(0, c.wait, c.r.counts, c.pixels());
    return c.compare(2, {c.scan(counted)}, c.r.counts, c.dst.buffer, c.dst_offset(), c.pixels());
  }

  // The same, the indices from the flags that the first pass stored.
  static cl::Event store_flags(Call& c) {
    const cl::Event flagged = c.compare(0, c.wait, c.r.counts, c.r.flags, c.pixels());
    return c.kernels[2](c.launch(), {c.scan(flagged)}, c.r.flags, c.r.counts, c.dst.buffer,
                        c.dst_offset());
  }

  // compare_twice with a run of pixels per work-item; the last of them knows where the indices end.
  static cl::Event count_runs(Call& c) {
    if (is_alone(c.setup)) {
      return c.compare(0, c.wait, c.kept.buffer, c.kept_offset(), c.dst.buffer, c.dst_offset(),
                       c.pixels());
    }
    const cl::Event counted = c.compare(0, c.wait, c.r.counts, c.pixels());
    return c.compare(2, {c.scan(counted)}, c.r.counts, c.kept.buffer, c.kept_offset(), c.dst.buffer,
                     c.dst_offset(), c.pixels());
  }

  // The least number of the kernel's type that is at least `threshold`: it keeps the same pixels.
  static cl_uint whole_threshold(double threshold) {
    const auto most = double{std::numeric_limits<cl_uint>::max()};
    return static_cast<cl_uint>(std::clamp(std::ceil(threshold), 0.0, most));
  }
  static cl_float float_threshold(double threshold) {
    const auto most = static_cast<double>(std::numeric_limits<float>::max());
    if (threshold > most) return HUGE_VALF;
    if (threshold < -most) return threshold == -HUGE_VAL ? -HUGE_VALF : static_cast<float>(-most);
    const auto rounded = static_cast<float>(threshold);
    return static_cast<double>(rounded) >= threshold ? rounded : std::nextafter(rounded, HUGE_VALF);
  }
};

}  // namespace stream_compaction

// A plan: constructed once, called often. Thread-safe as Plan says. Calls of one plan share its
// scratch memory and therefore run one after the other on the device; copies share it too. The
// number of pixels is not part of the program; their type and weights are, and whether there is one row or
// several.
class StreamCompaction : public Plan<stream_compaction::Spec> {
 public:
  using Plan::Plan;

  // Enqueues the compaction behind the events of `wait` and returns its last event. src is height
  // rows of width pixels, so it may be a region of a larger picture; its offset and pitch are
  // multiples of the pixel size, with 3 channels of the channel size. dst is one row of 4 bytes per pixel, with room for every pixel;
  // kept is 4 bytes; their offsets are multiples of 4. The views must not overlap. Throws
  // Error(invalid_argument), with nothing enqueued, when a view breaks a rule or the threshold is
  // not a number.
  cl::Event operator()(const BufferView& src, const BufferView& dst, const BufferView& kept,
                       double threshold, const std::vector<cl::Event>& wait = {}) const {
    const Runtime& rt = runtime();
    const Problem& p = problem();
    if (math::isnan(threshold))
      fail(Errc::invalid_argument, Spec::kName,
           text("threshold must be a number, got ", threshold));
    const std::size_t bytes = pixel_bytes(p.pixel);
    const CheckedView from = check_view(rt, src, {p.width * bytes, p.height, pixel_step(p.pixel)},
                                        Access::read, Spec::kName, "src");
    const CheckedView to =
        check_view(rt, dst, {p.pixels() * 4, 1, 4}, Access::write, Spec::kName, "dst");
    const CheckedView number = check_view(rt, kept, {4, 1, 4}, Access::write, Spec::kName, "kept");
    check_disjoint(from, to, Spec::kName, "src", "dst");
    check_disjoint(from, number, Spec::kName, "src", "kept");
    check_disjoint(to, number, Spec::kName, "dst", "kept");
    check_wait(rt, wait, Spec::kName);

    const Setup<Spec> s = setup();
    CallScope scope(rt, *resources().call_order);
    Spec::Call call{s,      resources(), kernels(scope.runtime()), from, to,
                    number, threshold,   scope.wait_list(wait)};
    row().run(call);
    return scope.end();
  }
};

CLCOOK_PLAN(stream_compaction::Spec);

}  // namespace clcook
