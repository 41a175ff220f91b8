// What a device does per microsecond: the unit of the costs that variants are compared by.
#pragma once

#include <clcook/core/inline.hpp>
#include <clcook/core/launch.hpp>
#include <clcook/core/params.hpp>
#include <clcook/core/runtime.hpp>
#include <optional>
#include <string>

namespace clcook {

// What one run moves and computes at least: each input byte read once, each output byte written
// once.
struct Work {
  double bytes_read = 0;
  double bytes_written = 0;
  double operations = 0;  // floating-point or integer operations that the method needs; a fused
                          // multiply-add counts two
  double launches = 0;    // kernels one after the other; 0: not counted

  Work& operator+=(const Work& other) {
    bytes_read += other.bytes_read;
    bytes_written += other.bytes_written;
    operations += other.operations;
    launches += other.launches;
    return *this;
  }
};

struct Rates {
  double bytes = 0;       // per microsecond, of a copy: bytes read and bytes written both count
  double operations = 0;  // per microsecond, of multiply-adds in float, which count two
  double launch = 0;      // microseconds from one kernel to the next
};

// The time of this work, one thing after the other.
CLCOOK_INLINE double microseconds(const Rates& rates, const Work& work);

// As an entry of a tuning file: the tune of the "recipe" kRatesRecipe.
inline constexpr const char* kRatesRecipe = "device_rates";
CLCOOK_INLINE Params to_params(const Rates& rates);
// Nothing where a value is missing or not positive.
CLCOOK_INLINE std::optional<Rates> rates_of(const std::string& tune);

// The rates of a device: what `clcook tune` measured on it, otherwise those of the most similar
// device of the tuning files, otherwise typical rates of its kind. Does not query the device.
// Thread-safe.
CLCOOK_INLINE Rates device_rates(const DeviceInfo& device, const Tuning& tuning);
CLCOOK_INLINE Rates device_rates(const Runtime& runtime);

}  // namespace clcook

#if CLCOOK_DEFINITIONS
#include <clcook/core/impl/rates.hpp>
#endif
