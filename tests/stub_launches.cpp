// What every variant compiles and enqueues is what bench/record says, a text for each recipe that the
// tool takes a result's fingerprint from (bench/measure/fingerprint.hpp): a reader sees in a diff which launches
// a change of the host changes, and --check then doubts what was measured of these variants.
//
// The files say which cases there are: a line for each, with the variant, the device, the tune and the
// shape. Where a change is meant, ./cook record renews what follows them, through CLCOOK_RECORD=update;
// a variant without a case gets some. Of a variant's cases only the first ones must stay the first.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "bench/cookbook/recipes.hpp"
#include "bench/tool/record.hpp"
#include "clcook_places.hpp"
#include "stub/runtime.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;
using tool::RecordedCase;

namespace {

// The words of a value, of a structure the first ones: the rest are weights. What looks like a float
// prints as one, with as many digits as C libraries agree in.
std::string words_of(const std::vector<unsigned char>& value) {
  constexpr std::size_t kMost = 96;  // bytes
  std::string out;
  for (std::size_t at = 0; at < std::min(value.size(), kMost); at += 4) {
    const std::size_t size = std::min<std::size_t>(4, value.size() - at);
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value[at], size);
    float real = 0;
    std::memcpy(&real, &bits, sizeof real);
    const auto whole = static_cast<std::int32_t>(bits);
    char text[32];
    if (size < 4 || (whole > -(1 << 23) && whole < 1 << 23))
      std::snprintf(text, sizeof text, "%d", static_cast<int>(whole));
    else
      std::snprintf(text, sizeof text, "%.4g", static_cast<double>(real));
    out += (out.empty() ? "" : " ") + std::string(text);
  }
  if (value.size() > kMost) out += " ... " + std::to_string(value.size()) + " bytes";
  return value.size() > 4 ? "(" + out + ")" : out;
}

std::string sizes_of(const std::array<std::size_t, 3>& sizes) {
  std::size_t dims = 3;
  while (dims > 1 && sizes[dims - 1] == 1) --dims;
  std::string out;
  for (std::size_t d = 0; d < dims; ++d) out += (d == 0 ? "" : "x") + std::to_string(sizes[d]);
  return out;
}

std::string line_of(const std::string& kernel, const stub::Launch& launch) {
  std::string out = kernel + " " + sizes_of(launch.global) + " by " + sizes_of(launch.local) + ":";
  for (const stub::Launch::Argument& one : launch.arguments) {
    out += " ";
    if (one.memory != nullptr)
      out += "*";
    else if (one.bytes != 0)
      out += "local:" + std::to_string(one.bytes);
    else
      out += words_of(one.value);
  }
  return out;
}

stub::Device device_of(const std::string& name) {
  if (name == "cpu") return stub::cpu();
  // As NVIDIA's are, for the variants that need one.
  stub::Device out = stub::gpu();
  out.platform = "NVIDIA CUDA";
  out.vendor = "NVIDIA Corporation";
  out.extensions += " cl_nv_device_attribute_query";
  out.compute_capability = 90;
  return out;
}

// The kernels that variants of the recipe may launch: one may hand its work to another.
std::set<std::string> kernels_of(const Recipe& recipe, const RecordedCase& one,
                                 const DeviceInfo& device) {
  std::set<std::string> out;
  for (const VariantInfo& variant : recipe.variants) {
    try {
      const Params tune = variant.name == one.variant ? one.tune : Params();
      for (const CompileUnit& unit : recipe.units(variant.name, tune, one.shape, device))
        out.insert(unit.kernel);
    } catch (const Error&) {  // not this shape
    }
  }
  return out;
}

// Fills in what the case compiles and enqueues. Throws Error.
void replay(const Recipe& recipe, RecordedCase& one) {
  stub::set_device(device_of(one.device));
  const Runtime runtime = stub::make_runtime();
  one.compiled.clear();
  one.enqueued.clear();
  for (const CompileUnit& unit : recipe.units(one.variant, one.tune, one.shape, runtime.info()))
    one.compiled.push_back(tool::options_of(unit, runtime.info()));
  const std::set<std::string> kernels = kernels_of(recipe, one, runtime.info());
  for (const std::string& kernel : kernels) {
    stub::on_kernel(kernel, [&one, kernel](const stub::Launch& launch) {
      one.enqueued.push_back(line_of(kernel, launch));
    });
  }
  const std::unique_ptr<Case> made = recipe.make(runtime, one.shape, 1);
  made->prepare(one.variant, one.tune);
  made->poison();
  const cl::Event uploaded = made->upload({});
  one.enqueued.clear();
  made->run({uploaded});
  check(clFinish(runtime.queue()()), "clFinish");
  for (const std::string& kernel : kernels) stub::on_kernel(kernel, {});
}

// For a variant that has none: the large ones of the small test shapes, one for each word that a parameter
// can be, the last tune, and a CPU where that makes other launches.
std::vector<RecordedCase> new_cases(const Recipe& recipe, const VariantInfo& variant) {
  std::vector<std::pair<double, Params>> shapes;
  for (const Params& shape : recipe.test_shapes) {
    const double bytes = recipe.problem_bytes(shape);
    if (bytes <= 65536) shapes.emplace_back(-bytes, shape);
  }
  std::stable_sort(shapes.begin(), shapes.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  const std::vector<Params> tunes = combinations(variant.axes);
  std::vector<RecordedCase> out;
  const auto add = [&](const char* device, const Params& tune, const Params& shape) {
    RecordedCase one{variant.name, device, tune, shape, {}, {}};
    try {
      replay(recipe, one);
    } catch (const Error&) {  // neither this device nor this shape
      return false;
    }
    if (one.enqueued.empty()) return false;
    out.push_back(std::move(one));
    return true;
  };
  for (const char* device : {"gpu", "cpu"}) {
    std::set<std::string> seen;
    for (const auto& [bytes, shape] : shapes) {
      std::set<std::string> words{""};
      const Params whole = recipe.check_shape(shape);
      for (const Params::Entry& entry : whole.entries()) {
        if (const auto* word = std::get_if<std::string>(&entry.value))
          words.insert(entry.name + "=" + *word);
      }
      if (std::includes(seen.begin(), seen.end(), words.begin(), words.end())) continue;
      const bool first = out.empty();
      if (!add(device, tunes.front(), shape)) continue;
      seen.insert(words.begin(), words.end());
      if (first && tunes.size() > 1) add(device, tunes.back(), shape);
    }
    if (!out.empty()) break;
  }
  if (!out.empty() && out.front().device == "gpu" && add("cpu", tunes.front(), out.front().shape) &&
      out.back().enqueued == out.front().enqueued)
    out.pop_back();
  return out;
}

}  // namespace

TEST_CASE("what variants compile and enqueue is what was recorded") {
  const char* wish = std::getenv("CLCOOK_RECORD");
  const bool update = wish != nullptr && std::string(wish) == "update";
  // What changes what recipes do.
  for (const char* name : {"CLCOOK_TENSOR_EMULATE", "CLCOOK_GUARD_BANDS", "CLCOOK_KERNEL_DIR"})
    unsetenv(name);
  const std::filesystem::path folder =
      std::filesystem::path(CLCOOK_SOURCE_DIR) / "bench" / "record";
  for (const Recipe& recipe : cookbook::recipes()) {
    CAPTURE(recipe.name);
    const std::filesystem::path path = folder / (recipe.name + ".txt");
    const std::string was = std::filesystem::exists(path) ? read_text_file(path.string()) : "";
    const std::vector<RecordedCase> before = tool::read_record(was);
    std::vector<RecordedCase> now;
    for (const VariantInfo& variant : recipe.variants) {
      CAPTURE(variant.name);
      const std::size_t first = now.size();
      for (RecordedCase one : before) {
        if (one.variant != variant.name) continue;
        CAPTURE(one.head());
        REQUIRE_NOTHROW(replay(recipe, one));
        CHECK_FALSE(one.enqueued.empty());
        now.push_back(std::move(one));
      }
      if (now.size() > first) continue;
      const std::vector<RecordedCase> more = new_cases(recipe, variant);
      CHECK_MESSAGE(!more.empty(), "no test shape is small enough to be recorded");
      CHECK_MESSAGE(update, "has no case in bench/record: ./cook record makes some");
      now.insert(now.end(), more.begin(), more.end());
    }
    const std::string is = tool::write_record(recipe.name, now);
    if (update) {
      CHECK((std::ofstream(path) << is).flush().good());
      continue;
    }
    // What changes on purpose is recorded anew: see the head of this test.
    std::istringstream old_lines(was);
    std::istringstream new_lines(is);
    std::string old_line;
    std::string new_line;
    while (std::getline(new_lines, new_line)) {
      REQUIRE_MESSAGE(std::getline(old_lines, old_line), "lacks ", new_line);
      REQUIRE(new_line == old_line);
    }
    REQUIRE_MESSAGE(!std::getline(old_lines, old_line), "no longer: ", old_line);
  }
}
