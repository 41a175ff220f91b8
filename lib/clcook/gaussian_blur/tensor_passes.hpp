// What the methods tensor and tensor_split do with large radii: rows and columns in two launches;
// see kernels/gaussian_blur/tensor_passes.cl.
#pragma once

#include <algorithm>
#include <clcook/embedded/gaussian_blur.hpp>
#include <clcook/gaussian_blur/method.hpp>
#include <vector>

namespace clcook::gaussian {

// clcook_tensor_scale of the kernels: what values are multiplied by before they are made halves,
// between the passes, and at the end.
struct TensorScale {
  cl_float in = 1;
  cl_float mid = 1;
  cl_float out = 1;
};
static_assert(sizeof(TensorScale) == 12);

struct TensorPasses {
  // The columns of the source that a group of the rows reads are in local memory: 9 KiB.
  static constexpr int kMostRadius = 1024;
  static constexpr std::size_t kWarps = 4;  // of a group

  cl::Program program;
  cl::Buffer rows;     // fragments of the weights
  cl::Buffer columns;  // likewise
  int pieces_x = 0;
  int pieces_y = 0;
  bool split = false;
  TensorScale scale;

  // Of 16 inputs, for 16 results.
  static int pieces(const FilterAxis& axis) { return std::max(3, (axis.radius + 7) / 8 + 1); }
  // That a warp makes, of 16 results each.
  static int tiles(bool split) { return split ? 3 : 4; }

  static std::vector<CompileUnit> units(const Problem& p, bool split) {
    Defines defines;
    if (p.pixel == Pixel::u8) defines.flag("CLCOOK_TENSOR_BYTES");
    if (split) defines.flag("CLCOOK_TENSOR_SPLIT");
    defines.set("CLCOOK_TENSOR_TILES", tiles(split));
    defines.set("CLCOOK_TENSOR_WARPS", static_cast<int>(kWarps));
    const embedded::File& file = embedded::gaussian_blur_tensor_passes;
    const Launch::Sizes group{32 * kWarps, 1, 1};
    return {unit("gaussian_blur_tensor_rows", file, defines, group),
            unit("gaussian_blur_tensor_columns", file, defines, group)};
  }

  // Chunks of 8 rows that the columns read, from the row `first` of the picture on. Where the rows
  // beyond the picture are all the same, one chunk of them stands for all: `skipped` are left out
  // above.
  struct Chunks {
    int first = 0;
    int count = 0;
    int skipped = 0;
  };
  // mid_t of the kernel.
  struct KernelMid {
    cl_int chunks, skipped, blocks;
  };
  static_assert(sizeof(KernelMid) == 12);
  // `rows` results from `y` on, of a band that begins `pad` rows before.
  static Chunks chunks(const Problem& p, int y, int rows, int pad) {
    Chunks out;
    out.first = y - pad;
    out.count = (rows + 2 * pad) / 8;
    if (!repeats_picture(p.border)) {
      out.skipped = std::max(0, -out.first / 8 - 1);
      out.first += 8 * out.skipped;
      out.count = std::min(out.count - out.skipped, (p.height - out.first + 7) / 8 + 1);
    }
    return out;
  }

  cl::Event enqueue(const Problem& problem, const Call& call, Scratch& scratch,
                    const std::vector<cl::Event>& wait) const {
    const Runtime& runtime = call.runtime;
    const Region& region = call.region;
    const std::size_t bytes = pixel_bytes(problem);
    const int each = tiles(split);
    const int warps = static_cast<int>(kWarps);
    const int wide = (region.width - 1) / (16 * each * warps) + 1;
    const int high = (region.height - 1) / (16 * each) + 1;
    const int blocks = wide * warps * each * 2;
    const Chunks mid_rows = chunks(problem, region.y, 16 * each * high, 8 * (pieces_y - 1));
    const auto count = static_cast<std::size_t>(mid_rows.count);
    const auto batch = static_cast<std::size_t>(problem.batch);
    const std::size_t block_bytes = split ? 1024 : 512;
    const cl::Buffer mid =
        scratch.get(runtime, 0, batch * count * static_cast<std::size_t>(blocks) * block_bytes);
    const std::size_t items = 32 * static_cast<std::size_t>(warps);
    const int window = 16 * (each * warps + pieces_x - 1);
    Kernel first(runtime, program, "gaussian_blur_tensor_rows");
    const cl::Event blurred =
        first(Launch::groups({static_cast<std::size_t>(wide), count, batch}, {items, 1, 1}), wait,
              call.src.buffer, kernel_view(call.src, bytes), mid, kernel_picture(problem, region),
              cl_int{mid_rows.first}, rows, cl_int{pieces_x}, scale,
              LocalBytes{static_cast<std::size_t>(window) * sizeof(cl_int)});
    Kernel second(runtime, program, "gaussian_blur_tensor_columns");
    return second(Launch::groups({static_cast<std::size_t>((region.width - 1) / (8 * warps) + 1),
                                  static_cast<std::size_t>(high), batch},
                                 {items, 1, 1}),
                  {blurred}, mid, KernelMid{mid_rows.count, mid_rows.skipped, blocks},
                  call.dst.buffer, kernel_view(call.dst, bytes), kernel_region(region), columns,
                  cl_int{pieces_y}, scale);
  }
};

}  // namespace clcook::gaussian
