// What every recipe says of itself and does on a device, on the stub, held against tests/data/record:
// its parameters, shapes, sweeps and models; and of every variant, what it is compiled with, what it
// promises, its launches with all their arguments and the bytes behind them, and how it is checked.
// A number that nothing else looks at still may not change unseen.
//
// Where a change is meant, ./cook record writes the files anew, through CLCOOK_RECORD=update;
// CLCOOK_RECORD=FOLDER writes the texts there that they are the digests of, to be compared.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "bench/cookbook/recipes.hpp"
#include "stub/runtime.hpp"
#include "support/data.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;

namespace {

std::uint64_t digest(const void* data, std::size_t bytes, std::uint64_t hash = 0xCBF29CE484222325) {
  const auto* at = static_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i < bytes; ++i) hash = (hash ^ at[i]) * 0x100000001B3;
  return hash;
}

std::string hex(std::uint64_t value) {
  char out[17];
  std::snprintf(out, sizeof out, "%016llx", static_cast<unsigned long long>(value));
  return out;
}

std::string number(double value) {
  char out[32];
  std::snprintf(out, sizeof out, "%.9g", value);
  return out;
}

// The last bits of these functions, in which C libraries differ, and whether the compiler may fuse
// multiplications and additions.
std::string math_library() {
#ifdef __FP_FAST_FMA
  std::uint64_t hash = digest("fma", 3);
#else
  std::uint64_t hash = digest("", 0);
#endif
  for (int i = 1; i < 4000; ++i) {
    const double x = i / 173.0;
    const float f = static_cast<float>(x);
    const double all[] = {std::exp(-x),       std::log(x),      std::sin(x),
                          std::cos(x),        std::pow(x, 0.3), std::erf(x / 6),
                          std::atan2(x, 7.0), std::exp2(x),     std::log2(x)};
    const float floats[] = {std::exp(-f), std::log(f), std::sin(f), std::cos(f), std::pow(f, 0.3f)};
    hash = digest(floats, sizeof floats, digest(all, sizeof all, hash));
  }
  return hex(hash);
}

std::string list(const Params& params) { return "{" + params.str() + "}"; }

std::string list(const TuneAxis& axis) {
  std::string out = axis.name + ":";
  for (const Value& value : axis.values) out += " " + to_string(value);
  return out;
}

std::string list(const Work& work) {
  return number(work.bytes_read) + " " + number(work.bytes_written) + " " +
         number(work.operations) + " " + number(work.launches);
}

// What a recipe says without a device.
std::string description(const Recipe& recipe) {
  std::ostringstream out;
  out << recipe.title << "\n" << recipe.family << "\n" << recipe.summary << "\n";
  for (const Technique& one : recipe.shows) out << one.number << " " << one.where << "\n";
  for (const Parameter& one : recipe.parameters) {
    out << "parameter " << one.name << ", " << one.meaning << ", " << one.missing << ", "
        << one.range() << ", " << number(one.least) << " " << number(one.most) << "\n";
  }
  for (const VariantInfo& one : recipe.variants) {
    out << "variant " << one.name << ", " << one.summary << ", " << one.is_baseline
        << one.is_approximate << ", " << one.needs << "\n";
    for (const TuneAxis& axis : one.axes) out << "  " << list(axis) << "\n";
  }
  std::vector<Params> shapes = recipe.test_shapes;
  shapes.insert(shapes.end(), recipe.bench_shapes.begin(), recipe.bench_shapes.end());
  shapes.push_back(recipe.quick_shape);
  for (const Params& shape : shapes) {
    out << "shape " << list(shape) << " " << number(recipe.problem_bytes(shape)) << " "
        << recipe.tuning_name(shape) << "\n";
  }
  // The least value of each parameter is taken, the one below is not.
  for (const Parameter& one : recipe.parameters) {
    if (one.words.empty() && one.whole && one.least <= one.most) {
      for (const int more : {-1, 0, 1}) {
        Params shape = recipe.test_shapes.front();
        shape.set(one.name, static_cast<std::int64_t>(one.least) + more);
        out << "at " << list(shape);
        try {
          out << " " << number(recipe.problem_bytes(shape)) << "\n";
        } catch (const Error& error) {
          out << " " << to_string(error.code) << ": " << error.what() << "\n";
        }
      }
    }
  }
  for (const Sweep& sweep : recipe.sweeps) {
    out << "sweep " << list(sweep.shape) << " " << list(sweep.smoke) << " " << list(sweep.along)
        << " " << sweep.label << ", " << sweep.model_name << "\n";
    for (const Params& family : combinations(sweep.families)) {
      Params shape = sweep.shape;
      for (const Params::Entry& entry : family.entries()) shape.set(entry.name, entry.value);
      for (const Params::Entry& entry : sweep.smoke.entries()) shape.set(entry.name, entry.value);
      shape.set(sweep.along.name, sweep.along.values[sweep.along.values.size() / 2]);
      const Params whole = recipe.check_shape(shape);
      for (const VariantInfo& variant : recipe.variants) {
        out << "  " << list(shape) << " " << variant.name;
        if (sweep.model) out << " " << number(sweep.model(variant.name, whole, 1));
        if (sweep.lanes) {
          const model::LaneMasks masks = sweep.lanes(variant.name, whole, 1);
          out << " " << masks.taken.size() << " lanes";
          for (const std::size_t width : {1u, 8u, 32u, 64u})
            out << " " << number(model::lane_mask_cost(masks, width));
        }
        out << "\n";
      }
    }
  }
  return out.str();
}

// The launches since the last look at them.
std::string launches;

void listen(const std::string& kernel) {
  stub::on_kernel(kernel, [kernel](const stub::Launch& launch) {
    std::ostringstream out;
    out << "    " << kernel;
    for (std::size_t d = 0; d < 3; ++d) out << " " << launch.global[d] << "/" << launch.local[d];
    for (const stub::Launch::Argument& one : launch.arguments) {
      if (one.memory != nullptr) {
        out << ", " << one.bytes << " bytes " << hex(digest(one.memory, one.bytes));
      } else if (one.bytes != 0) {
        out << ", local " << one.bytes;
      } else {
        out << ", ";
        char byte[3];
        for (const unsigned char value : one.value) {
          std::snprintf(byte, sizeof byte, "%02x", value);
          out << byte;
        }
      }
    }
    launches += out.str() + "\n";
  });
}

// What a variant says of a shape, and is compiled with.
std::string plans(const Runtime& runtime, const Recipe& recipe, const std::string& variant,
                  const Params& tune, const Params& shape) {
  std::ostringstream out;
  out << "  " << variant << " " << list(tune) << " " << list(shape) << "\n";
  try {
    const Offer offer = recipe.offer(runtime, variant, tune, shape);
    out << "    offer " << to_string(offer.lacks) << " " << offer.why << ", " << list(offer.work)
        << ", " << number(offer.max_error) << "\n";
    for (const CompileUnit& unit : recipe.units(variant, tune, shape, runtime.info())) {
      listen(unit.kernel);
      out << "    unit " << unit.kernel << " " << unit.label << " " << unit.defines.options() << " "
          << unit.options << " " << unit.group[0] << "x" << unit.group[1] << "x" << unit.group[2]
          << " " << unit.local_bytes << "\n";
    }
  } catch (const Error& error) {
    out << "    " << to_string(error.code) << ": " << error.what() << "\n";
  }
  return out.str();
}

// What it does with it.
std::string doings(const Runtime& runtime, const Recipe& recipe, const std::string& variant,
                   const Params& tune, const Params& shape) {
  std::ostringstream out;
  out << plans(runtime, recipe, variant, tune, shape);
  try {
    const std::unique_ptr<Case> one = recipe.make(runtime, shape, 1);
    one->prepare(variant, tune);
    one->poison();
    const cl::Event uploaded = one->upload({});
    launches.clear();
    const cl::Event done = one->run({uploaded});
    check(clFinish(runtime.queue()()), "clFinish");
    out << launches << "    work " << list(one->work()) << "\n";
    const Diff diff = one->check({done});
    out << "    check " << diff.compared() << " " << diff.mismatches() << " "
        << number(diff.bound()) << " " << number(diff.max_error()) << " " << diff.guards_ok()
        << "\n";
  } catch (const Error& error) {
    out << "    " << to_string(error.code) << ": " << error.what() << "\n";
  }
  return out.str();
}

stub::Device nvidia() {
  stub::Device out;
  out.name = "Stub NVIDIA";
  out.platform = "NVIDIA CUDA";
  out.vendor = "NVIDIA Corporation";
  out.extensions += " cl_nv_device_attribute_query";
  out.compute_capability = 90;
  out.local_memory = 227 << 10;
  return out;
}
// Little of everything.
stub::Device small() {
  stub::Device out;
  out.name = "Stub Small";
  out.version = "OpenCL 1.2 stub";
  out.extensions = "";
  out.compute_units = 1;
  out.max_group = 64;
  out.max_items = {64, 32, 2};
  out.local_memory = 8 << 10;
  out.max_allocation = 1 << 20;
  out.images = false;
  return out;
}
// It does not say how much local memory it has.
stub::Device silent() {
  stub::Device out = small();
  out.name = "Stub Silent";
  out.local_memory = 0;
  return out;
}

std::vector<std::pair<std::string, std::string>> sections_of(const Recipe& recipe) {
  std::vector<std::pair<std::string, std::string>> out{{"card", description(recipe)}};
  std::vector<Params> shapes;  // quickly made
  for (const Params& shape : recipe.test_shapes)
    if (recipe.problem_bytes(shape) <= 65536) shapes.push_back(shape);
  for (const stub::Device& device : {stub::gpu(), stub::cpu(), nvidia(), small(), silent()}) {
    stub::set_device(device);
    const Runtime runtime = stub::make_runtime();
    const bool runs = device.name == "Stub GPU" || device.name == "Stub CPU";
    for (const VariantInfo& variant : recipe.variants) {
      const std::vector<Params> tunes = combinations(variant.axes);
      std::string text;
      for (const Params& shape : shapes) {
        const bool tensor =
            device.name == "Stub NVIDIA" && variant.name.compare(0, 6, "tensor") == 0;
        text += runs || tensor ? doings(runtime, recipe, variant.name, tunes.front(), shape)
                               : plans(runtime, recipe, variant.name, tunes.front(), shape);
      }
      for (const Params& tune : tunes)
        text += doings(runtime, recipe, variant.name, tune, shapes[shapes.size() / 2]);
      if (device.name == "Stub GPU") {
        for (const Params& shape : recipe.bench_shapes) {
          // Its problem has the mesh itself, which takes a time that grows with the number.
          if (shape.integer("patches", 0) > 4096) continue;
          text += plans(runtime, recipe, variant.name, tunes.front(), shape);
        }
      }
      out.emplace_back(device.name.substr(5) + "/" + variant.name, text);
    }
  }
  return out;
}

}  // namespace

TEST_CASE("what recipes say and do is what was recorded") {
  const char* wish = std::getenv("CLCOOK_RECORD");
  const std::string record = wish == nullptr ? "" : wish;
  const std::string library = math_library();
  // What changes what recipes do.
  for (const char* name : {"CLCOOK_TENSOR_EMULATE", "CLCOOK_GUARD_BANDS", "CLCOOK_KERNEL_DIR"})
    unsetenv(name);
  for (const Recipe& recipe : cookbook::recipes()) {
    const auto sections = sections_of(recipe);
    std::string content = "math " + library + "\n";
    std::string texts;
    for (const auto& [name, text] : sections) {
      content += name + " " + std::to_string(std::count(text.begin(), text.end(), '\n')) + " " +
                 hex(digest(text.data(), text.size())) + "\n";
      texts += name + "\n" + text;
    }
    const std::filesystem::path file = small_data("record") / (recipe.name + ".txt");
    if (record == "update") {
      CHECK((std::ofstream(file) << content).flush().good());
      continue;
    }
    if (!record.empty()) {
      std::ofstream out(std::filesystem::path(record) / (recipe.name + ".txt"));
      CHECK((out << texts).flush().good());
      continue;
    }
    std::ifstream in(file);
    CAPTURE(recipe.name);
    std::string expected;
    std::getline(in, expected);
    REQUIRE_MESSAGE(in, "there is no ", file.string(), ": see the head of this test");
    if (expected != "math " + library) {
      MESSAGE("SKIPPED: other last bits of floating-point numbers than where this was recorded");
      continue;
    }
    std::istringstream lines(content);
    std::getline(lines, expected);
    // What changes on purpose is recorded anew: see the head of this test.
    for (std::string line; std::getline(lines, line);) {
      std::getline(in, expected);
      CHECK(line == expected);
    }
    CHECK_FALSE(std::getline(in, expected));
  }
}
