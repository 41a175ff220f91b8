// Neighbourhood filters of pictures and volumes: dilation, 3 x 3 median, and the neighbourhood
// clamp of temporal anti-aliasing.
//
//   clcook::HaloTile grow{runtime, {clcook::HaloTile::Filter::dilation, 1920, 1080}};
//   cl::Event done = grow(src, dst, {uploaded});
//
//   clcook::HaloTile clamp{runtime, {clcook::HaloTile::Filter::clamp, 1920, 1080}};
//   cl::Event clamped = clamp(frame, history, result);
//
// A neighbourhood is the (2 radius + 1)^2 pixels around a pixel, (2 radius + 1)^3 in a volume.
// Channels are filtered independently. The filters only compare: results are exact. A NaN among the
// neighbours counts as -infinity in a maximum, as +infinity in a minimum and in the median; a
// history of NaN becomes the minimum of the neighbours, and a clamp without any number among the
// neighbours leaves the history as it is.
#pragma once

#include <array>
#include <clcook/core/border.hpp>
#include <clcook/core/defines.hpp>
#include <clcook/core/error.hpp>
#include <clcook/core/launch.hpp>
#include <clcook/core/names.hpp>
#include <clcook/core/runtime.hpp>
#include <clcook/core/source.hpp>
#include <clcook/core/view.hpp>
#include <clcook/embedded/halo_tile.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace clcook {

// A plan: constructed once, called often. Construction builds the program, or takes it from the
// runtime's cache: sizes and border mode are no part of it. Calls enqueue and return; they never
// block on the device. All const member functions may be called from several threads.
class HaloTile {
 public:
  enum class Filter {
    dilation,  // the maximum of the neighbourhood
    median,    // its median; radius 1, pictures only
    clamp,     // the pixel of a second picture, the history, brought between minimum and maximum
  };

  enum class Pixel {
    r32f,     // 1 float
    rgba32f,  // 4 floats, 16 bytes
  };

  // What lies outside of the picture; Border::constant is Problem::outside.
  using Border = clcook::Border;

  struct Problem {
    Filter filter = Filter::dilation;
    int width = 0;   // pixels, 1 to kMaxSize
    int height = 0;  // pixels, 1 to kMaxSize
    int depth = 1;   // more than 1: a volume, as depth times height rows at one pitch
    int radius = 1;  // pixels, 1 to kMaxRadius; may exceed the picture
    Pixel pixel = Pixel::rgba32f;
    Border border = Border::clamp;
    std::array<float, 4> outside{};  // of the border mode constant, by channel; may be NaN
  };

  enum class Variant {
    automatic,         // what was measured to be fastest of those that read buffers
    direct,            // every neighbour from global memory
    direct_multi,      // several outputs per item, rows of neighbours shared; pictures only
    image,             // every neighbour through the texture unit; the source is an image
    local_tile,        // tile and halo in local memory
    local_tile_multi,  // the same with several outputs per item; pictures only
    cpu_rows,          // for CPUs: explicit vectors, no local memory
  };

  // How to run, for tuning; 0 is the variant's default. cpu_rows has no choice.
  struct Tune {
    int tile_width = 0;   // outputs of a work-group
    int tile_height = 0;  // a multiple of `outputs`
    int tile_depth = 0;   // 1 for pictures
    int outputs = 0;      // per item, in a column: direct_multi and local_tile_multi
  };

  static constexpr int kMaxSize = 1 << 28;
  static constexpr int kMaxRadius = 64;

  // Throws Error: invalid_argument for a value out of range, unsupported where the device or the
  // variant cannot serve the problem or the tile, build_failed.
  HaloTile(const Runtime& runtime, const Problem& problem, Variant variant, Tune tune)
      : runtime_(runtime), problem_(problem) {
    check_problem(problem);
    to_string(variant);  // refuses a value that is no variant
    choose(variant, tune);
    variant_ = variant;
    tune_ = checked(tune);
    program_ = runtime.build(Source(embedded::halo_tile), defines(problem, variant_, tune_),
                             text("halo_tile/", to_string(variant_), " ", to_string(problem.filter),
                                  " ", to_string(problem.pixel), " radius ", problem.radius));
    Kernel(runtime_, program_, kernel_name(variant_)).check_launch(launch(), local_bytes());
  }
  explicit HaloTile(const Runtime& runtime, const Problem& problem,
                    Variant variant = Variant::automatic)
      : HaloTile(runtime, problem, variant, Tune{}) {}

  // Dilation and median of `src` into `dst`, behind the events of `wait`. Offsets and pitches are
  // multiples of the pixel size. The views must not overlap. Throws Error(invalid_argument), with
  // nothing enqueued, when a view breaks a rule.
  cl::Event operator()(const BufferView& src, const BufferView& dst,
                       const std::vector<cl::Event>& wait = {}) const {
    need_filter(false);
    need_source(false);
    const CheckedView from = checked_view(src, Access::read, "src");
    const CheckedView to = checked_view(dst, Access::write, "dst");
    check_disjoint(from, to, kName, "src", "dst");
    return enqueue(from, from, to, wait);
  }

  // Clamp: `history` brought between the minimum and maximum of the neighbours in `src`.
  cl::Event operator()(const BufferView& src, const BufferView& history, const BufferView& dst,
                       const std::vector<cl::Event>& wait = {}) const {
    need_filter(true);
    need_source(false);
    const CheckedView from = checked_view(src, Access::read, "src");
    const CheckedView past = checked_view(history, Access::read, "history");
    const CheckedView to = checked_view(dst, Access::write, "dst");
    check_disjoint(from, to, kName, "src", "dst");
    check_disjoint(past, to, kName, "history", "dst");
    return enqueue(from, past, to, wait);
  }

  // The same for the variant image. The picture is the whole image, of the size of the problem:
  // CL_R or CL_RGBA with CL_FLOAT.
  cl::Event operator()(const cl::Image2D& src, const BufferView& dst,
                       const std::vector<cl::Event>& wait = {}) const {
    need_filter(false);
    need_source(true);
    check_image(src);
    const CheckedView to = checked_view(dst, Access::write, "dst");
    return enqueue(src, to, to, wait);
  }
  cl::Event operator()(const cl::Image2D& src, const BufferView& history, const BufferView& dst,
                       const std::vector<cl::Event>& wait = {}) const {
    need_filter(true);
    need_source(true);
    check_image(src);
    const CheckedView past = checked_view(history, Access::read, "history");
    const CheckedView to = checked_view(dst, Access::write, "dst");
    check_disjoint(past, to, kName, "history", "dst");
    return enqueue(src, past, to, wait);
  }

  const Problem& problem() const { return problem_; }
  // The variant that runs; never automatic.
  Variant variant() const { return variant_; }
  // The tile that runs; zeros for cpu_rows.
  const Tune& tune() const { return tune_; }

  // Under which name tunings of a problem are filed.
  static std::string tuning_name(const Problem& p) {
    return text("halo_tile/", to_string(p.filter), p.depth > 1 ? " volume" : "",
                p.radius == 1 ? "" : " wide");
  }

  // The definitions that select a program; `tune` without zeros. For tools; plans call it
  // themselves.
  static Defines defines(const Problem& problem, Variant variant, const Tune& tune) {
    Defines out;
    out.flag("CLCOOK_HALO_TILE_ONLY");
    out.flag("CLCOOK_HALO_TILE_" + upper(to_string(variant)));
    out.flag("CLCOOK_HALO_TILE_" + upper(to_string(problem.filter)));
    if (problem.pixel == Pixel::rgba32f) out.flag("CLCOOK_HALO_TILE_RGBA32F");
    if (problem.depth > 1) out.flag("CLCOOK_HALO_TILE_VOLUME");
    out.set("CLCOOK_HALO_TILE_RADIUS", problem.radius);
    if (variant == Variant::cpu_rows) return out;
    out.set("CLCOOK_HALO_TILE_TILE_W", tune.tile_width);
    out.set("CLCOOK_HALO_TILE_TILE_H", tune.tile_height);
    out.set("CLCOOK_HALO_TILE_TILE_D", tune.tile_depth);
    if (is_multi(variant)) out.set("CLCOOK_HALO_TILE_OUTPUTS", tune.outputs);
    return out;
  }

  // A tune with its zeros replaced by the variant's defaults.
  static Tune with_defaults(const Problem& problem, Variant variant, Tune tune) {
    if (variant == Variant::cpu_rows) return tune;
    const bool volume = problem.depth > 1;
    if (tune.outputs == 0) tune.outputs = is_multi(variant) ? 4 : 1;
    if (tune.tile_width == 0) tune.tile_width = is_multi(variant) ? 32 : volume ? 8 : 16;
    if (tune.tile_height == 0) tune.tile_height = volume ? 8 : 16;
    if (tune.tile_depth == 0) tune.tile_depth = volume ? 8 : 1;
    return tune;
  }

  // Bytes of local memory that a group needs.
  static std::uint64_t local_bytes(const Problem& p, Variant variant, const Tune& tune) {
    if (variant != Variant::local_tile && variant != Variant::local_tile_multi) return 0;
    const auto halo = 2 * static_cast<std::uint64_t>(p.radius);
    const std::uint64_t w = static_cast<std::uint64_t>(tune.tile_width) + halo;
    const std::uint64_t h = static_cast<std::uint64_t>(tune.tile_height) + halo;
    const std::uint64_t d = static_cast<std::uint64_t>(tune.tile_depth) + (p.depth > 1 ? halo : 0);
    if (variant == Variant::local_tile_multi && p.radius >= 2) {
      // The tile and, beside it, one row value per output and row of the tile, at odd pitches.
      const std::uint64_t values = p.filter == Filter::clamp ? 2 : 1;
      const std::uint64_t row = static_cast<std::uint64_t>(tune.tile_width) | 1;
      return ((w | 1) * h + values * row * h) * pixel_bytes(p.pixel);
    }
    std::uint64_t pitch = w;
    // CLCOOK_HALO_PITCH
    const auto tile = static_cast<std::uint64_t>(tune.tile_width);
    if (p.depth > 1 && p.pixel == Pixel::r32f && tile < 32 && 32 % tile == 0) {
      pitch = tile * (((halo + tile - 1) / tile + 1) | 1);
    }
    return pitch * h * d * pixel_bytes(p.pixel);
  }

  static std::string kernel_name(Variant variant) {
    return std::string("halo_tile_") + to_string(variant);
  }

  static std::size_t pixel_bytes(Pixel pixel) { return pixel == Pixel::rgba32f ? 16 : 4; }
  static bool is_multi(Variant v) {
    return v == Variant::direct_multi || v == Variant::local_tile_multi;
  }

  // Every variant that runs, in the order of the recipe.
  static constexpr Variant kVariants[] = {
      Variant::direct,     Variant::direct_multi,     Variant::image,
      Variant::local_tile, Variant::local_tile_multi, Variant::cpu_rows};

  static const char* to_string(Variant variant) {
    switch (variant) {
      case Variant::automatic:
        return "automatic";
      case Variant::direct:
        return "direct";
      case Variant::direct_multi:
        return "direct_multi";
      case Variant::image:
        return "image";
      case Variant::local_tile:
        return "local_tile";
      case Variant::local_tile_multi:
        return "local_tile_multi";
      case Variant::cpu_rows:
        return "cpu_rows";
    }
    fail(Errc::invalid_argument, kName,
         text("there is no variant of the value ", static_cast<int>(variant)));
  }
  static const char* to_string(Filter filter) {
    switch (filter) {
      case Filter::dilation:
        return "dilation";
      case Filter::median:
        return "median";
      case Filter::clamp:
        return "clamp";
    }
    fail(Errc::invalid_argument, kName,
         text("there is no filter of the value ", static_cast<int>(filter)));
  }
  static const char* to_string(Pixel pixel) {
    switch (pixel) {
      case Pixel::r32f:
        return "r32f";
      case Pixel::rgba32f:
        return "rgba32f";
    }
    fail(Errc::invalid_argument, kName,
         text("there is no pixel type of the value ", static_cast<int>(pixel)));
  }
  static const char* to_string(Border border) { return border_name(border, kName); }

  // The value of that name. Throws Error(invalid_argument) that lists the names.
  static Variant parse_variant(std::string_view name) {
    return parse(name, "variant",
                 {Variant::automatic, Variant::direct, Variant::direct_multi, Variant::image,
                  Variant::local_tile, Variant::local_tile_multi, Variant::cpu_rows});
  }
  static Filter parse_filter(std::string_view name) {
    return parse(name, "filter", {Filter::dilation, Filter::median, Filter::clamp});
  }
  static Pixel parse_pixel(std::string_view name) {
    return parse(name, "pixel type", {Pixel::r32f, Pixel::rgba32f});
  }
  static Border parse_border(std::string_view name) { return clcook::parse_border(name, kName); }

  // "32x16" or "8x8x8" as the tile of a tune. Throws Error(invalid_argument).
  static Tune parse_tile(std::string_view word) {
    Tune out;
    int* const sizes[] = {&out.tile_width, &out.tile_height, &out.tile_depth};
    std::size_t count = 0;
    bool good = true;
    for (std::string_view rest = word; good; ++count) {
      const std::size_t end = rest.find('x');
      const std::string_view digits = rest.substr(0, end);
      good = count < 3 && !digits.empty() && digits.size() <= 4 &&
             digits.find_first_not_of("0123456789") == std::string_view::npos;
      if (!good) break;
      *sizes[count] = std::stoi(std::string(digits));
      if (end == std::string_view::npos) break;
      rest.remove_prefix(end + 1);
    }
    if (!good || count < 1) {
      fail(Errc::invalid_argument, kName,
           "a tile is WIDTHxHEIGHT or WIDTHxHEIGHTxDEPTH, got '" + std::string(word) + "'");
    }
    if (count == 1) out.tile_depth = 1;
    return out;
  }

 private:
  static constexpr const char* kName = "HaloTile";
  static constexpr int kCpuTile = 1024;  // floats
  static constexpr int kCpuStrip = 64;   // rows

  template <class Enum>
  static Enum parse(std::string_view name, const char* what, std::initializer_list<Enum> all) {
    return parse_name<Enum>(kName, what, name, all, [](Enum one) { return to_string(one); });
  }

  static std::string upper(std::string name) {
    for (char& c : name) {
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    return name;
  }

  static void check_problem(const Problem& p) {
    const auto size = [](const char* name, int value) {
      if (value < 1 || value > kMaxSize) {
        fail(Errc::invalid_argument, kName,
             text(name, " must be 1 to ", kMaxSize, ", got ", value));
      }
    };
    to_string(p.filter);
    to_string(p.pixel);
    to_string(p.border);
    size("width", p.width);
    size("height", p.height);
    size("depth", p.depth);
    if (p.radius < 1 || p.radius > kMaxRadius) {
      fail(Errc::invalid_argument, kName,
           text("radius must be 1 to ", kMaxRadius, ", got ", p.radius));
    }
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

  // Fills in what the caller left open: from what was measured, else the built-in defaults.
  void choose(Variant& variant, Tune& tune) const {
    const bool automatic = variant == Variant::automatic;
    const double bytes = (problem_.filter == Filter::clamp ? 3.0 : 2.0) *
                         static_cast<double>(pixel_bytes(problem_.pixel)) * problem_.width *
                         problem_.height * problem_.depth;
    const TuningChoice choice = runtime_.tuning().choose(
        runtime_.info(), tuning_name(problem_), bytes, automatic ? "" : to_string(variant));
    const bool measured = choice.match != TuningChoice::Match::none;
    if (automatic) {
      variant = runtime_.info().cpu  ? Variant::cpu_rows
                : problem_.depth > 1 ? Variant::local_tile
                                     : Variant::local_tile_multi;
      // The caller of an automatic plan has buffers.
      const Variant winner = measured ? parse_variant(choice.entry.variant) : variant;
      if (winner != Variant::image) variant = winner;
    }
    const bool open = tune.tile_width == 0 && tune.tile_height == 0 && tune.tile_depth == 0 &&
                      tune.outputs == 0 && variant != Variant::cpu_rows;
    if (measured && open && to_string(variant) == choice.entry.variant) {
      const std::string tile = choice.entry.word("tile");
      if (!tile.empty()) tune = parse_tile(tile);
      if (is_multi(variant)) tune.outputs = choice.entry.integer("outputs", 0);
      // Measured with another radius or on another device.
      if (!fits(variant, tune)) tune = Tune{};
    }
    // A wide halo wants a large tile, where the local memory has room for it.
    if (open && !measured && variant == Variant::local_tile_multi && problem_.radius >= 2) {
      Tune large;
      large.tile_height = 32;
      if (fits(variant, large)) tune = large;
    }
    if (automatic && open && !fits(variant, tune)) {
      variant = problem_.depth > 1 ? Variant::direct : Variant::direct_multi;
      tune = Tune{};
    }
  }

  static std::uint64_t group_items(const Tune& tune) {
    return static_cast<std::uint64_t>(tune.tile_width) *
           static_cast<std::uint64_t>(tune.tile_height / tune.outputs) *
           static_cast<std::uint64_t>(tune.tile_depth);
  }

  // Whether group and local memory of a tune stay within the device's limits.
  bool fits(Variant variant, Tune tune) const {
    if (variant == Variant::cpu_rows) return true;
    tune = with_defaults(problem_, variant, tune);
    return group_items(tune) <= runtime_.info().max_group &&
           local_bytes(problem_, variant, tune) <= runtime_.info().local_mem;
  }

  // The tune with defaults, after all checks that need no program.
  Tune checked(Tune tune) const {
    const Problem& p = problem_;
    const bool volume = p.depth > 1;
    if (volume && (is_multi(variant_) || variant_ == Variant::image)) {
      fail(Errc::unsupported, kName,
           text("the variant ", to_string(variant_), " takes pictures only, got a volume of depth ",
                p.depth));
    }
    if (variant_ == Variant::direct_multi && quirks::breaks_shared_rows(runtime_.info())) {
      fail(Errc::unsupported, kName,
           "the variant direct_multi ends the compiler of " + runtime_.info().platform_version);
    }
    if (variant_ == Variant::cpu_rows) {
      if (tune.tile_width != 0 || tune.tile_height != 0 || tune.tile_depth != 0 ||
          tune.outputs != 0) {
        fail(Errc::invalid_argument, kName, "the variant cpu_rows has no tile to choose");
      }
      return tune;
    }
    tune = with_defaults(p, variant_, tune);
    const auto in_range = [](const char* name, int value, int most) {
      if (value < 1 || value > most) {
        fail(Errc::invalid_argument, kName, text(name, " must be 1 to ", most, ", got ", value));
      }
    };
    in_range("tile_width", tune.tile_width, 1024);
    in_range("tile_height", tune.tile_height, 1024);
    in_range("tile_depth", tune.tile_depth, 64);
    in_range("outputs", tune.outputs, 16);
    if (!volume && tune.tile_depth != 1) {
      fail(Errc::unsupported, kName,
           text("a tile of depth ", tune.tile_depth, " needs a volume, the problem is a picture"));
    }
    if (!is_multi(variant_) && tune.outputs != 1) {
      fail(Errc::invalid_argument, kName,
           text("the variant ", to_string(variant_), " makes 1 output per item, got ",
                tune.outputs));
    }
    if (tune.tile_height % tune.outputs != 0) {
      fail(Errc::invalid_argument, kName,
           text("tile_height must be a multiple of outputs, got ", tune.tile_height, " and ",
                tune.outputs));
    }
    if (variant_ == Variant::local_tile_multi && tune.tile_width % 4 != 0) {
      fail(Errc::invalid_argument, kName,
           text("the variant local_tile_multi takes a tile_width that is a multiple of 4, got ",
                tune.tile_width));
    }
    const DeviceInfo& info = runtime_.info();
    const std::uint64_t items = group_items(tune);
    if (items > info.max_group) {
      fail(Errc::unsupported, kName,
           text("the tile ", tile_name(tune), " needs a work-group of ", items,
                " work-items, which exceeds the device's limit of ", info.max_group));
    }
    const std::uint64_t local = local_bytes(p, variant_, tune);
    if (local > info.local_mem) {
      fail(Errc::unsupported, kName,
           text("the tile ", tile_name(tune), " with radius ", p.radius, " needs ", local,
                " bytes of local memory, which exceeds the device's limit of ", info.local_mem));
    }
    if (variant_ == Variant::image) {
      if (!info.images) fail(Errc::unsupported, kName, "the device has no images");
      if (!has_format()) {
        fail(Errc::unsupported, kName,
             text("the device has no 2-D images of the format ",
                  p.pixel == Pixel::rgba32f ? "CL_RGBA" : "CL_R", ", CL_FLOAT"));
      }
      if (static_cast<std::size_t>(p.width) > info.image_width ||
          static_cast<std::size_t>(p.height) > info.image_height) {
        fail(Errc::unsupported, kName,
             text("an image of ", p.width, " x ", p.height, " exceeds the device's limit of ",
                  info.image_width, " x ", info.image_height));
      }
    }
    return tune;
  }

  static std::string tile_name(const Tune& tune) {
    return text(tune.tile_width, "x", tune.tile_height,
                tune.tile_depth > 1 ? text("x", tune.tile_depth) : "");
  }

  cl_image_format image_format() const {
    return {static_cast<cl_channel_order>(problem_.pixel == Pixel::rgba32f ? CL_RGBA : CL_R),
            CL_FLOAT};
  }

  bool has_format() const {
    cl_uint count = 0;
    check(clGetSupportedImageFormats(runtime_.context()(), CL_MEM_READ_ONLY, CL_MEM_OBJECT_IMAGE2D,
                                     0, nullptr, &count),
          "clGetSupportedImageFormats");
    std::vector<cl_image_format> formats(count);
    check(clGetSupportedImageFormats(runtime_.context()(), CL_MEM_READ_ONLY, CL_MEM_OBJECT_IMAGE2D,
                                     count, formats.data(), nullptr),
          "clGetSupportedImageFormats");
    const cl_image_format wanted = image_format();
    for (const cl_image_format& one : formats) {
      if (one.image_channel_order == wanted.image_channel_order &&
          one.image_channel_data_type == wanted.image_channel_data_type) {
        return true;
      }
    }
    return false;
  }

  std::size_t local_bytes() const {
    return static_cast<std::size_t>(local_bytes(problem_, variant_, tune_));
  }

  Launch launch() const {
    const auto width = static_cast<std::size_t>(problem_.width);
    const auto height = static_cast<std::size_t>(problem_.height);
    const auto depth = static_cast<std::size_t>(problem_.depth);
    if (variant_ == Variant::cpu_rows) {
      const std::size_t floats = width * (pixel_bytes(problem_.pixel) / sizeof(float));
      return Launch::groups(
          {(floats + kCpuTile - 1) / kCpuTile, (height + kCpuStrip - 1) / kCpuStrip, depth},
          {1, 1, 1});
    }
    const auto w = static_cast<std::size_t>(tune_.tile_width);
    const auto h = static_cast<std::size_t>(tune_.tile_height);
    const auto d = static_cast<std::size_t>(tune_.tile_depth);
    return Launch::groups({(width + w - 1) / w, (height + h - 1) / h, (depth + d - 1) / d},
                          {w, h / static_cast<std::size_t>(tune_.outputs), d});
  }

  void need_filter(bool history) const {
    if (history == (problem_.filter == Filter::clamp)) return;
    fail(Errc::invalid_argument, kName,
         text("the filter ", to_string(problem_.filter),
              history ? " takes no history" : " takes a history: call with src, history and dst"));
  }

  void need_source(bool image) const {
    if (image == (variant_ == Variant::image)) return;
    fail(Errc::invalid_argument, kName,
         text("the variant ", to_string(variant_), " reads a ",
              image ? "buffer, got an image" : "2-D image, got a buffer"));
  }

  CheckedView checked_view(const BufferView& view, Access access, const char* name) const {
    const std::size_t bytes = pixel_bytes(problem_.pixel);
    const RowLayout layout{
        static_cast<std::size_t>(problem_.width) * bytes,
        static_cast<std::size_t>(problem_.height) * static_cast<std::size_t>(problem_.depth),
        bytes};
    return check_view(runtime_, view, layout, access, kName, name);
  }

  void check_image(const cl::Image2D& image) const {
    const auto width = static_cast<std::size_t>(problem_.width);
    const auto height = static_cast<std::size_t>(problem_.height);
    check_view(runtime_, ImageView(image), width, height, {image_format()}, Access::read, kName,
               "src");
    const auto size = [&](cl_image_info what) {
      std::size_t value = 0;
      check(clGetImageInfo(image(), what, sizeof value, &value, nullptr), "clGetImageInfo");
      return value;
    };
    // The sampler's border is that of the image.
    if (size(CL_IMAGE_WIDTH) != width || size(CL_IMAGE_HEIGHT) != height) {
      fail(Errc::invalid_argument, kName,
           text("src is an image of ", size(CL_IMAGE_WIDTH), " x ", size(CL_IMAGE_HEIGHT),
                ", the problem has ", width, " x ", height, "; they must be equal"));
    }
  }

  template <class... Before>
  cl::Event launch_kernel(const CheckedView& history, const CheckedView& dst,
                          const std::vector<cl::Event>& wait, const Before&... source) const {
    const std::size_t bytes = pixel_bytes(problem_.pixel);
    const auto pixels = [&](std::size_t value) { return static_cast<cl_ulong>(value / bytes); };
    cl_float4 outside{};
    for (std::size_t c = 0; c < 4; ++c) outside.s[c] = problem_.outside[c];
    Kernel kernel(runtime_, program_, kernel_name(variant_));
    const auto run = [&](const auto&... more) {
      return kernel(launch(), wait, source..., history.buffer, pixels(history.offset),
                    pixels(history.pitch), dst.buffer, pixels(dst.offset), pixels(dst.pitch),
                    static_cast<cl_int>(problem_.width), static_cast<cl_int>(problem_.height),
                    static_cast<cl_int>(problem_.depth), static_cast<cl_int>(problem_.border),
                    outside, more...);
    };
    if (variant_ == Variant::cpu_rows)
      return run(static_cast<cl_int>(kCpuTile), static_cast<cl_int>(kCpuStrip));
    if (local_bytes() != 0) return run(LocalBytes{local_bytes()});
    return run();
  }

  cl::Event enqueue(const CheckedView& src, const CheckedView& history, const CheckedView& dst,
                    const std::vector<cl::Event>& wait) const {
    const std::size_t bytes = pixel_bytes(problem_.pixel);
    return launch_kernel(history, dst, wait, src.buffer, static_cast<cl_ulong>(src.offset / bytes),
                         static_cast<cl_ulong>(src.pitch / bytes));
  }
  cl::Event enqueue(const cl::Image2D& src, const CheckedView& history, const CheckedView& dst,
                    const std::vector<cl::Event>& wait) const {
    return launch_kernel(history, dst, wait, src);
  }

  Runtime runtime_;
  Problem problem_;
  Variant variant_ = Variant::direct;
  Tune tune_;
  cl::Program program_;
};

}  // namespace clcook
