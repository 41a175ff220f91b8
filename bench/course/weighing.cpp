#include "course/weighing.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <stdexcept>
#include <unordered_map>
#include <vector>

#include <clcook/core/runtime.hpp>
#include <clcook/core/source.hpp>
#include <clcook/error.hpp>
#include <clcook/registry/recipe.hpp>

#include "isa/jobs.hpp"
#include "try/recipe.hpp"

namespace clcook::tool::course {

void unweighable(const std::string& why) { unsupported(Lacks::feature, "the shape", why); }

namespace {

constexpr std::size_t kWave = 32;
// What a wave pays where some of its lanes go into a branch or another turn and some do not, in steps.
constexpr double kParting = 8;
constexpr std::size_t kEvents = std::size_t{1} << 25;  // of all work-items

Recipe recipe_of(described::Description about) {
  return described::recipe_of(std::make_shared<const described::Description>(std::move(about)));
}

isa::Job job_of(const Recipe& recipe, const std::string& kernel, const char* name,
                const isa::Toolchain& tools) {
  const isa::Target target = isa::parse_target(name, tools);
  return isa::jobs_of(recipe, recipe.variant(kernel), {}, false, isa::device_of(target), target)
      .at(0);
}

// Defines CLCOOK_COUNT(region) and CLCOOK_AT(region, pointer, index), which note that the work-item came
// by, the latter with the address. PoCL runs kernels in this process, so that they reach `events` by its
// address: for each work-item how many there are, then the region in the highest 16 bits of each.
std::string prelude(const std::uint64_t* events, std::size_t most) {
  return text(
      "void clcook_note(ulong event) {\n"
      "  size_t group = get_group_id(0) + get_num_groups(0) * (get_group_id(1) + "
      "get_num_groups(1) * get_group_id(2));\n"
      "  size_t item = get_local_id(0) + get_local_size(0) * (get_local_id(1) + "
      "get_local_size(1) * get_local_id(2));\n"
      "  size_t size = get_local_size(0) * get_local_size(1) * get_local_size(2);\n"
      "  __global ulong* own = (__global ulong*)",
      reinterpret_cast<std::uintptr_t>(events), "UL + (group * size + item) * ", most,
      "UL;\n"
      "  if (own[0] + 1 < ",
      most,
      "UL) own[own[0] + 1] = event;\n"
      "  own[0] += 1;\n"
      "}\n"
      "long clcook_note_at(ulong region, ulong pointer, ulong bytes, long index) {\n"
      "  clcook_note(region << 48 | (pointer + bytes * (ulong)index & 0xFFFFFFFFFFFFUL));\n"
      "  return index;\n"
      "}\n"
      "#define CLCOOK_COUNT(region) clcook_note((ulong)(region) << 48)\n"
      "#define CLCOOK_AT(region, pointer, index) "
      "clcook_note_at(region, (ulong)(pointer), sizeof(*(pointer)), index)\n");
}

Trace trace_of(described::Description about, const std::string& kernel, std::uint64_t seed,
               const Regions& regions) {
  PickOptions options;
  options.runtime.disk_cache = DiskCache();  // nobody else can use a program with our addresses
  const Runtime runtime = Runtime::pick("pocl", options);
  const Params& shape = about.bench_shapes.front();
  const auto entry = std::find_if(about.kernels.begin(), about.kernels.end(),
                                  [&](const auto& one) { return one.name == kernel; });
  const described::Geometry geometry =
      described::geometry_of(*entry, described::names_of(shape, {}));
  Trace out;
  std::size_t items = 1;
  for (const std::size_t one : geometry.global) items *= one;
  for (const std::size_t one : geometry.local) out.group *= one;
  const std::size_t most = kEvents / items;
  // Pages that nobody writes to cost nothing.
  const std::unique_ptr<void, void (*)(void*)> memory(std::calloc(kEvents, 8), std::free);
  const auto* events = static_cast<const std::uint64_t*>(memory.get());
  if (events == nullptr) unweighable("there is no memory for it");
  entry->source = Source(entry->source.name(), prelude(events, most) + regions.counted + "\n");
  for (const Params::Entry& size : shape.entries())
    out.results *= static_cast<double>(shape.integer(size.name, 1));
  const Recipe recipe = recipe_of(std::move(about));
  const std::unique_ptr<Case> problem = recipe.make(runtime, shape, seed);
  problem->prepare(kernel, {});
  problem->run({problem->upload({})}).wait();
  out.items.resize(items);
  for (std::size_t i = 0; i < items; ++i) {
    const std::uint64_t* own = events + i * most;
    if (own[0] + 1 > most) unweighable(text("a work-item takes more than ", most, " turns"));
    for (std::size_t k = 1; k <= own[0]; ++k)
      out.items[i].push_back({static_cast<int>(own[k] >> 48), own[k] & 0xFFFFFFFFFFFFU});
  }
  return out;
}

// Where a work-item is: regions and how often each was entered in the one around it.
class Path {
 public:
  explicit Path(const Regions& regions)
      : regions_(regions), now_(regions.all.size()), within_(regions.all.size()) {}

  // Numbers for the place that it comes to and for the one around that.
  std::pair<std::uint64_t, std::uint64_t> go(int region) {
    const Region& one = regions_.all[static_cast<std::size_t>(region)];
    std::uint64_t around = 1;
    if (one.kind == Region::Kind::function) {
      std::vector<std::uint64_t>& calls = calls_[one.name];
      if (!calls.empty()) {
        around = calls.back();
        calls.pop_back();
      }
    } else {
      around = now_[static_cast<std::size_t>(one.parent)];
    }
    auto& [last, turn] = within_[static_cast<std::size_t>(region)];
    turn = last == around ? turn + 1 : 0;
    last = around;
    std::uint64_t place = around;
    for (const std::uint64_t part : {static_cast<std::uint64_t>(region), turn})
      place = ((place ^ part) + 0x9E3779B97F4A7C15U) * 0xBF58476D1CE4E5B9U ^ place >> 29;
    now_[static_cast<std::size_t>(region)] = place;
    if (one.kind == Region::Kind::call) calls_[one.name].push_back(place);
    return {place, around};
  }

 private:
  const Regions& regions_;
  std::vector<std::uint64_t> now_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> within_;  // the one around, turns in it
  std::map<std::string, std::vector<std::uint64_t>> calls_;      // that have not begun
};

// Sums by line, of which the largest is told.
class Lines {
 public:
  void add(unsigned line, double value) {
    sum_ += value;
    by_[line] += value;
  }
  Weighed::Figure per(double results) const {
    Weighed::Figure out{sum_ / results, 0};
    double most = 0;
    for (const auto& [line, value] : by_) {
      if (line != 0 && value > most) out.line = line;
      if (line != 0) most = std::max(most, value);
    }
    return out;
  }

 private:
  double sum_ = 0;
  std::map<unsigned, double> by_;
};

// The addresses that the lanes of a wave access at one place.
struct Access {
  int region = 0;
  std::vector<std::pair<std::size_t, std::uint64_t>> lanes;
  bool is_one() const {
    return std::all_of(lanes.begin(), lanes.end(),
                       [&](const auto& lane) { return lane.second == lanes.front().second; });
  }
};

// Bytes between what neighbours of a wave access.
class Distances {
 public:
  void add(const Access& access, unsigned line) {
    for (std::size_t i = 1; i < access.lanes.size(); ++i) {
      const auto& [lane, address] = access.lanes[i];
      const auto& [before, other] = access.lanes[i - 1];
      if (lane == before + 1)
        all_.emplace_back(address > other ? address - other : other - address, line);
    }
  }
  Weighed::Figure middle() {
    if (all_.empty()) return {};
    const auto at = all_.begin() + static_cast<std::ptrdiff_t>(all_.size() / 2);
    std::nth_element(all_.begin(), at, all_.end());
    return {static_cast<double>(at->first), at->second};
  }

 private:
  std::vector<std::pair<std::uint64_t, unsigned>> all_;
};

}  // namespace

Weighed weighed(const Regions& regions, const Trace& trace) {
  struct Visit {
    int region = 0;
    std::uint64_t around = 0;
    std::size_t lanes = 0;
  };
  const auto at = [&](int region) -> const Region& {
    return regions.all[static_cast<std::size_t>(region)];
  };
  Lines steps;
  Lines memory;
  Distances loads;
  Distances stores;
  // Lanes that a group leaves empty wait too.
  const std::size_t in_step = regions.waits ? (trace.group + kWave - 1) / kWave * kWave : kWave;
  for (std::size_t group = 0; group < trace.items.size(); group += trace.group) {
    std::unordered_map<std::uint64_t, Visit> visits;
    std::unordered_map<std::uint64_t, Access> accesses;
    for (std::size_t item = 0; item < trace.group; ++item) {
      Path path(regions);
      for (const Trace::Event& event : trace.items[group + item]) {
        const auto [place, around] = path.go(event.region);
        const Region& region = at(event.region);
        if (region.kind == Region::Kind::load || region.kind == Region::Kind::store) {
          Access& one = accesses[place];
          one.region = event.region;
          one.lanes.emplace_back(item, event.address);
        } else {
          Visit& one = visits[place];
          one = {event.region, around, one.lanes + 1};
        }
      }
      if ((item + 1) % kWave == 0 || item + 1 == trace.group) {
        for (const auto& [place, one] : accesses) {
          const Region& region = at(one.region);
          // One that serves a whole wave hardly counts.
          const bool is_one = one.lanes.size() > 1 && one.is_one();
          memory.add(region.line, is_one ? 1 : static_cast<double>(kWave));
          if (!is_one) (region.kind == Region::Kind::load ? loads : stores).add(one, region.line);
        }
        accesses.clear();
      }
      if ((item + 1) % in_step == 0 || item + 1 == trace.group) {
        for (const auto& [place, one] : visits) {
          const Region& region = at(one.region);
          const bool parts = region.parent >= 0 && region.kind != Region::Kind::call &&
                             one.lanes < visits.at(one.around).lanes;
          // What a header does is where the file calls it.
          const Visit* own = &one;
          for (auto up = visits.find(own->around); at(own->region).line == 0 && up != visits.end();
               up = visits.find(own->around))
            own = &up->second;
          steps.add(at(own->region).line,
                    (region.steps + (parts ? kParting : 0)) * static_cast<double>(in_step));
        }
        visits.clear();
      }
    }
  }
  return {steps.per(trace.results), memory.per(trace.results), loads.middle(), stores.middle()};
}

Weighed weigh(const described::Description& about, const std::string& kernel, std::uint64_t seed,
              const isa::Toolchain& tools, const DiskCache& cache) {
  const Recipe recipe = recipe_of(about);
  const isa::Job job = job_of(recipe, kernel, "x86-64", tools);
  const std::string own = about.kernels.front().source.name();
  try {
    const Regions regions = regions_of(isa::preprocess(job, tools, cache, true), own);
    return weighed(regions, trace_of(about, kernel, seed, regions));
  } catch (const Error&) {
    throw;
  } catch (const std::runtime_error& error) {
    unweighable(error.what());
  }
}

long registers_of(const described::Description& about, const std::string& kernel,
                  const isa::Toolchain& tools, const DiskCache& cache) {
  const isa::Job job = job_of(recipe_of(about), kernel, "gfx1100", tools);
  const isa::Measured measured = isa::measure(job, tools, cache);
  if (!measured.problem.empty())
    fail(Errc::build_failed, job.name(), "does not compile for " + job.target.name, CL_SUCCESS,
         measured.problem);
  return measured.resources.registers;
}

}  // namespace clcook::tool::course
