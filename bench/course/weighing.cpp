#include "course/weighing.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <vector>

#include <clcook/core/runtime.hpp>
#include <clcook/core/source.hpp>
#include <clcook/error.hpp>
#include <clcook/registry/recipe.hpp>

#include "course/regions.hpp"
#include "course/weights.hpp"
#include "isa/jobs.hpp"
#include "try/recipe.hpp"

namespace clcook::tool::course {

void unweighable(const std::string& why) { unsupported(Lacks::feature, "the shape", why); }

namespace {

const char* const kTarget = "gfx1100";
constexpr std::size_t kWave = 32;
// More than this share of the instructions in loops that nothing is known of: they cannot be weighed.
constexpr double kGuessed = 0.1;

Recipe recipe_of(described::Description about) {
  return described::recipe_of(std::make_shared<const described::Description>(std::move(about)));
}

isa::Job job_of(const Recipe& recipe, const std::string& kernel, const isa::Target& target) {
  return isa::jobs_of(recipe, recipe.variant(kernel), {}, false, isa::device_of(target), target)
      .at(0);
}

// Issue slots of an instruction. A memory instruction of a whole wave holds its path for four cycles
// where arithmetic takes one; local memory for two; a scalar unit runs beside the vector unit.
double slots_of(isa::Kind kind) {
  switch (kind) {
    case isa::Kind::vector_alu:
    case isa::Kind::branch:
    case isa::Kind::scalar_memory:
      return 1;
    case isa::Kind::scalar_alu:
      return 0.5;
    case isa::Kind::vector_memory:
      return 4;
    case isa::Kind::local_memory:
      return 2;
    case isa::Kind::wait:
    case isa::Kind::other:
      return 0;
  }
  return 0;
}

// Defines CLCOOK_COUNT(region), which adds 1 to counter `region` of the work-item. PoCL runs kernels in
// this process, so that they reach `counters` by its address.
std::string prelude(const std::vector<std::uint32_t>& counters, std::size_t regions) {
  return text(
      "void clcook_count(uint region) {\n"
      "  size_t group = get_group_id(0) + get_num_groups(0) * (get_group_id(1) + "
      "get_num_groups(1) * get_group_id(2));\n"
      "  size_t item = get_local_id(0) + get_local_size(0) * (get_local_id(1) + "
      "get_local_size(1) * get_local_id(2));\n"
      "  size_t size = get_local_size(0) * get_local_size(1) * get_local_size(2);\n"
      "  __global uint* counters = (__global uint*)",
      reinterpret_cast<std::uintptr_t>(counters.data()), "UL;\n  counters[(group * size + item) * ",
      regions,
      "UL + region] += 1;\n"
      "}\n"
      "#define CLCOOK_COUNT(region) clcook_count(region)\n");
}

// How often the regions of the kernel's text ran, over all waves.
RegionCounts count(described::Description about, const std::string& kernel, std::uint64_t seed,
                   const Regions& regions) {
  PickOptions options;
  options.runtime.disk_cache = DiskCache();  // nobody else can use a program with our addresses
  const Runtime runtime = Runtime::pick("pocl", options);
  const Params& shape = about.bench_shapes.front();
  const auto entry = std::find_if(about.kernels.begin(), about.kernels.end(),
                                  [&](const auto& one) { return one.name == kernel; });
  const described::Geometry geometry =
      described::geometry_of(*entry, described::names_of(shape, {}));
  std::size_t items = 1;
  for (const std::size_t one : geometry.global) items *= one;
  std::size_t group = 1;
  for (const std::size_t one : geometry.local) group *= one;
  const std::size_t number = regions.all.size();
  std::vector<std::uint32_t> counters(items * number, 0);
  entry->source = Source(entry->source.name(), prelude(counters, number) + regions.counted + "\n");

  RegionCounts out;
  out.wave = kWave;
  for (const Params::Entry& size : shape.entries())
    out.outputs *= static_cast<double>(shape.integer(size.name, 1));
  const Recipe recipe = recipe_of(std::move(about));
  const std::unique_ptr<Case> problem = recipe.make(runtime, shape, seed);
  problem->prepare(kernel, {});
  problem->run({problem->upload({})}).wait();
  out.of.assign(number, 0.0);
  for (std::size_t first = 0; first < items; first += group) {
    for (std::size_t lane = 0; lane < group; lane += kWave) {
      const std::size_t end = std::min(group, lane + kWave);
      for (std::size_t r = 0; r < number; ++r) {
        std::uint32_t most = 0;
        for (std::size_t i = lane; i < end; ++i)
          most = std::max(most, counters[(first + i) * number + r]);
        out.of[r] += most;
      }
    }
  }
  return out;
}

}  // namespace

Weighed weigh(const described::Description& about, const std::string& kernel, std::uint64_t seed,
              const isa::Toolchain& tools, const DiskCache& cache) {
  const Recipe recipe = recipe_of(about);
  const isa::Job job = job_of(recipe, kernel, isa::parse_target(kTarget, tools));
  const isa::Measured measured = isa::measure(job, tools, cache);
  if (!measured.problem.empty())
    fail(Errc::build_failed, job.name(), "does not compile for " + job.target.name, CL_SUCCESS,
         measured.problem);
  if (!measured.counts.calls.empty())
    unweighable("it calls " + *measured.counts.calls.begin() +
                "(), which the compiler leaves as a call");
  try {
    const isa::Job here = job_of(recipe, kernel, isa::parse_target("x86-64", tools));
    const Regions counted = regions_of(isa::preprocess(here, tools, cache));
    const Regions regions = regions_of(isa::preprocess(job, tools, cache));
    if (counted.signature() != regions.signature())
      unweighable("its code for " + job.target.name + " has other branches than what was counted");
    isa::Job plain = job;
    plain.source = regions.plain;
    plain.remarks = true;
    const isa::Compiled compiled = isa::compile(plain, tools, cache);
    if (!compiled.problem.empty())
      unweighable("without macros it does not compile: " + compiled.problem);
    const isa::Listing listing = isa::read_listing(measured.dialect, compiled.assembly, job.kernel);
    const Weighted issued =
        weighted(measured.dialect, listing, regions, count(about, kernel, seed, counted),
                 read_loop_remarks(compiled.log), job.kernel);
    if (issued.guessed > kGuessed)
      unweighable("it has loops of which nobody can tell how often they run");
    Weighed out;
    for (std::size_t i = 0; i < isa::kKinds; ++i)
      out.slots += issued.by_kind[i] * slots_of(static_cast<isa::Kind>(i));
    out.memory = issued.of(isa::Kind::vector_memory);
    out.registers = measured.resources.registers;
    return out;
  } catch (const Error&) {
    throw;
  } catch (const std::runtime_error& error) {
    unweighable(error.what());
  }
}

}  // namespace clcook::tool::course
