// Tuning files: what is taken can be asked, and is written as it can be read again.
#include <clcook/core/tuning.hpp>

#include "fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace clcook;
  std::vector<TuningEntry> entries;
  try {
    entries = Tuning::parse(std::string(fuzz::view(data, size)), "tuning.txt");
  } catch (const Error& error) {
    CLCOOK_FUZZ_CHECK(error.code == Errc::io);
    return 0;
  }
  const std::string written = Tuning::format(entries);
  const std::vector<TuningEntry> again = Tuning::parse(written, "written");
  CLCOOK_FUZZ_CHECK(again.size() == entries.size());
  CLCOOK_FUZZ_CHECK(Tuning::format(again) == written);
  const Tuning tuning(entries);
  const std::size_t asked = std::min<std::size_t>(entries.size(), 8);
  for (std::size_t i = 0; i < asked; ++i) {
    const TuningEntry& entry = entries[i];
    DeviceInfo info;
    info.name = entry.device;
    info.platform = entry.platform;
    info.vendor = entry.vendor;
    info.driver = i % 2 == 0 ? entry.driver : "another";
    info.compute_units = static_cast<cl_uint>(i) * 1000;
    (entry.type == "gpu"           ? info.gpu
     : entry.type == "accelerator" ? info.accelerator
                                   : info.cpu) = true;
    for (const double bytes : {0.0, 1e6, 1e300}) {
      const TuningChoice best = tuning.choose(info, entry.recipe, bytes);
      CLCOOK_FUZZ_CHECK(best.match == TuningChoice::Match::none || best.entry.best);
      const TuningChoice one = tuning.choose(info, entry.recipe, bytes, entry.variant);
      // Without a name it is the fastest of all variants.
      CLCOOK_FUZZ_CHECK(one.match == TuningChoice::Match::none || entry.variant.empty() ||
                        one.entry.variant == entry.variant);
      const TuningFactor factor = tuning.factor(info, {"x", entry.recipe}, bytes, entry.variant);
      CLCOOK_FUZZ_CHECK(factor.value >= 0 && factor.where != nullptr);
    }
    CLCOOK_FUZZ_CHECK(entry.integer("group", -1) >= -1);
    fuzz::keep(static_cast<unsigned>(entry.word("group").size()));
  }
  return 0;
}
