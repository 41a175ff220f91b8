// The card of the recipe bc6h_mode.
//
// Problem: which of 14 modes a BC6H block has is coded in 2 or 5 bits, and the sample decoder of
// the DirectX SDK finds it by comparing with one code after the other. Why that is slow:
// neighbouring blocks have different modes, so a group of lanes walks through nearly all fourteen
// comparisons. What each variant changes: see its summary, and docs/bc6h_mode.md. All of them read
// and write in the same way, so that a difference comes from the lookup alone; per_item=1 is the
// plain kernel with one header per work-item. When it does not help: where all blocks of a group
// have one mode, and where memory is the limit anyway, which it is with 16 headers per work-item on
// a large GPU.
#pragma once

#include <clcook/bc6h_mode.hpp>
#include <clcook/reference/bc6h_mode.hpp>
#include <clcook/registry/in_parallel.hpp>
#include <clcook/registry/plan_case.hpp>
#include <clcook/registry/random.hpp>
#include <clcook/registry/recipe.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace clcook::cookbook {
namespace bc6h_mode_card {

// The problem of a shape; recipe.parameters names its values. modes is the distribution of the modes:
//   one       all headers have mode 2
//   uniform   the 14 modes, equally often
//   texture   as often as in a real texture (see kTexture)
//   reserved  random words: a quarter each for the modes 0 and 1, the reserved codes one in eight
//   share     mode 2, but `share` percent of the headers are as in uniform
// Sources start one word later than results, so that an exchange of the two offsets shows.
inline Bc6hMode::Problem problem(const Params& shape) {
  Bc6hMode::Problem out;
  out.count = shape.as<std::size_t>("count");
  out.stride = shape.as<int>("stride");
  return out;
}

// What a variant runs with: the tuning, changed by what the shape says.
inline Bc6hMode::Tune tune_of(const Bc6hMode::Row& row, const Params& tune, const Params& shape) {
  Bc6hMode::Tune out = Bc6hMode::Posed::parse_tune(tune);
  const auto per_item = static_cast<int>(shape.integer("per_item", 0));
  if (per_item != 0 && !row.is_for_cpus) out.per_item = per_item;
  return out;
}

// Blocks of each mode in an environment map of 1024 x 512 texels, signed.
constexpr std::uint64_t kTexture[reference::bc6h_mode::kModes] = {
    2144, 182, 14825, 237, 1903, 1302, 1084, 53, 156, 0, 131, 1344, 9402, 5};
constexpr std::uint64_t kTextureBlocks = 32768;

// A random word with this mode.
inline std::uint32_t word_of(std::size_t mode, Random& random) {
  const reference::bc6h_mode::Code& code = reference::bc6h_mode::kCode[mode];
  return random.bits32() << code.bits | code.value;
}

// `count` headers, `stride` words apart; the words between are random too.
inline std::vector<std::uint32_t> headers(const Params& shape, std::uint64_t seed) {
  const Bc6hMode::Problem p = problem(shape);
  const std::string modes = shape.word("modes");
  constexpr auto kModes = static_cast<std::uint64_t>(reference::bc6h_mode::kModes);
  constexpr std::size_t kOne = 2;
  const auto share = shape.as<std::uint64_t>("share");
  Random random(seed);
  const auto draw = [&]() -> std::uint32_t {
    if (modes == "one") return word_of(kOne, random);
    if (modes == "uniform") return word_of(random.below(kModes), random);
    if (modes == "reserved") return random.bits32();
    if (modes == "share") {
      return word_of(random.below(100) < share ? random.below(kModes) : kOne, random);
    }
    std::uint64_t at = random.below(kTextureBlocks);
    std::size_t mode = 0;
    while (at >= kTexture[mode]) at -= kTexture[mode++];
    return word_of(mode, random);
  };
  const auto stride = static_cast<std::size_t>(p.stride);
  std::vector<std::uint32_t> words(p.count * stride);
  for (std::size_t i = 0; i < words.size(); ++i) {
    words[i] = i % stride == 0 ? draw() : random.bits32();
  }
  return words;
}

class ModeCase : public PlanCase<Bc6hMode> {
 public:
  ModeCase(const Runtime& runtime, const Params& shape, std::uint64_t seed)
      : PlanCase(runtime, problem(shape), "headers", "modes"), words_(headers(shape, seed)) {
    const auto offset = shape.as<std::size_t>("offset");
    const std::size_t before = offset == 0 ? 0 : offset + 1;
    src_.emplace(runtime, words_.size() * 4, 1, before * 4, 0, static_cast<unsigned char>(0xAA));
    dst_.emplace(runtime, problem_.count, 1, offset, 0, static_cast<unsigned char>(0xCD));
  }

  Diff check(const std::vector<cl::Event>& wait) override {
    Diff diff;
    const std::vector<unsigned char> got = dst_->read(wait, diff, "modes");
    if (expected_.empty()) {
      expected_ =
          reference::bc6h_mode::mode_indices(words_, static_cast<std::size_t>(problem_.stride));
    }
    compare_in_parallel(diff, expected_.size(),
                        [&](Diff& part, std::size_t i) { part.match(i, expected_[i], got[i]); });
    return diff;
  }

  // At a stride of 4 all 16 bytes of a block count as read: memory moves 32 bytes or more at once.
  Work work() const override {
    Work work;
    work.bytes_read = static_cast<double>(words_.size()) * 4;
    work.bytes_written = static_cast<double>(problem_.count);
    return work;
  }

 private:
  const void* input() override { return words_.data(); }

  std::vector<std::uint32_t> words_;
  std::vector<unsigned char> expected_;
};

// Which comparisons of the cascade each header goes through: all up to its own, in the unit of one
// comparison. The other variants have one path for all.
inline model::LaneMasks lanes(const std::string& variant, const Params& shape, std::uint64_t seed) {
  model::LaneMasks out;
  const std::vector<std::uint32_t> words = headers(shape, seed);
  const std::vector<unsigned char> modes =
      reference::bc6h_mode::mode_indices(words, static_cast<std::size_t>(problem(shape).stride));
  out.taken.reserve(modes.size());
  if (!Bc6hMode::Variant(variant).row()->is_baseline) {
    out.cost = {1};
    out.taken.assign(modes.size(), 1);
    return out;
  }
  out.cost.assign(reference::bc6h_mode::kModes, 1);
  const std::uint64_t all = (std::uint64_t{1} << reference::bc6h_mode::kModes) - 1;
  for (const unsigned char mode : modes) {
    out.taken.push_back(mode == reference::bc6h_mode::kReserved
                            ? all
                            : (std::uint64_t{2} << static_cast<unsigned>(mode)) - 1);
  }
  return out;
}

inline Params shape(std::int64_t count, const char* modes, std::int64_t stride = 1,
                    std::int64_t offset = 0, bool tiny = false) {
  Params out{{"count", count}, {"modes", std::string(modes)}, {"stride", stride}};
  if (offset != 0) out.set("offset", offset);
  if (tiny) out.set("tiny", std::int64_t{1});
  return out;
}

}  // namespace bc6h_mode_card

inline Recipe bc6h_mode() {
  using bc6h_mode_card::shape;
  Recipe recipe;
  recipe.title = "Mode index of BC6H blocks";
  recipe.question = "Arithmetic instead of a chain of ifs?";
  recipe.for_gpus = "arithmetic";
  recipe.for_cpus = "cpu_strip";
  recipe.family = "branch divergence";
  recipe.headline_pair = {"arithmetic", "cascade"};
  recipe.summary =
      "A chain of fourteen comparisons becomes a table of 32 entries, four packed words, or three "
      "lines of arithmetic.";
  recipe.parameters = {
      Parameter::integer("count", "headers", 1, 0x1p36),
      Parameter::integer("stride", "words from header to header", 1, 4, "1"),
      Parameter::word("modes", "distribution of the modes",
                      {"one", "uniform", "texture", "reserved", "share"}, "uniform"),
      Parameter::integer("share", "of modes=share: headers with a random mode, %", 0, 100, "0"),
      Parameter::integer("offset", "headers before the first", 0, 1 << 20, "0"),
      Parameter::integer(
          "per_item", "headers of a work-item instead of the tuning's; 1 is the article's kernel",
          0, 32, "the tuning's"),
  };
  describe<Bc6hMode, bc6h_mode_card::ModeCase>(recipe, bc6h_mode_card::problem,
                                               bc6h_mode_card::tune_of);
  recipe.test_shapes = {
      shape(1, "reserved", 1, 0, true),
      shape(67, "reserved", 4, 3, true),
      shape(255, "uniform"),
      shape(256, "texture", 4),
      shape(257, "one", 1, 1),
      shape(4096, "reserved", 1, 12),
      shape(4097, "reserved", 4, 4),
      shape(8191, "reserved", 1, 4),
      shape(40009, "reserved", 1, 7),
      shape(33013, "texture", 4, 3),
      shape(1031, "reserved", 1, 2).set("per_item", std::int64_t{1}),
  };
  const std::int64_t large = std::int64_t{1} << 26;
  recipe.bench_shapes = {
      shape(large, "uniform"),
      shape(large, "one"),
      shape(large, "texture"),
      shape(large, "reserved"),
      shape(large / 4, "uniform", 4),
      shape(std::int64_t{1} << 20, "uniform"),
      shape(large, "uniform").set("per_item", std::int64_t{1}),
  };
  recipe.quick_shape = shape(std::int64_t{1} << 20, "uniform");
  Sweep sweep;
  sweep.shape = Params{{"count", std::int64_t{1} << 24}, {"modes", std::string("share")}};
  sweep.smoke = Params{{"count", std::int64_t{4099}}};
  sweep.along = {"share", {}};
  for (const std::int64_t percent : {0, 1, 2, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100}) {
    sweep.along.values.emplace_back(percent);
  }
  sweep.label = "headers with a random mode among headers of one mode, %";
  sweep.lanes = bc6h_mode_card::lanes;
  recipe.sweeps = {sweep};
  recipe.shows = {
      {25,
       "local_table beside constant_table: a table that all items of a group read",
       {Experiment::pair("constant_table", "local_table", "", "lanes read different entries")}},
  };
  return recipe;
}

}  // namespace clcook::cookbook
