// The card of the recipe stream_compaction.
//
// Problem: an ordered list of the pixels that pass a test. Each work-item tests 32 pixels, and all
// of a group must know how many the others keep before they can store. Why int_flags is slow: each
// work-item stores a run of its own, far from its neighbours' runs, and 32 flags wait in 32
// registers while the group scans its counts. What each variant changes: see its summary. When it
// does not help: predicates reads everything twice, which costs more than the registers it saves
// where memory is the limit; on a CPU the scans and their barriers are most of the work.
#pragma once

#include <algorithm>
#include <clcook/core/pixel.hpp>
#include <clcook/reference/stream_compaction.hpp>
#include <clcook/registry/guarded_buffer.hpp>
#include <clcook/registry/in_parallel.hpp>
#include <clcook/registry/pixels.hpp>
#include <clcook/registry/plan_case.hpp>
#include <clcook/registry/random.hpp>
#include <clcook/registry/recipe.hpp>
#include <clcook/stream_compaction.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace clcook::cookbook {
namespace stream_compaction_card {

// The problem of a shape; recipe.parameters names its values. The source starts one pixel later than
// the indices, the number of kept pixels two, so that an exchange shows.
inline StreamCompaction::Problem problem(const Params& shape) {
  StreamCompaction::Problem out{shape.as<std::size_t>("pixels"), shape.as<std::size_t>("height"),
                                parse_pixel_type(shape.word("pixel"), "stream_compaction"),
                                shape.integer("ordered") == 1};
  if (shape.word("order") == "bgr") std::swap(out.weights[0], out.weights[2]);
  return out;
}

// What a variant runs with: the tuning, changed by what the shape says.
inline StreamCompaction::Tune tune_of(const StreamCompaction::Row&, const Params& tune,
                                      const Params& shape) {
  StreamCompaction::Tune out = StreamCompaction::Posed::parse_tune(tune);
  const auto group = shape.as<int>("group");
  const auto counts = shape.as<int>("counts");
  const auto patience = shape.as<int>("patience");
  if (group != 0) out.group = group;
  if (counts != 0) out.counts = counts;
  if (patience != 0) out.patience = patience;
  return out;
}

constexpr std::int64_t kMostThreshold = 1 << 24;  // above all sums of shorts

class CompactionCase : public PlanCase<StreamCompaction> {
 public:
  static constexpr unsigned char kPoison = 0xCD;

  CompactionCase(const Runtime& runtime, const Params& shape, std::uint64_t seed)
      : PlanCase(runtime, problem(shape)),
        threshold_(shape.real("threshold")),
        calls_(shape.integer("calls")) {
    StreamCompaction::Spec::check(problem_);
    const std::size_t bytes = pixel_bytes(problem_.pixel);
    pixels_.resize(problem_.pixels() * bytes);
    const auto offset = shape.as<std::size_t>("offset");
    fill(seed);
    const auto at = [&](std::size_t more) { return offset == 0 ? 0 : offset + more; };
    // White outside: a pixel read from there is kept. Bytes of 0x7B are the half 61312.
    const auto pad = shape.as<std::size_t>("pad");
    const bool whole = is_integer(channel_of(problem_.pixel));
    // Rows of three channels begin at any channel.
    const std::size_t step = pixel_step(problem_.pixel);
    src_.emplace(runtime, problem_.width * bytes, problem_.height, at(1) * step,
                 problem_.width * bytes + pad * step,
                 static_cast<unsigned char>(whole ? 0xFF : 0x7B));
    dst_.emplace(runtime, problem_.pixels() * 4, std::size_t{1}, at(0) * 4, std::size_t{0},
                 kPoison);
    kept_.emplace(runtime, std::size_t{4}, std::size_t{1}, at(2) * 4, std::size_t{0}, kPoison);
  }

  std::vector<Operand> operands() override {
    return {{"src", &*src_, Access::read},
            {"dst", &*dst_, Access::write},
            {"kept", &*kept_, Access::write}};
  }

  cl::Event call(const std::vector<BufferView>& views,
                 const std::vector<cl::Event>& wait) override {
    // Calls before the one that is checked keep fewer pixels, so that what they leave shows.
    const double before = std::max(threshold_, 0.5 * (threshold_ + 65280));
    std::vector<cl::Event> behind = wait;
    for (std::int64_t i = 1; i < calls_; ++i)
      behind = {plan()(views[0], views[1], views[2], before, behind)};
    return plan()(views[0], views[1], views[2], threshold_, behind);
  }

  // Exact. Behind the last index dst still holds the poison.
  Diff check(const std::vector<cl::Event>& wait) override {
    Diff diff;
    const std::uint32_t kept = kept_->read_as<std::uint32_t>(wait, diff, "kept")[0];
    auto got = dst_->read_as<std::uint32_t>({}, diff, "dst");
    if (!problem_.ordered)
      std::sort(got.begin(), got.begin() + static_cast<std::ptrdiff_t>(
                                               std::min<std::size_t>(kept, problem_.pixels())));
    const std::vector<std::uint32_t>& expected = reference();
    diff.match("kept", static_cast<std::uint32_t>(expected.size()), kept);
    std::uint32_t untouched = 0;
    std::memset(&untouched, kPoison, sizeof untouched);
    compare_in_parallel(diff, problem_.pixels(), [&](Diff& part, std::size_t i) {
      part.match(i, i < expected.size() ? expected[i] : untouched, got[i]);
    });
    return diff;
  }

  Work work() const override {
    Work work = plan().offer().work;
    work.bytes_written += 4.0 * static_cast<double>(kept_count());
    return work;
  }

 protected:
  const void* input() override { return pixels_.data(); }

 private:
  // Any bits as bytes and shorts; else channels from -64 to 320, so that brightness is spread around
  // the thresholds, and now and then one that is no number or infinite.
  void fill(std::uint64_t seed) {
    Random random(seed);
    const Channel channel = channel_of(problem_.pixel);
    if (is_integer(channel)) {
      for (std::size_t i = 0; i < pixels_.size(); i += 4) {
        const std::uint32_t bits = random.bits32();
        std::memcpy(pixels_.data() + i, &bits, std::min<std::size_t>(4, pixels_.size() - i));
      }
      return;
    }
    std::vector<double> values(problem_.pixels() * channels());
    for (double& value : values) {
      value = static_cast<double>(random.below(384 * 1024)) / 1024 - 64;
      const std::uint64_t kind = random.below(200);
      if (kind == 0) value = std::numeric_limits<double>::quiet_NaN();
      if (kind == 1) value = HUGE_VAL;
      if (kind == 2) value = -HUGE_VAL;
    }
    pixels_ = store_channels(channel, values);
  }

  std::size_t channels() const { return static_cast<std::size_t>(channels_of(problem_.pixel)); }

  double brightness(std::size_t pixel) const {
    namespace ref = clcook::reference::stream_compaction;
    const Channel channel = channel_of(problem_.pixel);
    const auto at = [&](std::size_t c) {  // missing ones are 0
      return c < channels() ? load_channel(channel, pixels_.data(), channels() * pixel + c) : 0.0;
    };
    if (channels() == 1) return 256 * at(0);
    const auto& w = problem_.weights;
    if (is_integer(channel)) return w[0] * at(0) + w[1] * at(1) + w[2] * at(2);
    return static_cast<double>(ref::brightness(static_cast<float>(at(0)), static_cast<float>(at(1)),
                                               static_cast<float>(at(2)), w));
  }

  const std::vector<std::uint32_t>& reference() {
    if (!expected_) {
      std::vector<unsigned char> kept(problem_.pixels());
      in_parallel(kept.size(), 65536, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) kept[i] = brightness(i) >= threshold_;
      });
      expected_.emplace();
      for (std::size_t i = 0; i < kept.size(); ++i) {
        if (kept[i] != 0) expected_->push_back(static_cast<std::uint32_t>(i));
      }
    }
    return *expected_;
  }

  std::size_t kept_count() const {
    if (expected_) return expected_->size();
    std::size_t count = 0;
    for (std::size_t i = 0; i < problem_.pixels(); ++i) count += brightness(i) >= threshold_;
    return count;
  }

  double threshold_;
  std::int64_t calls_;
  std::vector<unsigned char> pixels_;  // as they are stored
  std::optional<std::vector<std::uint32_t>> expected_;
  std::optional<GuardedBuffer> kept_;
};

}  // namespace stream_compaction_card

inline Recipe stream_compaction() {
  Recipe recipe;
  recipe.title = "Stream compaction";
  recipe.question = "Three passes or one?";
  recipe.for_gpus = "look_back";
  recipe.for_cpus = "cpu_runs";
  recipe.written_first = {"bit_flags"};
  recipe.family = "memory locality";
  recipe.headline_pair = {"bit_flags", "bit_reads"};
  recipe.summary =
      "The indices of the bright pixels: 32 flags as ints, as comparisons made again, as bytes, or "
      "as the bits of one register with popcount for prefix sums.";
  recipe.shows = {
      {6,
       "int_flags against bit_runs: registers and waves in the table of the page",
       {Experiment::fewer_registers("int_flags", "bit_runs")}},
      {20,
       "int_flags against predicates",
       {Experiment::pair("int_flags", "predicates", "", "which reads each pixel again")}},
      {21,
       "int_flags against bit_runs, byte_words against word_runs",
       {Experiment::pair("byte_words", "word_runs")}},
  };
  recipe.parameters = {
      Parameter::integer("pixels", "of a row", 1, stream_compaction::kMaxPixels),
      Parameter::integer("height", "rows", 1, stream_compaction::kMaxPixels, "1"),
      Parameter::integer("threshold", "what a pixel that is kept reaches", 0,
                         stream_compaction_card::kMostThreshold),
      Parameter::word("pixel", "type", names_of(kPixelTypes), "rgba8"),
      Parameter::word("order", "of the colours, which the weights follow", {"rgb", "bgr"}, "rgb"),
      Parameter::integer("offset", "pixels before the first index", 0, 1 << 20, "0"),
      Parameter::integer("pad", "pixels behind each row", 0, 1 << 20, "0"),
      Parameter::integer("group", "work-items of a group; 0: the tuning's", 0, 1024, "0"),
      Parameter::integer("calls", "one after the other: what a plan keeps", 1, 8, "1"),
      Parameter::integer("ordered", "1: the indices must ascend; 0: they come in any order", 0, 1,
                         "1"),
      Parameter::integer(
          "patience", "looks without news before look_back counts another group; 0: the tuning's",
          0, 65536, "0"),
      Parameter::integer("counts", "that an item of the scan adds in a turn; 0: the tuning's", 0,
                         16, "0"),
  };
  describe<StreamCompaction, stream_compaction_card::CompactionCase>(
      recipe, stream_compaction_card::problem, stream_compaction_card::tune_of);
  recipe.test_shapes = parse_all({
      "pixels=1 threshold=0 tiny=1",
      "pixels=37 threshold=32768 offset=3 tiny=1",
      // The scan takes two turns: 33 groups, 32 in a turn.
      "pixels=32771 threshold=52000 group=32 counts=1 offset=1 tiny=1",
      "pixels=2049 threshold=32768 offset=1",
      "pixels=2048 threshold=40000",
      "pixels=2047 threshold=0 offset=5",
      "pixels=8191 threshold=65281 offset=2",
      "pixels=8192 threshold=0",
      "pixels=8193 threshold=60000 offset=1",
      "pixels=100003 threshold=32768 offset=7",
      "pixels=100003 threshold=60000 offset=2",
      "pixels=1048577 threshold=45000",
      "pixels=13 height=7 threshold=32768 offset=2 pad=3 tiny=1",
      "pixels=1 height=8195 threshold=30000 pad=1",
      "pixels=3 height=2731 threshold=0 offset=1 pad=2",
      "pixels=257 height=67 threshold=40000 offset=5 pad=7",
      "pixels=1024 height=32 threshold=32768",
      "pixels=67 threshold=12000000 pixel=rgba16 offset=3 tiny=1",
      "pixels=257 height=35 threshold=8388608 pixel=rgba16 offset=1 pad=5",
      "pixels=8193 threshold=32768 pixel=rgba16f offset=7",
      "pixels=131 height=67 threshold=30000 pixel=rgba16f offset=1 pad=3",
      "pixels=8191 threshold=32768 pixel=rgba32f",
      "pixels=5 height=2000 threshold=0 pixel=rgba32f offset=3 pad=1",
      "pixels=67 threshold=28000 pixel=rg8 offset=3 tiny=1",
      "pixels=8193 height=3 threshold=40000 pixel=rg8 offset=1 pad=3",
      "pixels=257 height=35 threshold=8388608 pixel=rg16 offset=1 pad=5",
      "pixels=8191 threshold=32768 pixel=rg16f offset=7",
      "pixels=131 height=67 threshold=30000 pixel=rg32f offset=1 pad=3",
      "pixels=67 threshold=32768 pixel=r8 offset=3 tiny=1",
      "pixels=67 threshold=32768 pixel=rgb8 order=bgr offset=2 tiny=1",
      "pixels=257 height=35 threshold=30000 pixel=rgb8 offset=1 pad=2",
      "pixels=1021 height=9 threshold=40000 order=bgr offset=1 pad=3",
      "pixels=131 height=67 threshold=9000000 pixel=rgb16 order=bgr offset=2 pad=5",
      "pixels=8193 threshold=32768 pixel=rgb16f offset=7",
      "pixels=67 height=131 threshold=30000 pixel=rgb32f pad=1",
      "pixels=257 height=35 threshold=8388608 pixel=r16 offset=1 pad=5",
      "pixels=131 height=67 threshold=30000 pixel=r32f offset=1 pad=3",
      "pixels=5003 threshold=32768 ordered=0 group=32 offset=3 tiny=1",
      "pixels=40009 threshold=45000 ordered=0 calls=3",
      "pixels=111 height=93 threshold=32768 pixel=rgba16f ordered=0 pad=3",
      "pixels=200003 threshold=32768 group=64 patience=1 offset=1 calls=2",
  });
  recipe.bench_shapes =
      parse_all({"pixels=67108864 threshold=32768", "pixels=67108864 threshold=60000",
                 "pixels=2073600 threshold=45000", "pixels=67108864 threshold=32000 ordered=0"});
  recipe.quick_shape = Params::parse("pixels=1048576 threshold=32768");
  // Not the scan of the counts, which is the same for all.
  recipe.shown = [](const VariantInfo&, std::vector<CompileUnit> units) {
    if (units.size() == 3) units.erase(units.begin() + 1);
    return units;
  };
  return recipe;
}

}  // namespace clcook::cookbook
