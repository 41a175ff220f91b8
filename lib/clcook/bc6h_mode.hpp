// The mode index of every BC6H block header of a buffer.
//
//   clcook::Bc6hMode mode{runtime, {blocks, 4}};
//   cl::Event done = mode(texture, modes, {uploaded});
//
// A header is the first 32-bit word of a 16-byte block; its low bits are the mode code. The result
// is one byte per header: 0 to 13 in the order of the DirectX SDK, kReserved for the four reserved
// codes 0x13, 0x17, 0x1B and 0x1F. A byte, because a result of four bytes would be most of what
// the kernel moves.
#pragma once

#include <clcook/core/defines.hpp>
#include <clcook/core/error.hpp>
#include <clcook/core/launch.hpp>
#include <clcook/core/names.hpp>
#include <clcook/core/runtime.hpp>
#include <clcook/core/source.hpp>
#include <clcook/core/view.hpp>
#include <clcook/embedded/bc6h_mode.hpp>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace clcook {

// A plan: constructed once, called often. All const member functions may be called from several
// threads. The number of headers is no part of the program.
class Bc6hMode {
 public:
  struct Problem {
    std::size_t count = 0;  // headers, at least 1; 32 bits need not hold it
    int stride = 1;         // words from one header to the next: 1, or 4 for whole blocks
  };

  enum class Variant {
    automatic,       // what was measured to be fastest; without that cpu_strip on CPUs, else
                     // arithmetic
    cascade,         // one comparison after the other
    switch_code,     // "switch": one switch over the code
    constant_table,  // 32 entries in constant memory
    local_table,     // 32 entries in local memory
    packed_nibbles,  // 32 entries of 4 bits in four words of the code
    arithmetic,      // no table
    cpu_strip,       // for CPUs: arithmetic on explicit vectors
  };

  // How to run, for tuning; 0 is the default.
  struct Tune {
    int group = 0;     // work-items per work-group; cpu_strip: only 0 or 1
    int per_item = 0;  // headers per work-item: 1, 4, 8, 16 or 32; cpu_strip: only 0
  };

  static constexpr unsigned char kReserved = 15;  // the result for a reserved code

  // Throws Error: invalid_argument for a value out of range, unsupported where the device cannot
  // run a group of this size, build_failed.
  Bc6hMode(const Runtime& runtime, const Problem& problem, Variant variant, Tune tune)
      : runtime_(runtime), problem_(problem), variant_(variant), tune_(tune) {
    check_problem();
    choose();
    program_ = runtime.build(Source(embedded::bc6h_mode),
                             defines(variant_, problem_.stride, tune_.per_item),
                             std::string("bc6h_mode/") + to_string(variant_));
    Kernel(runtime_, program_, kernel_name(variant_)).check_launch(launch());
  }
  explicit Bc6hMode(const Runtime& runtime, const Problem& problem,
                    Variant variant = Variant::automatic)
      : Bc6hMode(runtime, problem, variant, Tune{}) {}

  // Enqueues the extraction behind the events of `wait` and returns its event. `headers` holds
  // count x stride words, its offset a multiple of 4 bytes; `modes` holds count bytes at any
  // offset. Offsets that are multiples of 16 and 4 bytes are faster on GPUs. The views must not
  // overlap. Throws Error(invalid_argument), with nothing enqueued, when a view breaks a rule.
  cl::Event operator()(const BufferView& headers, const BufferView& modes,
                       const std::vector<cl::Event>& wait = {}) const {
    const std::size_t words = problem_.count * static_cast<std::size_t>(problem_.stride);
    const CheckedView from =
        check_view(runtime_, headers, {words * kWord, 1, kWord}, Access::read, kName, "headers");
    const CheckedView to =
        check_view(runtime_, modes, {problem_.count, 1, 1}, Access::write, kName, "modes");
    check_disjoint(from, to, kName, "headers", "modes");
    Kernel kernel(runtime_, program_, kernel_name(variant_));
    return kernel(launch(), wait, from.buffer, static_cast<cl_ulong>(from.offset / kWord),
                  to.buffer, static_cast<cl_ulong>(to.offset),
                  static_cast<cl_ulong>(problem_.count));
  }

  const Problem& problem() const { return problem_; }
  // The variant that runs; never automatic.
  Variant variant() const { return variant_; }
  // What runs, with the defaults filled in; per_item is 0 for cpu_strip.
  Tune tune() const { return tune_; }

  // The definitions that select a variant's program. For tools; plans call it themselves.
  static Defines defines(Variant variant, int stride, int per_item) {
    Defines out;
    std::string upper = to_string(variant);
    for (char& c : upper) {
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    out.flag("CLCOOK_BC6H_MODE_ONLY").flag("CLCOOK_BC6H_MODE_" + upper);
    out.set("CLCOOK_BC6H_MODE_STRIDE", stride);
    if (variant != Variant::cpu_strip) {
      out.set("CLCOOK_BC6H_MODE_PER_ITEM", per_item == 0 ? kPerItem : per_item);
    }
    return out;
  }

  static std::string kernel_name(Variant variant) {
    return std::string("bc6h_mode_") + to_string(variant);
  }

  static const char* to_string(Variant variant) {
    switch (variant) {
      case Variant::automatic:
        return "automatic";
      case Variant::cascade:
        return "cascade";
      case Variant::switch_code:
        return "switch";
      case Variant::constant_table:
        return "constant_table";
      case Variant::local_table:
        return "local_table";
      case Variant::packed_nibbles:
        return "packed_nibbles";
      case Variant::arithmetic:
        return "arithmetic";
      case Variant::cpu_strip:
        return "cpu_strip";
    }
    fail(Errc::invalid_argument, kName,
         text("there is no variant of the value ", static_cast<int>(variant)));
  }

  // All variants but automatic, the baseline first.
  static const std::vector<Variant>& variants() {
    static const std::vector<Variant> all = {
        Variant::cascade,     Variant::switch_code,    Variant::constant_table,
        Variant::local_table, Variant::packed_nibbles, Variant::arithmetic,
        Variant::cpu_strip,
    };
    return all;
  }

  // The variant of that name, automatic included. Throws Error(invalid_argument) that lists the
  // names.
  static Variant parse_variant(std::string_view name) {
    return parse_name<Variant>(kName, "variant", name, variants(),
                               [](Variant variant) { return to_string(variant); },
                               {Variant::automatic});
  }

 private:
  static constexpr const char* kName = "Bc6hMode";
  static constexpr std::size_t kWord = 4;
  static constexpr int kGroup = 256;
  static constexpr int kPerItem = 16;
  static constexpr std::size_t kStrip = 16384;  // CLCOOK_MAP_STRIP of map_row.clh

  void check_problem() const {
    const Problem& p = problem_;
    if (p.count == 0) fail(Errc::invalid_argument, kName, "count must be at least 1, got 0");
    if (p.stride != 1 && p.stride != 4) {
      fail(Errc::invalid_argument, kName, text("stride must be 1 or 4 words, got ", p.stride));
    }
    // Half of the range, so that padding the global size cannot overflow either.
    if (p.count > std::numeric_limits<std::size_t>::max() / 2 / (4 * kWord)) {
      fail(Errc::invalid_argument, kName,
           text("count ", p.count, " of blocks of 16 bytes overflows the address range"));
    }
    if (tune_.group < 0) {
      fail(Errc::invalid_argument, kName, text("group must not be negative, got ", tune_.group));
    }
    const int n = tune_.per_item;
    if (n != 0 && n != 1 && n != 4 && n != 8 && n != 16 && n != 32) {
      fail(Errc::invalid_argument, kName, text("per_item must be 1, 4, 8, 16 or 32, got ", n));
    }
  }

  // Fills in what the caller left open: from what was measured, else the built-in defaults.
  void choose() {
    const bool automatic = variant_ == Variant::automatic;
    const double bytes =
        static_cast<double>(problem_.count) * (static_cast<double>(problem_.stride) * kWord + 1);
    const TuningChoice choice = runtime_.tuning().choose(runtime_.info(), "bc6h_mode", bytes,
                                                         automatic ? "" : to_string(variant_));
    const bool measured = choice.match != TuningChoice::Match::none;
    if (automatic) {
      variant_ = measured              ? parse_variant(choice.entry.variant)
                 : runtime_.info().cpu ? Variant::cpu_strip
                                       : Variant::arithmetic;
    }
    if (variant_ == Variant::cpu_strip) {
      if (tune_.group > 1 || tune_.per_item != 0) {
        fail(Errc::invalid_argument, kName,
             text("the variant cpu_strip takes a group of 1 and no per_item, got ", tune_.group,
                  " and ", tune_.per_item));
      }
      tune_ = {1, 0};
      return;
    }
    if (measured && tune_.per_item == 0) tune_.per_item = choice.entry.integer("per_item", 0);
    if (tune_.group == 0) tune_.group = kGroup;
    if (tune_.per_item == 0) tune_.per_item = kPerItem;
  }

  Launch launch() const {
    if (variant_ == Variant::cpu_strip) {
      return Launch::groups({problem_.count / kStrip + 2, 1, 1}, {1, 1, 1});
    }
    const auto per_item = static_cast<std::size_t>(tune_.per_item);
    const std::size_t items = (problem_.count + per_item - 1) / per_item;
    return Launch::cover({items, 1, 1}, {static_cast<std::size_t>(tune_.group), 1, 1});
  }

  Runtime runtime_;
  Problem problem_;
  Variant variant_;
  Tune tune_;
  cl::Program program_;
};

}  // namespace clcook
