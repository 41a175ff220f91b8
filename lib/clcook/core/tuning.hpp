// What was measured to be fastest, and on which device: the source of Variant::automatic and of
// default tunings.
#pragma once

#include <clcook/core/device.hpp>
#include <clcook/core/error.hpp>
#include <clcook/core/source.hpp>
#include <clcook/embedded/tuning.hpp>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <sstream>
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

  // The whole number after "name=" in the tuning, `missing` when there is none.
  int integer(const std::string& name, int missing) const {
    std::istringstream in(tune);
    std::string one;
    while (in >> one) {
      if (one.rfind(name + "=", 0) != 0) continue;
      const std::string digits = one.substr(name.size() + 1);
      if (!digits.empty() && digits.size() <= 9 &&
          digits.find_first_not_of("0123456789") == std::string::npos) {
        return std::stoi(digits);
      }
    }
    return missing;
  }

  // The word after "name=" in the tuning, empty when there is none.
  std::string word(const std::string& name) const {
    std::istringstream in(tune);
    std::string one;
    while (in >> one) {
      if (one.rfind(name + "=", 0) == 0) return one.substr(name.size() + 1);
    }
    return "";
  }
};

// The class of a problem that reads and writes this many bytes: the whole part of log2.
inline int size_class(double bytes) {
  return bytes < 1 ? 0 : static_cast<int>(std::floor(std::log2(bytes)));
}

// Which entry applies to a device, and why.
struct TuningChoice {
  enum class Match { none, other_device, other_driver, exact };
  Match match = Match::none;
  TuningEntry entry;   // empty for none
  std::string reason;  // one sentence for people
};

// Measured winners: those shipped with clcook, and before them those of the user's own file.
//
// The file is text: a first line "clcook-tuning 1", then one entry per line, its fields separated
// by tabs in the order of TuningEntry. The user's file is $CLCOOK_TUNING_FILE, else "tuning.txt" in
// the folder of the disk cache; `clcook tune` writes it. A file of another version or with a broken
// line is an Error(io), since ignoring it silently would hide a measurement.
class Tuning {
 public:
  static constexpr std::string_view kFirstLine = "clcook-tuning 1";

  explicit Tuning(std::vector<TuningEntry> entries = {}) : entries_(std::move(entries)) {}

  // The user's entries, then the shipped ones. Entries of the user's file win where both fit
  // equally well.
  static Tuning standard(const std::filesystem::path& user_file) {
    std::vector<TuningEntry> entries;
    std::error_code error;
    if (!user_file.empty() && std::filesystem::is_regular_file(user_file, error)) {
      entries = parse(read_text_file(user_file), user_file.string());
    }
    for (const embedded::File& file : embedded::tuning) {
      for (TuningEntry& entry : parse(file.text(), std::string(file.name)))
        entries.push_back(std::move(entry));
    }
    return Tuning(std::move(entries));
  }

  // Where the user's entries are, empty when there is no such place.
  static std::filesystem::path user_file(const std::filesystem::path& cache_folder) {
    const char* variable = std::getenv("CLCOOK_TUNING_FILE");
    if (variable != nullptr && *variable != '\0') return variable;
    return cache_folder.empty() ? cache_folder : cache_folder / "tuning.txt";
  }

  static std::vector<TuningEntry> parse(const std::string& content, const std::string& name) {
    std::istringstream in(content);
    in.imbue(std::locale::classic());
    std::string line;
    if (!std::getline(in, line) || line != kFirstLine) {
      fail(Errc::io, "tuning file " + name,
           "the first line must be '" + std::string(kFirstLine) + "', got '" + line + "'");
    }
    std::vector<TuningEntry> entries;
    for (std::size_t number = 2; std::getline(in, line); ++number) {
      if (line.empty() || line[0] == '#') continue;
      std::vector<std::string> fields(1);
      for (const char c : line) {
        if (c == '\t') {
          fields.emplace_back();
        } else {
          fields.back() += c;
        }
      }
      TuningEntry entry;
      if (fields.size() != 12 || !whole(fields[6], entry.compute_units) ||
          !whole(fields[7], entry.size_class)) {
        fail(Errc::io, "tuning file " + name,
             text("line ", number,
                  " must have 12 fields separated by tabs, the 7th and 8th whole numbers"));
      }
      entry.recipe = fields[0];
      entry.device = fields[1];
      entry.platform = fields[2];
      entry.vendor = fields[3];
      entry.driver = fields[4];
      entry.type = fields[5];
      entry.best = fields[8] == "best";
      entry.variant = fields[9];
      entry.tune = fields[10];
      entry.ties = fields[11];
      entries.push_back(std::move(entry));
    }
    return entries;
  }

  static std::string format(const std::vector<TuningEntry>& entries) {
    std::string out = std::string(kFirstLine) + "\n";
    for (const TuningEntry& entry : entries) {
      const std::string numbers[] = {std::to_string(entry.compute_units),
                                     std::to_string(entry.size_class),
                                     entry.best ? "best" : "variant"};
      const std::string* fields[] = {&entry.recipe, &entry.device,  &entry.platform, &entry.vendor,
                                     &entry.driver, &entry.type,    &numbers[0],     &numbers[1],
                                     &numbers[2],   &entry.variant, &entry.tune,     &entry.ties};
      bool first = true;
      for (const std::string* field : fields) {
        if (!first) out += '\t';
        first = false;
        for (const char c : *field) out += c == '\t' || c == '\n' || c == '\r' ? ' ' : c;
      }
      out += '\n';
    }
    return out;
  }

  const std::vector<TuningEntry>& entries() const { return entries_; }

  // The best entry of a recipe for a device and a problem of `bytes` bytes: the same device before
  // another one of the same type (the same vendor first, then the nearest number of compute units),
  // the same driver before another, then the nearest size class. With a variant's name, its best
  // tuning; without, the fastest variant.
  TuningChoice choose(const DeviceInfo& info, const std::string& recipe, double bytes,
                      const std::string& variant = {}) const {
    const std::string type = info.gpu ? "gpu" : info.accelerator ? "accelerator" : "cpu";
    const int wanted_class = size_class(bytes);
    TuningChoice best;
    double best_distance = 0;
    for (const TuningEntry& entry : entries_) {
      if (entry.recipe != recipe || entry.type != type) continue;
      if (variant.empty() ? !entry.best : entry.variant != variant) continue;
      TuningChoice::Match match = TuningChoice::Match::other_device;
      double distance = std::abs(entry.size_class - wanted_class);
      if (entry.device == info.name && entry.platform == info.platform) {
        match = entry.driver == info.driver ? TuningChoice::Match::exact
                                            : TuningChoice::Match::other_driver;
      } else {
        const double units = std::log2((entry.compute_units + 1.0) / (info.compute_units + 1.0));
        distance += 100 * std::abs(units) + (entry.vendor == info.vendor ? 0 : 10000);
      }
      if (best.match == TuningChoice::Match::none || match > best.match ||
          (match == best.match && distance < best_distance)) {
        best.match = match;
        best.entry = entry;
        best_distance = distance;
      }
    }
    const std::string what =
        best.entry.variant + (best.entry.tune.empty() ? "" : " " + best.entry.tune);
    switch (best.match) {
      case TuningChoice::Match::exact:
        best.reason = what + ", measured on this device and driver";
        break;
      case TuningChoice::Match::other_driver:
        best.reason = what + ", measured on this device with driver " + best.entry.driver;
        break;
      case TuningChoice::Match::other_device:
        best.reason = what + ", measured on another " + type + ": " + best.entry.device + " (" +
                      best.entry.platform + ")";
        break;
      case TuningChoice::Match::none:
        best.reason = "nothing was measured on a " + type + "; the built-in default";
        break;
    }
    return best;
  }

 private:
  template <class T>
  static bool whole(const std::string& digits, T& value) {
    if (digits.empty() || digits.size() > 9 ||
        digits.find_first_not_of("0123456789") != std::string::npos)
      return false;
    value = static_cast<T>(std::stoul(digits));
    return true;
  }

  std::vector<TuningEntry> entries_;
};

}  // namespace clcook
