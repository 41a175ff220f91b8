// The card of the recipe halo_tile.
//
// Problem: a filter of a pixel's neighbourhood, such as the largest of 3 x 3 pixels, reads every
// pixel of a picture nine times. Why direct is slow: each of these reads goes through the cache
// hierarchy, 81 per pixel at radius 4. What each variant changes: see its summary, and
// docs/halo_tile.md. When it does not help: where the first-level cache is as fast as local memory
// and the radius is small, the cache does the tile's work without a barrier; on a CPU local memory
// is ordinary memory.
#pragma once

#include <algorithm>
#include <array>
#include <clcook/halo_tile.hpp>
#include <clcook/model/halo.hpp>
#include <clcook/reference/halo_tile.hpp>
#include <clcook/registry/guarded_buffer.hpp>
#include <clcook/registry/in_parallel.hpp>
#include <clcook/registry/pixels.hpp>
#include <clcook/registry/plan_case.hpp>
#include <clcook/registry/random.hpp>
#include <clcook/registry/recipe.hpp>
#include <clcook/registry/source_image.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace clcook::cookbook {
namespace halo_tile_card {

// The problem of a shape; recipe.parameters names its values.
inline HaloTile::Problem problem(const Params& shape) {
  HaloTile::Problem out;
  out.filter = HaloTile::parse_filter(shape.word("filter"));
  out.width = shape.as<int>("width");
  out.height = shape.as<int>("height");
  out.depth = shape.as<int>("depth");
  out.radius = shape.as<int>("radius");
  out.pixel = HaloTile::parse_pixel(shape.word("pixel"));
  out.border = HaloTile::parse_border(shape.word("border"));
  out.outside = {0.25f, -2.0f, std::numeric_limits<float>::quiet_NaN(), 3.0f};
  // Between two values, and beyond the largest.
  if (is_integer(channel_of(out.pixel))) {
    out.outside[0] = 100.5f;
    out.outside[3] = 1e6f;
  }
  return out;
}

// Items in a row of a work-group of kItems; 0: the tuning's.
constexpr int kItems = 256;
inline int tile_width(const Params& shape) {
  const auto value = shape.as<int>("tile_width");
  if (value != 0 && kItems % value != 0) {
    fail(Errc::invalid_argument, "halo_tile",
         text("tile_width must be 0 or a divisor of ", kItems, ", got ", value));
  }
  return value;
}

// What a variant runs with: the tuning, or the work-group that the shape says.
inline HaloTile::Tune tune_of(const HaloTile::Row& row, const Params& tune, const Params& shape) {
  HaloTile::Tune out = HaloTile::Posed::parse_tune(tune);
  const int width = tile_width(shape);
  if (width == 0 || row.is_for_cpus) return out;
  // Groups of these have the items that their tile needs.
  if (row.traits.has_columns() || row.traits.is_slices) return out;
  if (!row.traits.has_outputs()) return {width, kItems / width, 1, 1};
  if (out.outputs == 0) out.outputs = 4;
  const int wide = row.traits.is_block ? HaloTile::Spec::wide(problem(shape)) : 1;
  return {wide * width, kItems / width * out.outputs, 1, out.outputs};
}

class HaloCase : public PlanCase<HaloTile> {
 public:
  HaloCase(const Runtime& runtime, const Params& shape, std::uint64_t seed)
      : PlanCase(runtime, problem(shape)) {
    tile_width(shape);  // refuses an impossible one
    const std::size_t rows =
        static_cast<std::size_t>(problem_.height) * static_cast<std::size_t>(problem_.depth);
    // The filters would ignore a NaN, so the sources have another poison, as large as all data or
    // larger: bytes of 0x7F are the float 3.4e38, of 0x7B the half 61312, of 0xFF the largest
    // integer.
    const bool integers = is_integer(channel());
    const bool halfs = channel() == Channel::f16;
    make_rows(src_, shape, rows, 1, integers ? 0xFF : halfs ? 0x7B : 0x7F);
    make_rows(history_, shape, rows, 2, integers ? 0xFE : halfs ? 0x7A : 0x7E);
    make_rows(dst_, shape, rows, 0, 0xCD);
    in_.width = problem_.width;
    in_.height = problem_.height;
    in_.depth = problem_.depth;
    in_.channels = channels_of(problem_.pixel);
    Random random(seed);
    const std::size_t values = src_->row_bytes() / channel_bytes(channel()) * rows;
    const bool specials = shape.integer("specials") != 0;
    in_.values = data(random, values, specials);
    stored_ = store_channels(channel(), in_.values);
    if (problem_.filter == HaloTile::Filter::clamp) {
      past_ = data(random, values, specials);
      stored_past_ = store_channels(channel(), past_);
    }
    if (problem_.depth == 1)
      image_ = SourceImage(runtime, image_format(problem_.pixel), problem_.width, problem_.height);
  }

  void poison() override {
    src_->poison();
    history_->poison();
    dst_->poison();
    if (!image_.is_null()) image_.poison(stored_.size(), 0x7B);
  }

  cl::Event upload(const std::vector<cl::Event>& wait) override {
    cl::Event done = src_->upload(stored_.data(), wait);
    if (!past_.empty()) done = history_->upload(stored_past_.data(), {done});
    if (!image_.is_null()) done = image_.upload(stored_.data(), {done});
    return done;
  }

  // If the variant reads an image, that is not among them.
  std::vector<Operand> operands() override {
    std::vector<Operand> out;
    if (!of_image()) out.push_back({"src", &*src_, Access::read});
    if (is_clamp()) out.push_back({"history", &*history_, Access::read});
    out.push_back({"dst", &*dst_, Access::write});
    return out;
  }

  cl::Event call(const std::vector<BufferView>& views,
                 const std::vector<cl::Event>& wait) override {
    if (of_image())
      return is_clamp() ? plan()(image_.image(), views[0], views[1], wait)
                        : plan()(image_.image(), views[0], wait);
    return is_clamp() ? plan()(views[0], views[1], views[2], wait)
                      : plan()(views[0], views[1], wait);
  }

  // The filters only compare, so the bound is 0. -0 and +0 are equal.
  Diff check(const std::vector<cl::Event>& wait) override {
    Diff diff;
    const std::vector<unsigned char> got = dst_->read(wait, diff, "dst");
    const std::vector<float>& expected = reference();
    const Channel channel = this->channel();
    compare_in_parallel(diff, expected.size(), [&](Diff& part, std::size_t e) {
      const std::size_t i = compared_[e / row()] * row() + e % row();
      const auto where = [&] { return place_of(i, in_.width, in_.channels); };
      part.compare(where, static_cast<double>(expected[e]), load_channel(channel, got.data(), i),
                   0);
    });
    return diff;
  }

  Work work() const override {
    Work work;
    const auto bytes = static_cast<double>(stored_.size());
    work.bytes_read = past_.empty() ? bytes : 2 * bytes;
    work.bytes_written = bytes;
    return work;
  }

 private:
  bool is_clamp() const { return problem_.filter == HaloTile::Filter::clamp; }
  bool of_image() const { return plan().variant().row()->traits.is_image; }
  Channel channel() const { return channel_of(problem_.pixel); }

  // Few different values, so that there are ties. Specials come one by one and in blocks, so that
  // some neighbourhoods hold nothing else.
  std::vector<float> data(Random& random, std::size_t count, bool specials) const {
    std::vector<float> out(count);
    for (float& value : out) {
      const int step = static_cast<int>(random.below(4001));
      value = is_integer(channel()) ? static_cast<float>(step * (channel() == Channel::u8 ? 1 : 16))
                                    : static_cast<float>(step - 2000) * 0.0005f;
      value = stored_value(channel(), value);
    }
    if (!specials) return out;
    const float inf = std::numeric_limits<float>::infinity();
    const float kinds[] = {std::numeric_limits<float>::quiet_NaN(),
                           std::numeric_limits<float>::quiet_NaN(), inf, -inf, -0.0f};
    for (float& value : out) {
      if (random.below(12) == 0) value = stored_value(channel(), kinds[random.below(5)]);
    }
    const auto row =
        static_cast<std::size_t>(problem_.width) * static_cast<std::size_t>(in_.channels);
    for (std::size_t block = 0; block < 1 + count / 200; ++block) {
      const std::size_t first = random.below(count);
      const float kind = stored_value(channel(), kinds[random.below(5)]);
      for (std::size_t y = 0; y < 6; ++y) {
        for (std::size_t x = 0; x < 6 * static_cast<std::size_t>(in_.channels); ++x) {
          if (first + y * row + x < count) out[first + y * row + x] = kind;
        }
      }
    }
    return out;
  }

  const std::vector<float>& reference() {
    if (!expected_.empty()) return expected_;
    namespace ref = reference::halo_tile;
    const ref::Border border = reference::border_named(border_name(problem_.border, "halo_tile"));
    std::array<float, 4> outside{};
    for (std::size_t c = 0; c < 4; ++c) outside[c] = stored_value(channel(), problem_.outside[c]);
    const auto of_rows = [&](std::size_t begin, std::size_t end) {
      const ref::Rows rows{begin, end};
      switch (problem_.filter) {
        case HaloTile::Filter::erosion:
          return ref::erosion(in_, problem_.radius, border, outside, rows);
        case HaloTile::Filter::median:
          return ref::median(in_, problem_.radius, border, outside, rows);
        case HaloTile::Filter::clamp:
          return ref::clamp(in_, past_, problem_.radius, border, outside, rows);
        default:
          return ref::dilation(in_, problem_.radius, border, outside, rows);
      }
    };
    const double window = std::pow(2 * problem_.radius + 1, problem_.depth > 1 ? 3 : 2);
    compared_ =
        compared_rows(in_.values.size() / row(), static_cast<double>(row()) * window, is_sampled_);
    return expected_ = rows_in_parallel(compared_, row(), of_rows);
  }
  std::size_t row() const {
    return static_cast<std::size_t>(in_.width) * static_cast<std::size_t>(in_.channels);
  }

  std::optional<GuardedBuffer> history_;
  SourceImage image_;
  reference::halo_tile::Volume in_;
  std::vector<float> past_;
  std::vector<unsigned char> stored_;
  std::vector<unsigned char> stored_past_;
  std::vector<std::size_t> compared_;  // rows
  std::vector<float> expected_;        // of these
};

// A picture, or with a depth a volume.
inline Params shape(const char* filter, int width, int height, int radius, const char* pixel,
                    const char* border, int depth = 1) {
  Params out{{"filter", std::string(filter)},
             {"width", std::int64_t{width}},
             {"height", std::int64_t{height}}};
  if (depth != 1) out.set("depth", std::int64_t{depth});
  out.set("radius", std::int64_t{radius});
  out.set("pixel", std::string(pixel));
  out.set("border", std::string(border));
  return out;
}

}  // namespace halo_tile_card

inline Recipe halo_tile() {
  using card_shapes::test;
  using halo_tile_card::shape;
  Recipe recipe;
  recipe.title = "Neighbourhoods in a local tile";
  recipe.question = "A tile with its border in local memory?";
  recipe.for_cpus = "cpu_rows";
  recipe.family = "memory locality";
  recipe.headline_pair = {"local_tile", "direct"};
  recipe.summary =
      "Dilation, erosion, 3 x 3 median and neighbourhood clamp: every neighbour from global "
      "memory, through "
      "an image, from a tile in local memory, with neighbours shared by several outputs per item, "
      "down the slices of a volume, and in columns first.";
  recipe.parameters = {
      Parameter::word("filter", "what is made of a neighbourhood", names_of(halo_tile::kFilters),
                      "dilation"),
      Parameter::integer("width", "pixels", 1, HaloTile::kMaxSize),
      Parameter::integer("height", "pixels", 1, HaloTile::kMaxSize),
      Parameter::integer("depth", "pictures of the volume", 1, HaloTile::kMaxSize, "1"),
      Parameter::integer("radius", "of the neighbourhood, pixels", 1, HaloTile::kMaxRadius, "1"),
      Parameter::word("pixel", "type of a pixel", names_of(kPixelTypes), "rgba32f"),
      Parameter::word("border", "what lies outside", names_of(kBorders), "clamp"),
      Parameter::integer("offset", "pixels, of 3 channels channels, before the first row", 0,
                         1 << 20, "0"),
      Parameter::integer("pad", "the same behind each row", 0, 1 << 20, "0"),
      Parameter::integer("specials", "1: NaN and infinities among the data", 0, 1, "0"),
      Parameter::integer("tile_width", "items in a row of a work-group of 256; 0: the tuning's", 0,
                         256, "0"),
  };
  describe<HaloTile, halo_tile_card::HaloCase>(recipe, halo_tile_card::problem,
                                               halo_tile_card::tune_of);
  recipe.test_shapes = {
      test(shape("dilation", 1, 1, 1, "rgba32f", "clamp"), 0, 0, true),
      test(shape("median", 9, 5, 1, "r32f", "mirror"), 3, 2, true),
      test(shape("clamp", 17, 6, 1, "rgba32f", "constant"), 1, 5, true),
      test(shape("dilation", 33, 2, 4, "r32f", "wrap"), 2, 1, true),
      test(shape("dilation", 7, 4, 1, "r32f", "wrap", 3), 2, 3, true),
      test(shape("dilation", 1, 97, 1, "rgba32f", "wrap")),
      test(shape("dilation", 97, 1, 1, "rgba32f", "mirror")),
      test(shape("dilation", 257, 35, 1, "rgba32f", "clamp"), 4, 3),
      test(shape("median", 15, 17, 1, "r32f", "constant")),
      test(shape("median", 16, 16, 1, "r32f", "wrap"), 5, 7),
      test(shape("median", 131, 67, 1, "r32f", "clamp"), 7, 9),
      test(shape("clamp", 64, 33, 1, "rgba32f", "clamp")),
      test(shape("clamp", 65, 31, 1, "rgba32f", "mirror"), 1, 1),
      test(shape("dilation", 53, 41, 4, "r32f", "constant"), 3, 4),
      test(shape("dilation", 3, 2, 4, "r32f", "mirror"), 1, 2),
      test(shape("dilation", 32, 32, 4, "r32f", "clamp")),
      test(shape("dilation", 32, 6, 1, "r32f", "wrap"), 0, 3),
      test(shape("dilation", 131, 71, 4, "r32f", "mirror"), 1, 3),
      test(shape("dilation", 37, 9, 1, "r32f", "mirror", 11), 1, 3),
      test(shape("dilation", 8, 8, 1, "r32f", "constant", 8)),
      test(shape("dilation", 37, 21, 4, "r16", "mirror", 13), 3, 1, true),
      test(shape("erosion", 21, 18, 1, "rgb8", "constant", 20), 1, 2),
      test(shape("dilation", 9, 7, 1, "r32f", "clamp", 17), 6, 1),
      test(shape("dilation", 37, 9, 1, "rgba8", "constant"), 1, 3, true),
      test(shape("median", 21, 7, 1, "r16f", "constant"), 3, 1, true),
      test(shape("dilation", 259, 21, 2, "r8", "mirror"), 5, 7),
      test(shape("median", 67, 19, 1, "r8", "clamp"), 3, 1),
      test(shape("clamp", 65, 31, 1, "rgba8", "constant"), 1, 1),
      test(shape("clamp", 53, 37, 3, "r16", "wrap"), 3, 5),
      test(shape("median", 61, 23, 1, "rgba16", "mirror"), 2, 3),
      test(shape("dilation", 71, 33, 4, "rgba16f", "constant"), 1, 3),
      test(shape("clamp", 129, 17, 1, "r16f", "clamp"), 7, 5),
      test(shape("dilation", 19, 9, 1, "r8", "wrap", 7), 3, 2),
      test(shape("clamp", 9, 11, 1, "rgba16f", "mirror", 5), 1, 1),
      test(shape("dilation", 1, 1, 1, "rgba8", "reflect_101", 3)),
      test(shape("dilation", 37, 1, 5, "r32f", "reflect_101", 2), 1, 3, true),
      test(shape("dilation", 3, 2, 9, "r8", "reflect_101"), 1, 2),
      test(shape("median", 67, 35, 1, "r32f", "reflect_101"), 3, 1),
      test(shape("clamp", 129, 41, 1, "rgba16f", "reflect_101"), 1, 1),
      test(shape("dilation", 131, 33, 4, "rgba32f", "reflect_101"), 2, 1),
      test(shape("dilation", 70, 19, 1, "r16", "reflect_101", 9), 5, 3),
      test(shape("dilation", 37, 9, 1, "rg8", "constant"), 1, 3, true),
      test(shape("median", 67, 19, 1, "rg16", "mirror"), 3, 1),
      test(shape("clamp", 65, 31, 3, "rg16f", "constant"), 1, 5),
      test(shape("dilation", 131, 71, 4, "rg32f", "wrap"), 1, 3),
      test(shape("dilation", 71, 33, 1, "rg16f", "reflect_101", 5), 2, 1),
      test(shape("clamp", 401, 5, 9, "rg8", "clamp"), 3, 2),
      test(shape("erosion", 37, 9, 1, "r32f", "mirror"), 1, 2, true),
      test(shape("erosion", 131, 33, 4, "rgb8", "clamp"), 1, 2),
      test(shape("erosion", 53, 21, 2, "rgba16f", "constant"), 1, 3),
      test(shape("erosion", 19, 9, 1, "r8", "wrap", 7), 3, 2),
      test(shape("dilation", 37, 9, 1, "rgb8", "constant"), 1, 2, true),
      test(shape("median", 67, 19, 1, "rgb8", "mirror"), 2, 1),
      test(shape("clamp", 65, 31, 1, "rgb16", "wrap"), 1, 5),
      test(shape("dilation", 131, 71, 4, "rgb32f", "constant"), 1, 2),
      test(shape("clamp", 41, 33, 3, "rgb16f", "constant"), 4, 1),
      test(shape("dilation", 401, 7, 17, "rgb8", "constant"), 2, 1),
      test(shape("median", 797, 5, 1, "rgb32f", "clamp"), 1, 1),
      test(shape("dilation", 19, 9, 1, "rgb16", "reflect_101", 7), 2, 1),
      // Several tiles of cpu_rows in a row, and a border that lies in another one.
      test(shape("clamp", 131, 9, 1, "rgba32f", "wrap"), 2, 1),
      test(shape("dilation", 401, 5, 17, "rgba32f", "wrap"), 1, 2),
      // More than 2^15 slices, and tiles along a line and a column.
      test(shape("dilation", 1, 1, 1, "r8", "wrap", 32771)),
      test(shape("dilation", 1048579, 1, 1, "r8", "mirror")),
      test(shape("dilation", 1, 1048579, 1, "r8", "mirror")),
  };
  for (const std::int64_t width : {256, 64, 8}) {
    recipe.test_shapes.push_back(
        test(shape("dilation", 67, 35, 2, "r32f", "clamp"), 1, 2).set("tile_width", width));
  }
  recipe.bench_shapes = {
      shape("dilation", 3840, 2160, 1, "rgba32f", "clamp"),
      shape("dilation", 3840, 2160, 4, "rgba32f", "clamp"),
      shape("median", 3840, 2160, 1, "r32f", "clamp"),
      shape("clamp", 3840, 2160, 1, "rgba32f", "clamp"),
      shape("dilation", 256, 256, 1, "r32f", "clamp", 256),
      shape("dilation", 128, 128, 3, "r32f", "clamp", 128),
      shape("dilation", 1024, 1024, 1, "rgba32f", "clamp"),
  };
  recipe.quick_shape = shape("dilation", 640, 360, 1, "rgba32f", "clamp");
  // Work-groups of 256 work-items, from narrow tiles to flat ones. The halo is that of the perimeter;
  // what a tile takes longer than one of the same perimeter, such as 4 x 64 than 64 x 4, is due to
  // its short rows, most of all with small pixels.
  Sweep tiles;
  tiles.shape = shape("dilation", 3840, 2160, 1, "rgba32f", "clamp");
  tiles.families = {{"radius", {std::int64_t{1}, std::int64_t{4}}},
                    {"pixel", {std::string("rgba32f"), std::string("r32f")}}};
  tiles.smoke = {{"width", std::int64_t{67}}, {"height", std::int64_t{35}}};
  tiles.along.name = "tile_width";
  for (const std::int64_t width : {4, 8, 16, 32, 64, 128, 256})
    tiles.along.values.emplace_back(width);
  tiles.label = "work-items in a row of a work-group of 256";
  tiles.model_name = "bytes read per output";
  tiles.model = [](const std::string& variant, const Params& at, std::uint64_t) {
    const HaloTile::Row& row = *HaloTile::Variant(variant).row();
    const HaloTile::Tune tune = halo_tile_card::tune_of(row, {}, at);
    const auto side = [](int value) { return static_cast<std::uint64_t>(value); };
    const auto radius = static_cast<std::uint64_t>(at.integer("radius", 1));
    const auto bytes = static_cast<double>(pixel_bytes(HaloTile::parse_pixel(at.word("pixel"))));
    if (row.is_for_cpus || tune.tile_width == 0) return bytes;  // no tile of that kind
    return bytes *
           model::halo_2d(side(tune.tile_width), side(tune.tile_height), radius).tile_loads();
  };
  recipe.sweeps = {tiles};
  recipe.shows = {
      {10,
       "direct against local_tile, at every tile, in 2-D and 3-D",
       {Experiment::pair("direct", "local_tile", "filter=dilation depth=256", "volume, radius 1"),
        Experiment::pair("direct", "local_tile", "filter=dilation radius=4", "radius 4"),
        Experiment::pair("direct", "local_tile", "filter=dilation width=3840 radius=1",
                         "radius 1")}},
      {11,
       "sweep along tile_width: tiles of one area and more and more halo; the axis tile",
       {Experiment::sweep("local_tile@256", "local_tile@32",
                          "along=tile_width radius=4 pixel=rgba32f",
                          "radius 4, four floats, tiles of 256 x 1 to tiles of 32 x 8"),
        Experiment::sweep("local_tile@256", "local_tile@32", "along=tile_width radius=4 pixel=r32f",
                          "radius 4, one float, tiles of 256 x 1 to tiles of 32 x 8")}},
      {4,
       "the axis tile of direct and local_tile: groups of 64 to 1024 items with and without "
       "sharing",
       {Experiment::not_tested("clcook bench halo_tile --all-tunes; not run on this device yet")}},
      {16,
       "image against image_no_sampler",
       {Experiment::pair("image", "image_no_sampler", "filter=dilation radius=1", "four floats"),
        Experiment::pair("image", "image_no_sampler", "filter=median", "one float")}},
      {25,
       "local_tile against direct and image: local memory against the cache",
       {Experiment::pair("direct", "local_tile", "filter=dilation radius=4", "radius 4")}},
  };
  return recipe;
}

}  // namespace clcook::cookbook
