// What `clcook isa` compiles for a kind of device is what a plan builds on such a device, text and
// options. The device of a target is that of device_of() in bench/isa/jobs.cpp. And what a plan
// defines has a place in the text: a kernel that lacks it would go by its own default.
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <clcook/core/launch.hpp>
#include "bench/cookbook/recipes.hpp"

#include "stub/runtime.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;

namespace {

struct Kind {
  stub::Device device;
  DeviceInfo target;
};

Kind kind_of(const stub::Device& device, std::size_t max_group, unsigned kib) {
  Kind out{device, {}};
  out.target.cpu = device.type == CL_DEVICE_TYPE_CPU;
  out.target.gpu = !out.target.cpu;
  out.target.max_group = out.device.max_group = max_group;
  out.device.max_items = {max_group, max_group, max_group};
  out.target.local_mem = out.device.local_memory = cl_ulong{kib} << 10;
  return out;
}

Kind nvidia(unsigned capability) {
  Kind out = kind_of(stub::gpu(), 1024, 48);
  out.device.platform = out.target.platform = "NVIDIA CUDA";
  out.device.compute_capability = out.target.nvidia_capability = capability;
  out.target.local_mem -= 4;  // see quirks.hpp
  return out;
}

std::vector<Kind> kinds() {
  return {kind_of(stub::gpu(), 256, 64), kind_of(stub::cpu(), 4096, 512), nvidia(80), nvidia(90)};
}

std::string whole(const CompileUnit& unit) {
  return unit.kernel + "\n" + unit.defines.options() + " " + unit.options + "\n" +
         unit.source.flatten();
}

bool has_word(const std::string& text, const std::string& word) {
  const auto goes_on = [&](std::size_t at) {
    return at < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_');
  };
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    if ((at == 0 || !goes_on(at - 1)) && !goes_on(at + word.size())) return true;
  return false;
}

}  // namespace

// Kernels have them as clang's ext_vector_type(), with a definition *LANES or, in gbuffer_shade, 32.
TEST_CASE("on rusticl no kernel has vectors of more elements than SPIR-V knows") {
  std::map<std::string, int> most;
  for (const char* platform : {"rusticl", "Portable Computing Language"}) {
    stub::Device device = kind_of(stub::cpu(), 4096, 512).device;
    device.platform = platform;
    stub::set_device(device);
    const Runtime runtime = stub::make_runtime();
    for (const Recipe& recipe : cookbook::recipes()) {
      for (const VariantInfo& variant : recipe.variants) {
        if (!variant.is_for_cpus) continue;
        for (const Params& shape : recipe.test_shapes) {
          const Offer offer = recipe.offer(runtime, variant.name, {}, shape);
          if (!offer.can()) continue;
          for (const CompileUnit& unit : offer.units) {
            CAPTURE(unit.label);
            if (recipe.name == "gbuffer_shade") most[platform] = 32;
            for (const auto& [name, value] : unit.defines.values()) {
              if (name.size() >= 5 && name.compare(name.size() - 5, 5, "LANES") == 0)
                most[platform] = std::max(most[platform], std::atoi(value.c_str()));
            }
          }
        }
      }
    }
  }
  CHECK(most["rusticl"] <= 16);
  CHECK(most["Portable Computing Language"] == 32);
}

TEST_CASE("tools compile for a device what a plan builds there") {
  std::set<std::string> same;
  for (const Kind& kind : kinds()) {
    stub::set_device(kind.device);
    const Runtime runtime = stub::make_runtime();
    CAPTURE(kind.device.platform);
    CHECK(runtime.info().local_mem == kind.target.local_mem);
    for (const Recipe& recipe : cookbook::recipes()) {
      std::vector<Params> shapes;
      for (const std::vector<Params>* some : {&recipe.test_shapes, &recipe.bench_shapes}) {
        for (const Params& shape : *some) {
          // Its problem has the mesh itself, which takes a time that grows with the number.
          if (shape.integer("patches", 0) <= 4096) shapes.push_back(shape);
        }
      }
      for (const VariantInfo& variant : recipe.variants) {
        const std::string name = recipe.name + "/" + variant.name;
        CAPTURE(name);
        for (const Params& tune : combinations(variant.axes)) {
          for (const Params& shape : shapes) {
            CAPTURE(shape.str());
            Offer offer;
            try {
              offer = recipe.offer(runtime, variant.name, tune, shape);
            } catch (const Error& error) {
              // The axes of a tune do not go together.
              CHECK(error.code == Errc::invalid_argument);
              continue;
            }
            if (!offer.can()) continue;
            std::set<std::string> kernels;
            std::set<std::string> texts;
            for (const CompileUnit& unit : offer.units) {
              kernels.insert(unit.kernel);
              texts.insert(whole(unit));
              const std::string source = unit.source.flatten();
              for (const auto& one : unit.defines.values())
                CHECK_MESSAGE(has_word(source, one.first), one.first);
            }
            // Of some variants tools see more kernels than one problem needs, or one of many alike.
            std::size_t found = 0;
            // The device of a target, and a live one.
            for (const DeviceInfo& device : {kind.target, runtime.info()}) {
              for (const CompileUnit& unit : recipe.units(variant.name, tune, shape, device)) {
                if (kernels.count(unit.kernel) == 0) continue;
                CHECK(texts.count(whole(unit)) == 1);
                ++found;
              }
            }
            if (found > 0) same.insert(name);
            break;
          }
        }
      }
    }
  }
  for (const Recipe& recipe : cookbook::recipes()) {
    for (const VariantInfo& variant : recipe.variants) {
      const std::string name = recipe.name + "/" + variant.name;
      // It hands all its work to other variants, where tools see their kernels.
      if (name == "gaussian_blur/volume") continue;
      CHECK_MESSAGE(same.count(name) == 1, name);
    }
  }
}
