// Rank filters of pictures: the median, the minimum, the maximum, and every rank between them. The
// neighbours lie within radius 1 to 32.
//
//   clcook::RankFilter::Problem problem;
//   problem.width = 1920;
//   problem.height = 1080;
//   problem.radius = 7;
//   problem.pixel = clcook::PixelType::r8;
//   clcook::RankFilter median{runtime, problem};  // rank is 0.5
//   cl::Event done = median(frame, result, {uploaded});
//
// Around a pixel lie n = (2 radius + 1)^2 values. A result is number round(rank (n - 1)) of these in
// ascending order, counted from 0, halves rounded up. Rank 0 is the minimum, 0.5 the median, 1
// the maximum. Channels are filtered independently. The filters only compare: results are exact.
//
// The order is total: -infinity, the numbers with -0 before +0, +infinity, NaN. So a NaN is larger than
// all else, whatever its sign; a result that is a NaN is some NaN.
#pragma once

#include <algorithm>
#include <array>
#include <clcook/core/border.hpp>
#include <clcook/core/call_order.hpp>
#include <clcook/core/half.hpp>
#include <clcook/core/image_staging.hpp>
#include <clcook/core/kernel_types.hpp>
#include <clcook/core/math.hpp>
#include <clcook/core/pixel.hpp>
#include <clcook/core/plan.hpp>
#include <clcook/core/quirks.hpp>
#include <clcook/core/view.hpp>
#include <clcook/embedded/rank_filter.hpp>
#include <clcook/halo_tile.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace clcook {
namespace rank_filter {

using Pixel = PixelType;

struct Problem {
  int width = 0;      // pixels, 1 to kMaxSize
  int height = 0;     // pixels, 1 to kMaxSize
  int radius = 1;     // pixels, 1 to kMaxRadius; may exceed the picture
  double rank = 0.5;  // 0 to 1
  Pixel pixel = Pixel::r8;
  Border border = Border::clamp;
  // Of the border mode constant, by channel, in units of the type; may be NaN. Integers take the
  // nearest value, ties to even, and 0 for NaN.
  std::array<float, 4> outside{};
};

// How to run, for tuning; 0 is open. Variants for CPUs have no choice.
struct Tune {
  int tile_width = 0;  // outputs in a row of a work-group: its items
  int tile_height =
      0;  // and in a column: a multiple of `outputs`; of sliding_histogram, of an item
  int outputs =
      0;  // per item, in a column: network (even), local_tile_multi and columns_first, else 1
};

// The number of the result among the neighbours in ascending order, counted from 0.
inline unsigned rank_number(const Problem& p) {
  const double side = 2 * p.radius + 1;
  return static_cast<unsigned>(math::lround(p.rank * (side * side - 1)));
}

// Whether the result is the smallest or the largest of the neighbours.
inline bool is_extreme(const Problem& p) {
  const auto side = static_cast<unsigned>(2 * p.radius + 1);
  return rank_number(p) == 0 || rank_number(p) == side * side - 1;
}

// The bits of the constant outside, by channel, as pixels hold it.
inline std::array<std::uint32_t, 4> stored_outside(const Problem& p) {
  const Channel channel = channel_of(p.pixel);
  std::array<std::uint32_t, 4> out{};
  for (std::size_t c = 0; c < 4; ++c) {
    const float value = p.outside[c];
    if (channel == Channel::f32) {
      std::memcpy(&out[c], &value, sizeof value);
    } else if (channel == Channel::f16) {
      out[c] = to_half(static_cast<double>(value));
    } else if (!math::isnan(static_cast<double>(value))) {
      const auto most = static_cast<double>(top_of(channel));
      out[c] = static_cast<std::uint32_t>(
          math::nearbyint(std::min(std::max(static_cast<double>(value), 0.0), most)));
    }
  }
  return out;
}

// The key of the bits of a channel: in the order of the values, as pixel.clh makes them.
inline std::uint32_t key_of(std::uint32_t bits, Channel channel) {
  if (is_integer(channel)) return bits;
  const bool half = channel == Channel::f16;
  const std::uint32_t sign = half ? 0x8000U : 0x80000000U;
  const std::uint32_t infinity = half ? 0x7C00U : 0x7F800000U;
  if ((bits & (sign - 1)) > infinity) return sign | (sign - 1);
  return (bits & sign) != 0 ? bits ^ (sign | (sign - 1)) : bits ^ sign;
}

struct Spec : PlainSpec {
  using Problem = rank_filter::Problem;
  using Tune = rank_filter::Tune;
  using Row = VariantRow<Spec>;
  static constexpr const char* kName = "RankFilter";
  static constexpr const char* kRecipe = "rank_filter";
  static constexpr bool kChecksMemory = true;
  static constexpr int kMaxSize = 1 << 28;
  static constexpr int kMaxRadius = 32;
  static constexpr int kNetworkRadius = 3;            // the largest of the networks
  static constexpr int kCpuVector = 16;               // channels of a vector of cpu_rows
  static constexpr int kCpuBytesVector = 32;          // of bytes in its networks
  static constexpr int kCpuRows = 16;                 // rows of a tile of cpu_rows
  static constexpr int kColumns = 192;                // of a tile of cpu_columns, at most
  static constexpr int kColumnRows = 128;             // rows of it
  static constexpr int kColumnBytes = 256 + 16;       // of the histogram of a column
  static constexpr std::size_t kCpuBytes = 64 << 10;  // of its tile, which stays in the cache

  struct Traits {
    bool is_tile = false;       // tile and halo of a channel in local memory
    bool is_multi = false;      // several outputs per item
    bool is_network = false;    // radius up to kNetworkRadius; the rank is part of the code
    bool is_histogram = false;  // a histogram per item in local memory
    bool is_columns = false;    // histograms of columns; 8 bits alone
    bool is_packed = false;     // two outputs in a word; up to 16 bits
    bool is_extreme =
        false;  // a kernel of halo_tile: the smallest or the largest of the neighbours
  };

  struct Resources {
    std::shared_ptr<CallOrder> call_order;  // of the staging memory
    std::shared_ptr<ImageStaging> staging;
  };

  static Resources allocate(const Runtime&, const Setup<Spec>&, const std::vector<cl::Program>&) {
    return {std::make_shared<CallOrder>(), std::make_shared<ImageStaging>()};
  }

  static const std::vector<Row>& variants() {
    static const std::vector<Row> all{
        Row("select", "finds the result bit by bit: all neighbours are read and counted for each")
            .baseline()
            .tunes({{"tile_width", {32, 64}}}),
        Row("local_tile", "the tile and its halo once into local memory")
            .with(&Traits::is_tile)
            .against("select", "the tile and its halo in local memory")
            .tunes({{"tile_height", {16, 8}}}),
        Row("local_tile_multi", "several outputs per item count each neighbour that is read")
            .with(&Traits::is_tile, &Traits::is_multi)
            .against("local_tile", "several outputs per item count each neighbour that is read")
            .tunes({{"outputs", {4, 8}}}),
        Row("network",
            "radius 1 to 3: sorted rows, and merges that two outputs share, in registers alone")
            .with(&Traits::is_multi, &Traits::is_network)
            .against("select", "compares neighbours with each other, once")
            .preferred()
            .tunes({{"outputs", {4, 2}}}),
        Row("network_packed",
            "radius 1 to 3, up to 16 bits: network with two columns in the halves of a word")
            .with(&Traits::is_multi, &Traits::is_network, &Traits::is_packed)
            .against("network", "two outputs in the halves of a word")
            .preferred()
            .tunes({{"outputs", {4, 2}}}),
        Row("sliding_histogram",
            "a histogram of the upper 8 bits per item goes down the rows; wider values by digits")
            .with(&Traits::is_histogram)
            .against("select", "neighbours are counted as they come and go")
            .tunes({{"tile_height", {64, 128}}}),
        Row("cpu_rows",
            "for CPUs: vectors of 16 channels, through networks up to radius 3, else bit by bit")
            .with(&Traits::is_tile)
            .against("local_tile", "vectors of 16 channels, networks where they are short")
            .for_cpus(),
        Row("cpu_columns",
            "for CPUs, 8 bits: a histogram per column, and those of the neighbours as vectors")
            .with(&Traits::is_columns)
            .against("cpu_rows", "histograms of columns, which a neighbourhood adds and subtracts")
            .for_cpus(),
        Row("columns_first",
            "the minimum and maximum: columns, then lines, neighbours share comparisons")
            .with(&Traits::is_extreme)
            .against("local_tile_multi",
                     "extremes separate: columns, then lines, neighbours share comparisons")
            .tunes({{"tile_width", {56, 120}}, {"outputs", {8, 4}}}),
        Row("cpu_windows",
            "for CPUs, the minimum and maximum: columns, then windows of lines, in vectors")
            .with(&Traits::is_extreme)
            .against("cpu_rows", "extremes separate into columns and lines")
            .for_cpus(),
    };
    return all;
  }

  static const std::vector<Axis<Tune>>& axes() {
    static const std::vector<Axis<Tune>> all{axis("tile_width", &Tune::tile_width),
                                             axis("tile_height", &Tune::tile_height),
                                             axis("outputs", &Tune::outputs)};
    return all;
  }

  static void check(const Problem& p) {
    pixel_type_name(p.pixel, kName);
    border_name(p.border, kName);
    check_range(kName, "width", p.width, 1, kMaxSize);
    check_range(kName, "height", p.height, 1, kMaxSize);
    check_range(kName, "radius", p.radius, 1, kMaxRadius);
    check_range(kName, "rank", p.rank, 0, 1);
    const std::uint64_t most = std::numeric_limits<std::size_t>::max() / 4;
    const std::uint64_t row = static_cast<std::uint64_t>(p.width) * pixel_bytes(p.pixel);
    if (static_cast<std::uint64_t>(p.height) > most / row) {
      fail(Errc::invalid_argument, kName,
           text("width ", p.width, " times height ", p.height, " overflows the address range"));
    }
  }

  static Tune defaults(const Row& row, const Problem& p, const DeviceInfo& device) {
    if (row.is_for_cpus) return {};
    if (row.traits.is_extreme) {
      const halo_tile::Tune tune =
          halo_tile::Spec::defaults(extreme_row(row), extreme_problem(p), device);
      return {tune.tile_width, tune.tile_height, tune.outputs};
    }
    if (row.traits.is_histogram) return {32, p.radius <= 8 ? 64 : 128, 1};
    if (row.traits.is_network) return {32, 16, p.radius == kNetworkRadius ? 2 : 4};
    if (!row.traits.is_tile) return {32, 8, 1};
    // A wide halo needs a high tile, where the local memory has room for it.
    Tune tune{32, row.traits.is_multi ? 64 : 16, row.traits.is_multi ? 4 : 1};
    const auto fits = [&] {
      const Setup<Spec> s{row, p, tune, device};
      const Launch::Sizes items = group(s);
      return local_bytes(s) <= device.local_mem && items[0] * items[1] <= device.max_group;
    };
    while (tune.tile_height > tune.outputs && !fits()) tune.tile_height /= 2;
    while (tune.tile_width > 8 && !fits()) tune.tile_width /= 2;
    return tune;
  }

  static void check_tune(const Setup<Spec>& s) {
    const Tune& tune = s.tune;
    if (s.row.is_for_cpus) {
      if (tune.tile_width == 0 && tune.tile_height == 0 && tune.outputs == 0) return;
      fail(Errc::invalid_argument, kName,
           text("the variant ", s.row.name, " has no tile to choose"));
    }
    check_range(kName, "tile_width", tune.tile_width, 1, 1024);
    check_range(kName, "tile_height", tune.tile_height, 1, 1024);
    check_range(kName, "outputs", tune.outputs, 1, 16);
    if (s.row.traits.is_extreme && tune.tile_width % tune.outputs != 0) {
      fail(Errc::invalid_argument, kName,
           text("tile_width must be a multiple of outputs, got ", tune.tile_width, " and ",
                tune.outputs));
    }
    if (!s.row.traits.is_multi && !s.row.traits.is_extreme && tune.outputs != 1) {
      fail(Errc::invalid_argument, kName,
           text("the variant ", s.row.name, " makes 1 output per item, got ", tune.outputs));
    }
    if (s.row.traits.is_network && tune.outputs % 2 != 0) {
      fail(
          Errc::invalid_argument, kName,
          text("the variant ", s.row.name, " takes an even number of outputs, got ", tune.outputs));
    }
    if (tune.tile_height % tune.outputs != 0) {
      fail(Errc::invalid_argument, kName,
           text("tile_height must be a multiple of outputs, got ", tune.tile_height, " and ",
                tune.outputs));
    }
  }

  static double bytes(const Problem& p) { return 2 * picture_bytes(p); }

  // Which variant wins depends on the radius and on the bits of a channel more than on the number of
  // bytes.
  static std::vector<std::string> tuning_names(const Problem& p) {
    const std::size_t bits = 8 * channel_bytes(channel_of(p.pixel));
    if (is_extreme(p)) return {text("rank_filter/", bits, " bits, extreme")};
    const char* radius = p.radius <= 1   ? "1"
                         : p.radius <= 2 ? "2"
                         : p.radius <= 3 ? "3"
                         : p.radius <= 7 ? "7"
                                         : "32";
    return {text("rank_filter/", bits, " bits, radius to ", radius)};
  }

  static Offer offer(const Runtime& runtime, const Setup<Spec>& s) {
    const Problem& p = s.problem;
    const Traits& traits = s.row.traits;
    if (s.row.is_for_cpus && s.device.cpu && !quirks::takes_cpu_kernels(s.device))
      return Offer::no(Lacks::feature, quirks::not_for_cpu_kernels(s.device));
    if (traits.is_extreme) {
      if (!is_extreme(p)) {
        return Offer::no(Lacks::problem,
                         text("it takes the smallest or the largest of the neighbours, got rank ",
                              p.rank, ", their number ", rank_number(p)));
      }
      const Extreme extreme(s);
      const Offer can = halo_tile::Spec::offer(runtime, extreme.setup);
      if (!can.can()) return can;
    }
    if (traits.is_network && p.radius > kNetworkRadius) {
      return Offer::no(Lacks::problem,
                       text("it takes a radius of 1 to ", kNetworkRadius, ", got ", p.radius));
    }
    if (traits.is_packed && channel_of(p.pixel) == Channel::f32) {
      return Offer::no(Lacks::problem, text("it takes channels of up to 16 bits, got ",
                                            pixel_type_name(p.pixel, kName)));
    }
    if (traits.is_columns && channel_of(p.pixel) != Channel::u8) {
      return Offer::no(Lacks::problem,
                       text("it takes 8-bit channels, got ", pixel_type_name(p.pixel, kName)));
    }
    if (traits.is_network && !traits.is_packed && p.radius > 1 &&
        quirks::breaks_networks(s.device)) {
      return Offer::no(Lacks::implementation,
                       s.device.platform + " ends the process over networks of radius 2 and 3");
    }
    Offer out;
    out.last = traits.is_extreme && !s.row.is_for_cpus && is_behind_networks(s);
    out.work.bytes_written = picture_bytes(p);
    out.work.bytes_read = picture_bytes(p);
    out.work.operations = operations(s) * p.width * p.height * channels_of(p.pixel);
    return out;
  }

  // Of columns_first: up to radius 3 its order saves little, and not what it costs that an item does so
  // much, where few groups leave the device half empty. As measured on an H200.
  static bool is_behind_networks(const Setup<Spec>& s) {
    const Problem& p = s.problem;
    if (p.radius > kNetworkRadius || quirks::breaks_networks(s.device)) return false;
    const Extreme extreme(s);
    const double groups = halo_tile::Spec::groups_of(extreme.problem, extreme.tune);
    return groups < (p.radius == 1 ? 8 : 0.5) * s.device.compute_units;
  }

  static std::vector<CompileUnit> units(const Setup<Spec>& s) {
    const Problem& p = s.problem;
    if (s.row.traits.is_extreme) {
      const Extreme extreme(s);
      CompileUnit unit = halo_tile::Spec::unit_without_pixel(extreme.setup);
      unit.label += text(" radius ", p.radius);
      set_keys(unit.defines, channel_of(p.pixel), channels_of(p.pixel));
      return {unit};
    }
    CompileUnit unit = variant_unit(s, embedded::rank_filter, group(s));
    unit.label = text(pixel_type_name(p.pixel, kName), " radius ", p.radius);
    unit.local_bytes = static_cast<std::size_t>(local_bytes(s));
    set_pixel(unit.defines, channel_of(p.pixel), channels_of(p.pixel));
    unit.defines.set("CLCOOK_RANK_FILTER_RADIUS", p.radius);
    if (has_network(s)) {
      unit.label += text(" rank ", rank_number(p));
      unit.defines.set("CLCOOK_RANK_FILTER_RANK", static_cast<int>(rank_number(p)));
    }
    if (s.row.is_for_cpus) {
      const auto [width, rows] = cpu_tile(s);
      unit.defines.set("CLCOOK_RANK_FILTER_TILE_W", width);
      unit.defines.set("CLCOOK_RANK_FILTER_TILE_H", rows);
      if (has_network(s) && channel_of(p.pixel) == Channel::u8 &&
          quirks::has_long_vectors(s.device))
        unit.defines.set("CLCOOK_RANK_FILTER_LANES", kCpuBytesVector);
      return {unit};
    }
    unit.defines.set("CLCOOK_RANK_FILTER_TILE_W", s.tune.tile_width);
    unit.defines.set("CLCOOK_RANK_FILTER_TILE_H", s.tune.tile_height);
    if (s.row.traits.is_multi) unit.defines.set("CLCOOK_RANK_FILTER_OUTPUTS", s.tune.outputs);
    if (s.row.traits.is_histogram) unit.defines.set("CLCOOK_RANK_FILTER_DIGIT", digit(p));
    return {unit};
  }

  static Launch::Sizes group(const Setup<Spec>& s) {
    if (s.row.traits.is_extreme) return halo_tile::Spec::group(Extreme(s).setup);
    if (s.row.is_for_cpus) return {1, 1, 1};
    const int rows = s.row.traits.is_histogram ? 1 : s.tune.tile_height / s.tune.outputs;
    return {static_cast<std::size_t>(s.tune.tile_width), static_cast<std::size_t>(rows), 1};
  }

  // Bytes of local memory that a group needs.
  static std::uint64_t local_bytes(const Setup<Spec>& s) {
    const Problem& p = s.problem;
    const auto halo = static_cast<std::uint64_t>(2 * p.radius);
    if (s.row.traits.is_extreme) return halo_tile::Spec::local_bytes(Extreme(s).setup);
    if (s.row.traits.is_columns)
      return (static_cast<std::uint64_t>(cpu_tile(s).width) + halo) * kColumnBytes;
    if (s.row.is_for_cpus) {
      return (static_cast<std::uint64_t>(cpu_width(p)) +
              halo * static_cast<std::uint64_t>(channels_of(p.pixel))) *
             (kCpuRows + halo) * channel_bytes(channel_of(p.pixel));
    }
    const auto width = static_cast<std::uint64_t>(s.tune.tile_width);
    if (s.row.traits.is_histogram) return 4 * width * static_cast<std::uint64_t>(bins(p));
    if (!s.row.traits.is_tile) return 0;
    return (width + halo) * (static_cast<std::uint64_t>(s.tune.tile_height) + halo) *
           channel_bytes(channel_of(p.pixel));
  }

  static bool is_local(const Row& row) {
    return row.traits.is_tile || row.traits.is_histogram || row.traits.is_columns;
  }

  // The setup of halo_tile whose kernel finds the extreme, on keys: these have no NaN, which halo_tile
  // leaves out. It refers to its other members.
  struct Extreme {
    explicit Extreme(const Setup<Spec>& s)
        : problem(extreme_problem(s.problem)),
          tune{s.tune.tile_width, s.tune.tile_height, s.row.is_for_cpus ? 0 : 1, s.tune.outputs},
          setup{extreme_row(s.row), problem, tune, s.device} {}
    Extreme(const Extreme&) = delete;
    Extreme& operator=(const Extreme&) = delete;

    halo_tile::Problem problem;
    halo_tile::Tune tune;
    Setup<halo_tile::Spec> setup;
  };

  // Width and height of a tile of a variant for CPUs: cpu_rows in channels, cpu_columns in pixels.
  struct CpuTile {
    int width;
    int rows;
  };
  static CpuTile cpu_tile(const Setup<Spec>& s) {
    if (s.row.traits.is_columns) {
      // As wide as the local memory has room for.
      const int room =
          static_cast<int>(std::min<std::uint64_t>(s.device.local_mem, 1u << 20)) / kColumnBytes -
          2 * s.problem.radius;
      return {room < kCpuVector ? kColumns : std::min(room, kColumns), kColumnRows};
    }
    return {cpu_width(s.problem), kCpuRows};
  }

  // Channels in a row of a tile of cpu_rows.
  static int cpu_width(const Problem& p) {
    const std::size_t rows = static_cast<std::size_t>(kCpuRows + 2 * p.radius);
    const int room = static_cast<int>(kCpuBytes / (rows * channel_bytes(channel_of(p.pixel))));
    const int width = (room - 2 * p.radius * channels_of(p.pixel)) / kCpuVector * kCpuVector;
    return std::min(std::max(width, 16 * kCpuVector), 64 * kCpuVector);
  }

 private:
  static const VariantRow<halo_tile::Spec>& extreme_row(const Row& row) {
    static const VariantOf<halo_tile::Spec> cpus("cpu_rows");
    static const VariantOf<halo_tile::Spec> others("columns_first");
    return *(row.is_for_cpus ? cpus : others).row();
  }
  static halo_tile::Problem extreme_problem(const Problem& p) {
    halo_tile::Problem out;
    out.filter = rank_number(p) == 0 ? halo_tile::Filter::erosion : halo_tile::Filter::dilation;
    out.width = p.width;
    out.height = p.height;
    out.radius = p.radius;
    out.pixel = p.pixel;
    out.border = p.border;
    return out;
  }

  static double picture_bytes(const Problem& p) {
    return static_cast<double>(pixel_bytes(p.pixel)) * p.width * p.height;
  }

  static bool has_network(const Setup<Spec>& s) {
    const bool rows = s.row.is_for_cpus && s.row.traits.is_tile;
    return s.row.traits.is_network || (rows && s.problem.radius <= kNetworkRadius);
  }

  // Of sliding_histogram: bits of a fine histogram, and words of both histograms.
  static int digit(const Problem& p) { return channel_of(p.pixel) == Channel::f32 ? 6 : 4; }
  static int bins(const Problem& p) {
    return channel_bytes(channel_of(p.pixel)) == 1 ? 128 : 128 + (1 << digit(p)) / 2;
  }

  // How much longer items take that are too few to hide what each of them waits for: 768 do for a
  // compute unit of an H200.
  static double waiting(const Setup<Spec>& s) {
    const Problem& p = s.problem;
    const double items = static_cast<double>(p.width) * p.height * channels_of(p.pixel) /
                         std::max(s.tune.outputs, 1);
    return std::max(1.0, 768.0 * s.device.compute_units / items);
  }

  // Of one output, in units of the device's rate. On GPUs a comparison of integers or an addition
  // runs at half the rate of multiply-adds, which count two, and a read of local memory or of the
  // first cache at a quarter of that.
  static double operations(const Setup<Spec>& s) {
    constexpr double kStep = 4;
    constexpr double kRead = 8;
    // A count in local memory that waits for the one before: as measured on an H200, where the
    // histograms leave room for too few items to hide it.
    constexpr double kCount = 192;
    const Problem& p = s.problem;
    const double side = 2 * p.radius + 1;
    const double n = side * side;
    const double bits = 8.0 * static_cast<double>(channel_bytes(channel_of(p.pixel)));
    const Traits& traits = s.row.traits;
    // Comparisons of a network, of one output.
    const double network = p.radius == 1 ? 20 : p.radius == 2 ? 84 : 296;
    if (traits.is_extreme) {
      // Some four comparisons along each direction, and what is read twice.
      const double reads = s.row.is_for_cpus ? (side + 7) / 8 : 1 + side / s.tune.tile_height;
      return (8 * kStep + reads * kRead) / (s.row.is_for_cpus ? kCpuVector : 1);
    }
    if (traits.is_columns) {
      // A value in and out of a column, and vectors of counts in and out of the neighbourhood: fine
      // counts of all its columns up to radius 7, then of those that are new since it was here last.
      const double sums = p.radius <= 7 ? 2 * side : 60;
      return kStep * (sums + 50 * (1 + side / kColumns) + 10 * side / kColumnRows);
    }
    if (s.row.is_for_cpus) return kStep / kCpuVector * (has_network(s) ? network : 3 * bits * n);
    if (traits.is_network) {
      const double rows = side + s.tune.outputs - 1;
      // A pair of values is packed in a step, which costs NVIDIA's GPUs what it saves: the H200
      // counts as many instructions.
      const double reads = rows * side / s.tune.outputs;
      const int at_once = traits.is_packed && !quirks::is_nvidia(s.device) ? 2 : 1;
      const double steps = network + (traits.is_packed ? reads : 0);
      return steps * kStep / at_once + reads * kRead;
    }
    if (traits.is_histogram) {
      // From one output to the next the median of a random picture moves by 256 / side values.
      const double upper = 2 * side + n / s.tune.tile_height + 256 / side;
      const double fine = (bits - 8) / digit(p) * (n + (1 << digit(p)));
      // An item goes down its rows step by step, so that a picture of few items leaves the device half
      // empty: some 7 groups of 32 items, with 16 KiB each, fill a compute unit of an H200.
      const double columns = static_cast<double>(p.width) * channels_of(p.pixel);
      const double items =
          columns * std::max(1.0, p.height / static_cast<double>(s.tune.tile_height));
      const double room = 7.0 * 32 * s.device.compute_units;
      return (upper + fine) * kCount * std::max(1.0, room / items);
    }
    if (traits.is_multi) {
      const double rows = (side + s.tune.outputs - 1) / side;
      // An output counts only the rows that are its own.
      return bits * n * rows * (kRead / s.tune.outputs + 3 * kStep) * waiting(s);
    }
    return bits * n * (kRead + (traits.is_tile ? 2 : 3) * kStep) * waiting(s);
  }
};

}  // namespace rank_filter

// A plan: constructed once, called often. Thread-safe as Plan says. Sizes and the border mode are
// not part of the program. The rank is part of it in the networks of radius 1 to 3, and whether it is
// the minimum or the maximum in the variants for these. Calls enqueue and return; they never block on
// the device.
class RankFilter : public Plan<rank_filter::Spec> {
 public:
  using Pixel = rank_filter::Pixel;
  // What lies outside of the picture; Border::constant is Problem::outside.
  using Border = clcook::Border;
  using Plan::Plan;

  static constexpr int kMaxSize = Spec::kMaxSize;
  static constexpr int kMaxRadius = Spec::kMaxRadius;

  // `src` filtered into `dst`, behind the events of `wait`. Offsets and pitches are multiples of
  // the pixel size, with 3 channels of the channel size. The views must not overlap. Throws
  // Error(invalid_argument), with nothing enqueued,
  // when a view breaks a rule.
  cl::Event operator()(const BufferView& src, const BufferView& dst,
                       const std::vector<cl::Event>& wait = {}) const {
    const CheckedView from = checked_view(src, Access::read, "src");
    const CheckedView to = checked_view(dst, Access::write, "dst");
    check_disjoint(from, to, Spec::kName, "src", "dst");
    return enqueue(runtime(), from, to, wait);
  }

  // From image to image, in the formats of stored_formats(). The pixels go through buffers of the
  // plan, so src and dst may be the same image; calls of one plan and its copies on images therefore
  // run one after the other on the device.
  cl::Event operator()(const ImageView& src, const ImageView& dst,
                       const std::vector<cl::Event>& wait = {}) const {
    const Problem& p = problem();
    const ImageLayout layout{static_cast<std::size_t>(p.width), static_cast<std::size_t>(p.height),
                             pixel_bytes(p.pixel), stored_formats(p.pixel)};
    return resources().staging->run(
        runtime(), layout, src, dst, wait, *resources().call_order, Spec::kName,
        [&](CallScope& scope, const auto& from, const auto& to, const auto& before) {
          return enqueue(scope.runtime(), from, to, before);
        });
  }

  // The value of that name. Throws Error(invalid_argument) that lists the names.
  static Pixel parse_pixel(std::string_view name) { return parse_pixel_type(name, Spec::kName); }
  static Border parse_border(std::string_view name) {
    return clcook::parse_border(name, Spec::kName);
  }

 private:
  Launch launch() const {
    const Problem& p = problem();
    const auto parts = [](int size, int part) {
      return (static_cast<std::size_t>(size) + static_cast<std::size_t>(part) - 1) /
             static_cast<std::size_t>(part);
    };
    const Launch::Sizes group = Spec::group(setup());
    const int channels = channels_of(p.pixel);
    if (row().is_for_cpus) {
      const auto [width, height] = Spec::cpu_tile(setup());
      const int planes = row().traits.is_columns ? channels : 1;
      return Launch::groups({parts(p.width * (channels / planes), width), parts(p.height, height),
                             static_cast<std::size_t>(planes)},
                            group);
    }
    const std::size_t rows = parts(p.height, tune().tile_height);
    if (row().traits.is_tile) {
      return Launch::groups(
          {parts(p.width, tune().tile_width), rows, static_cast<std::size_t>(channels)}, group);
    }
    const int columns = tune().tile_width * (row().traits.is_packed ? 2 : 1);
    return Launch::groups({parts(p.width * channels, columns), rows, 1}, group);
  }

  CheckedView checked_view(const BufferView& view, Access access, const char* name) const {
    const std::size_t bytes = pixel_bytes(problem().pixel);
    const RowLayout layout{static_cast<std::size_t>(problem().width) * bytes,
                           static_cast<std::size_t>(problem().height), pixel_step(problem().pixel)};
    return check_view(runtime(), view, layout, access, Spec::kName, name);
  }

  cl::Event enqueue(const Runtime& on, const CheckedView& src, const CheckedView& dst,
                    const std::vector<cl::Event>& wait) const {
    if (row().traits.is_extreme) return enqueue_extreme(on, src, dst, wait);
    const Problem& p = problem();
    KernelVolume picture{{}, p.width, p.height, 1, static_cast<cl_int>(p.border)};
    const std::array<std::uint32_t, 4> outside = rank_filter::stored_outside(p);
    static_assert(sizeof outside == sizeof picture.outside);
    std::memcpy(&picture.outside, outside.data(), sizeof outside);
    const auto rank = static_cast<cl_uint>(rank_filter::rank_number(p));
    const auto run = [&](const auto&... more) {
      return kernel(on)(launch(), wait, src.buffer, rows(src), dst.buffer, rows(dst), picture, rank,
                        more...);
    };
    if (!Spec::is_local(row())) return run();
    return run(LocalBytes{static_cast<std::size_t>(Spec::local_bytes(setup()))});
  }

  cl::Event enqueue_extreme(const Runtime& on, const CheckedView& src, const CheckedView& dst,
                            const std::vector<cl::Event>& wait) const {
    const Problem& p = problem();
    const Spec::Extreme extreme(setup());
    KernelVolume picture{{}, p.width, p.height, 1, static_cast<cl_int>(p.border)};
    // The constant as the kernel takes it: integers as floats, halfs and floats as the bits of keys.
    const Channel channel = channel_of(p.pixel);
    const std::array<std::uint32_t, 4> stored = rank_filter::stored_outside(p);
    for (std::size_t c = 0; c < 4; ++c) {
      const std::uint32_t key = rank_filter::key_of(stored[c], channel);
      if (is_integer(channel)) {
        picture.outside.s[c] = static_cast<float>(key);
      } else {
        std::memcpy(&picture.outside.s[c], &key, sizeof key);
      }
    }
    const halo_tile::Spec::Rows from{src.buffer, kernel_view(src, pixel_step(p.pixel))};
    const halo_tile::Spec::Rows to{dst.buffer, kernel_view(dst, pixel_step(p.pixel))};
    const LocalBytes local{static_cast<std::size_t>(halo_tile::Spec::local_bytes(extreme.setup))};
    const cl::Image2D none;
    halo_tile::Spec::Call call{kernels(on),
                               halo_tile::Spec::launch(extreme.setup),
                               local,
                               picture,
                               none,
                               from,
                               from,
                               to,
                               wait,
                               from,
                               1};
    return extreme.setup.row.run(call);
  }

  KernelView rows(const CheckedView& view) const {
    return kernel_view(view, channel_bytes(channel_of(problem().pixel)));
  }
};

CLCOOK_PLAN(rank_filter::Spec);

}  // namespace clcook
