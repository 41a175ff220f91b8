// The card of the recipe bc6h_decode.
//
// Problem: BC6H packs 4 x 4 HDR texels into 16 bytes in one of 14 modes, each with bits in other
// places. Why the branchy kernel is slow: neighbours in lock-step have blocks of different modes,
// so the group pays for every arm that one of them takes; and a work-item that writes its block
// texel by texel writes each cache line in small pieces. What each variant changes: see its
// summary, and docs/bc6h_decode.md. When it does not help: where all blocks have one mode there is
// nothing to gain from branch-free headers but the stores.
#pragma once

#include <algorithm>
#include <clcook/bc6h_decode.hpp>
#include <clcook/reference/bc6h_decode.hpp>
#include <clcook/registry/in_parallel.hpp>
#include <clcook/registry/plan_case.hpp>
#include <clcook/registry/random.hpp>
#include <clcook/registry/recipe.hpp>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace clcook::cookbook {
namespace bc6h_decode_card {

namespace ref = reference::bc6h;

// The problem of a shape; recipe.parameters names its values. modes says what the blocks are:
//   uniform  all 14 modes equally often
//   texture  as often as in a real environment map
//   random   random bits: all 32 codes, with the reserved ones
//   0 to 13  one mode
// or different, a number n from 1 to 14 instead of modes: n modes equally often. All other bits of
// a block are random, and every bit pattern is a block. The source starts one block later than the
// result and has pad blocks behind each row, so that an exchange of the two shows.
inline Bc6hDecode::Problem problem(const Params& shape) {
  Bc6hDecode::Problem out;
  out.width = shape.as<int>("width");
  out.height = shape.as<int>("height");
  out.format = shape.integer("signed") != 0 ? Bc6hDecode::Format::signed_float
                                            : Bc6hDecode::Format::unsigned_float;
  out.texel =
      shape.word("output") == "half" ? Bc6hDecode::Texel::rgba16f : Bc6hDecode::Texel::rgba32f;
  return out;
}

// How often each mode occurs. The histogram of `texture` is that of a 1024 x 512 environment map of
// a room, 32768 blocks.
class ModeMix {
 public:
  explicit ModeMix(const Params& shape) {
    const Value& modes = shape.at("modes");
    if (shape.find("different") != nullptr) {
      // An order in which no two neighbours are alike.
      constexpr int kOrder[ref::kModes] = {2, 12, 0, 10, 4, 1, 11, 5, 9, 13, 6, 3, 8, 7};
      const std::int64_t count = shape.integer("different");
      for (std::int64_t i = 0; i < count; ++i) add(kOrder[i], 1);
    } else if (modes == Value("uniform")) {
      for (int mode = 0; mode < ref::kModes; ++mode) add(mode, 1);
    } else if (modes == Value("texture")) {
      constexpr int kHistogram[ref::kModes] = {2144, 182, 14825, 237, 1903, 1302, 1084,
                                               53,   156, 0,     131, 1344, 9402, 5};
      for (int mode = 0; mode < ref::kModes; ++mode) add(mode, kHistogram[mode]);
    } else if (modes != Value("random")) {
      add(shape.as<int>("modes"), 1);
    }
  }

  ref::Block block(Random& random) const {
    ref::Block out;
    for (std::size_t half = 0; half < 2; ++half) {
      const std::uint64_t bits = random.bits();
      for (std::size_t i = 0; i < 8; ++i) {
        out[8 * half + i] = static_cast<unsigned char>(bits >> (8 * i) & 255);
      }
    }
    if (modes_.empty()) return out;
    const ref::Mode& mode = ref::kMode[modes_[random.below(modes_.size())]];
    const int ones = (1 << mode.code_bits) - 1;
    out[0] = static_cast<unsigned char>((out[0] & ~ones) | mode.code);
    return out;
  }

 private:
  void add(int mode, int count) {
    modes_.insert(modes_.end(), static_cast<std::size_t>(count), mode);
  }

  std::vector<int> modes_;  // one is drawn from these; empty for random bits
};

// Decoding a block with the scalar reference takes about a microsecond. So textures of more blocks
// than this repeat that many, a prime, along the rows and on into the next one: no row begins like
// another, and every texel of the result is compared all the same.
constexpr std::size_t kDistinctBlocks = 65521;

inline std::vector<ref::Block> blocks_of(const Params& shape, std::size_t count,
                                         std::uint64_t seed) {
  const ModeMix mix(shape);
  Random random(seed);
  std::vector<ref::Block> out(std::min(count, kDistinctBlocks));
  for (ref::Block& block : out) block = mix.block(random);
  return out;
}

class DecodeCase : public PlanCase<Bc6hDecode> {
 public:
  DecodeCase(const Runtime& runtime, const Params& shape, std::uint64_t seed)
      : PlanCase(runtime, problem(shape), "blocks", "texels") {
    const auto offset = shape.as<std::size_t>("offset");
    const auto pad = shape.as<std::size_t>("pad");
    wide_ = Bc6hDecode::blocks_wide(problem_.width);
    high_ = Bc6hDecode::blocks_high(problem_.height);
    blocks_ = blocks_of(shape, wide_ * high_, seed);
    // 0xFF is a block of a reserved mode, which would be black; the poison of the result is
    // another.
    const std::size_t row = wide_ * ref::kBlockBytes;
    src_.emplace(runtime, row, high_, (offset == 0 ? 0 : offset + 1) * ref::kBlockBytes,
                 row + pad * ref::kBlockBytes, 0xFF);
    const std::size_t bytes = Bc6hDecode::texel_bytes(problem_.texel);
    const std::size_t texels = static_cast<std::size_t>(problem_.width) * bytes;
    dst_.emplace(runtime, texels, static_cast<std::size_t>(problem_.height), offset * bytes,
                 texels + pad * bytes, 0xCD);
  }

  // Bit for bit.
  Diff check(const std::vector<cl::Event>& wait) override {
    Diff diff;
    const std::vector<unsigned char> got = dst_->read(wait, diff, "texels");
    if (problem_.texel == Bc6hDecode::Texel::rgba16f) {
      compare<std::uint16_t>(got, diff, [](std::uint16_t half) { return half; });
    } else {
      compare<std::uint32_t>(got, diff, [](std::uint16_t half) {
        const float value = ref::half_to_float(half);
        std::uint32_t bits = 0;
        std::memcpy(&bits, &value, sizeof bits);
        return bits;
      });
    }
    return diff;
  }

  Work work() const override {
    Work work;
    work.bytes_read = static_cast<double>(Bc6hDecode::block_bytes(problem_));
    work.bytes_written = static_cast<double>(Bc6hDecode::texture_bytes(problem_));
    return work;
  }

 private:
  const void* input() override {
    const std::size_t bytes = wide_ * high_ * ref::kBlockBytes;
    if (texture_.empty()) {
      const std::size_t period = blocks_.size() * ref::kBlockBytes;
      texture_.resize(bytes);
      for (std::size_t at = 0; at < bytes; at += period) {
        std::memcpy(texture_.data() + at, blocks_.data(), std::min(period, bytes - at));
      }
    }
    return texture_.data();
  }

  template <class T, class Convert>
  void compare(const std::vector<unsigned char>& got, Diff& diff, const Convert& convert) {
    const ref::Format format =
        problem_.format == Bc6hDecode::Format::signed_float ? ref::Format::sf16 : ref::Format::uf16;
    if (expected_.empty()) {
      for (const ref::Block& block : blocks_) {
        const ref::Texels texels = ref::decode_block(block.data(), format);
        for (std::size_t i = 0; i < 16; ++i) {
          for (std::size_t c = 0; c < 3; ++c) expected_.push_back(convert(texels[3 * i + c]));
          expected_.push_back(convert(ref::kHalfOne));
        }
      }
    }
    const auto width = static_cast<std::size_t>(problem_.width);
    const auto height = static_cast<std::size_t>(problem_.height);
    compare_in_parallel(diff, width * height, [&](Diff& part, std::size_t i) {
      const std::size_t x = i % width;
      const std::size_t y = i / width;
      const std::size_t block = (y / 4 * wide_ + x / 4) % blocks_.size();
      T values[4];
      std::memcpy(values, got.data() + i * sizeof values, sizeof values);
      for (std::size_t c = 0; c < 4; ++c) {
        const auto where = [&] {
          return text("x ", x, ", y ", y, ", channel ", c, " (mode ",
                      ref::mode_of(blocks_[block].data()), "; halfs as bits)");
        };
        part.match(where, static_cast<T>(expected_[block * 64 + y % 4 * 16 + x % 4 * 4 + c]),
                   values[c]);
      }
    });
  }

  std::size_t wide_ = 0;
  std::size_t high_ = 0;
  std::vector<ref::Block> blocks_;
  std::vector<unsigned char> texture_;
  std::vector<std::uint32_t> expected_;  // RGBA of the texels of each of blocks_
};

// The arms that the work-items take, for the lane-mask model: an arm of branchy costs one for each
// piece of a field that it takes out of the block; what follows, the same for all, costs as much as
// ten pieces for each texel. The other variants have no arms.
inline model::LaneMasks lanes(const std::string& variant, const Params& shape, std::uint64_t seed) {
  model::LaneMasks out;
  const Bc6hDecode::Problem p = problem(shape);
  const std::size_t count = Bc6hDecode::blocks_wide(p.width) * Bc6hDecode::blocks_high(p.height);
  const std::vector<ref::Block> blocks = blocks_of(shape, count, seed);
  for (const ref::Mode& mode : ref::kMode) {
    double pieces = mode.scattered;
    for (const unsigned char length : mode.length) pieces += length != 0 ? 1 : 0;
    out.cost.push_back(pieces);
  }
  constexpr std::uint64_t kTexels = std::uint64_t{1} << ref::kModes;
  out.cost.push_back(160);
  const bool arms = Bc6hDecode::Variant(variant).row()->is_baseline;
  for (std::size_t i = 0; i < count; ++i) {
    const int mode = ref::mode_of(blocks[i % blocks.size()].data());
    const bool arm = arms && mode < ref::kModes;
    out.taken.push_back(kTexels | (arm ? std::uint64_t{1} << mode : 0));
  }
  return out;
}

inline Params shape(int width, int height, int is_signed, const char* output, Value modes,
                    int offset = 0, int pad = 0, bool tiny = false) {
  Params out{{"width", std::int64_t{width}},
             {"height", std::int64_t{height}},
             {"signed", std::int64_t{is_signed}},
             {"output", std::string(output)},
             {"modes", std::move(modes)}};
  if (offset != 0) out.set("offset", std::int64_t{offset});
  if (pad != 0) out.set("pad", std::int64_t{pad});
  if (tiny) out.set("tiny", std::int64_t{1});
  return out;
}

}  // namespace bc6h_decode_card

inline Recipe bc6h_decode() {
  using bc6h_decode_card::shape;
  Recipe recipe;
  recipe.title = "BC6H textures to half and float";
  recipe.question = "Tables and whole lines instead of a switch over 14 modes?";
  recipe.for_gpus = "local_headers";
  recipe.for_cpus = "cpu_lanes";
  recipe.family = "memory locality";
  recipe.headline_pair = {"local_headers", "table_driven"};
  recipe.summary =
      "A complete decoder for 14 block layouts, from one branch per layout to headers without "
      "branches and stores of whole cache lines.";
  const std::string uniform = "uniform";
  const std::string texture = "texture";
  const std::string random = "random";
  recipe.parameters = {
      Parameter::integer("width", "texels", 1, Bc6hDecode::kMaxSize),
      Parameter::integer("height", "texels", 1, Bc6hDecode::kMaxSize),
      Parameter::integer("signed", "1: the signed format", 0, 1, "0"),
      Parameter::word("output", "type of the result", {"half", "float"}, "half"),
      {"modes",
       "how often each mode occurs, or one mode",
       "uniform",
       {"uniform", "texture", "random"},
       0,
       13},
      Parameter::integer("different", "instead of modes: so many, equally often", 1, 14, "none"),
      Parameter::integer("offset", "texels before the first row of the result", 0, 1 << 20, "0"),
      Parameter::integer("pad", "texels behind each row of the result", 0, 1 << 20, "0"),
  };
  describe<Bc6hDecode, bc6h_decode_card::DecodeCase>(recipe, bc6h_decode_card::problem);
  recipe.test_shapes = {
      shape(1, 1, 0, "half", random, 0, 0, true),
      shape(14, 6, 1, "float", uniform, 1, 3, true),
      shape(71, 9, 0, "half", uniform, 3, 1, true),
      shape(4, 4, 1, "half", std::int64_t{13}),
      shape(252, 8, 1, "half", random),
      shape(256, 12, 0, "float", random, 4, 4),
      shape(260, 33, 1, "half", uniform, 8, 8),
      shape(1, 1021, 0, "half", texture),
      shape(1031, 3, 1, "float", texture),
      shape(2050, 61, 0, "half", random, 5, 2),
      shape(2049, 37, 1, "half", random, 0, 7),
      shape(1023, 129, 0, "float", uniform, 2, 0),
      shape(4100, 16, 1, "float", random, 0, 1),
      shape(1026, 1030, 0, "half", uniform),
      // Enough signed blocks for what is rare: -1, minus infinity, 16 bits of a sum.
      shape(1024, 1024, 1, "half", uniform),
  };
  recipe.bench_shapes = {
      shape(16384, 16384, 0, "half", texture),
      shape(16384, 16384, 0, "half", uniform),
      shape(4096, 4096, 1, "float", texture),
      shape(1024, 1024, 0, "half", texture),
  };
  recipe.quick_shape = shape(1024, 1024, 0, "half", texture);
  Sweep sweep;
  sweep.shape = Params{{"width", std::int64_t{8192}},
                       {"height", std::int64_t{8192}},
                       {"signed", std::int64_t{0}},
                       {"output", std::string("half")}};
  sweep.smoke = {{"width", std::int64_t{64}}, {"height", std::int64_t{64}}};
  sweep.along = {"different", {}};
  for (const std::int64_t count : {1, 2, 3, 4, 6, 8, 11, 14})
    sweep.along.values.emplace_back(count);
  sweep.label = "different modes in the texture";
  sweep.lanes = bc6h_decode_card::lanes;
  recipe.sweeps = {std::move(sweep)};
  return recipe;
}

}  // namespace clcook::cookbook
