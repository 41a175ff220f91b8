// Measured winners, by device: what automatic and default tunings come from.
#pragma once

#include <clcook/core/device.hpp>
#include <clcook/core/error.hpp>
#include <clcook/core/inline.hpp>
#include <clcook/core/source.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace clcook {

// One measured winner.
struct TuningEntry {
  std::string recipe;
  std::string device;  // the device's name
  std::string platform;
  std::string vendor;
  std::string driver;
  std::string type;  // "cpu", "gpu" or "accelerator"
  unsigned compute_units = 0;
  int size_class = 0;  // see size_class()
  bool best = false;   // the fastest of all variants; else only the best tuning of this variant
  std::string variant;
  std::string tune;  // "group=128", empty when the variant has no axes
  std::string ties;  // others within the noise of the winner, as text
  // In an entry of a variant: its measured time over the time that the device's rates predict for
  // its work; 0: unknown.
  double factor = 0;

  // The whole number after "name=" in the tuning, `missing` when there is none.
  int integer(const std::string& name, int missing) const;

  // The word after "name=" in the tuning, empty when there is none.
  std::string word(const std::string& name) const;

 private:
  // What stands behind "name=", wherever it does.
  std::vector<std::string> values(const std::string& name) const;
};

// The class of a problem that reads and writes this many bytes: the whole part of log2.
CLCOOK_INLINE int size_class(double bytes);

// Which entry applies to a device, and why.
struct TuningChoice {
  enum class Match { none, other_device, other_driver, exact };
  Match match = Match::none;
  TuningEntry entry;  // empty for none
  std::string where;  // one clause for people: "measured on this device and driver"
};

// How a variant's measured time relates to its work, see TuningEntry::factor.
struct TuningFactor {
  double value = 0;        // 0 where nothing was measured
  const char* where = "";  // one clause for people
};

// Measured winners: those shipped with clcook, and before them those of the user's own file.
//
// The file is text: a first line "clcook-tuning 2", then one entry per line, its fields separated
// by tabs in the order of TuningEntry; version 1 has no factors. The user's file is
// $CLCOOK_TUNING_FILE, else "tuning.txt" in the folder of the disk cache; `clcook tune` writes it.
// A file of another version or with a broken line is ignored as a whole, and notes() says so: it
// must not break the programs that use clcook.
class Tuning {
 public:
  static constexpr std::string_view kFirstLine = "clcook-tuning 2";
  static constexpr std::string_view kFirstLine1 = "clcook-tuning 1";

  explicit Tuning(std::vector<TuningEntry> entries = {});

  // The user's entries, then the shipped ones. If both fit equally well, the user's entry counts.
  static Tuning standard(const std::string& user_file);

  // Where the user's entries are, empty when there is no such place.
  static std::string user_file(const std::string& cache_folder);

  static std::vector<TuningEntry> parse(const std::string& content, const std::string& name);

  static std::string format(const std::vector<TuningEntry>& entries);

  const std::vector<TuningEntry>& entries() const { return entries_; }
  // What became of files that could not be read; a line each.
  const std::vector<std::string>& notes() const { return notes_; }

  // The best entry of a recipe for a device and a problem of `bytes` bytes: the same device before
  // another one of the same type (the same vendor first, then the nearest number of compute units),
  // the same driver before another, then the nearest size class. With a variant's name, its best
  // tuning; without, the fastest variant.
  TuningChoice choose(const DeviceInfo& info, const std::string& recipe, double bytes,
                      const std::string& variant = {}) const;

  // The factor of a variant, of the first of `recipes` that has one: by device, driver and size as
  // choose() does.
  TuningFactor factor(const DeviceInfo& info, const std::vector<std::string>& recipes, double bytes,
                      const std::string& variant) const;

  static const char* type_of(const DeviceInfo& info);

 private:
  const std::vector<std::size_t>& of_recipe(const std::string& recipe) const;

  static TuningChoice::Match match_of(const DeviceInfo& info, const TuningEntry& entry);

  static double distance_of(const DeviceInfo& info, const TuningEntry& entry, int size,
                            TuningChoice::Match match);

  static bool positive(const std::string& digits, double& value);

  template <class T>
  static bool whole(const std::string& digits, T& value) {
    if (digits.empty() || digits.size() > 9 ||
        digits.find_first_not_of("0123456789") != std::string::npos)
      return false;
    value = static_cast<T>(std::stoul(digits));
    return true;
  }

  std::vector<TuningEntry> entries_;
  std::map<std::string, std::vector<std::size_t>> by_recipe_;
  std::vector<std::string> notes_;
};

}  // namespace clcook

#if CLCOOK_DEFINITIONS
#include <clcook/core/impl/tuning.hpp>
#endif
