// Stream compaction: the indices of the bright pixels of a picture, in order.
//
//   clcook::StreamCompaction compact{runtime, {pixels}};
//   cl::Event done = compact(src, dst, kept, threshold, {uploaded});
//
// A pixel is 4 bytes r, g, b, a. It is kept when 54 r + 183 g + 19 b >= threshold; the weights sum
// to 256, so threshold 256 t means a brightness of t. dst receives the indices of the kept pixels,
// ascending, as 32-bit numbers, and keeps what it held behind them; kept receives their number.
#pragma once

#include <clcook/core/defines.hpp>
#include <clcook/core/error.hpp>
#include <clcook/core/launch.hpp>
#include <clcook/core/names.hpp>
#include <clcook/core/runtime.hpp>
#include <clcook/core/source.hpp>
#include <clcook/core/view.hpp>
#include <clcook/embedded/stream_compaction.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace clcook {

// A plan: constructed once, called often. All const member functions may be called from several
// threads. Calls of one plan share its scratch memory and therefore run one after the other on the
// device; copies share it too.
class StreamCompaction {
 public:
  struct Problem {
    std::size_t pixels = 0;  // 1 to kMaxPixels
  };

  enum class Variant {
    automatic,   // what was measured to be fastest; without that bit_words
    int_flags,   // 32 flags as ints across the scan of the work-group
    predicates,  // no flags: the pixels are read and compared again
    bit_flags,   // 32 flags in one register, positions by popcount
    byte_words,  // the first pass stores the flags, a byte each
    bit_words,   // the first pass stores the flags, a bit each
  };

  // How to run, for tuning.
  struct Tune {
    int group = 0;  // work-items per work-group: 32, 64, 128, 256, 512 or 1024; 0: the default
  };

  static constexpr std::size_t kMaxPixels = 0xFFFFFFFFu;
  static constexpr int kDefaultGroup = 256;    // where nothing was measured, but on CPUs
  static constexpr int kDefaultCpuGroup = 32;  // there the scan and its barriers are loops

  // Throws Error: invalid_argument for a value out of range, unsupported where the device cannot
  // run a group of this size, build_failed, out_of_resources.
  StreamCompaction(const Runtime& runtime, const Problem& problem, Variant variant, Tune tune)
      : state_(make_state(runtime, problem, variant, tune)) {}
  explicit StreamCompaction(const Runtime& runtime, const Problem& problem,
                            Variant variant = Variant::automatic)
      : StreamCompaction(runtime, problem, variant, Tune{}) {}

  // Enqueues the compaction behind the events of `wait` and returns its last event. src and dst are
  // one row of 4 bytes per pixel, kept is 4 bytes; offsets are multiples of 4. dst must have room
  // for every pixel. The views must not overlap. Throws Error(invalid_argument), with nothing
  // enqueued, when a view breaks a rule.
  cl::Event operator()(const BufferView& src, const BufferView& dst, const BufferView& kept,
                       std::uint32_t threshold, const std::vector<cl::Event>& wait = {}) const {
    const State& s = *state_;
    const RowLayout row{s.pixels * 4, 1, 4};
    const CheckedView from = check_view(s.runtime, src, row, Access::read, kName, "src");
    const CheckedView to = check_view(s.runtime, dst, row, Access::write, kName, "dst");
    const CheckedView number = check_view(s.runtime, kept, {4, 1, 4}, Access::write, kName, "kept");
    check_disjoint(from, to, kName, "src", "dst");
    check_disjoint(from, number, kName, "src", "kept");
    check_disjoint(to, number, kName, "dst", "kept");
    check_wait(wait, kName);

    const std::lock_guard<std::mutex> lock(s.mutex);
    const Launch all = Launch::groups({s.groups, 1, 1}, {s.group, 1, 1});
    const Launch one = Launch::groups({1, 1, 1}, {s.group, 1, 1});
    const auto from_offset = static_cast<cl_ulong>(from.offset / 4);
    const auto to_offset = static_cast<cl_ulong>(to.offset / 4);
    const auto pixels = static_cast<cl_ulong>(s.pixels);
    const auto limit = static_cast<cl_uint>(threshold);
    Kernel first(s.runtime, s.first, first_kernel(s.variant));
    Kernel scan(s.runtime, s.scan, "stream_compaction_scan");
    Kernel last(s.runtime, s.last_program, kernel_name(s.variant));
    s.last = stores_flags(s.variant) ? first(all, chained(wait, s.last), from.buffer, from_offset,
                                             s.counts, s.flags, pixels, limit)
                                     : first(all, chained(wait, s.last), from.buffer, from_offset,
                                             s.counts, pixels, limit);
    s.last = scan(one, {s.last}, s.counts, static_cast<cl_uint>(s.groups), number.buffer,
                  static_cast<cl_ulong>(number.offset / 4));
    s.last = stores_flags(s.variant) ? last(all, {s.last}, s.flags, s.counts, to.buffer, to_offset)
                                     : last(all, {s.last}, from.buffer, from_offset, s.counts,
                                            to.buffer, to_offset, pixels, limit);
    return s.last;
  }

  // The variant that runs; never automatic.
  Variant variant() const { return state_->variant; }
  // The work-group size that runs.
  int group() const { return static_cast<int>(state_->group); }

  // A kernel of a variant and the definitions that select its program.
  struct Unit {
    std::string kernel;
    Defines defines;
  };

  // The kernels of a variant in the order of its passes; `group` 0 means kDefaultGroup. For tools;
  // plans call it themselves.
  static std::vector<Unit> units(Variant variant, int group = 0) {
    const std::string own = to_string(variant);
    return {{first_kernel(variant), defines(stores_flags(variant) ? own : "count", group)},
            {"stream_compaction_scan", defines("scan", group)},
            {kernel_name(variant), defines(own, group)}};
  }

  // Every variant that runs, in the order of the recipe.
  static constexpr Variant kVariants[] = {Variant::int_flags, Variant::predicates,
                                          Variant::bit_flags, Variant::byte_words,
                                          Variant::bit_words};

  static const char* to_string(Variant variant) {
    switch (variant) {
      case Variant::automatic:
        return "automatic";
      case Variant::int_flags:
        return "int_flags";
      case Variant::predicates:
        return "predicates";
      case Variant::bit_flags:
        return "bit_flags";
      case Variant::byte_words:
        return "byte_words";
      case Variant::bit_words:
        return "bit_words";
    }
    fail(Errc::invalid_argument, kName,
         text("there is no variant of the value ", static_cast<int>(variant)));
  }

  // The variant of that name, automatic included. Throws Error(invalid_argument) that lists the
  // names.
  static Variant parse_variant(std::string_view name) {
    return parse_name<Variant>(kName, "variant", name, kVariants,
                               [](Variant variant) { return to_string(variant); },
                               {Variant::automatic});
  }

 private:
  static constexpr const char* kName = "StreamCompaction";
  static constexpr std::size_t kPixelsPerItem = 32;

  struct State {
    Runtime runtime;
    std::size_t pixels = 0;
    Variant variant = Variant::int_flags;
    std::size_t group = 0;
    std::size_t groups = 0;
    cl::Program first;
    cl::Program scan;
    cl::Program last_program;
    cl::Buffer counts;  // a uint per group
    cl::Buffer flags;   // of the variants that store them: 32 bytes or a uint per item
    // Guarded by the mutex: the last command that uses the scratch memory.
    mutable std::mutex mutex;
    mutable cl::Event last;

    explicit State(Runtime rt) : runtime(std::move(rt)) {}
  };

  static bool stores_flags(Variant variant) {
    return variant == Variant::byte_words || variant == Variant::bit_words;
  }

  static std::string kernel_name(Variant variant) {
    return std::string("stream_compaction_") + to_string(variant);
  }

  static std::string first_kernel(Variant variant) {
    return stores_flags(variant) ? kernel_name(variant) + "_mark" : "stream_compaction_count";
  }

  static Defines defines(std::string name, int group) {
    for (char& c : name) {
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    Defines out;
    out.flag("CLCOOK_STREAM_COMPACTION_ONLY").flag("CLCOOK_STREAM_COMPACTION_" + name);
    out.set("CLCOOK_STREAM_COMPACTION_GROUP", group == 0 ? kDefaultGroup : group);
    return out;
  }

  static std::shared_ptr<const State> make_state(const Runtime& runtime, const Problem& problem,
                                                 Variant variant, Tune tune) {
    if (problem.pixels < 1 || problem.pixels > kMaxPixels) {
      fail(Errc::invalid_argument, kName,
           text("pixels must be 1 to ", kMaxPixels, ", got ", problem.pixels));
    }
    to_string(variant);  // refuses a value that is no variant
    if (tune.group != 0) check_group(tune.group);
    auto state = std::make_shared<State>(runtime);
    choose(runtime, problem, variant, tune);
    state->pixels = problem.pixels;
    state->variant = variant;
    state->group = static_cast<std::size_t>(tune.group);
    const std::size_t per_group = state->group * kPixelsPerItem;
    state->groups = (problem.pixels + per_group - 1) / per_group;
    const std::vector<Unit> kernels = units(variant, tune.group);
    const auto build = [&](const Unit& unit, std::size_t groups) {
      cl::Program program = runtime.build(Source(embedded::stream_compaction), unit.defines,
                                          "stream_compaction/" + unit.kernel);
      Kernel(runtime, program, unit.kernel)
          .check_launch(Launch::groups({groups, 1, 1}, {state->group, 1, 1}));
      return program;
    };
    state->first = build(kernels[0], state->groups);
    state->scan = build(kernels[1], 1);
    state->last_program = build(kernels[2], state->groups);
    state->counts = create_buffer(runtime, state->groups * sizeof(cl_uint));
    if (stores_flags(variant)) {
      const std::size_t items = state->groups * state->group;
      state->flags = create_buffer(
          runtime, items * (variant == Variant::byte_words ? kPixelsPerItem : sizeof(cl_uint)));
    }
    return state;
  }

  static int default_group(const DeviceInfo& info) {
    return info.cpu ? kDefaultCpuGroup : kDefaultGroup;
  }

  static void check_group(int group) {
    for (const int one : {32, 64, 128, 256, 512, 1024}) {
      if (group == one) return;
    }
    fail(Errc::invalid_argument, kName,
         text("group must be 32, 64, 128, 256, 512 or 1024, got ", group));
  }

  // Fills in what the caller left open: from what was measured, else the built-in defaults.
  static void choose(const Runtime& runtime, const Problem& problem, Variant& variant, Tune& tune) {
    const bool automatic = variant == Variant::automatic;
    const TuningChoice choice = runtime.tuning().choose(runtime.info(), "stream_compaction",
                                                        8.0 * static_cast<double>(problem.pixels),
                                                        automatic ? "" : to_string(variant));
    const bool measured = choice.match != TuningChoice::Match::none;
    if (automatic) variant = measured ? parse_variant(choice.entry.variant) : Variant::bit_words;
    if (tune.group == 0 && measured) {
      const int group = choice.entry.integer("group", 0);
      if (group > 0 && static_cast<std::size_t>(group) <= runtime.info().max_group) {
        check_group(group);
        tune.group = group;
      }
    }
    if (tune.group == 0) tune.group = default_group(runtime.info());
  }

  std::shared_ptr<const State> state_;
};

}  // namespace clcook
