#include "measure/fingerprint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <clcook/core/cache.hpp>
#include <clcook/embedded/record.hpp>
#include <map>
#include <set>
#include <unordered_map>

#include "isa/jobs.hpp"
#include "tool/code.hpp"

namespace clcook::tool {

namespace {

std::string hash_of(const std::set<std::string>& parts) {
  std::string all;
  for (const std::string& one : parts) all += one + "\n";
  return short_hash(all);
}

// Of many tunings and shapes few texts differ, and reading one takes longer than all the rest.
std::uint64_t text_hash(const std::string& source) {
  static std::unordered_map<std::string, std::uint64_t> known;
  const auto [found, is_new] = known.try_emplace(source, 0);
  if (is_new) found->second = fnv1a(code_without_layout(source));
  return found->second;
}

// What a variant compiles; of one that hands its work to others, what all of these do.
std::vector<CompileUnit> units_of(const Recipe& recipe, const std::string& variant,
                                  const Params& tune, const Params& shape,
                                  const DeviceInfo& device) {
  std::vector<CompileUnit> out = recipe.units(variant, tune, shape, device);
  if (!out.empty()) return out;
  for (const VariantInfo& other : recipe.variants) {
    try {
      for (CompileUnit& unit : recipe.units(other.name, {}, shape, device))
        out.push_back(std::move(unit));
    } catch (const Error&) {  // not this shape
    }
  }
  return out;
}

// What a variant compiles for several problems.
struct Compiled {
  std::set<std::string> kernels;
  std::set<std::string> options;

  void add(const std::vector<CompileUnit>& units, const DeviceInfo& device) {
    for (const CompileUnit& unit : units) {
      // With its options a kernel has its text.
      if (options.insert(options_of(unit, device)).second)
        kernels.insert(fmt::format("{} {:x}", unit.kernel, text_hash(unit.source.flatten())));
    }
  }

  Fingerprint with_launches(const std::string& variant, const std::vector<RecordedCase>& record,
                            std::size_t cases) const {
    Fingerprint out{hash_of(kernels), hash_of(options), "", 0};
    std::string launches;
    for (const RecordedCase& one : record) {
      if (one.variant != variant || out.cases == cases) continue;
      for (const std::string& line : one.enqueued) launches += line + "\n";
      ++out.cases;
    }
    out.launches = hash_of({launches});
    return out;
  }
};

}  // namespace

const std::vector<RecordedCase>& record_of(const std::string& recipe) {
  static std::map<std::string, std::vector<RecordedCase>> known;
  const auto [found, is_new] = known.try_emplace(recipe);
  if (is_new) {
    for (const embedded::File& file : embedded::record) {
      if (file.name == recipe + ".txt") found->second = read_record(file.text());
    }
  }
  return found->second;
}

Fingerprint fingerprint_of(const Recipe& recipe, const std::string& variant, const Params& tune,
                           const std::vector<Params>& shapes, const DeviceInfo& device,
                           const std::vector<RecordedCase>& record, std::size_t cases) {
  recipe.variant(variant);
  Compiled all;
  for (const Params& shape : shapes)
    all.add(units_of(recipe, variant, tune, shape, device), device);
  return all.with_launches(variant, record, cases);
}

Fingerprint fingerprint_of(const Recipe& recipe, const std::string& variant, const Params& tune,
                           const std::vector<Params>& shapes, const DeviceInfo& device) {
  return fingerprint_of(recipe, variant, tune, shapes, device, record_of(recipe.name));
}

Fingerprint fingerprint_of_check(const Recipe& recipe, const std::string& variant,
                                 const DeviceInfo& device, std::size_t cases) {
  Compiled all;
  for (const Params& tune : combinations(recipe.variant(variant).axes)) {
    for (const Params& shape : recipe.test_shapes) {
      try {
        all.add(units_of(recipe, variant, tune, shape, device), device);
      } catch (const Error&) {  // a check skips it
      }
    }
  }
  return all.with_launches(variant, record_of(recipe.name), cases);
}

Fingerprint fingerprint_of_isa(const Recipe& recipe, const std::string& variant,
                               const std::string& tune, const std::string& target) {
  isa::Target known;
  known.name = target;
  known.vendor = isa::vendor_of(target);
  const Params whole =
      tune.empty() ? combinations(recipe.variant(variant).axes).front() : Params::parse(tune);
  return fingerprint_of(recipe, variant, whole, {isa::shape_of(recipe)}, isa::device_of(known), {},
                        0);
}

DeviceInfo info_of(const Device& device) {
  DeviceInfo out;
  out.name = device.name;
  out.platform = device.platform;
  out.platform_version = device.platform_version.value_or("");
  out.language = device.language.value_or(out.language);
  out.cpu = device.type == "cpu";
  out.gpu = device.type == "gpu";
  out.accelerator = device.type == "accelerator";
  out.compute_units = static_cast<cl_uint>(device.compute_units.value_or(0));
  out.max_group = device.max_group.value_or(0);
  out.local_mem = device.local_mem.value_or(0);
  out.nvidia_capability = device.nvidia_capability.value_or(0);
  return out;
}

std::string short_hash(const std::string& text) {
  const std::uint64_t hash = fnv1a(text);
  return fmt::format("{:08x}", static_cast<std::uint32_t>(hash ^ (hash >> 32)));
}

std::string difference(const Fingerprint& then, const Fingerprint& now) {
  std::string out;
  const auto add = [&](bool differs, const char* what) {
    if (differs) out += std::string(out.empty() ? "" : ", ") + what;
  };
  add(then.kernels != now.kernels, "the text of its kernels");
  add(then.options != now.options, "its options");
  add(then.launches != now.launches || then.cases != now.cases, "its launches");
  return out;
}

}  // namespace clcook::tool
