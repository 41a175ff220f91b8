// Decodes BC6H textures on a device: all 14 modes, signed and unsigned, to RGBA half or float.
//
//   clcook::Bc6hDecode decode{runtime, {width, height}};  // unsigned_float to rgba16f
//   cl::Event done = decode(blocks, texels, {uploaded});
//
// The results are the bits that Microsoft's documentation asks for: halfs exactly, floats as the
// exact values of the halfs, alpha 1. Blocks of a reserved mode are black with alpha 1. Signed
// textures can hold -Inf, and nothing gives a NaN.
#pragma once

#include <clcook/core/defines.hpp>
#include <clcook/core/error.hpp>
#include <clcook/core/launch.hpp>
#include <clcook/core/names.hpp>
#include <clcook/core/runtime.hpp>
#include <clcook/core/source.hpp>
#include <clcook/core/tuning.hpp>
#include <clcook/core/view.hpp>
#include <clcook/embedded/bc6h_decode.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace clcook {

// A plan: constructed once, called often. It owns no device memory. All const member functions may
// be called from several threads.
//
// One mip of one slice is one problem. The blocks of a texture lie row by row, so a strip of a
// texture too large for one buffer is a problem too: its height is that of the strip, which starts
// at a multiple of 4, and its blocks begin at blocks_wide(width) * 16 bytes for each row of blocks
// before it. The programs do not depend on the size, so plans for other sizes build nothing.
class Bc6hDecode {
 public:
  enum class Format {
    unsigned_float,  // BC6H_UF16, DXGI format 95
    signed_float,    // BC6H_SF16, DXGI format 96
  };

  enum class Texel {
    rgba16f,  // 4 halfs, 8 bytes
    rgba32f,  // 4 floats, 16 bytes
  };

  struct Problem {
    int width = 0;   // texels, 1 to kMaxSize; need not be a multiple of 4
    int height = 0;  // texels, 1 to kMaxSize
    Format format = Format::unsigned_float;
    Texel texel = Texel::rgba16f;
  };

  enum class Variant {
    automatic,      // what was measured to be fastest; without that cpu_lanes on CPUs, else
                    // local_headers
    branchy,        // one work-item per block, a switch with one arm per mode
    table_driven,   // one work-item per block, fields and single bits from tables
    local_headers,  // for GPUs: headers without branches into local memory, whole cache lines out
    cpu_lanes,      // for CPUs: headers of 16 blocks as vectors, then the texels of each
  };

  // How to run, for tuning; the defaults are good.
  struct Tune {
    int group = 0;  // work-items per work-group, 0 for the variant's default. local_headers takes
                    // only 64 and cpu_lanes only 1.
  };

  static constexpr int kMaxSize = 1 << 30;
  static constexpr std::size_t kBlockBytes = 16;

  // Throws Error: invalid_argument for a value out of range, unsupported where the device cannot
  // run a group of this size, build_failed.
  Bc6hDecode(const Runtime& runtime, const Problem& problem, Variant variant, Tune tune)
      : runtime_(runtime), problem_(problem), variant_(variant) {
    check_problem(problem);
    to_string(variant);  // refuses a value that is no variant
    choose(tune);
    if (tune.group < 0)
      fail(Errc::invalid_argument, kName, text("group must not be negative, got ", tune.group));
    group_ = tune.group == 0 ? default_group(variant_) : tune.group;
    const bool fixed = variant_ == Variant::local_headers || variant_ == Variant::cpu_lanes;
    if (fixed && group_ != default_group(variant_)) {
      fail(Errc::invalid_argument, kName,
           text("the variant ", to_string(variant_), " takes a group of ", default_group(variant_),
                ", got ", group_));
    }
    program_ = runtime.build(Source(embedded::bc6h_decode),
                             defines(variant_, problem.format, problem.texel),
                             std::string("bc6h_decode/") + to_string(variant_));
    Kernel(runtime_, program_, kernel_name(variant_)).check_launch(launch());
  }
  explicit Bc6hDecode(const Runtime& runtime, const Problem& problem,
                      Variant variant = Variant::automatic)
      : Bc6hDecode(runtime, problem, variant, Tune{}) {}

  // Enqueues the decoding of `blocks` into `texels` behind the events of `wait` and returns the
  // event.
  //
  // blocks: blocks_high(height) rows of blocks_wide(width) blocks of 16 bytes; offset and pitch are
  // multiples of 16. texels: height rows of width texels; offset and pitch are multiples of
  // texel_bytes(). The views must not overlap. Every bit pattern is a block, so nothing in the data
  // can be wrong. Throws Error(invalid_argument), with nothing enqueued, when a view breaks a rule.
  cl::Event operator()(const BufferView& blocks, const BufferView& texels,
                       const std::vector<cl::Event>& wait = {}) const {
    const CheckedView from =
        check_view(runtime_, blocks, block_layout(problem_), Access::read, kName, "blocks");
    const CheckedView to =
        check_view(runtime_, texels, texel_layout(problem_), Access::write, kName, "texels");
    check_disjoint(from, to, kName, "blocks", "texels");
    const std::size_t bytes = texel_bytes(problem_.texel);
    const auto ulong = [](std::size_t value) { return static_cast<cl_ulong>(value); };
    const auto width = static_cast<cl_uint>(problem_.width);
    const auto height = static_cast<cl_uint>(problem_.height);
    Kernel kernel(runtime_, program_, kernel_name(variant_));
    if (variant_ == Variant::cpu_lanes) {
      return kernel(launch(), wait, from.buffer, ulong(from.offset / kBlockBytes),
                    ulong(from.pitch / kBlockBytes), to.buffer, ulong(to.offset / bytes),
                    ulong(to.pitch / bytes), width, height, static_cast<cl_uint>(kRun));
    }
    return kernel(launch(), wait, from.buffer, ulong(from.offset / kBlockBytes),
                  ulong(from.pitch / kBlockBytes), to.buffer, ulong(to.offset / bytes),
                  ulong(to.pitch / bytes), width, height);
  }

  const Problem& problem() const { return problem_; }
  // The variant that runs; never automatic.
  Variant variant() const { return variant_; }
  // The work-group size that runs.
  int group() const { return group_; }

  static constexpr std::size_t texel_bytes(Texel texel) { return texel == Texel::rgba16f ? 8 : 16; }

  // Blocks in a row of blocks, and rows of blocks.
  static constexpr std::size_t blocks_wide(int width) {
    return (static_cast<std::size_t>(width) + 3) / 4;
  }
  static constexpr std::size_t blocks_high(int height) {
    return (static_cast<std::size_t>(height) + 3) / 4;
  }

  // Bytes of all blocks and of all texels of a problem without gaps.
  static std::size_t block_bytes(const Problem& problem) {
    check_problem(problem);
    return block_layout(problem).row_bytes * block_layout(problem).rows;
  }
  static std::size_t texture_bytes(const Problem& problem) {
    check_problem(problem);
    return texel_layout(problem).row_bytes * texel_layout(problem).rows;
  }

  // The definitions that select a program. For tools; plans call it themselves.
  static Defines defines(Variant variant, Format format, Texel texel) {
    std::string upper = to_string(variant);
    for (char& c : upper) {
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    Defines out;
    out.flag("CLCOOK_BC6H_DECODE_ONLY").flag("CLCOOK_BC6H_DECODE_" + upper);
    if (format == Format::signed_float) out.flag("CLCOOK_BC6H_SIGNED");
    if (texel == Texel::rgba32f) out.flag("CLCOOK_BC6H_FLOAT");
    return out;
  }

  static std::string kernel_name(Variant variant) {
    return std::string("bc6h_decode_") + to_string(variant);
  }

  // Work-items per work-group where Tune::group is 0.
  static int default_group(Variant variant) { return variant == Variant::cpu_lanes ? 1 : 64; }

  static const char* to_string(Variant variant) {
    switch (variant) {
      case Variant::automatic:
        return "automatic";
      case Variant::branchy:
        return "branchy";
      case Variant::table_driven:
        return "table_driven";
      case Variant::local_headers:
        return "local_headers";
      case Variant::cpu_lanes:
        return "cpu_lanes";
    }
    fail(Errc::invalid_argument, kName,
         text("there is no variant of the value ", static_cast<int>(variant)));
  }

  // Every variant but automatic.
  static std::vector<Variant> variants() {
    return {Variant::branchy, Variant::table_driven, Variant::local_headers, Variant::cpu_lanes};
  }

  // The variant of that name. Throws Error(invalid_argument) that lists the names.
  static Variant parse_variant(std::string_view name) {
    return parse_name<Variant>(kName, "variant", name, variants(),
                               [](Variant variant) { return to_string(variant); },
                               {Variant::automatic});
  }

 private:
  static constexpr const char* kName = "Bc6hDecode";
  static constexpr std::size_t kRun = 512;  // blocks per work-item of cpu_lanes, a multiple of 16

  static void check_problem(const Problem& p) {
    const auto size = [](const char* name, int value) {
      if (value < 1 || value > kMaxSize) {
        fail(Errc::invalid_argument, kName,
             text(name, " must be 1 to ", kMaxSize, ", got ", value));
      }
    };
    size("width", p.width);
    size("height", p.height);
    if (p.format != Format::unsigned_float && p.format != Format::signed_float) {
      fail(Errc::invalid_argument, kName,
           text("format must be unsigned_float or signed_float, got the value ",
                static_cast<int>(p.format)));
    }
    if (p.texel != Texel::rgba16f && p.texel != Texel::rgba32f) {
      fail(Errc::invalid_argument, kName,
           text("texel must be rgba16f or rgba32f, got the value ", static_cast<int>(p.texel)));
    }
    const std::uint64_t blocks =
        static_cast<std::uint64_t>(blocks_wide(p.width)) * blocks_high(p.height);
    if (blocks > std::numeric_limits<std::uint32_t>::max()) {
      fail(Errc::invalid_argument, kName,
           text("width ", p.width, " times height ", p.height, " texels are ", blocks,
                " blocks, more than 4294967295; decode strips"));
    }
    if (blocks > std::numeric_limits<std::size_t>::max() / (16 * texel_bytes(p.texel))) {
      fail(Errc::invalid_argument, kName,
           text("width ", p.width, " times height ", p.height, " overflows the address range"));
    }
  }

  static RowLayout block_layout(const Problem& p) {
    return {blocks_wide(p.width) * kBlockBytes, blocks_high(p.height), kBlockBytes};
  }

  static RowLayout texel_layout(const Problem& p) {
    const std::size_t bytes = texel_bytes(p.texel);
    return {static_cast<std::size_t>(p.width) * bytes, static_cast<std::size_t>(p.height), bytes};
  }

  // Fills in what the caller left open: from what was measured, else the built-in defaults.
  void choose(Tune& tune) {
    const double bytes =
        static_cast<double>(block_bytes(problem_)) + static_cast<double>(texture_bytes(problem_));
    const bool automatic = variant_ == Variant::automatic;
    const TuningChoice choice = runtime_.tuning().choose(runtime_.info(), "bc6h_decode", bytes,
                                                         automatic ? "" : to_string(variant_));
    const bool measured = choice.match != TuningChoice::Match::none;
    if (automatic) {
      if (measured) {
        variant_ = parse_variant(choice.entry.variant);
      } else {
        variant_ = runtime_.info().cpu ? Variant::cpu_lanes : Variant::local_headers;
      }
    }
    if (tune.group != 0 || !measured) return;
    const int group = choice.entry.integer("group", 0);
    if (group > 0 && static_cast<std::size_t>(group) <= runtime_.info().max_group)
      tune.group = group;
  }

  Launch launch() const {
    const std::size_t wide = blocks_wide(problem_.width);
    const std::size_t high = blocks_high(problem_.height);
    const auto group = static_cast<std::size_t>(group_);
    switch (variant_) {
      case Variant::cpu_lanes:
        return Launch::cover({(wide + kRun - 1) / kRun, high, 1}, {1, 1, 1});
      default:
        return Launch::cover({wide, high, 1}, {group, 1, 1});
    }
  }

  Runtime runtime_;
  Problem problem_;
  Variant variant_;
  int group_ = 0;
  cl::Program program_;
};

}  // namespace clcook
