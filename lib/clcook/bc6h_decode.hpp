// Decodes BC6H textures on a device: all 14 modes, signed and unsigned, to RGBA half or float.
//
//   clcook::Bc6hDecode decode{runtime, {width, height}};  // unsigned_float to rgba16f
//   cl::Event done = decode(blocks, texels, {uploaded});
//
// The results are the bits that Microsoft's documentation asks for: halfs exactly, floats as the
// exact values of the halfs, alpha 1. Blocks of a reserved mode are black with alpha 1. Signed
// textures can hold -Inf. No block gives a NaN.
#pragma once

#include <algorithm>
#include <clcook/core/image_staging.hpp>
#include <clcook/core/pixel.hpp>
#include <clcook/core/plan.hpp>
#include <clcook/core/view.hpp>
#include <clcook/embedded/bc6h_decode.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace clcook {
namespace bc6h_decode {

enum class Format {
  unsigned_float,  // BC6H_UF16, DXGI format 95
  signed_float,    // BC6H_SF16, DXGI format 96
};

using Texel = PixelType;

constexpr int kMaxSize = 1 << 30;

struct Problem {
  int width = 0;   // texels, 1 to kMaxSize; need not be a multiple of 4
  int height = 0;  // texels, 1 to kMaxSize
  Format format = Format::unsigned_float;
  Texel texel = Texel::rgba16f;  // or rgba32f
};

// How to run, for tuning; 0 is open.
struct Tune {
  int group = 0;  // work-items per work-group; local_headers: 64, cpu_lanes: 1
};

struct Spec : PlainSpec {
  using Problem = bc6h_decode::Problem;
  using Tune = bc6h_decode::Tune;
  struct Traits {
    int group = 0;        // the only work-group that it has; 0: any
    std::size_t run = 1;  // blocks per work-item; an argument of the kernel where more than 1
  };
  // For decoding into images.
  struct Resources {
    std::shared_ptr<CallOrder> call_order;
    std::shared_ptr<cl::Buffer> texels;  // null before the first such call
  };
  using Row = VariantRow<Spec>;
  static constexpr const char* kName = "Bc6hDecode";
  static constexpr const char* kRecipe = "bc6h_decode";
  static constexpr std::size_t kBlockBytes = 16;

  static const std::vector<Row>& variants() {
    static const std::vector<Row> all{
        Row("branchy", "one block per work-item, a switch with one arm per mode").baseline(),
        Row("table_driven", "one block per work-item, fields and single bits from tables")
            .against("branchy", "tables say where the fields lie, no switch"),
        Row("local_headers",
            "headers without branches into local memory, texels in float arithmetic, whole cache "
            "lines")
            .set(&Traits::group, 64)
            .against("table_driven",
                     "headers without branches, once per block; whole cache lines stored")
            .preferred(),
        Row("cpu_lanes",
            "for CPUs: headers of 16 blocks at once in vectors, then the 16 texels of each as one "
            "vector")
            .set(&Traits::group, 1)
            .set(&Traits::run, 512)
            .against("local_headers", "headers of 16 blocks in vectors, no local memory")
            .for_cpus(),
    };
    return all;
  }

  static const std::vector<Axis<Tune>>& axes() {
    static const std::vector<Axis<Tune>> all{axis("group", &Tune::group, {64}).on_cpus(1)};
    return all;
  }

  static void check(const Problem& p) {
    check_range(kName, "width", p.width, 1, kMaxSize);
    check_range(kName, "height", p.height, 1, kMaxSize);
    if (p.format != Format::unsigned_float && p.format != Format::signed_float) {
      fail(Errc::invalid_argument, kName,
           text("format must be unsigned_float or signed_float, got the value ",
                static_cast<int>(p.format)));
    }
    check_pixel_type(p.texel, {Texel::rgba16f, Texel::rgba32f}, kName);
    const std::uint64_t blocks = std::uint64_t{fours(p.width)} * fours(p.height);
    if (blocks > std::numeric_limits<std::uint32_t>::max()) {
      fail(Errc::invalid_argument, kName,
           text("width ", p.width, " times height ", p.height, " texels are ", blocks,
                " blocks, more than 4294967295; decode strips"));
    }
    if (blocks > std::numeric_limits<std::size_t>::max() / (16 * pixel_bytes(p.texel))) {
      fail(Errc::invalid_argument, kName,
           text("width ", p.width, " times height ", p.height, " overflows the address range"));
    }
  }

  static void check_tune(const Setup<Spec>& s) {
    const int only = s.row.traits.group;
    if (only == 0 || s.tune.group == only) return;
    fail(Errc::invalid_argument, kName,
         text("the variant ", s.row.name, " takes a group of ", only, ", got ", s.tune.group));
  }

  static double bytes(const Problem& p) {
    return static_cast<double>(bytes_of(block_layout(p))) +
           static_cast<double>(bytes_of(texel_layout(p)));
  }

  static std::vector<CompileUnit> units(const Setup<Spec>& s) {
    CompileUnit unit = variant_unit(s, embedded::bc6h_decode);
    unit.label = s.problem.texel == Texel::rgba16f ? "to half" : "to float";
    if (s.problem.format == Format::signed_float) unit.defines.flag("CLCOOK_BC6H_SIGNED");
    if (s.problem.texel == Texel::rgba32f) unit.defines.flag("CLCOOK_BC6H_FLOAT");
    if (s.row.traits.group > 1) unit.defines.set("CLCOOK_BC6H_DECODE_GROUP", s.row.traits.group);
    return {unit};
  }

  static Resources allocate(const Runtime&, const Setup<Spec>&, const std::vector<cl::Program>&) {
    return {std::make_shared<CallOrder>(), std::make_shared<cl::Buffer>()};
  }

  static constexpr std::size_t fours(int texels) {
    return (static_cast<std::size_t>(texels) + 3) / 4;
  }

  static RowLayout block_layout(const Problem& p) {
    return {fours(p.width) * kBlockBytes, fours(p.height), kBlockBytes};
  }
  static RowLayout texel_layout(const Problem& p) {
    const std::size_t bytes = pixel_bytes(p.texel);
    return {static_cast<std::size_t>(p.width) * bytes, static_cast<std::size_t>(p.height), bytes};
  }
  static std::size_t bytes_of(const RowLayout& layout) { return layout.row_bytes * layout.rows; }
};

}  // namespace bc6h_decode

// A plan: constructed once, called often. Thread-safe as Plan says. It owns no device memory until
// it decodes into an image.
//
// One mip of one slice is one problem. If a texture is too large for one buffer, a strip of it is a
// problem too, since blocks lie row by row. The problem's height is that of the strip, which starts
// at a multiple of 4. Its blocks begin behind blocks_wide(width) * 16 bytes for each row of blocks
// before it. The programs do not depend on the size, so plans for other sizes build nothing.
class Bc6hDecode : public Plan<bc6h_decode::Spec> {
 public:
  using Plan::Plan;
  using Format = bc6h_decode::Format;
  using Texel = bc6h_decode::Texel;

  static constexpr int kMaxSize = bc6h_decode::kMaxSize;
  static constexpr std::size_t kBlockBytes = Spec::kBlockBytes;

  // Enqueues the decoding of `blocks` into `texels` behind the events of `wait` and returns the
  // event.
  //
  // blocks: blocks_high(height) rows of blocks_wide(width) blocks of 16 bytes; offset and pitch are
  // multiples of 16. texels: height rows of width texels; offset and pitch are multiples of
  // texel_bytes(). The views must not overlap. Every bit pattern is a block, so nothing in the data
  // can be wrong. Throws Error(invalid_argument), with nothing enqueued, when a view breaks a rule.
  cl::Event operator()(const BufferView& blocks, const BufferView& texels,
                       const std::vector<cl::Event>& wait = {}) const {
    const Problem& p = problem();
    const CheckedPair at =
        check_pair(runtime(), Spec::kName, {blocks, Spec::block_layout(p), "blocks"},
                   {texels, Spec::texel_layout(p), "texels"});
    return enqueue(runtime(), at.from, at.to, wait);
  }

  // The same into the rectangle of width x height texels of an image of CL_RGBA and CL_HALF_FLOAT,
  // or CL_FLOAT for rgba32f. The texels go unchanged through a buffer of the plan, so such calls of
  // a plan and its copies run one after the other on the device.
  cl::Event operator()(const BufferView& blocks, const ImageView& image,
                       const std::vector<cl::Event>& wait = {}) const {
    const Problem& p = problem();
    const CheckedView from =
        check_view(runtime(), blocks, Spec::block_layout(p), Access::read, Spec::kName, "blocks");
    const auto width = static_cast<std::size_t>(p.width);
    const auto height = static_cast<std::size_t>(p.height);
    check_view(runtime(), image, width, height, {image_format(p.texel)}, Access::write, Spec::kName,
               "image");
    check_wait(runtime(), wait, Spec::kName);
    const RowLayout layout = Spec::texel_layout(p);
    const auto& [call_order, texels] = resources();
    CallScope scope(runtime(), *call_order);
    if ((*texels)() == nullptr) *texels = create_buffer(runtime(), Spec::bytes_of(layout));
    const cl::Event done = enqueue(scope.runtime(), from,
                                   {*texels, 0, layout.row_bytes, layout.row_bytes, layout.rows},
                                   scope.wait_list(wait));
    const std::size_t origin[3] = {image.x, image.y, 0};
    const std::size_t region[3] = {width, height, 1};
    const cl_event decoded = done();
    cl_event stored = nullptr;
    clcook::check(clEnqueueCopyBufferToImage(runtime().queue()(), (*texels)(), image.image(), 0,
                                             origin, region, 1, &decoded, &stored),
                  "clEnqueueCopyBufferToImage");
    scope.enqueued(cl::Event(stored));
    return scope.end();
  }

  // Decodes a texture of any size in host memory, strip by strip. `blocks` holds
  // blocks_high(height) rows of blocks_wide(width) blocks and `texels` height rows of width texels,
  // at these pitches in bytes (0: without gaps). They must not overlap. A strip of `strip_rows`
  // rows, a multiple of 4, or 0 for as many as suit the device, is uploaded, decoded and read back;
  // each strip, but not the texture, must be a problem for one plan. `progress` receives the number
  // of rows that are done. Blocks until texels is written. Throws Error as the constructor and
  // calls do; what is finished by then has been written to texels.
  static Variant by_strips(const Runtime& runtime, const Problem& problem, const void* blocks,
                           std::size_t block_pitch, void* texels, std::size_t texel_pitch,
                           int strip_rows = 0,
                           const std::function<void(int rows_done)>& progress = {},
                           Variant variant = {}) {
    Spec::check({problem.width, 1, problem.format, problem.texel});
    Spec::check({1, problem.height, problem.format, problem.texel});
    if (strip_rows < 0 || strip_rows % 4 != 0) {
      fail(Errc::invalid_argument, Spec::kName,
           text("strip_rows must be 0 or a multiple of 4, got ", strip_rows));
    }
    Problem strip = problem;
    strip.height = 1;
    const std::size_t block_row = Spec::block_layout(strip).row_bytes;
    const std::size_t texel_row = Spec::texel_layout(strip).row_bytes;
    if (block_pitch == 0) block_pitch = block_row;
    if (texel_pitch == 0) texel_pitch = texel_row;
    if (blocks == nullptr || texels == nullptr || block_pitch < block_row ||
        texel_pitch < texel_row) {
      fail(Errc::invalid_argument, Spec::kName,
           text("strips need blocks, texels and pitches of at least a row of ", block_row, " and ",
                texel_row, " bytes, got pitches of ", block_pitch, " and ", texel_pitch));
    }
    check_disjoint(
        HostRows{blocks, block_pitch, block_row, blocks_high(problem.height)},
        HostRows{texels, texel_pitch, texel_row, static_cast<std::size_t>(problem.height)},
        Spec::kName, "blocks", "texels");
    if (strip_rows == 0) {
      // A quarter of the device's memory, 256 MiB, or the largest buffer.
      const std::uint64_t most =
          std::min({std::uint64_t{runtime.info().max_allocation},
                    std::uint64_t{runtime.info().global_mem} / 4, std::uint64_t{1} << 28});
      strip_rows = static_cast<int>(std::min<std::uint64_t>(most / texel_row, kMaxSize) / 4 * 4);
    }
    strip_rows = std::min(std::max(strip_rows, 4), problem.height);
    std::unique_ptr<Bc6hDecode> decode;
    cl::Buffer from;
    cl::Buffer to;
    const cl_command_queue queue = runtime.queue()();
    for (int y = 0; y < problem.height; y += strip_rows) {
      strip.height = std::min(strip_rows, problem.height - y);
      if (!decode || decode->problem().height != strip.height) {
        decode = std::make_unique<Bc6hDecode>(runtime, strip, variant);
        variant = decode->variant();
        from = create_buffer(runtime, block_bytes(strip));
        to = create_buffer(runtime, texture_bytes(strip));
      }
      const std::size_t none[3] = {0, 0, 0};
      const std::size_t first_block[3] = {0, static_cast<std::size_t>(y) / 4, 0};
      const std::size_t all_blocks[3] = {block_row, blocks_high(strip.height), 1};
      check(clEnqueueWriteBufferRect(queue, from(), CL_TRUE, none, first_block, all_blocks,
                                     block_row, 0, block_pitch, 0, blocks, 0, nullptr, nullptr),
            "clEnqueueWriteBufferRect");
      const cl::Event done = (*decode)(from, to);
      const cl_event handle = done();
      const std::size_t first_texel[3] = {0, static_cast<std::size_t>(y), 0};
      const std::size_t all_texels[3] = {texel_row, static_cast<std::size_t>(strip.height), 1};
      check(clEnqueueReadBufferRect(queue, to(), CL_TRUE, none, first_texel, all_texels, texel_row,
                                    0, texel_pitch, 0, texels, 1, &handle, nullptr),
            "clEnqueueReadBufferRect");
      if (progress) progress(y + strip.height);
    }
    return variant;
  }

  static constexpr std::size_t texel_bytes(Texel texel) { return pixel_bytes(texel); }

  // Blocks in a row of blocks, and rows of blocks.
  static constexpr std::size_t blocks_wide(int width) { return Spec::fours(width); }
  static constexpr std::size_t blocks_high(int height) { return Spec::fours(height); }

  // Bytes of all blocks and of all texels of a problem without gaps. Throws
  // Error(invalid_argument) for a value out of range.
  static std::size_t block_bytes(const Problem& problem) {
    Spec::check(problem);
    return Spec::bytes_of(Spec::block_layout(problem));
  }
  static std::size_t texture_bytes(const Problem& problem) {
    Spec::check(problem);
    return Spec::bytes_of(Spec::texel_layout(problem));
  }

 private:
  cl::Event enqueue(const Runtime& on, const CheckedView& from, const CheckedView& to,
                    const std::vector<cl::Event>& wait) const {
    const Problem& p = problem();
    const std::size_t bytes = pixel_bytes(p.texel);
    const std::size_t run = row().traits.run;
    const auto ulong = [](std::size_t value) { return static_cast<cl_ulong>(value); };
    const Launch launch =
        Launch::cover({(blocks_wide(p.width) + run - 1) / run, blocks_high(p.height), 1},
                      {static_cast<std::size_t>(tune().group), 1, 1});
    const auto run_kernel = [&](const auto&... more) {
      return kernel(on)(launch, wait, from.buffer, ulong(from.offset / kBlockBytes),
                        ulong(from.pitch / kBlockBytes), to.buffer, ulong(to.offset / bytes),
                        ulong(to.pitch / bytes), static_cast<cl_uint>(p.width),
                        static_cast<cl_uint>(p.height), more...);
    };
    return run > 1 ? run_kernel(static_cast<cl_uint>(run)) : run_kernel();
  }
};

CLCOOK_PLAN(bc6h_decode::Spec);

}  // namespace clcook
