// The definitions of clcook/core/rates.hpp.
#pragma once

#include <clcook/core/math.hpp>
#include <clcook/core/rates.hpp>

namespace clcook {

CLCOOK_INLINE double microseconds(const Rates& rates, const Work& work) {
  return (work.bytes_read + work.bytes_written) / rates.bytes + work.operations / rates.operations +
         work.launches * rates.launch;
}

CLCOOK_INLINE Params to_params(const Rates& rates) {
  return Params{{"bytes", rates.bytes}, {"operations", rates.operations}, {"launch", rates.launch}};
}

CLCOOK_INLINE std::optional<Rates> rates_of(const std::string& tune) {
  try {
    const Params params = Params::parse(tune);
    const Rates out{params.real("bytes"), params.real("operations"), params.real("launch")};
    const auto good = [](double value) { return math::isfinite(value) && value > 0; };
    if (good(out.bytes) && good(out.operations) && good(out.launch)) return out;
  } catch (const Error&) {
  }
  return std::nullopt;
}

CLCOOK_INLINE Rates device_rates(const Runtime& runtime) {
  return device_rates(runtime.info(), runtime.tuning());
}

CLCOOK_INLINE Rates device_rates(const DeviceInfo& device, const Tuning& tuning) {
  const TuningChoice measured = tuning.choose(device, kRatesRecipe, 1);
  if (const std::optional<Rates> rates = rates_of(measured.entry.tune)) return *rates;
  // A server's processor, or a card, of 2020.
  return device.gpu ? Rates{4e5, 1e7, 5} : Rates{2e4, 2e5, 5};
}

}  // namespace clcook
