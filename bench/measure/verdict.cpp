#include "measure/verdict.hpp"

#include <fmt/format.h>

#include <cmath>

#include "tool/command.hpp"

namespace clcook::tool {

const char* to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::baseline:
      return "baseline";
    case Verdict::faster:
      return "faster";
    case Verdict::tie:
      return "tie";
    case Verdict::slower:
      return "slower";
    case Verdict::none:
      break;
  }
  return "";
}

Verdict judge(const Ratio& ratio) {
  if (std::isnan(ratio.low) || std::isnan(ratio.high)) return Verdict::none;
  return ratio.tie() ? Verdict::tie : ratio.low > 1 ? Verdict::faster : Verdict::slower;
}

Ratio ratio_of(const BenchRow& row) { return row.ratio ? row.ratio->ratio : Ratio{}; }

Verdict verdict_of(const BenchRow& row) {
  if (row.baseline) return Verdict::baseline;
  const Ratio ratio = ratio_of(row);
  return row.ratio ? judge(ratio) : Verdict::none;
}

const Recipe* known_recipe(const std::string& name) {
  for (const Recipe& one : recipes()) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

const VariantInfo* known_variant(const Recipe* recipe, const std::string& name) {
  if (recipe == nullptr) return nullptr;
  for (const VariantInfo& one : recipe->variants) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

const BenchRow* best_of(const std::string& recipe, const std::vector<const BenchRow*>& rows) {
  const Recipe* known = known_recipe(recipe);
  const auto approximate = [&](const std::string& variant) {
    const VariantInfo* info = known_variant(known, variant);
    return info != nullptr && info->is_approximate;
  };
  const BenchRow* best = nullptr;
  for (const BenchRow* one : rows) {
    const Verdict verdict = verdict_of(*one);
    if (verdict == Verdict::none || verdict == Verdict::baseline) continue;
    if (approximate(one->variant)) continue;
    if (best == nullptr || ratio_of(*one).value > ratio_of(*best).value) best = one;
  }
  return best;
}

std::string digits(double value) {
  if (std::isnan(value)) return "-";
  if (value == 0) return "0";
  const double size = std::abs(value);
  if (size >= 1e7 || size < 1e-3) return fmt::format("{:.2e}", value);
  if (size >= 100) return fmt::format("{:.0f}", value);
  if (size >= 10) return fmt::format("{:.1f}", value);
  return size >= 1 ? fmt::format("{:.2f}", value) : fmt::format("{:.3f}", value);
}

std::string times(double ratio) {
  return std::isnan(ratio) ? "-" : fmt::format("{:.{}f}", ratio, std::abs(ratio) < 0.1 ? 4 : 2);
}

std::string to_string(const Ratio& ratio) {
  return fmt::format("{}× [{}, {}]", times(ratio.value), times(ratio.low), times(ratio.high));
}

}  // namespace clcook::tool
