// The definitions of clcook/core/tuning.hpp.
#pragma once

#include <algorithm>
#include <charconv>
#include <clcook/core/file.hpp>
#include <clcook/core/math.hpp>
#include <clcook/core/source.hpp>
#include <clcook/core/tuning.hpp>
#include <clcook/embedded/tuning.hpp>
#include <cstdlib>

namespace clcook {

CLCOOK_INLINE int TuningEntry::integer(const std::string& name, int missing) const {
  for (const std::string& digits : values(name)) {
    if (!digits.empty() && digits.size() <= 9 &&
        digits.find_first_not_of("0123456789") == std::string::npos) {
      return std::stoi(digits);
    }
  }
  return missing;
}

CLCOOK_INLINE std::string TuningEntry::word(const std::string& name) const {
  const std::vector<std::string> found = values(name);
  return found.empty() ? "" : found.front();
}

CLCOOK_INLINE std::vector<std::string> TuningEntry::values(const std::string& name) const {
  const char* const blanks = " \t\n\v\f\r";
  std::vector<std::string> out;
  std::size_t begin = tune.find_first_not_of(blanks);
  while (begin != std::string::npos) {
    const std::size_t end = std::min(tune.find_first_of(blanks, begin), tune.size());
    const std::string one = tune.substr(begin, end - begin);
    if (one.rfind(name + "=", 0) == 0) out.push_back(one.substr(name.size() + 1));
    begin = tune.find_first_not_of(blanks, end);
  }
  return out;
}

CLCOOK_INLINE int size_class(double bytes) {
  return bytes < 1 ? 0 : static_cast<int>(math::floor(math::log2(bytes)));
}

CLCOOK_INLINE Tuning::Tuning(std::vector<TuningEntry> entries) : entries_(std::move(entries)) {
  for (std::size_t i = 0; i < entries_.size(); ++i) by_recipe_[entries_[i].recipe].push_back(i);
}

CLCOOK_INLINE Tuning Tuning::standard(const std::string& user_file) {
  std::vector<TuningEntry> entries;
  std::vector<std::string> notes;
  if (!user_file.empty() && detail::is_file(user_file)) {
    try {
      entries = parse(read_text_file(user_file), user_file);
    } catch (const Error& unreadable) {
      notes.push_back(std::string("left out: ") + unreadable.what());
    }
  }
  for (const embedded::File& file : embedded::tuning) {
    for (TuningEntry& entry : parse(file.text(), std::string(file.name)))
      entries.push_back(std::move(entry));
  }
  Tuning out(std::move(entries));
  out.notes_ = std::move(notes);
  return out;
}

CLCOOK_INLINE std::string Tuning::user_file(const std::string& cache_folder) {
  const char* variable = std::getenv("CLCOOK_TUNING_FILE");
  if (variable != nullptr && *variable != '\0') return variable;
  return cache_folder.empty() ? "" : detail::joined(cache_folder, "tuning.txt");
}

CLCOOK_INLINE std::vector<TuningEntry> Tuning::parse(const std::string& content,
                                                     const std::string& name) {
  std::size_t at = content.size() - detail::without_mark(content).size();
  std::string line;
  const auto next_line = [&] {
    if (at >= content.size()) return false;
    const std::size_t end = std::min(content.find('\n', at), content.size());
    line = content.substr(at, end - at);
    at = end + 1;
    return true;
  };
  next_line();
  if (line != kFirstLine && line != kFirstLine1) {
    fail(Errc::io, "tuning file " + name,
         "the first line must be '" + std::string(kFirstLine) + "', got '" + line + "'");
  }
  const std::size_t count = line == kFirstLine ? 13 : 12;
  std::vector<TuningEntry> entries;
  for (std::size_t number = 2; next_line(); ++number) {
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
    if (fields.size() != count || !whole(fields[6], entry.compute_units) ||
        !whole(fields[7], entry.size_class) ||
        (count == 13 && !positive(fields[12], entry.factor))) {
      fail(Errc::io, "tuning file " + name,
           text("line ", number, " must have ", count, " fields separated by tabs, the 7th and ",
                "8th whole numbers", count == 13 ? ", the 13th a number" : ""));
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

CLCOOK_INLINE std::string Tuning::format(const std::vector<TuningEntry>& entries) {
  std::string out = std::string(kFirstLine) + "\n";
  for (const TuningEntry& entry : entries) {
    const std::string numbers[] = {std::to_string(entry.compute_units),
                                   std::to_string(entry.size_class),
                                   entry.best ? "best" : "variant", text(entry.factor)};
    const std::string* fields[] = {&entry.recipe, &entry.device,  &entry.platform, &entry.vendor,
                                   &entry.driver, &entry.type,    &numbers[0],     &numbers[1],
                                   &numbers[2],   &entry.variant, &entry.tune,     &entry.ties,
                                   &numbers[3]};
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

CLCOOK_INLINE TuningChoice Tuning::choose(const DeviceInfo& info, const std::string& recipe,
                                          double bytes, const std::string& variant) const {
  TuningChoice best;
  const std::string type = type_of(info);
  double best_distance = 0;
  for (const std::size_t i : of_recipe(recipe)) {
    const TuningEntry& entry = entries_[i];
    if (entry.type != type) continue;
    if (variant.empty() ? !entry.best : entry.variant != variant) continue;
    const TuningChoice::Match match = match_of(info, entry);
    const double distance = distance_of(info, entry, size_class(bytes), match);
    if (best.match == TuningChoice::Match::none || match > best.match ||
        (match == best.match && distance < best_distance)) {
      best.match = match;
      best.entry = entry;
      best_distance = distance;
    }
  }
  switch (best.match) {
    case TuningChoice::Match::exact:
      best.where = "measured on this device and driver";
      break;
    case TuningChoice::Match::other_driver:
      best.where = "measured on this device with driver " + best.entry.driver;
      break;
    case TuningChoice::Match::other_device:
      best.where = "measured on another " + type + ": " + best.entry.device + " (" +
                   best.entry.platform + ")";
      break;
    case TuningChoice::Match::none:
      best.where = "nothing was measured on a " + type + "; the built-in default";
      break;
  }
  return best;
}

CLCOOK_INLINE TuningFactor Tuning::factor(const DeviceInfo& info,
                                          const std::vector<std::string>& recipes, double bytes,
                                          const std::string& variant) const {
  const std::string type = type_of(info);
  for (const std::string& recipe : recipes) {
    const TuningEntry* best = nullptr;
    TuningChoice::Match best_match = TuningChoice::Match::none;
    double best_distance = 0;
    for (const std::size_t i : of_recipe(recipe)) {
      const TuningEntry& entry = entries_[i];
      if (entry.best || entry.factor <= 0 || entry.type != type || entry.variant != variant)
        continue;
      const TuningChoice::Match match = match_of(info, entry);
      const double distance = distance_of(info, entry, size_class(bytes), match);
      if (best == nullptr || match > best_match ||
          (match == best_match && distance < best_distance)) {
        best = &entry;
        best_match = match;
        best_distance = distance;
      }
    }
    if (best == nullptr) continue;
    return {best->factor, best_match == TuningChoice::Match::exact
                              ? "from measurements on this device and driver"
                          : best_match == TuningChoice::Match::other_driver
                              ? "from measurements on this device with another driver"
                              : "from measurements on another device"};
  }
  return {0, "by its work alone, since nothing was measured"};
}

CLCOOK_INLINE const char* Tuning::type_of(const DeviceInfo& info) {
  return info.gpu ? "gpu" : info.accelerator ? "accelerator" : "cpu";
}

CLCOOK_INLINE const std::vector<std::size_t>& Tuning::of_recipe(const std::string& recipe) const {
  static const std::vector<std::size_t> none;
  const auto found = by_recipe_.find(recipe);
  return found == by_recipe_.end() ? none : found->second;
}

CLCOOK_INLINE TuningChoice::Match Tuning::match_of(const DeviceInfo& info,
                                                   const TuningEntry& entry) {
  if (entry.device != info.name || entry.platform != info.platform)
    return TuningChoice::Match::other_device;
  return entry.driver == info.driver ? TuningChoice::Match::exact
                                     : TuningChoice::Match::other_driver;
}

CLCOOK_INLINE double Tuning::distance_of(const DeviceInfo& info, const TuningEntry& entry, int size,
                                         TuningChoice::Match match) {
  const double distance = std::abs(entry.size_class - size);
  if (match != TuningChoice::Match::other_device) return distance;
  const double units = math::log2((entry.compute_units + 1.0) / (info.compute_units + 1.0));
  return distance + 100 * std::abs(units) + (entry.vendor == info.vendor ? 0 : 10000);
}

CLCOOK_INLINE bool Tuning::positive(const std::string& digits, double& value) {
  const char* const end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, value);
  return read.ec == std::errc() && read.ptr == end && math::isfinite(value) && value >= 0;
}

}  // namespace clcook
