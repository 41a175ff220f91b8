// The card of the recipe stream_compaction.
//
// Problem: an ordered list of the pixels that pass a test. Each item tests 32 pixels, and all items
// of a group must know how many the others keep before they can store. Why int_flags is slow: 32
// flags wait in 32 registers while the group scans its counts, and each item stores a run of its
// own, far from its neighbours' runs. What each variant changes: see its summary. When it does not
// help: predicates reads everything twice, which costs more than the registers it saves where
// memory is the limit; on a CPU the scans and their barriers are most of the work.
#pragma once

#include <algorithm>
#include <clcook/reference/stream_compaction.hpp>
#include <clcook/registry/guarded_buffer.hpp>
#include <clcook/registry/random.hpp>
#include <clcook/registry/recipe.hpp>
#include <clcook/stream_compaction.hpp>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace clcook::cookbook {
namespace stream_compaction_card {

// A number of a shape; recipe.parameters names them all. The source starts one pixel later than
// the indices, the number of kept pixels two, so that an exchange shows.
inline std::int64_t number(const Params& shape, const char* name, std::int64_t least,
                           std::int64_t most) {
  const std::int64_t value = shape.integer(name, 0);
  if (value < least || value > most) {
    fail(Errc::invalid_argument, "stream_compaction",
         text(name, " must be ", least, " to ", most, ", got ", value));
  }
  return value;
}

class CompactionCase : public Case {
 public:
  static constexpr unsigned char kPoison = 0xCD;

  CompactionCase(const Runtime& runtime, const Params& shape, std::uint64_t seed)
      : runtime_(runtime),
        threshold_(static_cast<std::uint32_t>(number(shape, "threshold", 0, 65536))) {
    pixels_.resize(static_cast<std::size_t>(
        number(shape, "pixels", 1, static_cast<std::int64_t>(StreamCompaction::kMaxPixels))));
    const auto offset = static_cast<std::size_t>(number(shape, "offset", 0, 1 << 20));
    Random random(seed);
    for (std::uint32_t& pixel : pixels_) pixel = random.bits32();
    const auto at = [&](std::size_t more) { return offset == 0 ? 0 : (offset + more) * 4; };
    // White outside: a pixel read from there is kept.
    src_.emplace(runtime, pixels_.size() * 4, std::size_t{1}, at(1), std::size_t{0},
                 static_cast<unsigned char>(0xFF));
    dst_.emplace(runtime, pixels_.size() * 4, std::size_t{1}, at(0), std::size_t{0}, kPoison);
    kept_.emplace(runtime, std::size_t{4}, std::size_t{1}, at(2), std::size_t{0}, kPoison);
  }

  void prepare(const std::string& variant, const Params& tune) override {
    StreamCompaction::Tune how;
    how.group = static_cast<int>(tune.integer("group", 0));
    compact_.emplace(runtime_, StreamCompaction::Problem{pixels_.size()},
                     StreamCompaction::parse_variant(variant), how);
  }

  void poison() override {
    src_->poison();
    dst_->poison();
    kept_->poison();
  }

  cl::Event upload(const std::vector<cl::Event>& wait) override {
    return src_->upload(pixels_.data(), wait);
  }

  cl::Event run(const std::vector<cl::Event>& wait) override {
    if (!compact_) fail(Errc::invalid_argument, "stream_compaction", "prepare() was not called");
    return (*compact_)(src_->view(), dst_->view(), kept_->view(), threshold_, wait);
  }

  // Integers: exact. Behind the last index dst still holds the poison.
  Diff check(const std::vector<cl::Event>& wait) override {
    Diff diff;
    const std::vector<unsigned char> number = kept_->read(wait, diff, "kept");
    const std::vector<unsigned char> got = dst_->read({}, diff, "dst");
    const std::vector<std::uint32_t>& expected = reference();
    std::uint32_t kept = 0;
    std::memcpy(&kept, number.data(), sizeof kept);
    diff.match("kept", static_cast<std::uint32_t>(expected.size()), kept);
    std::uint32_t untouched = 0;
    std::memset(&untouched, kPoison, sizeof untouched);
    for (std::size_t i = 0; i < pixels_.size(); ++i) {
      std::uint32_t value = 0;
      std::memcpy(&value, got.data() + i * sizeof value, sizeof value);
      diff.match(i, i < expected.size() ? expected[i] : untouched, value);
    }
    return diff;
  }

  Work work() const override {
    Work work;
    const auto pixels = static_cast<double>(pixels_.size());
    const StreamCompaction::Variant variant = compact_->variant();
    // What the passes read and write at least: the pixels twice, or once and the flags in between.
    const double flags = variant == StreamCompaction::Variant::byte_words  ? 1
                         : variant == StreamCompaction::Variant::bit_words ? 0.125
                                                                           : 4;
    work.bytes_read = pixels * (4 + flags);
    work.bytes_written = (flags < 4 ? pixels * flags : 0) + 4.0 * static_cast<double>(kept_count());
    return work;
  }

 private:
  const std::vector<std::uint32_t>& reference() {
    if (!expected_) expected_ = clcook::reference::stream_compaction::bright(pixels_, threshold_);
    return *expected_;
  }

  std::size_t kept_count() const {
    if (expected_) return expected_->size();
    return static_cast<std::size_t>(
        std::count_if(pixels_.begin(), pixels_.end(), [&](std::uint32_t pixel) {
          return clcook::reference::stream_compaction::brightness(pixel) >= threshold_;
        }));
  }

  Runtime runtime_;
  std::uint32_t threshold_;
  std::vector<std::uint32_t> pixels_;
  std::optional<std::vector<std::uint32_t>> expected_;
  std::optional<GuardedBuffer> src_;
  std::optional<GuardedBuffer> dst_;
  std::optional<GuardedBuffer> kept_;
  std::optional<StreamCompaction> compact_;
};

inline Params shape(std::int64_t pixels, std::int64_t threshold, std::int64_t offset = 0,
                    bool tiny = false) {
  Params out{{"pixels", pixels}, {"threshold", threshold}};
  if (offset != 0) out.set("offset", offset);
  if (tiny) out.set("tiny", std::int64_t{1});
  return out;
}

}  // namespace stream_compaction_card

inline Recipe stream_compaction() {
  using stream_compaction_card::shape;
  using Variant = StreamCompaction::Variant;
  Recipe recipe;
  recipe.name = "stream_compaction";
  recipe.title = "Stream compaction";
  recipe.technique = "registers";
  recipe.summary =
      "The indices of the bright pixels: 32 flags as ints, as comparisons made again, as bytes, or "
      "as the bits of one register with popcount for prefix sums.";
  const auto add = [&](Variant variant, const char* summary) {
    VariantInfo info;
    info.name = StreamCompaction::to_string(variant);
    info.summary = summary;
    info.baseline = variant == Variant::int_flags;
    if (variant == Variant::bit_words)
      info.tunes = {{"group", {std::int64_t{256}, std::int64_t{32}}}};
    recipe.variants.push_back(std::move(info));
  };
  add(Variant::int_flags, "32 flags per item as ints, held across the group's scan");
  add(Variant::predicates, "against int_flags: nothing is held, the pixels are compared again");
  add(Variant::bit_flags,
      "against int_flags: 32 flags in one register, positions by popcount, neighbouring stores");
  add(Variant::byte_words, "the first pass stores the flags, a byte each; pixels are read once");
  add(Variant::bit_words, "against byte_words: a bit each, positions by popcount");
  recipe.techniques = {
      {6, "int_flags against bit_flags: registers and waves in the table of the page"},
      {20, "int_flags against predicates"},
      {21, "int_flags against bit_flags, byte_words against bit_words"},
  };
  recipe.parameters = {
      Parameter::integer("pixels", "of the picture", 1, StreamCompaction::kMaxPixels),
      Parameter::integer("threshold", "what a pixel that is kept reaches", 0, 65536),
      Parameter::integer("offset", "pixels before the first index", 0, 1 << 20, "0"),
  };
  recipe.test_shapes = {
      shape(1, 0, 0, true),    shape(37, 32768, 3, true),
      shape(2049, 32768, 1),   shape(2048, 40000),
      shape(2047, 0, 5),       shape(8191, 65281, 2),
      shape(8192, 0),          shape(8193, 60000, 1),
      shape(100003, 32768, 7), shape(16384 * 64 + 1, 45000),
  };
  recipe.bench_shapes = {shape(std::int64_t{1} << 26, 32768), shape(std::int64_t{1} << 26, 60000),
                         shape(1920 * 1080, 45000)};
  recipe.quick_shape = shape(std::int64_t{1} << 20, 32768);
  recipe.problem_bytes = [](const Params& shape) {
    return 8.0 * static_cast<double>(shape.integer("pixels", 0));
  };
  recipe.make = [](const Runtime& runtime, const Params& shape, std::uint64_t seed) {
    return std::unique_ptr<Case>(new stream_compaction_card::CompactionCase(runtime, shape, seed));
  };
  // Without the scan of the counts, which is the same for all.
  recipe.units = [](const std::string& variant, const Params& tune, const Params&) {
    std::vector<CompileUnit> out;
    for (const StreamCompaction::Unit& unit :
         StreamCompaction::units(StreamCompaction::parse_variant(variant),
                                 static_cast<int>(tune.integer("group", 0)))) {
      if (unit.kernel == "stream_compaction_scan") continue;
      out.push_back({unit.kernel, out.empty() ? "flags" : "indices",
                     Source(embedded::stream_compaction), unit.defines, ""});
    }
    return out;
  };
  return recipe;
}

}  // namespace clcook::cookbook
