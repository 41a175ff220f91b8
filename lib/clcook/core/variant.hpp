// A variant of an operation, as far as it is the same for all operations, and what it offers.
#pragma once

#include <clcook/core/defines.hpp>
#include <clcook/core/device_info.hpp>
#include <clcook/core/error.hpp>
#include <clcook/core/inline.hpp>
#include <clcook/core/launch.hpp>
#include <clcook/core/math.hpp>
#include <clcook/core/params.hpp>
#include <clcook/core/rates.hpp>
#include <clcook/core/source.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace clcook {

// A kernel and the program that it is in.
struct CompileUnit {
  std::string kernel;  // the kernel's name
  std::string label;   // tells the units of one variant apart, such as "rgba32f -> rgba32f"
  Source source;
  Defines defines;
  std::string options;           // beyond the defaults of Runtime::build()
  Launch::Sizes group{0, 0, 0};  // work-items per work-group; 0: not known before the launch
  std::size_t local_bytes = 0;   // of its __local arguments
};

// What follows from a problem for a variant with a tune: how it cuts the problem, its weights. Derived
// once, when the variant makes its offer, and carried along to the launches.
struct Design {
  Design() = default;
  Design(const Design&) = default;
  Design& operator=(const Design&) = default;
  virtual ~Design() = default;
};

// What a variant says of a problem.
struct Offer {
  Lacks lacks = Lacks::nothing;  // what it cannot do without
  std::string why;               // where it cannot: the value and the rule
  Work work;                     // what it moves and computes, and in how many launches
  // Microseconds, by which automatic compares variants. What is put together of other variants adds
  // theirs up; 0: by `work` and what was measured of this variant.
  double cost = 0;
  double max_error = 0;  // no result is further off before it is rounded to the result's type; in
                         // units of the largest value
  // dB that results reach; also of an offer that lacks nothing but quality.
  double psnr = math::unbounded();
  bool in_place = false;                 // source and result may overlap
  std::vector<CompileUnit> units;        // its kernels
  std::shared_ptr<const Design> design;  // null: nothing follows
  bool last = false;  // automatic takes it behind all others: for a size that it is slow at

  bool can() const { return lacks == Lacks::nothing; }
  static Offer no(Lacks lacks, std::string why) {
    Offer out;
    out.lacks = lacks;
    out.why = std::move(why);
    return out;
  }
};

// One way of doing an operation's work.
struct VariantInfo {
  std::string name;             // as in the kernel's name
  std::string summary;          // one line: what it changes
  std::vector<TuneAxis> axes;   // what can be tuned
  bool is_baseline = false;     // exactly one variant: the kernel that the others are compared with
  bool is_approximate = false;  // another result than the baseline's, by design
  bool is_by_name = false;      // automatic never takes it
  bool is_for_cpus = false;     // automatic takes it on CPUs only, and there first
  bool is_for_cpus_only = false;  // and by name it is had there only: quirks::takes_cpu_kernels()
  // Its work is in the units of this variant, whose measured factor serves where it has none itself.
  const char* costs_as = nullptr;
  bool is_preferred = false;  // automatic takes it where nothing was measured and costs are equal
  std::string needs;  // a device feature that it cannot do without, empty for plain OpenCL C 1.2
  std::string predecessor;  // the variant that it is one step from; none of the baseline
  std::string change;       // what that step changes, in a few words

  // Whether automatic may take it on such a device.
  bool may_take(const DeviceInfo& device) const {
    return !is_by_name && (device.cpu || !is_for_cpus);
  }
};

// The offer with its units' launches and `bytes` to move where it names no work, or one that says
// which of the device's limits a unit exceeds.
CLCOOK_INLINE Offer completed(Offer offer, const DeviceInfo& device, double bytes);

// The variant of that name; null for automatic. Throws Error(invalid_argument) that lists the names.
CLCOOK_INLINE const VariantInfo* find_variant(const char* operation,
                                              const std::vector<const VariantInfo*>& variants,
                                              std::string_view name);

}  // namespace clcook

#if CLCOOK_DEFINITIONS
#include <clcook/core/impl/variant.hpp>
#endif
