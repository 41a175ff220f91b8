// The fingerprints of results, bench/measure/fingerprint.hpp: a planted change ages what ran otherwise because of it,
// and nothing else.
#include "bench/measure/fingerprint.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bench/cookbook/recipes.hpp"
#include "bench/tool/code.hpp"
#include "bench/tool/command.hpp"
#include "clcook_places.hpp"
#include "support/testing.hpp"
#include "support/toy_problem.hpp"

using namespace clcook;
using namespace clcook::testing;
using tool::Fingerprint;
using tool::RecordedCase;

namespace {

DeviceInfo nvidia(unsigned capability) {
  DeviceInfo out;
  out.name = "NVIDIA H200";
  out.platform = "NVIDIA CUDA";
  out.vendor = "NVIDIA Corporation";
  out.extensions = "cl_nv_device_attribute_query cl_khr_fp16";
  out.gpu = true;
  out.images = true;
  out.compute_units = 132;
  out.max_group = 1024;
  for (std::size_t& one : out.max_items) one = 1024;
  out.local_mem = (48 << 10) - 4;
  out.global_mem = std::uint64_t{140} << 30;
  out.max_allocation = std::uint64_t{35} << 30;
  out.nvidia_capability = capability;
  return out;
}

DeviceInfo pocl(const std::string& version) {
  DeviceInfo out;
  out.name = "pthread-skylake";
  out.platform = "Portable Computing Language";
  out.platform_version = "OpenCL 3.0 PoCL " + version;
  out.language = "CL3.0";
  out.cpu = true;
  out.images = true;
  out.compute_units = 2;
  out.max_group = 4096;
  for (std::size_t& one : out.max_items) one = 4096;
  out.local_mem = 1 << 20;
  out.global_mem = std::uint64_t{16} << 30;
  out.max_allocation = std::uint64_t{4} << 30;
  return out;
}

std::vector<DeviceInfo> devices() {
  DeviceInfo rusticl = pocl("");
  rusticl.platform = "rusticl";
  rusticl.max_group = 1024;
  rusticl.local_mem = 32 << 10;
  DeviceInfo amd = nvidia(0);
  amd.platform = "AMD Accelerated Parallel Processing";
  amd.max_group = 256;
  amd.local_mem = 64 << 10;
  amd.language = "CL3.0";
  return {nvidia(90), nvidia(60), amd, pocl("3.1"), pocl("7.1"), rusticl};
}

// Calls with each variant, its first and last tune, and the first shape that it takes.
using OnVariant = std::function<void(const Recipe&, const std::string& variant, const Params& tune,
                                     const Params& shape)>;
void for_each_variant(const DeviceInfo& device, const OnVariant& call) {
  for (const Recipe& recipe : cookbook::recipes()) {
    for (const VariantInfo& variant : recipe.variants) {
      const std::vector<Params> tunes = combinations(variant.axes);
      std::set<std::string> done;
      for (const Params& tune : {tunes.front(), tunes.back()}) {
        if (!done.insert(tune.str()).second) continue;
        for (const Params& shape : recipe.bench_shapes) {
          try {
            recipe.units(variant.name, tune, shape, device);
          } catch (const Error&) {
            continue;
          }
          call(recipe, variant.name, tune, shape);
          break;
        }
      }
    }
  }
}

// By "line_blur/naive group=64".
std::map<std::string, Fingerprint> all_of(const DeviceInfo& device) {
  std::map<std::string, Fingerprint> out;
  for_each_variant(device, [&](const Recipe& recipe, const std::string& variant, const Params& tune,
                               const Params& shape) {
    out[recipe.name + "/" + variant + " " + tune.str()] =
        tool::fingerprint_of(recipe, variant, tune, {shape}, device);
  });
  return out;
}

// The variants whose kernels include a header.
std::set<std::string> including(const std::string& header, const DeviceInfo& device) {
  std::set<std::string> out;
  for_each_variant(device, [&](const Recipe& recipe, const std::string& variant, const Params& tune,
                               const Params& shape) {
    const std::vector<CompileUnit> units = recipe.units(variant, tune, shape, device);
    // It hands its work to variants that all include these.
    if (units.empty()) out.insert(recipe.name + "/" + variant + " " + tune.str());
    for (const CompileUnit& unit : units) {
      if (contains(unit.source.flatten(), "\"" + header + "\""))
        out.insert(recipe.name + "/" + variant + " " + tune.str());
    }
  });
  return out;
}

// What a header with another text ages.
std::set<std::string> aged_by(const std::string& header, const DeviceInfo& device,
                              const std::function<std::string(const std::string&)>& change) {
  const std::map<std::string, Fingerprint> before = all_of(device);
  const TempFolder folder;
  const std::string text = read_bytes(std::string(CLCOOK_SOURCE_DIR "/kernels/") + header);
  const std::string changed = change(text);
  REQUIRE(changed != text);
  write_bytes(folder / header, changed);
  const ScopedVariable kernels("CLCOOK_KERNEL_DIR", folder.path().string());
  std::set<std::string> out;
  for (const auto& [name, now] : all_of(device)) {
    const std::string what = difference(before.at(name), now);
    if (what.empty()) continue;
    CHECK(what == "the text of its kernels");
    out.insert(name);
  }
  return out;
}

// A recipe of one unit that tests change.
struct Planted {
  CompileUnit unit{"twice",
                   "",
                   Source("planted.cl",
                          "// A comment.\n__kernel void twice(__global float* x) {\n"
                          "  x[get_global_id(0)] *= FACTOR;\n}\n"),
                   Defines().set("FACTOR", 2).set("WEIGHT", 0.1f),
                   "-cl-fast-relaxed-math",
                   {64, 1, 1},
                   256};
  std::vector<RecordedCase> record{{"twice", "gpu", {}, {}, {}, {"twice 128 by 64: * 3 0.25"}},
                                   {"twice", "cpu", {}, {}, {}, {"twice 64 by 1: * 3 0.25"}},
                                   {"thrice", "gpu", {}, {}, {}, {"thrice 128 by 64: *"}}};

  Fingerprint ran(const std::string& variant = "twice", std::size_t cases = 2) const {
    Recipe recipe;
    recipe.name = "planted";
    recipe.variants.resize(2);
    recipe.variants[0].name = "twice";
    recipe.variants[1].name = "thrice";
    recipe.pose = [variants = recipe.variants](const Params&) {
      return std::make_unique<const ToyProblem>("Planted", variants);
    };
    recipe.shown = [this](const VariantInfo&, const std::vector<CompileUnit>&) {
      return std::vector<CompileUnit>{unit};
    };
    return tool::fingerprint_of(recipe, variant, {}, {Params()}, nvidia(90), record, cases);
  }
};

std::string aged(const std::function<void(Planted&)>& change,
                 const std::string& variant = "twice") {
  Planted planted;
  const Fingerprint before = planted.ran(variant);
  change(planted);
  return difference(before, planted.ran(variant));
}

void set_text(Planted& planted, const std::string& text) {
  planted.unit.source = Source("planted.cl", text);
}

}  // namespace

TEST_CASE("a changed device header ages the variants that include it, and no other") {
  const DeviceInfo device = nvidia(90);
  for (const char* header : {"clcook/halo.clh", "clcook/pixel.clh"}) {
    CAPTURE(header);
    const std::set<std::string> expected = including(header, device);
    CHECK(expected.size() > 10);
    CHECK(expected.size() + 10 < all_of(device).size());
    CHECK(aged_by(header, device, [](const std::string& text) {
            // Within its guard, so that it is there once.
            return text.substr(0, text.rfind("#endif")) + "#define CLCOOK_PLANTED 1\n#endif\n";
          }) == expected);
    // Comments and layout.
    CHECK(aged_by(header, device, [](const std::string& text) {
            std::string out = "// Planted.\n\n";
            for (std::size_t i = 0; i < text.size(); ++i) {
              out += text[i];
              if (text.compare(i, 2, "{\n") == 0) out += "  // planted\n\n  ";
            }
            return out;
          }).empty());
  }
}

TEST_CASE("options, groups, local memory and text each age a variant, and are named") {
  CHECK(aged([](Planted& p) { p.unit.defines.set("FACTOR", 3); }) == "its options");
  CHECK(aged([](Planted& p) { p.unit.defines.set("WEIGHT", 0.2f); }) == "its options");
  CHECK(aged([](Planted& p) { p.unit.defines.flag("MORE"); }) == "its options");
  CHECK(aged([](Planted& p) { p.unit.options.clear(); }) == "its options");
  CHECK(aged([](Planted& p) { p.unit.group = {32, 2, 1}; }) == "its options");
  CHECK(aged([](Planted& p) { p.unit.local_bytes = 512; }) == "its options");
  CHECK(aged([](Planted& p) { p.unit.kernel = "twice2"; }) ==
        "the text of its kernels, its options");
  CHECK(aged([](Planted& p) {
          set_text(p,
                   "__kernel void twice(__global float* x) {\n"
                   "  x[get_global_id(0)] += FACTOR;\n}\n");
        }) == "the text of its kernels");
}

TEST_CASE("comments, layout, names for people and the last bits of libraries age nothing") {
  CHECK(aged([](Planted& p) {
          set_text(p,
                   "/* Another. */ __kernel void twice(\n    __global float *x)\n{\n"
                   "\tx[ get_global_id( 0 ) ] *= FACTOR; // in place\n}\n");
        }) == "");
  CHECK(aged([](Planted& p) { p.unit.label = "for people"; }) == "");
  CHECK(aged([](Planted& p) { p.unit.defines.set("WEIGHT", 0.10000001f); }) == "");
}

TEST_CASE("code without layout keeps what a compiler tells apart") {
  const auto code = [](const char* text) { return tool::code_without_layout(text); };
  CHECK(code("int  a ;\n\n  a = b;\n") == "int a;a=b;");
  CHECK(code("a = b + +c;") != code("a = b++ c;"));
  CHECK(code("#define F (x)\n") != code("#define F(x)\n"));
  CHECK(code("#define A\nint b;") != code("#define A int b;\n"));
  CHECK(code("#if A\nx\n#endif\ny\n") == "#if A\nx\n#endif\ny");
  CHECK(code("int/**/a;") == code("int\na;"));
}

TEST_CASE("sizes and scalars of launches age their variant") {
  const auto change = [](const std::string& line) {
    return [line](Planted& p) { p.record[0].enqueued = {line}; };
  };
  CHECK(aged(change("twice 192 by 64: * 3 0.25")) == "its launches");
  CHECK(aged(change("twice 128 by 32: * 3 0.25")) == "its launches");
  CHECK(aged(change("twice 128 by 64: * 4 0.25")) == "its launches");
  CHECK(aged([](Planted& p) { p.record[0].enqueued.push_back(p.record[0].enqueued[0]); }) ==
        "its launches");
  CHECK(aged([](Planted& p) { p.record.erase(p.record.begin()); }) == "its launches");
  CHECK(aged(change("twice 192 by 64: * 3 0.25"), "thrice") == "");
  // What is not enqueued, and cases that came later.
  CHECK(aged([](Planted& p) { p.record[0].compiled = {"twice 64x1x1"}; }) == "");
  CHECK(aged([](Planted& p) { p.record.push_back({"twice", "gpu", {}, {}, {}, {"more"}}); }) == "");
  CHECK(Planted().ran("thrice", 9).cases == 1);
}

TEST_CASE("a result says all of its device that fingerprints depend on") {
  for (const DeviceInfo& device : devices()) {
    CAPTURE(device.platform_version);
    const auto said = tool::read_fields<tool::Device>(tool::to_json(device), "a result", "device");
    const DeviceInfo known = tool::info_of(said);
    std::size_t compared = 0;
    for_each_variant(device, [&](const Recipe& recipe, const std::string& variant,
                                 const Params& tune, const Params& shape) {
      CAPTURE(recipe.name);
      CAPTURE(variant);
      CAPTURE(tune.str());
      CHECK(tool::fingerprint_of(recipe, variant, tune, {shape}, device) ==
            tool::fingerprint_of(recipe, variant, tune, {shape}, known));
      ++compared;
    });
    CHECK(compared > 100);
  }
  for (const DeviceInfo& device : {nvidia(90), pocl("3.1")}) {
    const auto said = tool::read_fields<tool::Device>(tool::to_json(device), "a result", "device");
    for (const Recipe& recipe : cookbook::recipes()) {
      for (const VariantInfo& variant : recipe.variants) {
        CAPTURE(recipe.name);
        CAPTURE(variant.name);
        CHECK(tool::fingerprint_of_check(recipe, variant.name, device) ==
              tool::fingerprint_of_check(recipe, variant.name, tool::info_of(said)));
      }
    }
  }
}

TEST_CASE("a check's fingerprint is of every tuning and test shape, one of isa of its target") {
  const Recipe& recipe = find_recipe(cookbook::recipes(), "halo_tile");
  const auto checked = [](const Recipe& of) {
    return tool::fingerprint_of_check(of, "local_tile", pocl("3.1"));
  };
  Recipe other = recipe;
  other.test_shapes.resize(1);
  CHECK(difference(checked(recipe), checked(other)) == "its options");
  other = recipe;
  for (VariantInfo& variant : other.variants) variant.axes.clear();
  CHECK(difference(checked(recipe), checked(other)) == "its options");
  const auto compiled = [](const char* target) {
    return tool::fingerprint_of_isa(find_recipe(cookbook::recipes(), "stream_compaction"),
                                    "ballot_words", {}, target);
  };
  CHECK(compiled("gfx900") == compiled("gfx1030"));
  CHECK(difference(compiled("gfx900"), compiled("sm_90")) == "its options");
}

TEST_CASE("records are read as they were written, and refuse what cannot be read") {
  for (const Recipe& recipe : cookbook::recipes()) {
    const std::string path = CLCOOK_SOURCE_DIR "/bench/record/" + recipe.name + ".txt";
    CHECK(write_record(recipe.name, tool::record_of(recipe.name)) == read_bytes(path));
    for (const VariantInfo& variant : recipe.variants) {
      const auto is_of = [&](const RecordedCase& one) { return one.variant == variant.name; };
      CHECK(std::count_if(tool::record_of(recipe.name).begin(), tool::record_of(recipe.name).end(),
                          is_of) > 0);
    }
  }
  CHECK(tool::record_of("nobody's").empty());
  for (const char* text : {"naive\n", "naive gpu {}\n", "naive gpu {} {width=3\n", " {} {}\n",
                           "  enqueued naive 64 by 64:\n"}) {
    CHECK(error_of([&] { tool::read_record(text); }).code == Errc::io);
  }
}
