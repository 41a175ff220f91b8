// What `clcook isa` compiles for a kind of device is what a plan builds on such a device, text and
// options. The device of a target is that of device_of() in bench/isa/jobs.cpp.
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

Kind nvidia(unsigned capability) {
  Kind out;
  out.device.platform = "NVIDIA CUDA";
  out.device.compute_capability = capability;
  out.device.local_memory = 227 << 10;
  out.target.platform = "NVIDIA CUDA";
  out.target.nvidia_capability = capability;
  out.target.gpu = true;
  return out;
}

std::vector<Kind> kinds() {
  DeviceInfo gpu;
  gpu.gpu = true;
  DeviceInfo cpu;
  cpu.cpu = true;
  return {{stub::gpu(), gpu}, {stub::cpu(), cpu}, nvidia(80), nvidia(90)};
}

std::string whole(const CompileUnit& unit) {
  return unit.kernel + "\n" + unit.defines.options() + " " + unit.options + "\n" +
         unit.source.flatten();
}

}  // namespace

TEST_CASE("tools compile for a device what a plan builds there") {
  std::set<std::string> same;
  std::size_t variants = 0;
  for (const Kind& kind : kinds()) {
    stub::set_device(kind.device);
    const Runtime runtime = stub::make_runtime();
    CAPTURE(kind.device.platform);
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
        variants += kind.device.type == CL_DEVICE_TYPE_CPU ? 1 : 0;
        CAPTURE(name);
        for (const Params& tune : combinations(variant.tunes)) {
          for (const Params& shape : shapes) {
            CAPTURE(shape.str());
            const Offer offer = recipe.offer(runtime, variant.name, tune, shape);
            if (!offer.can()) continue;
            const std::vector<CompileUnit> units =
                recipe.units(variant.name, tune, shape, kind.target);
            // What hands its work to other variants has their kernels too.
            REQUIRE(units.size() <= offer.units.size());
            for (std::size_t i = 0; i < units.size(); ++i)
              CHECK(whole(units[i]) == whole(offer.units[i]));
            if (units.size() == offer.units.size()) same.insert(name);
            break;
          }
        }
      }
    }
  }
  // All but those that hand their work to others.
  CHECK(same.size() + 2 >= variants);
}
