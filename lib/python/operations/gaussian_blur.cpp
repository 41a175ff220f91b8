// clcook.GaussianBlur, and what clcook.gaussian_blur stands on.
#include <clcook/core/half.hpp>
#include <clcook/gaussian_blur_strips.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "../plan.hpp"

namespace clcook::python {

namespace {

using Problem = GaussianBlur::Problem;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
// The name of a PixelType; for a version more that of a Channel, with `channels` beside it.
Field<Problem> pixel_field() {
  return {"pixel", "str",
          [](Problem& p, nb::handle value, const char* where) {
            const std::string name = word_of(value, where, "pixel");
            for (const ChannelRow& row : kChannels) {
              if (name != row.name) continue;
              if (PyErr_WarnFormat(
                      PyExc_DeprecationWarning, 1,
                      "%s: pixel is the name of a type of pixels, such as rgb8; '%s' and channels "
                      "go with the next version",
                      where, row.name) != 0)
                throw nb::python_error();
              p.pixel = row.value;
              return;
            }
            p.pixel = parse_pixel_type(name, where);
          },
          [](const Problem& p) {
            const char* name = p.pixel.is_type() ? pixel_type_name(p.pixel.type(), "")
                                                 : row_of(kChannels, p.pixel).name;
            return nb::object(nb::str(name));
          }};
}
#pragma GCC diagnostic pop

std::vector<Field<Problem>> fields() {
  return {field("width", &Problem::width),
          field("height", &Problem::height),
          field("sigma_x", &Problem::sigma_x),
          field("sigma_y", &Problem::sigma_y),
          pixel_field(),
          field("channels", &Problem::channels),
          field("border", &Problem::border, kBorders),
          field("outside", &Problem::outside),
          field("truncate", &Problem::truncate),
          field("quality", &Problem::quality),
          field("peak", &Problem::peak),
          field("batch", &Problem::batch),
          field("in_place", &Problem::in_place),
          field("depth", &Problem::depth),
          field("sigma_z", &Problem::sigma_z),
          field("alpha", &Problem::alpha, kAlphas)};
}

ArrayOf array_of(const Problem& p) {
  ArrayOf out{dtype_of(p.pixel), {}};
  if (p.batch > 1) out.shape.push_back(static_cast<std::size_t>(p.batch));
  if (p.depth > 1) out.shape.push_back(static_cast<std::size_t>(p.depth));
  out.shape.push_back(static_cast<std::size_t>(p.height));
  out.shape.push_back(static_cast<std::size_t>(p.width));
  out.shape.push_back(static_cast<std::size_t>(channels_of(p)));
  return out;
}

// ---- a mean stays within the range of what it is a mean of ----
//
// Sums of floats miss a constant, or pass the largest value of a picture, by their rounding. From
// numpy to numpy such results come back. The range is that of a channel; where the filter does not
// cross rows, columns or slices, that of each of them.

struct Floats {
  using Stored = float;
  using Key = float;  // in the order of the values; a NaN lies nowhere
  static constexpr Key kLeast = -std::numeric_limits<float>::infinity();
  static constexpr Key kMost = std::numeric_limits<float>::infinity();
  static constexpr Stored kNan = std::numeric_limits<float>::quiet_NaN();
  static Key key(Stored value) { return value; }
  static Stored stored(Key key) { return key; }
  static Stored nearest(float value) { return value; }
  static bool counts(Stored) { return true; }
  static bool is_zero(Stored value) { return !(value < 0) && !(value > 0); }
};
struct Halfs {
  using Stored = std::uint16_t;
  using Key = std::int16_t;  // in the order of the values; a NaN lies beyond the infinities
  static constexpr Key kLeast = -0x7C01;
  static constexpr Key kMost = 0x7C00;
  static constexpr Stored kNan = 0x7E00;
  static Key key(Stored bits) {
    const auto value = static_cast<Key>(bits);
    return static_cast<Key>(value ^ ((value >> 15) & 0x7FFF));
  }
  static Stored stored(Key key) { return static_cast<Stored>(key ^ ((key >> 15) & 0x7FFF)); }
  static Stored nearest(float value) { return to_half(static_cast<double>(value)); }
  static bool counts(Stored bits) { return (bits & 0x7FFF) <= 0x7C00; }
  static bool is_zero(Stored bits) { return (bits & 0x7FFF) == 0; }
};

template <class T>
class Ranges {
 public:
  explicit Ranges(const Problem& p)
      : channels_(static_cast<std::size_t>(channels_of(p))),
        row_(static_cast<std::size_t>(p.width) * channels_),
        height_(static_cast<std::size_t>(p.height)),
        rows_(height_ * static_cast<std::size_t>(p.depth)),
        is_straight_(gaussian::is_straight(p)) {
    const auto crosses = [&](double sigma) {
      return gaussian::filter_radius(sigma, p.truncate) > 0;
    };
    crosses_x_ = crosses(p.sigma_x);
    crosses_y_ = crosses(p.sigma_y);
    crosses_z_ = crosses(p.sigma_z);
    if (is_identity()) return;
    const std::size_t groups = group_of(rows_ - 1) + 1;
    least_.assign(groups * keys(), T::kMost);
    most_.assign(groups * keys(), T::kLeast);
    if (!is_constant(p.border) || !(crosses_x_ || crosses_y_ || crosses_z_)) return;
    for (std::size_t c = 0; c < channels_; ++c) outside_.push_back(T::nearest(p.outside[c]));
    Block masked;
    std::copy_n(seen(reinterpret_cast<unsigned char*>(outside_.data()), channels_, masked),
                channels_, outside_.begin());
  }

  std::size_t bytes() const { return rows_ * row_ * sizeof(Stored); }

  // Looks at the bytes `begin` to `end` of the source, counted without gaps. In several threads.
  void find(const HostArray& src, std::size_t begin, std::size_t end) {
    if (is_identity()) return;
    Keys least;
    Keys most;
    Block masked;
    std::size_t before = rows_;  // whose values the arrays have
    for_each_part(begin, end, [&](std::size_t y, std::size_t x, std::size_t count) {
      const std::size_t group = group_of(y);
      if (!crosses_x_) {
        const std::lock_guard<std::mutex> lock(mutex_);
        widen_all(src, y, x, count, masked, [&](std::size_t at) {
          return std::pair(&least_[group * keys() + at], &most_[group * keys() + at]);
        });
        return;
      }
      if (before == rows_ || group != group_of(before)) {
        if (before != rows_) merge(group_of(before), least, most);
        least.fill(T::kMost);
        most.fill(T::kLeast);
      }
      before = y;
      widen_all(src, y, x, count, masked,
                [&](std::size_t) { return std::pair(least.data(), most.data()); });
    });
    if (before != rows_) merge(group_of(before), least, most);
  }
  // Whether `other` lies within; as of what has been looked at.
  bool covers(const Ranges& other) const {
    for (std::size_t i = 0; i < least_.size(); ++i) {
      if (other.least_[i] < least_[i] || most_[i] < other.most_[i]) return false;
    }
    return true;
  }
  // When all has been looked at.
  void end_find() {
    for (std::size_t i = 0; i < least_.size(); ++i) {
      if (!outside_.empty()) widen(&outside_[i % channels_], 1, &least_[i], &most_[i]);
      if (most_[i] >= least_[i]) continue;  // else nothing counts
      least_[i] = T::kLeast;
      most_[i] = T::kMost;
    }
  }

  // Brings the bytes `begin` to `end` of the result, counted without gaps, back into their ranges. In
  // several threads.
  void keep(const HostArray& dst, std::size_t begin, std::size_t end) const {
    if (is_identity()) return;
    Keys least;
    Keys most;
    Block masked;
    std::size_t before = rows_;
    for_each_part(begin, end, [&](std::size_t y, std::size_t x, std::size_t count) {
      const std::size_t group = group_of(y);
      if (crosses_x_ && (before == rows_ || group != group_of(before))) {
        for (std::size_t i = 0; i < kBlock; ++i) {
          least[i] = least_[group * channels_ + i % channels_];
          most[i] = most_[group * channels_ + i % channels_];
        }
      }
      before = y;
      for (std::size_t i = 0; i < count; i += kBlock) {
        const std::size_t part = std::min(kBlock, count - i);
        const std::size_t at = group * keys() + x + i;
        unsigned char* row = address(dst, y, x + i);
        keep_block(row, seen(row, part, masked), part, crosses_x_ ? least.data() : &least_[at],
                   crosses_x_ ? most.data() : &most_[at]);
      }
    });
  }

 private:
  using Stored = typename T::Stored;
  using Key = typename T::Key;
  static constexpr std::size_t kBlock = 240;  // a multiple of all numbers of channels
  using Block = std::array<Stored, kBlock>;
  using Keys = std::array<Key, kBlock>;

  // Of colours over their alpha the rounding counts even so.
  bool is_identity() const { return !(crosses_x_ || crosses_y_ || crosses_z_ || is_straight_); }
  std::size_t keys() const { return crosses_x_ ? channels_ : row_; }  // of a group
  // The rows that have a range in common.
  std::size_t group_of(std::size_t y) const {
    return (crosses_z_ ? 0 : y / height_) * (crosses_y_ ? 1 : height_) +
           (crosses_y_ ? 0 : y % height_);
  }
  static unsigned char* address(const HostArray& a, std::size_t y, std::size_t x) {
    return static_cast<unsigned char*>(a.begin) + y * a.pitch + x * sizeof(Stored);
  }

  // part(y, x, count) for the values of each row; whole pixels.
  template <class Part>
  void for_each_part(std::size_t begin, std::size_t end, const Part& part) const {
    for (std::size_t at = begin / sizeof(Stored); at < end / sizeof(Stored);) {
      const std::size_t count = std::min(end / sizeof(Stored) - at, row_ - at % row_);
      part(at / row_, at % row_, count);
      at += count;
    }
  }

  // Widens the ranges of ranges_at(x) by the values of a row.
  template <class RangesAt>
  void widen_all(const HostArray& src, std::size_t y, std::size_t x, std::size_t count,
                 Block& masked, const RangesAt& ranges_at) const {
    for (std::size_t i = 0; i < count; i += kBlock) {
      const std::size_t part = std::min(kBlock, count - i);
      const auto [least, most] = ranges_at(x + i);
      widen(seen(address(src, y, x + i), part, masked), part, least, most);
    }
  }

  void merge(std::size_t group, const Keys& least, const Keys& most) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (std::size_t i = 0; i < kBlock; ++i) {
      const std::size_t at = group * channels_ + i % channels_;
      least_[at] = std::min(least_[at], least[i]);
      most_[at] = std::max(most_[at], most[i]);
    }
  }

  // The values of a block. Colours under alpha 0 become NaN: they do not count.
  const Stored* seen(const unsigned char* row, std::size_t count, Block& masked) const {
    if (!is_straight_ && reinterpret_cast<std::uintptr_t>(row) % alignof(Stored) == 0)
      return reinterpret_cast<const Stored*>(row);
    std::memcpy(masked.data(), row, count * sizeof(Stored));
    if (!is_straight_) return masked.data();
    for (std::size_t i = 0; i < count; i += channels_) {
      if (!T::is_zero(masked[i + channels_ - 1])) continue;
      std::fill_n(&masked[i], channels_ - 1, T::kNan);
    }
    return masked.data();
  }

  static void widen(const Stored* values, std::size_t count, Key* least, Key* most) {
    for (std::size_t i = 0; i < count; ++i) {
      const Key key = T::key(values[i]);
      // NaN: of floats it is neither less nor more, of halfs it lies beyond the infinities.
      constexpr bool kIsFloat = std::is_floating_point_v<Key>;
      least[i] = std::min(least[i], !kIsFloat && key < T::kLeast ? T::kMost : key);
      most[i] = std::max(most[i], !kIsFloat && T::kMost < key ? T::kLeast : key);
    }
  }

  static void keep_block(unsigned char* row, const Stored* values, std::size_t count,
                         const Key* least, const Key* most) {
    int passed = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const Key key = T::key(values[i]);
      passed |= static_cast<int>(T::counts(values[i])) &
                (static_cast<int>(key < least[i]) | static_cast<int>(most[i] < key));
    }
    if (passed == 0) return;
    for (std::size_t i = 0; i < count; ++i) {
      const Key key = T::key(values[i]);
      if (!T::counts(values[i]) || !(key < least[i] || most[i] < key)) continue;
      const Stored nearest = T::stored(key < least[i] ? least[i] : most[i]);
      std::memcpy(row + i * sizeof nearest, &nearest, sizeof nearest);
    }
  }

  std::size_t channels_;
  std::size_t row_;  // values
  std::size_t height_;
  std::size_t rows_;
  bool is_straight_;
  bool crosses_x_ = false;
  bool crosses_y_ = false;
  bool crosses_z_ = false;
  std::vector<Stored> outside_;
  std::mutex mutex_;
  std::vector<Key> least_;
  std::vector<Key> most_;
};

// Calls with_ranges(ranges) for floats, else without(); integers are rounded to the range.
template <class WithRanges, class Without>
void within_ranges(const Problem& p, const WithRanges& with_ranges, const Without& without) {
  if (p.pixel == Channel::f32) {
    Ranges<Floats> ranges(p);
    with_ranges(ranges);
  } else if (p.pixel == Channel::f16) {
    Ranges<Halfs> ranges(p);
    with_ranges(ranges);
  } else {
    without();
  }
}

// Looks at the source, here and there, until it covers the range of the results, which are there; or
// brings them back.
template <class T>
void keep_within(const HostArray& src, const HostArray& dst, const Ranges<T>& results,
                 Ranges<T>& ranges) {
  constexpr std::size_t kPart = 12288;  // bytes; whole pixels
  const std::size_t bytes = ranges.bytes();
  const std::size_t parts = (bytes + kPart - 1) / kPart;
  std::size_t stride = parts / 8 * 5 + 1;
  while (std::gcd(stride, parts) != 1) ++stride;
  const StagingOfCall staging;
  for (std::size_t done = 0, count = 4; done < parts; done += count, count *= 4) {
    count = std::min(count, parts - done);
    staging->each(count * kPart, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin / kPart; i < end / kPart; ++i) {
        const std::size_t at = (done + i) * stride % parts * kPart;
        ranges.find(src, at, std::min(at + kPart, bytes));
      }
    });
    if (ranges.covers(results)) return;
  }
  ranges.end_find();
  if (ranges.covers(results)) return;
  staging->each(bytes, [&](std::size_t begin, std::size_t end) { ranges.keep(dst, begin, end); });
}

// Numpy's way, with another sigma for each call; that along z is the plan's.
class BlurOnHost : public PictureOnHost<GaussianBlur> {
 public:
  explicit BlurOnHost(const Problem& problem)
      : PictureOnHost(
            problem, gaussian::pixel_bytes(problem) * static_cast<std::size_t>(problem.width),
            static_cast<std::size_t>(problem.height) * static_cast<std::size_t>(problem.depth)) {}

  // With what calls have taken since it was made.
  std::size_t bytes() const { return PictureOnHost::bytes() + plan().scratch_bytes(); }

  void use_sigma(double x, double y) {
    const Problem& p = plan().problem();
    const std::equal_to<> equal;
    if (equal(p.sigma_x, x) && equal(p.sigma_y, y)) return;
    // Compiles only where another method is the best for this sigma, and its program was not built
    // yet: so that the result is that of a plan made for it.
    plan().build_for(x, y);
    plan().set_sigma(x, y);
  }

  void blur(const HostArray& src, const HostArray& dst) {
    const Problem& p = plan().problem();
    within_ranges(
        p,
        [&](auto& ranges) {
          if (share_memory(src, dst)) return blur_in_place(src, dst, ranges);
          // Most results lie within the range of a small part of the source.
          std::decay_t<decltype(ranges)> results(p);
          run(src, dst, plan(), {},
              [&](std::size_t begin, std::size_t end) { results.find(dst, begin, end); });
          keep_within(src, dst, results, ranges);
        },
        [&] { run(src, dst); });
  }

 private:
  // The source has to be looked at before the results overwrite it.
  template <class T>
  void blur_in_place(const HostArray& src, const HostArray& dst, Ranges<T>& ranges) {
    run(
        src, dst,
        [&](const BufferView& from, const BufferView& to, const std::vector<cl::Event>& wait) {
          ranges.end_find();
          return plan()(from, to, wait);
        },
        [&](std::size_t begin, std::size_t end) { ranges.find(src, begin, end); },
        [&](std::size_t begin, std::size_t end) { ranges.keep(dst, begin, end); });
  }
};

// The pipeline over all devices, with its pinned memory and the buffers of strips. Calls take turns, as
// each has all devices. A call takes the pipeline out: a signal's handler that interrupts it, in the
// same thread, makes its own.
struct OnAllDevices {
  std::recursive_mutex mutex;
  std::unique_ptr<StripPipeline> idle;
};
OnAllDevices& on_all_devices() {
  static auto* kept = new OnAllDevices;  // a child of a fork does not release it
  return *kept;
}

void clear_pipeline() {
  if (is_forked()) return;
  const Unlocked unlocked;
  const std::lock_guard<std::recursive_mutex> lock(on_all_devices().mutex);
  on_all_devices().idle.reset();
}

// Of what a device lacks the memory for, or all devices share; src and dst share no memory.
void blur_by_strips(const Problem& problem, const HostArray& src, const HostArray& dst,
                    bool on_all) {
  const auto blur_over = [&](StripPipeline& pipeline, const StagedBytes& each) {
    GaussianBlur::by_strips(
        pipeline, problem, src.begin, src.pitch, dst.begin, dst.pitch, 0,
        [](std::size_t) { check_signals(); }, {}, each);
  };
  const auto blur = [&](const StagedBytes& each) {
    if (!on_all) {
      StripPipeline pipeline({standard_runtime()});
      return blur_over(pipeline, each);
    }
    const std::vector<Runtime>& all = all_runtimes();
    OnAllDevices& kept = on_all_devices();
    const std::lock_guard<std::recursive_mutex> lock(kept.mutex);
    std::unique_ptr<StripPipeline> pipeline = std::move(kept.idle);
    if (pipeline == nullptr) pipeline = std::make_unique<StripPipeline>(all);
    blur_over(*pipeline, each);
    kept.idle = std::move(pipeline);
  };
  const auto in_ranges = [&](auto& ranges) {
    std::decay_t<decltype(ranges)> results(problem);
    blur([&](std::size_t begin, std::size_t end) { results.find(dst, begin, end); });
    keep_within(src, dst, results, ranges);
  };
  within_ranges(problem, in_ranges, [&] { blur({}); });
}

}  // namespace

void bind_gaussian_blur(nb::module_& m) {
  constexpr const char* kName = "GaussianBlur";
  auto plan = plan_class<GaussianBlur>(
      m, "A Gaussian blur as a plan on a queue of pyopencl; see docs/gaussian_blur.md.", fields());
  picture_call(plan, array_of);
  plan.def(
      "set_sigma",
      [](Held<GaussianBlur>& self, double x, double y) {
        const Unlocked unlocked;
        self.get().set_sigma(x, y);
      },
      "sigma_x"_a, "sigma_y"_a,
      nb::sig("def set_sigma(self, sigma_x: typing.SupportsFloat, sigma_y: typing.SupportsFloat) "
              "-> None"),
      "Another sigma from the next call on. Compiles nothing; no other call at the same time.");
  plan.def(
      "build_for",
      [](Held<GaussianBlur>& self, double x, double y) {
        const Unlocked unlocked;
        self.get().build_for(x, y);
      },
      "sigma_x"_a, "sigma_y"_a,
      nb::sig("def build_for(self, sigma_x: typing.SupportsFloat, sigma_y: typing.SupportsFloat) "
              "-> None"),
      "Builds what automatic would take for this sigma, so that set_sigma can choose it.");
  plan.def_prop_ro(
      "psnr", [](const Held<GaussianBlur>& self) { return self.get().psnr(); },
      "The PSNR that the method promises, in dB.");
  plan.def_prop_ro(
      "max_error", [](const Held<GaussianBlur>& self) { return self.get().max_error(); },
      "The largest distance to the exact filter that the method promises, in units of the pixel "
      "type, before rounding.");
  plan.def_prop_ro(
      "in_place", [](const Held<GaussianBlur>& self) { return self.get().in_place(); },
      "Whether src and dst of a call may overlap.");

  // Needs no device: whoever cuts a large array into blocks may have none.
  m.def(
      "_gaussian_halo",
      [](const nb::kwargs& values) {
        const Problem problem = problem_of(fields(), values, kName);
        gaussian::Spec::check(problem);
        const auto radius = [&](double sigma) {
          return gaussian::filter_radius(sigma, problem.truncate);
        };
        return nb::make_tuple(radius(problem.sigma_z), radius(problem.sigma_y),
                              radius(problem.sigma_x));
      },
      "values"_a, "How far a problem's filter reaches across slices, down and across, in pixels.");

  nb::class_<Held<BlurOnHost>>(m, "_GaussianBlurOnHost")
      .def(
          "__init__",
          [](Held<BlurOnHost>* self, const nb::kwargs& values) {
            const Problem problem = problem_of(fields(), values, kName);
            const Unlocked unlocked;
            new (self) Held<BlurOnHost>(std::in_place, problem);
          },
          "values"_a)
      .def("run",
           [](Held<BlurOnHost>& self, std::uintptr_t src, std::size_t src_pitch, std::uintptr_t dst,
              std::size_t dst_pitch, double x, double y) {
             BlurOnHost& host = self.get();
             const Unlocked unlocked;
             host.use_sigma(x, y);
             host.blur(host_array(src, src_pitch), host_array(dst, dst_pitch));
           })
      .def_prop_ro("bytes", [](const Held<BlurOnHost>& self) { return self.get().bytes(); });

  m.def("_gaussian_by_strips", [](std::uintptr_t src, std::size_t src_pitch, std::uintptr_t dst,
                                  std::size_t dst_pitch, bool on_all, const nb::kwargs& values) {
    const Problem problem = problem_of(fields(), values, kName);
    const Unlocked unlocked;
    blur_by_strips(problem, host_array(src, src_pitch), host_array(dst, dst_pitch), on_all);
  });
  m.def("_clear_pipeline", &clear_pipeline);
}

}  // namespace clcook::python
