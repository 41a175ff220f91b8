// Neighbourhood filters of pictures and volumes: dilation, erosion, 3 x 3 median, and the neighbourhood
// clamp of temporal anti-aliasing.
//
//   clcook::HaloTile::Problem problem;
//   problem.width = 1920;
//   problem.height = 1080;
//   problem.filter = clcook::HaloTile::Filter::dilation;
//   clcook::HaloTile grow{runtime, problem};
//   cl::Event done = grow(frame, result, {uploaded});
//
//   problem.filter = clcook::HaloTile::Filter::clamp;
//   clcook::HaloTile clamp{runtime, problem};
//   cl::Event clamped = clamp(frame, history, result);
//
// A neighbourhood is the (2 radius + 1)^2 pixels around a pixel, (2 radius + 1)^3 in a volume.
// Pixels are of any PixelType. Channels are filtered independently. The filters only compare:
// results are exact. A NaN among the neighbours counts as -infinity in a maximum, as +infinity in a
// minimum and in the median; a history of NaN becomes the minimum of the neighbours, and a clamp
// without any number among the neighbours leaves the history as it is.
#pragma once

#include <algorithm>
#include <array>
#include <clcook/core/border.hpp>
#include <clcook/core/call_order.hpp>
#include <clcook/core/image_staging.hpp>
#include <clcook/core/kernel_types.hpp>
#include <clcook/core/math.hpp>
#include <clcook/core/pixel.hpp>
#include <clcook/core/plan.hpp>
#include <clcook/core/quirks.hpp>
#include <clcook/core/rates.hpp>
#include <clcook/core/view.hpp>
#include <clcook/embedded/halo_tile.hpp>
#include <clcook/model/halo.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace clcook {
namespace halo_tile {

enum class Filter {
  dilation,  // the maximum of the neighbourhood
  erosion,   // its minimum
  median,    // its median; radius 1, pictures only
  clamp,     // the pixel of a second picture, the history, brought between minimum and maximum
};

using Pixel = PixelType;

struct Problem {
  Filter filter = Filter::dilation;
  int width = 0;   // pixels, 1 to kMaxSize
  int height = 0;  // pixels, 1 to kMaxSize
  int depth = 1;   // more than 1: a volume, as depth times height rows at one pitch
  int radius = 1;  // pixels, 1 to kMaxRadius; may exceed the picture
  Pixel pixel = Pixel::rgba32f;
  Border border = Border::clamp;
  // Of the border mode constant, by channel, in units of the type; may be NaN. Integers take the
  // nearest value, ties to even, and 0 for NaN.
  std::array<float, 4> outside{};
};

// How to run, for tuning; 0 is open. cpu_rows has no choice.
struct Tune {
  int tile_width = 0;   // outputs of a work-group
  int tile_height = 0;  // a multiple of `outputs`
  int tile_depth = 0;   // 1 for pictures
  // Of a work-item, in a column: with direct_multi, local_tile_multi, block (even) and
  // columns_first, else 1.
  int outputs = 0;
};

inline constexpr Named<Filter> kFilters[] = {{Filter::dilation, "dilation"},
                                             {Filter::erosion, "erosion"},
                                             {Filter::median, "median"},
                                             {Filter::clamp, "clamp"}};

// Throws Error(invalid_argument) for an unknown value.
inline const char* to_string(Filter filter) {
  return name_of(kFilters, filter, "HaloTile", "filter");
}
// The constant outside of a picture as the pixels hold it. Halfs are rounded where they are stored,
// which makes no difference to filters that only compare.
inline std::array<float, 4> stored_outside(const Problem& p) {
  std::array<float, 4> out = p.outside;
  if (!is_integer(channel_of(p.pixel))) return out;
  const float most = top_of(channel_of(p.pixel));
  for (float& value : out) {
    value = math::isnan(value) ? 0.0f : std::nearbyint(std::min(std::max(value, 0.0f), most));
  }
  return out;
}

struct Spec : PlainSpec {
  using Problem = halo_tile::Problem;
  using Tune = halo_tile::Tune;
  using Row = VariantRow<Spec>;
  static constexpr const char* kName = "HaloTile";
  static constexpr const char* kRecipe = "halo_tile";
  static constexpr bool kChecksMemory = true;
  static constexpr int kMaxSize = 1 << 28;
  static constexpr int kMaxRadius = 64;
  static constexpr Launch::Sizes kFirstGroup{64, 4, 1};  // of slices_first
  static constexpr int kCpuVector = 16;                  // channels of a vector of cpu_rows
  static constexpr int kCpuBytesVector = 32;         // of bytes, where compilers have such vectors
  static constexpr int kCpuChannels = 1024;          // of a row of a tile of cpu_rows, at most
  static constexpr int kCpuRows = 64;                // rows of a tile of cpu_rows
  static constexpr std::size_t kCpuBytes = 1 << 15;  // of its lines, which stay in the cache

  struct Traits {
    bool is_multi = false;  // several outputs per item; pictures only
    bool is_local = false;  // the tile, or lines of cpu_rows, are in local memory
    bool is_image = false;  // the source is an image; pictures only
    bool is_block = false;  // several outputs per item, in rows too; pictures only, radius 1
    bool is_columns_first = false;  // pictures only, no median
    bool is_slices = false;         // volumes only, radius 1
    bool is_slices_first = false;   // volumes only; its second step is columns_first
    bool has_outputs() const { return is_multi || is_block || has_columns(); }
    bool has_columns() const { return is_columns_first || is_slices_first; }
  };

  struct Resources {
    cl::Buffer between;                     // of slices_first: the volume between its steps
    std::shared_ptr<CallOrder> call_order;  // of that and of the staging memory
    std::shared_ptr<ImageStaging> staging;
  };

  // Rows of pixels, of a view that outlives them.
  struct Rows {
    const cl::Buffer& buffer;
    KernelView view;
  };

  // A call, for the function of a row.
  struct Call {
    std::vector<Kernel> kernels;
    Launch launch;  // of the last one
    LocalBytes local;
    KernelVolume volume;
    const cl::Image2D& image;  // of those that read one; else src
    Rows src;
    Rows history;
    Rows dst;
    const std::vector<cl::Event>& wait;
    Rows between;                // of slices_first, as the next
    std::size_t parts_of_depth;  // of `outputs` slices each
  };

  static Resources allocate(const Runtime& runtime, const Setup<Spec>& s,
                            const std::vector<cl::Program>&) {
    Resources out{{}, std::make_shared<CallOrder>(), std::make_shared<ImageStaging>()};
    if (s.row.traits.is_slices_first)
      out.between = create_buffer(runtime, static_cast<std::size_t>(picture_bytes(s.problem)));
    return out;
  }

  static const std::vector<Row>& variants() {
    const auto tiles = [](std::initializer_list<const char*> words) {
      TuneAxis axis{"tile", {}};
      for (const char* word : words) axis.values.emplace_back(std::string(word));
      return axis;
    };
    const TuneAxis few{"outputs", {4, 2}};
    const TuneAxis many{"outputs", {4, 8}};
    static const std::vector<Row> all{
        Row("direct", "every neighbour is a read of global memory")
            .runs(from_memory)
            .baseline()
            .tunes({tiles({"16x16", "8x8", "32x32", "64x4"})}),
        Row("direct_multi",
            "several outputs per item share rows of neighbours in registers, no local memory")
            .runs(from_memory)
            .with(&Traits::is_multi)
            .against("direct", "several outputs per item share rows in registers")
            .tunes({tiles({"32x16"}), few}),
        // The caller of an automatic plan has buffers.
        Row("image", "every neighbour through the texture unit")
            .runs(from_image)
            .with(&Traits::is_image)
            .against("direct", "reads through the texture unit")
            .by_name()
            .need("images of the pixel type")
            .tunes({tiles({"16x16"})}),
        Row("image_no_sampler",
            "against image: reads without a sampler, the border found by hand at the border alone")
            .runs(from_image)
            .with(&Traits::is_image)
            .against("image", "no sampler: the border is found by hand at the border alone")
            .by_name()
            .need("images of the pixel type")
            .tunes({tiles({"16x16"})}),
        Row("local_tile", "the tile and its halo once into local memory")
            .runs(through_local)
            .with(&Traits::is_local)
            .against("direct", "the tile and its halo in local memory")
            .preferred()
            .tunes({tiles({"16x16", "8x8", "32x32", "64x4", "256x1", "8x8x8"})}),
        Row("local_tile_multi",
            "several outputs per item from the tile; wide filters in two steps, rows then columns")
            .runs(through_local)
            .with(&Traits::is_multi, &Traits::is_local)
            .against("local_tile", "several outputs per item; wide filters in two steps")
            .preferred()
            .tunes({tiles({"32x16", "32x32"}), many}),
        Row("block",
            "radius 1: a block of outputs per item in registers, four pixels of a channel per read")
            .runs(from_memory)
            .with(&Traits::is_block)
            .against("direct_multi", "outputs in rows too, and pairs of them share comparisons")
            .tunes({tiles({"128x16", "128x8"}), few}),
        Row("slices",
            "radius 1, volumes: down the slices, each read once; neighbours in y from local memory")
            .runs(through_local)
            .with(&Traits::is_local, &Traits::is_slices)
            .against("local_tile", "down the slices, neighbours in z stay in registers")
            .tunes({tiles({"64x14x16", "128x6x16", "64x14x8"})}),
        Row("columns_first",
            "columns from global memory, then lines from local memory, neighbours share "
            "comparisons")
            .runs(through_local)
            .with(&Traits::is_local, &Traits::is_columns_first)
            .against("local_tile_multi",
                     "columns first, straight from global memory; their values in local memory")
            .tunes({tiles({"56x32", "120x16"}), {"outputs", {8, 4}}}),
        Row("slices_first",
            "volumes: down the slices into memory, then each slice as columns_first does it")
            .runs(slices_first)
            .with(&Traits::is_local, &Traits::is_slices_first)
            .against("local_tile", "one axis after the other, neighbours share comparisons")
            .tunes({tiles({"24x16", "56x16"}), {"outputs", {8, 4}}}),
        Row("cpu_rows",
            "for CPUs: vectors of 16 channels, the neighbours of columns first and then of lines")
            .runs(through_local)
            .with(&Traits::is_local)
            .against("direct_multi", "vectors of 16 channels, neighbours of columns first")
            .for_cpus(),
    };
    return all;
  }

  // The tile is one field: "32x16", or "8x8x8" in a volume.
  static const std::vector<Axis<Tune>>& axes() {
    static const std::vector<Axis<Tune>> all{
        axis<Tune>(
            "tile", [](const Tune& tune) { return Value(tile_word(tune)); }, set_tile,
            [](const Tune& t) {
              return t.tile_width == 0 || t.tile_height == 0 || t.tile_depth == 0;
            }),
        axis("outputs", &Tune::outputs)};
    return all;
  }

  static void check(const Problem& p) {
    to_string(p.filter);
    pixel_type_name(p.pixel, kName);
    border_name(p.border, kName);
    check_range(kName, "width", p.width, 1, kMaxSize);
    check_range(kName, "height", p.height, 1, kMaxSize);
    check_range(kName, "depth", p.depth, 1, kMaxSize);
    check_range(kName, "radius", p.radius, 1, kMaxRadius);
    if (p.filter == Filter::median && p.radius != 1) {
      fail(Errc::invalid_argument, kName,
           text("the median takes radius 1 (3 x 3) only, got ", p.radius));
    }
    if (p.filter == Filter::median && p.depth != 1) {
      fail(Errc::invalid_argument, kName,
           text("the median takes pictures only, got a volume of depth ", p.depth));
    }
    const std::uint64_t most = std::numeric_limits<std::size_t>::max() / 4;
    const std::uint64_t row = static_cast<std::uint64_t>(p.width) * pixel_bytes(p.pixel);
    const std::uint64_t rows =
        static_cast<std::uint64_t>(p.height) * static_cast<std::uint64_t>(p.depth);
    if (rows > most / row) {
      fail(Errc::invalid_argument, kName,
           text("width ", p.width, " times height ", p.height, " times depth ", p.depth,
                " overflows the address range"));
    }
  }

  static Tune defaults(const Row& row, const Problem& p, const DeviceInfo& device) {
    if (row.is_for_cpus) return {};
    if (row.traits.is_block) return {32 * wide(p), 16, 1, 4};
    if (row.traits.is_slices) return wide(p) == 4 ? Tune{64, 14, 16, 1} : Tune{32, 6, 16, 1};
    if (row.traits.has_columns()) {
      Tune tune = row.traits.is_slices_first ? Tune{24, 16, 1, 8} : Tune{56, 32, 1, 8};
      const auto fits = [&] {
        const Setup<Spec> s{row, p, tune, device};
        return local_bytes(s) <= device.local_mem && columns_group(s)[0] <= device.max_group;
      };
      while (tune.tile_height > 8 && !fits()) tune.tile_height /= 2;
      while (tune.tile_width > 8 && !fits()) tune.tile_width -= 8;
      return tune;
    }
    if (p.depth > 1) return {row.traits.is_multi ? 32 : 8, 8, 8, row.traits.is_multi ? 4 : 1};
    if (!row.traits.is_multi) return {16, 16, 1, 1};
    // A wide halo needs a large tile, where the local memory has room for it.
    const Tune large{32, 32, 1, 4};
    const bool fits =
        local_bytes({row, p, large, device}) <= device.local_mem && device.max_group >= 256;
    return row.traits.is_local && p.radius >= 2 && fits ? large : Tune{32, 16, 1, 4};
  }

  static void check_tune(const Setup<Spec>& s) {
    const Tune& tune = s.tune;
    if (s.row.is_for_cpus) {
      if (tune_is_open(tune)) return;
      fail(Errc::invalid_argument, kName,
           text("the variant ", s.row.name, " has no tile to choose"));
    }
    check_range(kName, "tile_width", tune.tile_width, 1, 1024);
    check_range(kName, "tile_height", tune.tile_height, 1, 1024);
    check_range(kName, "tile_depth", tune.tile_depth, 1, 64);
    check_range(kName, "outputs", tune.outputs, 1, 16);
    if (!s.row.traits.has_outputs() && tune.outputs != 1) {
      fail(Errc::invalid_argument, kName,
           text("the variant ", s.row.name, " makes 1 output per item, got ", tune.outputs));
    }
    if (tune.tile_height % tune.outputs != 0) {
      fail(Errc::invalid_argument, kName,
           text("tile_height must be a multiple of outputs, got ", tune.tile_height, " and ",
                tune.outputs));
    }
    if (s.row.traits.is_multi && s.row.traits.is_local && tune.tile_width % 4 != 0) {
      fail(Errc::invalid_argument, kName,
           text("the variant ", s.row.name, " takes a tile_width that is a multiple of 4, got ",
                tune.tile_width));
    }
    const auto multiple = [&](const char* name, int value, int of) {
      if (value % of != 0) {
        fail(Errc::invalid_argument, kName,
             text("the variant ", s.row.name, " takes ", name, " that is a multiple of ", of,
                  ", got ", value));
      }
    };
    if (s.row.traits.is_block) {
      multiple("a number of outputs", tune.outputs, 2);
      multiple("a tile_width", tune.tile_width, wide(s.problem));
    }
    if (s.row.traits.is_slices) multiple("a tile_width", tune.tile_width, wide(s.problem));
    if (s.row.traits.has_columns()) multiple("a tile_width", tune.tile_width, tune.outputs);
  }

  // Pixels in a row of a work-item of block and slices.
  static int wide(const Problem& p) { return channels_of(p.pixel) == 1 ? 4 : 1; }

  static double bytes(const Problem& p) {
    return (p.filter == Filter::clamp ? 3.0 : 2.0) * picture_bytes(p);
  }

  static std::vector<std::string> tuning_names(const Problem& p) {
    // A minimum takes as long as a maximum.
    const Filter filter = p.filter == Filter::erosion ? Filter::dilation : p.filter;
    const bool has_channels = filter == Filter::median && channels_of(p.pixel) != 1;
    return {text("halo_tile/", to_string(filter), p.depth > 1 ? " volume" : "",
                 p.radius == 1 ? "" : " wide", has_channels ? " of channels" : "")};
  }

  static Offer offer(const Runtime& runtime, const Setup<Spec>& s) {
    const Problem& p = s.problem;
    const Traits& traits = s.row.traits;
    const DeviceInfo& info = runtime.info();
    if (s.row.is_for_cpus && info.cpu && !quirks::takes_cpu_kernels(info))
      return Offer::no(Lacks::feature, quirks::not_for_cpu_kernels(info));
    if ((traits.is_block || traits.is_slices) && p.radius != 1) {
      return Offer::no(Lacks::problem, text("it takes radius 1 only, got ", p.radius));
    }
    if ((traits.is_slices || traits.is_slices_first) && p.depth == 1) {
      return Offer::no(Lacks::problem, "it takes volumes only, got a picture");
    }
    if (traits.is_columns_first && p.filter == Filter::median) {
      return Offer::no(Lacks::problem, "a median does not separate into columns and lines");
    }
    if (traits.is_slices_first && p.filter == Filter::clamp) {
      return Offer::no(Lacks::problem, "it takes dilations and erosions only, got a clamp");
    }
    if (p.depth > 1 &&
        (traits.is_multi || traits.is_image || traits.is_block || traits.is_columns_first)) {
      return Offer::no(Lacks::problem,
                       text("it takes pictures only, got a volume of depth ", p.depth));
    }
    if (s.row.is_for_cpus && p.width * channels_of(p.pixel) < kCpuVector) {
      return Offer::no(Lacks::problem,
                       text("it takes rows of ", kCpuVector, " channels or more, got ",
                            p.width * channels_of(p.pixel)));
    }
    if (p.depth == 1 && s.tune.tile_depth > 1) {
      return Offer::no(Lacks::problem, text("a tile of depth ", s.tune.tile_depth,
                                            " needs a volume, the problem is a picture"));
    }
    // Buffers of the volume before, between and behind the steps.
    if (const double all = bytes(p) + picture_bytes(p);
        traits.is_slices_first && info.global_mem > 0 &&
        all > static_cast<double>(info.global_mem)) {
      return Offer::no(Lacks::memory,
                       text("three buffers of ", static_cast<std::uint64_t>(all / 3),
                            " bytes exceed the device's memory of ", info.global_mem));
    }
    if (ends_compiler(s)) {
      return Offer::no(Lacks::implementation, text("the compiler of ", info.platform_version,
                                                   " ends the process over kernels like this"));
    }
    if (traits.is_image) {
      if (info.images && p.pixel == Pixel::r16f && quirks::misreads_r16f_images(info)) {
        return Offer::no(Lacks::implementation,
                         info.platform + " misreads images of CL_R with CL_HALF_FLOAT");
      }
      const std::string why = why_no_image(runtime, static_cast<std::size_t>(p.width),
                                           static_cast<std::size_t>(p.height),
                                           image_format(p.pixel), CL_MEM_READ_ONLY, pixel_name(p));
      if (!why.empty()) return Offer::no(Lacks::feature, why);
    }
    Offer out;
    out.last = is_slow(s);
    out.work.bytes_written = picture_bytes(p);
    out.work.bytes_read = bytes(p) - out.work.bytes_written;
    // A group reads its tile with the halo, through the cache or once.
    if (!s.row.is_for_cpus) out.work.bytes_read += picture_bytes(p) * (halo_of(s).tile_loads() - 1);
    if (traits.is_slices_first) {  // and the volume between its steps
      out.work.bytes_read += picture_bytes(p) * (1 + 2.0 * p.radius / s.tune.outputs);
      out.work.bytes_written += picture_bytes(p);
    }
    if (p.depth > 1 && p.radius > 1 && !s.row.is_for_cpus) add_comparisons(runtime, s, out);
    return out;
  }

  // Whether another variant should be faster. With four channels the rows of block are no wider than
  // those of direct_multi; rows of slices are wide. An item of slices and of columns_first does so much
  // that few groups leave the device half empty; from radius 10 on the order of columns_first saves
  // more than that costs, up to radius 3 it saves little. The same holds for four outputs per item in
  // small pictures. As measured on an H200.
  static bool is_slow(const Setup<Spec>& s) {
    const Problem& p = s.problem;
    const Traits& traits = s.row.traits;
    const double filled = groups_of(p, s.tune) / std::max<double>(s.device.compute_units, 1);
    if (traits.is_block) return channels_of(p.pixel) != 1;
    if (traits.is_slices) return filled < 2 || 2 * p.width < s.tune.tile_width;
    if (traits.is_columns_first)
      return p.radius <= 3 || (p.radius < 10 && filled < 2 && has_wide_tiles(p, s.device));
    if (p.depth > 1 || s.device.cpu) return false;
    if (!traits.is_local && p.radius > 1) return true;  // too many reads of global memory
    return traits.is_multi && p.radius <= 3 && filled < 1;
  }
  // Whether local_tile_multi fits into the local memory.
  static bool has_wide_tiles(const Problem& p, const DeviceInfo& device) {
    const auto is_it = [](const Row& row) { return row.traits.is_multi && row.traits.is_local; };
    const Row& row = *std::find_if(variants().begin(), variants().end(), is_it);
    return local_bytes({row, p, defaults(row, p, device), device}) <= device.local_mem;
  }
  // Groups of a tile each.
  static double groups_of(const Problem& p, const Tune& tune) {
    return std::ceil(static_cast<double>(p.width) / tune.tile_width) *
           std::ceil(static_cast<double>(p.height) / tune.tile_height) *
           std::ceil(static_cast<double>(p.depth) / tune.tile_depth);
  }

  static std::vector<CompileUnit> units(const Setup<Spec>& s) {
    CompileUnit unit = unit_without_pixel(s);
    set_pixel(unit.defines, channel_of(s.problem.pixel), channels_of(s.problem.pixel));
    if (!s.row.traits.is_slices_first) return {unit};
    static const VariantOf<Spec> columns_first("columns_first");
    Problem slice = s.problem;
    slice.depth = 1;
    unit.local_bytes = 0;
    std::vector<CompileUnit> out = units({*columns_first.row(), slice, s.tune, s.device});
    out.insert(out.begin(), unit);
    return out;
  }
  // Of the kernel's pixels all but their type.
  static CompileUnit unit_without_pixel(const Setup<Spec>& s) {
    const Problem& p = s.problem;
    const Tune& tune = s.tune;
    CompileUnit unit = variant_unit(s, embedded::halo_tile, group(s));
    unit.label = text(to_string(p.filter), " ", pixel_name(p));
    unit.local_bytes = static_cast<std::size_t>(local_bytes(s));
    unit.defines.flag("CLCOOK_HALO_TILE_" + upper_case(to_string(p.filter)));
    if (p.depth > 1) unit.defines.flag("CLCOOK_HALO_TILE_VOLUME");
    unit.defines.set("CLCOOK_HALO_TILE_RADIUS", p.radius);
    if (s.row.is_for_cpus) {
      const CpuTile tile = cpu_tile(p, s.device);
      if (tile.lanes != kCpuVector) unit.defines.set("CLCOOK_LANES", tile.lanes);
      unit.defines.set("CLCOOK_HALO_TILE_TILE_W", tile.channels);
      unit.defines.set("CLCOOK_HALO_TILE_TILE_H", kCpuRows);
      unit.defines.set("CLCOOK_HALO_TILE_OUTPUTS", tile.lines);
      return unit;
    }
    unit.defines.set("CLCOOK_HALO_TILE_TILE_W", tune.tile_width);
    unit.defines.set("CLCOOK_HALO_TILE_TILE_H", tune.tile_height);
    unit.defines.set("CLCOOK_HALO_TILE_TILE_D", tune.tile_depth);
    if (s.row.traits.has_outputs()) unit.defines.set("CLCOOK_HALO_TILE_OUTPUTS", tune.outputs);
    return unit;
  }

  static Launch::Sizes columns_group(const Setup<Spec>& s) {
    const int columns = s.tune.tile_width + 2 * s.problem.radius;
    return {static_cast<std::size_t>(columns * (s.tune.tile_height / s.tune.outputs)), 1, 1};
  }
  // Of the first kernel.
  static Launch::Sizes group(const Setup<Spec>& s) {
    if (s.row.is_for_cpus) return {1, 1, 1};
    if (s.row.traits.is_slices_first) return kFirstGroup;
    if (s.row.traits.is_columns_first) return columns_group(s);
    if (s.row.traits.is_slices) {
      return {static_cast<std::size_t>(s.tune.tile_width / wide(s.problem)),
              static_cast<std::size_t>(s.tune.tile_height + 2), 1};
    }
    if (s.row.traits.is_block) {
      return {static_cast<std::size_t>(s.tune.tile_width / wide(s.problem)),
              static_cast<std::size_t>(s.tune.tile_height / s.tune.outputs), 1};
    }
    return {static_cast<std::size_t>(s.tune.tile_width),
            static_cast<std::size_t>(s.tune.tile_height / s.tune.outputs),
            static_cast<std::size_t>(s.tune.tile_depth)};
  }

  // Of all groups of the last kernel.
  static Launch launch(const Setup<Spec>& s) {
    const Problem& p = s.problem;
    const auto parts = [](int size, int part) {
      return (static_cast<std::size_t>(size) + static_cast<std::size_t>(part) - 1) /
             static_cast<std::size_t>(part);
    };
    if (s.row.is_for_cpus) {
      return Launch::groups({parts(p.width * channels_of(p.pixel), cpu_tile(p, s.device).channels),
                             parts(p.height, kCpuRows), static_cast<std::size_t>(p.depth)},
                            group(s));
    }
    return Launch::groups({parts(p.width, s.tune.tile_width), parts(p.height, s.tune.tile_height),
                           parts(p.depth, s.tune.tile_depth)},
                          s.row.traits.is_slices_first ? columns_group(s) : group(s));
  }

  // Bytes of local memory that a group needs.
  static std::uint64_t local_bytes(const Setup<Spec>& s) {
    const Problem& p = s.problem;
    if (!s.row.traits.is_local) return 0;
    if (s.row.is_for_cpus) return cpu_tile(p, s.device).bytes;
    const auto halo = 2 * static_cast<std::uint64_t>(p.radius);
    const auto tile = static_cast<std::uint64_t>(s.tune.tile_width);
    const std::uint64_t w = tile + halo;
    const std::uint64_t h = static_cast<std::uint64_t>(s.tune.tile_height) + halo;
    const std::uint64_t d =
        static_cast<std::uint64_t>(s.tune.tile_depth) + (p.depth > 1 ? halo : 0);
    if (s.row.traits.is_slices) {
      const std::uint64_t values = p.filter == Filter::clamp ? 2 : 1;
      return 2 * values * tile * h * held_bytes(p.pixel);
    }
    if (s.row.traits.has_columns()) {
      const std::uint64_t values = p.filter == Filter::clamp ? 2 : 1;
      return values * (w | 1) * static_cast<std::uint64_t>(s.tune.tile_height) *
             held_bytes(p.pixel);
    }
    if (s.row.traits.is_multi && p.radius >= 2) {
      // The tile, and one row value per output and row of the tile, at odd pitches.
      const std::uint64_t values = p.filter == Filter::clamp ? 2 : 1;
      return ((w | 1) * h + values * (tile | 1) * h) * held_bytes(p.pixel);
    }
    std::uint64_t pitch = w;
    // CLCOOK_HALO_PITCH
    if (held_bytes(p.pixel) == 4 && tile < 32 && 32 % tile == 0) {
      pitch = tile * (((halo + tile - 1) / tile + 1) | 1);
    }
    return pitch * h * d * held_bytes(p.pixel);
  }

  // What a work-item of cpu_rows makes at a time, and its lines in local memory.
  struct CpuTile {
    int lanes;     // channels of a vector
    int channels;  // of a row of results: a multiple of `lanes` and of a pixel's
    int lines;
    std::uint64_t bytes;
  };
  static CpuTile cpu_tile(const Problem& p, const DeviceInfo& device) {
    const bool is_long = channel_of(p.pixel) == Channel::u8 &&
                         p.width * channels_of(p.pixel) >= kCpuBytesVector &&
                         quirks::has_long_vectors(device);
    const int lanes = is_long ? kCpuBytesVector : kCpuVector;
    const int lines = p.radius <= 16 ? 8 : 4;
    const int halo = (p.radius * channels_of(p.pixel) + lanes - 1) / lanes * lanes;
    const int beside = 2 * halo + lanes;
    const std::size_t values = p.filter == Filter::median ? 3 : p.filter == Filter::clamp ? 2 : 1;
    const std::size_t bytes =
        values * static_cast<std::size_t>(lines) * held_channel_bytes(p.pixel);  // of a channel
    const int room = std::min(static_cast<int>(kCpuBytes / bytes) - beside, kCpuChannels);
    // Whole vectors, and whole pixels.
    const int whole = channels_of(p.pixel) == 3 ? 3 * lanes : lanes;
    const int channels = room / whole * whole;
    return {lanes, channels, lines, bytes * static_cast<std::size_t>(channels + beside)};
  }

  // Whether the device's compiler ends the process; see quirks::breaks_shared_rows.
  static bool ends_compiler(const Setup<Spec>& s) {
    if (!quirks::breaks_shared_rows(s.device)) return false;
    const auto& traits = s.row.traits;
    if (traits.has_columns() || traits.is_slices) return true;
    const Pixel pixel = s.problem.pixel;
    return traits.is_multi && !traits.is_local && s.problem.filter == Filter::median &&
           (channels_of(pixel) == 1 || is_integer(channel_of(pixel))) && s.tune.outputs == 2;
  }

  // Of a channel and a pixel in local memory: halfs are floats there, three channels a vector of four.
  static constexpr std::size_t held_channel_bytes(Pixel pixel) {
    return channel_bytes(channel_of(pixel)) * (channel_of(pixel) == Channel::f16 ? 2 : 1);
  }
  static constexpr std::size_t held_bytes(Pixel pixel) {
    const int channels = channels_of(pixel);
    return held_channel_bytes(pixel) * static_cast<std::size_t>(channels == 3 ? 4 : channels);
  }

 private:
  static const char* pixel_name(const Problem& p) { return pixel_type_name(p.pixel, kName); }

  // What a volume of a wide filter takes beside its bytes: comparisons, of which each takes a read of local
  // memory or of the cache. A GPU does a quarter as many of these as of multiply-adds.
  static void add_comparisons(const Runtime& runtime, const Setup<Spec>& s, Offer& out) {
    const Problem& p = s.problem;
    const double side = 2.0 * p.radius + 1;
    const double along = 1 + (side - 1) / s.tune.outputs;  // an axis of slices_first
    const double reads = s.row.traits.is_slices_first ? 3 * along : side * side * side;
    const auto channel = static_cast<double>(channel_bytes(channel_of(p.pixel)));
    out.work.operations = reads * picture_bytes(p) / channel;
    out.work.launches = s.row.traits.is_slices_first ? 2 : 1;
    Work counted = out.work;
    counted.operations *= 8;
    out.cost = microseconds(device_rates(runtime), counted);
  }

  static double picture_bytes(const Problem& p) {
    return static_cast<double>(pixel_bytes(p.pixel)) * p.width * p.height * p.depth;
  }

  static bool tune_is_open(const Tune& tune) {
    return tune.tile_width == 0 && tune.tile_height == 0 && tune.tile_depth == 0 &&
           tune.outputs == 0;
  }

  // Nothing where a side is open.
  static std::string tile_word(const Tune& tune) {
    if (tune.tile_width == 0 && tune.tile_height == 0 && tune.tile_depth == 0) return "";
    return text(tune.tile_width, "x", tune.tile_height,
                tune.tile_depth == 1 ? "" : text("x", tune.tile_depth));
  }

  // Closes the sides that are open.
  static void set_tile(Tune& tune, const Value& value) {
    const std::string word = clcook::to_string(value);
    if (word.empty()) return;
    int sides[3] = {0, 0, 1};
    std::size_t count = 0;
    bool good = true;
    for (std::string_view rest = word; good; ++count) {
      const std::size_t end = rest.find('x');
      const std::string_view digits = rest.substr(0, end);
      good = count < 3 && !digits.empty() && digits.size() <= 4 &&
             digits.find_first_not_of("0123456789") == std::string_view::npos;
      if (!good) break;
      sides[count] = std::stoi(std::string(digits));
      if (end == std::string_view::npos) break;
      rest.remove_prefix(end + 1);
    }
    if (!good || count < 1) {
      fail(Errc::invalid_argument, kName,
           "a tile is WIDTHxHEIGHT or WIDTHxHEIGHTxDEPTH, got '" + word + "'");
    }
    if (tune.tile_width == 0) tune.tile_width = sides[0];
    if (tune.tile_height == 0) tune.tile_height = sides[1];
    if (tune.tile_depth == 0) tune.tile_depth = sides[2];
  }

  static model::Halo halo_of(const Setup<Spec>& s) {
    const Problem& p = s.problem;
    const Tune& tune = s.tune;
    const auto size = [](int value) { return static_cast<std::uint64_t>(value); };
    const std::uint64_t radius = size(p.radius);
    return model::halo({size(tune.tile_width), size(tune.tile_height), size(tune.tile_depth)},
                       {radius, radius, p.depth > 1 && !s.row.traits.is_slices_first ? radius : 0});
  }

 private:
  static cl::Event from_memory(Call& c) {
    return c.kernels[0](c.launch, c.wait, c.src.buffer, c.src.view, c.history.buffer,
                        c.history.view, c.dst.buffer, c.dst.view, c.volume);
  }
  static cl::Event through_local(Call& c) {
    return c.kernels[0](c.launch, c.wait, c.src.buffer, c.src.view, c.history.buffer,
                        c.history.view, c.dst.buffer, c.dst.view, c.volume, c.local);
  }
  static cl::Event slices_first(Call& c) {
    const Launch::Sizes size{static_cast<std::size_t>(c.volume.width),
                             static_cast<std::size_t>(c.volume.height), c.parts_of_depth};
    const cl::Event first = c.kernels[0](Launch::cover(size, kFirstGroup), c.wait, c.src.buffer,
                                         c.src.view, c.between.buffer, c.between.view, c.volume);
    return c.kernels[1](c.launch, {first}, c.between.buffer, c.between.view, c.between.buffer,
                        c.between.view, c.dst.buffer, c.dst.view, c.volume, c.local);
  }
  static cl::Event from_image(Call& c) {
    return c.kernels[0](c.launch, c.wait, c.image, c.history.buffer, c.history.view, c.dst.buffer,
                        c.dst.view, c.volume);
  }
};

}  // namespace halo_tile

// A plan: constructed once, called often. Thread-safe as Plan says. Sizes and the border mode
// are not part of the program. Calls enqueue and return; they never block on the device.
class HaloTile : public Plan<halo_tile::Spec> {
 public:
  using Filter = halo_tile::Filter;
  using Pixel = halo_tile::Pixel;
  // What lies outside of the picture; Border::constant is Problem::outside.
  using Border = clcook::Border;
  using Plan::Plan;

  static constexpr int kMaxSize = Spec::kMaxSize;
  static constexpr int kMaxRadius = Spec::kMaxRadius;

  // Dilation, erosion and median of `src` into `dst`, behind the events of `wait`. Offsets and pitches are
  // multiples of the pixel size. The views must not overlap. Throws Error(invalid_argument), with
  // nothing enqueued, when a view breaks a rule.
  cl::Event operator()(const BufferView& src, const BufferView& dst,
                       const std::vector<cl::Event>& wait = {}) const {
    need_filter(false);
    need_source(false);
    const CheckedView from = checked_view(src, Access::read, "src");
    const CheckedView to = checked_view(dst, Access::write, "dst");
    check_disjoint(from, to, Spec::kName, "src", "dst");
    return enqueue(runtime(), from, from, to, wait);
  }

  // Clamp: limits `history` to the minimum and maximum of the neighbours in `src`.
  cl::Event operator()(const BufferView& src, const BufferView& history, const BufferView& dst,
                       const std::vector<cl::Event>& wait = {}) const {
    need_filter(true);
    need_source(false);
    const CheckedView from = checked_view(src, Access::read, "src");
    const CheckedView past = checked_view(history, Access::read, "history");
    const CheckedView to = checked_view(dst, Access::write, "dst");
    check_disjoint(from, to, Spec::kName, "src", "dst");
    check_disjoint(past, to, Spec::kName, "history", "dst");
    return enqueue(runtime(), from, past, to, wait);
  }

  // The same for the variants that read an image. The picture is the whole image, of the size of the
  // problem: CL_R or CL_RGBA with CL_UNSIGNED_INT8, CL_UNSIGNED_INT16, CL_HALF_FLOAT or CL_FLOAT.
  cl::Event operator()(const cl::Image2D& src, const BufferView& dst,
                       const std::vector<cl::Event>& wait = {}) const {
    need_filter(false);
    need_source(true);
    check_source(src);
    const CheckedView to = checked_view(dst, Access::write, "dst");
    return enqueue(runtime(), to, to, to, wait, src);
  }
  cl::Event operator()(const cl::Image2D& src, const BufferView& history, const BufferView& dst,
                       const std::vector<cl::Event>& wait = {}) const {
    need_filter(true);
    need_source(true);
    check_source(src);
    const CheckedView past = checked_view(history, Access::read, "history");
    const CheckedView to = checked_view(dst, Access::write, "dst");
    check_disjoint(past, to, Spec::kName, "history", "dst");
    return enqueue(runtime(), past, past, to, wait, src);
  }

  // Dilation, erosion and median from image to image, in the formats of stored_formats(); not for variants
  // that read one. The pixels go through buffers of the plan, so src and dst may be the same image;
  // calls of one plan and its copies on images therefore run one after the other on the device.
  cl::Event operator()(const ImageView& src, const ImageView& dst,
                       const std::vector<cl::Event>& wait = {}) const {
    const Problem& p = problem();
    need_filter(false);
    if (row().traits.is_image)
      fail(Errc::invalid_argument, Spec::kName,
           "the variant image writes to a buffer, got an image");
    if (p.depth != 1) {
      fail(Errc::invalid_argument, Spec::kName,
           text("images are pictures, the problem has a depth of ", p.depth));
    }
    const ImageLayout layout{static_cast<std::size_t>(p.width), static_cast<std::size_t>(p.height),
                             pixel_bytes(p.pixel), stored_formats(p.pixel)};
    return resources().staging->run(
        runtime(), layout, src, dst, wait, *resources().call_order, Spec::kName,
        [&](CallScope& scope, const auto& from, const auto& to, const auto& before) {
          return enqueue(scope.runtime(), from, from, to, before);
        });
  }

  // The value of that name. Throws Error(invalid_argument) that lists the names.
  static Filter parse_filter(std::string_view name) {
    return value_of(halo_tile::kFilters, name, Spec::kName, "filter");
  }
  static Pixel parse_pixel(std::string_view name) { return parse_pixel_type(name, Spec::kName); }
  static Border parse_border(std::string_view name) {
    return clcook::parse_border(name, Spec::kName);
  }

 private:
  void need_filter(bool history) const {
    if (history == (problem().filter == Filter::clamp)) return;
    fail(Errc::invalid_argument, Spec::kName,
         text("the filter ", to_string(problem().filter),
              history ? " takes no history" : " takes a history: call with src, history and dst"));
  }

  void need_source(bool image) const {
    if (image == row().traits.is_image) return;
    fail(Errc::invalid_argument, Spec::kName,
         text("the variant ", row().name, " reads a ",
              image ? "buffer, got an image" : "2-D image, got a buffer"));
  }

  CheckedView checked_view(const BufferView& view, Access access, const char* name) const {
    const std::size_t bytes = pixel_bytes(problem().pixel);
    const RowLayout layout{
        static_cast<std::size_t>(problem().width) * bytes,
        static_cast<std::size_t>(problem().height) * static_cast<std::size_t>(problem().depth),
        pixel_step(problem().pixel)};
    return check_view(runtime(), view, layout, access, Spec::kName, name);
  }

  void check_source(const cl::Image2D& src) const {
    check_image(runtime(), src, static_cast<std::size_t>(problem().width),
                static_cast<std::size_t>(problem().height), image_format(problem().pixel),
                Spec::kName, "src");
  }

  // Of variants that read an image, `src` is not read.
  cl::Event enqueue(const Runtime& on, const CheckedView& src, const CheckedView& history,
                    const CheckedView& dst, const std::vector<cl::Event>& wait,
                    const cl::Image2D& image = {}) const {
    const cl::Buffer& between = resources().between;
    if (between() == nullptr) return enqueue_in_order(on, src, history, dst, wait, image);
    CallScope scope(on, *resources().call_order);
    enqueue_in_order(scope.runtime(), src, history, dst, scope.wait_list(wait), image);
    return scope.end();
  }

  // Within the CallScope of `on`, where the call needs one.
  cl::Event enqueue_in_order(const Runtime& on, const CheckedView& src, const CheckedView& history,
                             const CheckedView& dst, const std::vector<cl::Event>& wait,
                             const cl::Image2D& image) const {
    const Problem& p = problem();
    KernelVolume volume{{}, p.width, p.height, p.depth, static_cast<cl_int>(p.border)};
    for (std::size_t c = 0; c < 4; ++c) volume.outside.s[c] = halo_tile::stored_outside(p)[c];
    const LocalBytes local{offer().units.back().local_bytes};
    const std::size_t row = static_cast<std::size_t>(p.width) * pixel_bytes(p.pixel);
    const std::size_t all = static_cast<std::size_t>(p.height) * static_cast<std::size_t>(p.depth);
    const auto outputs = static_cast<std::size_t>(tune().outputs);
    const CheckedView between{resources().between, 0, row, row, all};
    Spec::Call call{
        kernels(on),
        Spec::launch(setup()),
        local,
        volume,
        image,
        rows(src),
        rows(history),
        rows(dst),
        wait,
        rows(between),
        (static_cast<std::size_t>(p.depth) + outputs - 1) / std::max<std::size_t>(1, outputs)};
    return this->row().run(call);
  }

  Spec::Rows rows(const CheckedView& view) const {
    return {view.buffer, kernel_view(view, pixel_step(problem().pixel))};
  }
};

CLCOOK_PLAN(halo_tile::Spec);

}  // namespace clcook
