// Position-based dynamics of many small islands: cloths and ropes of distance constraints.
//
//   clcook::LocalMultipass::Island cloth = clcook::LocalMultipass::cloth(16, 16, 0.1f);
//   clcook::LocalMultipass solve{runtime, {4096, 100, cloth}};  // islands, iterations
//   cl::Event done = solve(positions, positions, {predicted});
//
// An island is a row of float4 particles: x, y, z and the inverse mass w (0 holds the particle).
// All islands have the same constraints, as the patches, ropes and hairs of one kind have; each has
// its own positions. An iteration projects each constraint once, colour after colour
// (Gauss-Seidel); a call makes all iterations.
//
// Every variant on every device gives the same bits, those of the scalar reference: the arithmetic
// is additions, multiplications and fma() of IEEE floats. It is meant for distances and masses for
// which (|d| w)^2 is a normal float, w being the sum of the two inverse masses. A constraint whose
// particles are both held, or at one place, moves nothing.
#pragma once

#include <algorithm>
#include <array>
#include <clcook/core/defines.hpp>
#include <clcook/core/error.hpp>
#include <clcook/core/launch.hpp>
#include <clcook/core/names.hpp>
#include <clcook/core/runtime.hpp>
#include <clcook/core/source.hpp>
#include <clcook/core/view.hpp>
#include <clcook/embedded/local_multipass.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace clcook {

// A plan: constructed once, called often.
//
// Construction checks the constraints, builds the programs (or takes them from the runtime's cache;
// the number of islands, iterations and particles is no part of them) and uploads the constraints.
// A call allocates nothing and never blocks on the device. All const member functions may be called
// from several threads; calls that share no buffer are independent. Copies are cheap.
class LocalMultipass {
 public:
  // Keeps the particles a and b at the distance `rest`.
  struct Constraint {
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    float rest = 0;       // finite, not negative
    float stiffness = 1;  // the part of the error that one projection removes, above 0, at most 1
  };

  // What all islands have in common.
  struct Island {
    std::uint32_t particles = 0;
    std::vector<Constraint> constraints;  // sorted by colour
    // Colour c is constraints[colour_begin[c]] up to before constraints[colour_begin[c + 1]]. No
    // two constraints of a colour share a particle. The last entry is the number of constraints.
    std::vector<std::uint32_t> colour_begin;

    std::uint32_t colours() const {
      return colour_begin.empty() ? 0 : static_cast<std::uint32_t>(colour_begin.size() - 1);
    }
  };

  struct Problem {
    std::uint32_t islands = 0;     // at least 1
    std::uint32_t iterations = 0;  // 1 to kMaxIterations
    Island island;
  };

  enum class Variant {
    automatic,       // what was measured to be fastest; without that cpu_lanes on CPUs, else
                     // resident, packed_islands; per_iteration where an island does not fit
    per_colour,      // a launch per colour and iteration
    per_iteration,   // a launch per iteration, an island per work-group, in global memory
    all_local,       // one launch, an island per work-group, in local memory
    packed_islands,  // one launch, several islands per work-group, in local memory
    resident,   // packed_islands with the constraints in registers; few constraints per item only
    cpu_lanes,  // for CPUs: one launch, 16 islands as the elements of a vector
  };

  // How to run, for tuning; the defaults are good.
  struct Tune {
    int group = 0;  // work-items per work-group, 0 for the variant's default; cpu_lanes: 0 or 1
  };

  static constexpr std::uint32_t kMaxIterations = 1 << 20;
  static constexpr int kCpuLanes = 16;       // islands per work-item of cpu_lanes
  static constexpr int kResidentLimit = 24;  // constraints per work-item of resident

  // Throws Error: invalid_argument for an island that breaks a rule; unsupported where an island
  // does not fit the local memory, or the device cannot run the variant at this group size;
  // out_of_resources, build_failed.
  LocalMultipass(const Runtime& runtime, const Problem& problem, Variant variant, Tune tune)
      : state_(make_state(runtime, problem, variant, tune)) {}
  explicit LocalMultipass(const Runtime& runtime, const Problem& problem,
                          Variant variant = Variant::automatic)
      : LocalMultipass(runtime, problem, variant, Tune{}) {}

  // Enqueues all iterations behind the events of `wait` and returns the last event. Row i of the
  // views is island i, a float4 per particle; offsets and pitches are multiples of 16 bytes. src
  // and dst are the same view (the islands are solved in place) or share no byte. The inverse
  // masses are copied. What is on the device is not looked at: check_particles() is for hosts in
  // doubt. Throws Error(invalid_argument), with nothing enqueued, when a view breaks a rule.
  cl::Event operator()(const BufferView& src, const BufferView& dst,
                       const std::vector<cl::Event>& wait = {}) const {
    const State& s = *state_;
    const RowLayout layout{s.problem.island.particles * kParticleBytes, s.problem.islands,
                           kParticleBytes};
    const CheckedView from = check_view(s.runtime, src, layout, Access::read, kName, "src");
    const CheckedView to = check_view(s.runtime, dst, layout, Access::write, kName, "dst");
    const bool in_place =
        from.buffer() == to.buffer() && from.offset == to.offset && from.pitch == to.pitch;
    if (!in_place) check_disjoint(from, to, kName, "src", "dst");
    check_wait(wait, kName);
    return enqueue(from, to, in_place, wait);
  }

  const Problem& problem() const { return state_->problem; }
  // The variant that runs; never automatic.
  Variant variant() const { return state_->variant; }
  // The work-group size that runs.
  int group() const { return state_->plan.group; }
  // The islands that one work-group solves; of per_colour 0.
  int packed() const { return state_->plan.packed; }

  // A rope: a chain of particles at a distance. Two colours.
  static Island rope(std::uint32_t particles, float spacing, float stiffness = 1) {
    return cloth(particles, 1, spacing, stiffness);
  }

  // A cloth: particle y * width + x with its neighbours to the right, below and on both diagonals,
  // and, where `bend` is above 0, with the second neighbours in the row and the column, which have
  // that stiffness. Throws Error(invalid_argument) for fewer than two particles.
  static Island cloth(std::uint32_t width, std::uint32_t height, float spacing, float stiffness = 1,
                      float bend = 0) {
    if (width < 1 || height < 1 || std::uint64_t{width} * height < 2 ||
        std::uint64_t{width} * height > kMaxCount) {
      fail(Errc::invalid_argument, kName,
           text("a cloth has 2 to ", kMaxCount, " particles, got ", width, " x ", height));
    }
    std::vector<Constraint> all;
    const auto add = [&](int dx, std::uint32_t dy, float factor, float how_stiff) {
      for (std::uint32_t y = 0; y + dy < height; ++y) {
        for (std::uint32_t x = 0; x < width; ++x) {
          const std::int64_t other = std::int64_t{x} + dx;
          if (other < 0 || other >= width) continue;
          all.push_back({y * width + x, (y + dy) * width + static_cast<std::uint32_t>(other),
                         factor * spacing, how_stiff});
        }
      }
    };
    add(1, 0, 1, stiffness);
    add(0, 1, 1, stiffness);
    add(1, 1, 1.41421356f, stiffness);
    add(-1, 1, 1.41421356f, stiffness);
    if (bend > 0) {
      add(2, 0, 2, bend);
      add(0, 2, 2, bend);
    }
    return coloured(width * height, all);
  }

  // An island of any constraints: gives each the first colour that is free at both its ends, and
  // sorts by colour, otherwise keeping the order. Throws Error(invalid_argument) for an end that is
  // no particle.
  static Island coloured(std::uint32_t particles, const std::vector<Constraint>& constraints) {
    Island out;
    out.particles = particles;
    std::vector<std::vector<bool>> taken(particles);  // per particle and colour
    std::vector<std::vector<Constraint>> sorted;
    for (std::size_t i = 0; i < constraints.size(); ++i) {
      const Constraint& one = constraints[i];
      check_ends(one, i, particles);
      std::vector<bool>& a = taken[one.a];
      std::vector<bool>& b = taken[one.b];
      std::size_t colour = 0;
      while ((colour < a.size() && a[colour]) || (colour < b.size() && b[colour])) ++colour;
      for (std::vector<bool>* end : {&a, &b}) {
        if (end->size() <= colour) end->resize(colour + 1);
        (*end)[colour] = true;
      }
      if (sorted.size() <= colour) sorted.resize(colour + 1);
      sorted[colour].push_back(one);
    }
    out.colour_begin.push_back(0);
    for (const std::vector<Constraint>& colour : sorted) {
      out.constraints.insert(out.constraints.end(), colour.begin(), colour.end());
      out.colour_begin.push_back(static_cast<std::uint32_t>(out.constraints.size()));
    }
    return out;
  }

  // Throws Error(invalid_argument) that names the first of `count` float4 particles on the host
  // whose position is not finite or whose inverse mass is negative or not finite.
  static void check_particles(const float* particles, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t e = 0; e < 4; ++e) {
        const float value = particles[4 * i + e];
        if (!std::isfinite(value)) {
          fail(Errc::invalid_argument, kName,
               text(e == 3 ? "the inverse mass" : "a coordinate", " of particle ", i,
                    " must be finite, got ", value));
        }
        if (e == 3 && value < 0) {
          fail(Errc::invalid_argument, kName,
               text("the inverse mass of particle ", i, " must not be negative, got ", value));
        }
      }
    }
  }

  // The program of a variant: kernel and definitions. For tools; plans call it themselves.
  struct Unit {
    std::string kernel;
    Defines defines;
  };
  static Unit unit(Variant variant, const Island& island, int group = 0) {
    return unit_of(variant, island, geometry(variant, island, 1, group, ~std::size_t{0}));
  }

  // Work-items per work-group where Tune::group is 0.
  static int default_group(Variant variant) {
    if (variant == Variant::cpu_lanes) return 1;
    return variant == Variant::per_colour ? 256 : 128;
  }

 private:
  static constexpr const char* kName = "LocalMultipass";
  static constexpr std::size_t kParticleBytes = 16;
  static constexpr std::uint32_t kMaxCount = 0x7FFFFFFF;

  // How a variant cuts the work.
  struct Geometry {
    int group = 0;
    int packed = 0;               // islands per group
    int lanes = 0;                // work-items per island
    int each = 0;                 // resident: constraints per item and colour
    std::size_t local_bytes = 0;  // per group
  };

  struct State {
    Runtime runtime;
    Problem problem;
    Variant variant = Variant::automatic;
    Geometry plan;
    std::string kernel;
    cl::Program program;
    cl::Program copy;  // per_colour
    cl::Buffer constraints;
    cl::Buffer colour_begin;

    State(Runtime rt, Problem p) : runtime(std::move(rt)), problem(std::move(p)) {}
  };

  static void check_ends(const Constraint& one, std::size_t index, std::uint32_t particles) {
    for (const std::uint32_t end : {one.a, one.b}) {
      if (end >= particles) {
        fail(Errc::invalid_argument, kName,
             text("constraint ", index, " is at particle ", end, ", the island has ", particles,
                  " particles"));
      }
    }
    if (one.a == one.b) {
      fail(Errc::invalid_argument, kName,
           text("both ends of constraint ", index, " are particle ", one.a));
    }
  }

  static void check_problem(const Problem& p) {
    const Island& island = p.island;
    if (p.islands < 1) fail(Errc::invalid_argument, kName, "islands must be at least 1, got 0");
    if (p.iterations < 1 || p.iterations > kMaxIterations) {
      fail(Errc::invalid_argument, kName,
           text("iterations must be 1 to ", kMaxIterations, ", got ", p.iterations));
    }
    if (island.particles < 1)
      fail(Errc::invalid_argument, kName, "particles must be at least 1, got 0");
    if (island.constraints.empty())
      fail(Errc::invalid_argument, kName, "the island has no constraints");
    const auto count = [&](const char* what, std::uint64_t value) {
      if (value * p.islands > kMaxCount) {
        fail(Errc::invalid_argument, kName,
             text(p.islands, " islands of ", value, " ", what, " exceed the limit of ", kMaxCount,
                  " ", what));
      }
    };
    if (island.constraints.size() > kMaxCount) {
      fail(Errc::invalid_argument, kName,
           text(island.constraints.size(), " constraints exceed the limit of ", kMaxCount));
    }
    count("particles", island.particles);
    count("constraints", island.constraints.size());

    const std::vector<std::uint32_t>& begin = island.colour_begin;
    if (begin.empty() || begin.front() != 0 || begin.back() != island.constraints.size()) {
      fail(Errc::invalid_argument, kName,
           text("colour_begin must go from 0 to the number of constraints, ",
                island.constraints.size(), ", got ",
                begin.empty() ? std::string("no entries")
                              : text(begin.front(), " to ", begin.back())));
    }
    std::vector<std::uint32_t> user(island.particles, ~std::uint32_t{0});
    for (std::size_t colour = 0; colour + 1 < begin.size(); ++colour) {
      if (begin[colour] >= begin[colour + 1]) {
        fail(Errc::invalid_argument, kName,
             text("colour_begin must rise, but colour ", colour, " goes from ", begin[colour],
                  " to ", begin[colour + 1]));
      }
    }
    for (std::size_t colour = 0; colour + 1 < begin.size(); ++colour) {
      for (std::uint32_t i = begin[colour]; i < begin[colour + 1]; ++i) {
        const Constraint& one = island.constraints[i];
        check_ends(one, i, island.particles);
        if (!std::isfinite(one.rest) || one.rest < 0) {
          fail(Errc::invalid_argument, kName,
               text("the rest length of constraint ", i, " must be finite and not negative, got ",
                    one.rest));
        }
        if (!(one.stiffness > 0 && one.stiffness <= 1)) {
          fail(Errc::invalid_argument, kName,
               text("the stiffness of constraint ", i, " must be above 0 and at most 1, got ",
                    one.stiffness));
        }
        for (const std::uint32_t end : {one.a, one.b}) {
          if (user[end] == colour) {
            fail(Errc::invalid_argument, kName,
                 text("colour ", colour, " uses particle ", end, " twice, the second time in ",
                      "constraint ", i));
          }
          user[end] = static_cast<std::uint32_t>(colour);
        }
      }
    }
  }

  static std::uint32_t largest_colour(const Island& island) {
    std::uint32_t out = 0;
    for (std::size_t c = 0; c + 1 < island.colour_begin.size(); ++c)
      out = std::max(out, island.colour_begin[c + 1] - island.colour_begin[c]);
    return out;
  }

  // Throws Error: invalid_argument for a group that the variant does not take, unsupported for an
  // island that does not fit `local_mem` bytes.
  static Geometry geometry(Variant variant, const Island& island, std::uint32_t islands, int group,
                           std::size_t local_mem) {
    if (group < 0)
      fail(Errc::invalid_argument, kName, text("group must not be negative, got ", group));
    Geometry out;
    out.group = group == 0 ? default_group(variant) : group;
    out.packed = 1;
    out.lanes = out.group;
    std::size_t bytes = 0;
    switch (variant) {
      case Variant::automatic:
        fail(Errc::invalid_argument, kName, "automatic has no geometry of its own");
      case Variant::per_colour:
        out.packed = 0;
        return out;
      case Variant::per_iteration:
        return out;
      case Variant::all_local:
      case Variant::packed_islands:
        bytes = island.particles * kParticleBytes;
        break;
      case Variant::resident:
        // x, y and z, an odd number of floats.
        bytes = (island.particles * std::size_t{3} | 1) * sizeof(float);
        break;
      case Variant::cpu_lanes:
        if (out.group != 1) {
          fail(Errc::invalid_argument, kName,
               text("the variant cpu_lanes takes a group of 1 work-item, got ", out.group));
        }
        out.packed = kCpuLanes;
        bytes = island.particles * kParticleBytes * kCpuLanes;
        break;
    }
    if (bytes > local_mem) {
      fail(Errc::unsupported, kName,
           text("the variant ", to_string(variant), " needs ", bytes,
                " bytes of local memory for an island of ", island.particles,
                " particles, the device has ", local_mem));
    }
    out.local_bytes = bytes;
    if (variant == Variant::packed_islands || variant == Variant::resident) {
      const std::size_t largest = largest_colour(island);
      const std::size_t most = std::min<std::size_t>(local_mem / bytes, islands);
      const auto size = static_cast<std::size_t>(out.group);
      const std::size_t packed = std::clamp<std::size_t>(size / largest, 1, most);
      out.packed = static_cast<int>(packed);
      out.lanes = static_cast<int>(size / packed);
      out.each = static_cast<int>((largest + size / packed - 1) / (size / packed));
      out.local_bytes = packed * bytes;
      const std::size_t held = static_cast<std::size_t>(out.each) * island.colours();
      if (variant == Variant::resident && held > static_cast<std::size_t>(kResidentLimit)) {
        fail(Errc::unsupported, kName,
             text("the variant resident holds at most ", kResidentLimit,
                  " constraints per work-item in registers; ", island.colours(),
                  " colours of up to ", largest, " constraints on ", out.lanes, " work-items need ",
                  held));
      }
    }
    return out;
  }

  static Unit unit_of(Variant variant, const Island& island, const Geometry& plan) {
    const std::string name = to_string(variant);
    std::string upper = name;
    for (char& c : upper) {
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    Unit out{"local_multipass_" + name, {}};
    out.defines.flag("CLCOOK_LOCAL_MULTIPASS_ONLY").flag("CLCOOK_LOCAL_MULTIPASS_" + upper);
    if (variant != Variant::per_colour && variant != Variant::cpu_lanes)
      out.defines.set("CLCOOK_LOCAL_MULTIPASS_GROUP", plan.group);
    if (variant == Variant::resident) {
      out.defines.set("CLCOOK_LOCAL_MULTIPASS_COLOURS", static_cast<int>(island.colours()));
      out.defines.set("CLCOOK_LOCAL_MULTIPASS_EACH", plan.each);
    }
    return out;
  }

  static std::shared_ptr<const State> make_state(const Runtime& runtime, const Problem& problem,
                                                 Variant variant, Tune tune) {
    check_problem(problem);
    to_string(variant);  // refuses a value that is no variant
    auto state = std::make_shared<State>(runtime, problem);
    choose(runtime, problem, variant, tune);
    state->variant = variant;
    state->plan = geometry(variant, problem.island, problem.islands, tune.group,
                           static_cast<std::size_t>(runtime.info().local_mem));
    const Unit unit = unit_of(variant, problem.island, state->plan);
    state->kernel = unit.kernel;
    state->program = runtime.build(Source(embedded::local_multipass), unit.defines, unit.kernel);
    const Kernel kernel(runtime, state->program, unit.kernel);
    kernel.check_launch(launch(*state), state->plan.local_bytes);
    if (variant == Variant::per_colour) {
      Defines copy;
      copy.flag("CLCOOK_LOCAL_MULTIPASS_ONLY").flag("CLCOOK_LOCAL_MULTIPASS_COPY");
      state->copy = runtime.build(Source(embedded::local_multipass), copy, "local_multipass_copy");
    }
    upload(*state);
    return state;
  }

  static double bytes_of(const Problem& p) {
    return 2.0 * static_cast<double>(kParticleBytes) * p.islands * p.island.particles;
  }

  static bool fits(const Runtime& runtime, const Problem& p, Variant variant, int group) {
    try {
      geometry(variant, p.island, p.islands, group,
               static_cast<std::size_t>(runtime.info().local_mem));
    } catch (const Error& error) {
      if (error.code != Errc::unsupported) throw;
      return false;
    }
    return true;
  }

  // Fills in what the caller left open: from what was measured, else the built-in defaults; and
  // steps back where an island does not fit.
  static void choose(const Runtime& runtime, const Problem& problem, Variant& variant, Tune& tune) {
    const bool automatic = variant == Variant::automatic;
    const TuningChoice choice = runtime.tuning().choose(
        runtime.info(), "local_multipass", bytes_of(problem), automatic ? "" : to_string(variant));
    const bool measured = choice.match != TuningChoice::Match::none;
    int group = measured ? choice.entry.integer("group", 0) : 0;
    if (group < 0 || static_cast<std::size_t>(group) > runtime.info().max_group) group = 0;
    if (automatic) {
      std::vector<Variant> wanted;
      if (measured) wanted.push_back(parse_variant(choice.entry.variant));
      if (runtime.info().cpu) wanted.push_back(Variant::cpu_lanes);
      wanted.insert(wanted.end(),
                    {Variant::resident, Variant::packed_islands, Variant::per_iteration});
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        variant = wanted[i];
        if (i > 0 || !measured) group = 0;
        const int asked = tune.group != 0 && variant != Variant::cpu_lanes ? tune.group : group;
        if (fits(runtime, problem, variant, asked)) break;
      }
    }
    if (tune.group != 0 && !(automatic && variant == Variant::cpu_lanes)) return;
    // A group that was measured with another island may be too small for this one.
    tune.group = fits(runtime, problem, variant, group) ? group : 0;
  }

  static Launch launch(const State& s) {
    const auto group = static_cast<std::size_t>(s.plan.group);
    const std::size_t islands = s.problem.islands;
    if (s.variant == Variant::per_colour)
      return Launch::cover({islands * largest_colour(s.problem.island), 1, 1}, {group, 1, 1});
    const auto packed = static_cast<std::size_t>(s.plan.packed);
    return Launch::groups({(islands + packed - 1) / packed, 1, 1}, {group, 1, 1});
  }

  static void upload(State& s) {
    Island island = s.problem.island;
    if (s.variant == Variant::resident)
      island = spread_over_banks(island, s.plan.lanes, s.plan.each);
    // As the kernels take it.
    struct Record {
      cl_uint a;
      cl_uint b;
      cl_float pull;
      cl_float stiffness;
    };
    std::vector<Record> records;
    for (const Constraint& one : island.constraints)
      records.push_back({one.a, one.b, one.stiffness * one.rest, one.stiffness});
    s.constraints =
        create_buffer(s.runtime, records.size() * sizeof(Record), CL_MEM_READ_ONLY, records.data());
    s.colour_begin = create_buffer(s.runtime, island.colour_begin.size() * sizeof(std::uint32_t),
                                   CL_MEM_READ_ONLY, island.colour_begin.data());
  }

  // Places the constraints of each colour on the work-items of resident, and exchanges ends, so
  // that the items of one warp read different banks where that is possible. Neither changes a bit
  // of the result: the constraints of a colour share no particle, and the arithmetic is symmetric.
  // Colours get room for `lanes` * `each` constraints; a constraint of equal ends is none.
  static Island spread_over_banks(const Island& island, int lanes, int each) {
    constexpr std::size_t kBanks = 32;  // of 4 bytes, and the items that read together
    const auto width = static_cast<std::size_t>(lanes);
    const std::size_t room = width * static_cast<std::size_t>(each);
    struct Warp {
      std::size_t first;  // place in the colour
      std::size_t size;
      std::vector<Constraint> held;
      std::array<int, kBanks> a{};  // how many read each bank
      std::array<int, kBanks> b{};
      // By how much more reads collide with this constraint.
      int cost(const Constraint& one) const { return a[one.a % kBanks] + b[one.b % kBanks]; }
      void add(const Constraint& one, int count) {
        a[one.a % kBanks] += count;
        b[one.b % kBanks] += count;
      }
    };
    Island out;
    out.particles = island.particles;
    out.colour_begin.push_back(0);
    for (std::size_t colour = 0; colour + 1 < island.colour_begin.size(); ++colour) {
      std::vector<Warp> warps;
      for (std::size_t first = 0; first < room;) {
        const std::size_t size = std::min(kBanks, width - first % width);
        warps.push_back({first, size, {}, {}, {}});
        first += size;
      }
      // The place with the fewest collisions; the emptiest of equals.
      const auto place = [&](Constraint one) {
        Warp* best = nullptr;
        bool swapped = false;
        for (Warp& warp : warps) {
          if (warp.held.size() == warp.size) continue;
          for (const bool swap : {false, true}) {
            const Constraint turned{swap ? one.b : one.a, swap ? one.a : one.b, 0, 1};
            const Constraint there{swapped ? one.b : one.a, swapped ? one.a : one.b, 0, 1};
            if (best != nullptr &&
                (warp.cost(turned) > best->cost(there) ||
                 (warp.cost(turned) == best->cost(there) && warp.held.size() >= best->held.size())))
              continue;
            best = &warp;
            swapped = swap;
          }
        }
        if (swapped) std::swap(one.a, one.b);
        best->held.push_back(one);
        best->add(one, 1);
      };
      for (std::uint32_t i = island.colour_begin[colour]; i < island.colour_begin[colour + 1]; ++i)
        place(island.constraints[i]);
      // Then each is taken out and placed again, which mends most of the collisions left.
      for (int round = 0; round < 16; ++round) {
        for (Warp& warp : warps) {
          for (std::size_t i = 0; i < warp.held.size(); ++i) {
            const Constraint one = warp.held.front();
            warp.held.erase(warp.held.begin());
            warp.add(one, -1);
            place(one);
          }
        }
      }
      const std::size_t begin = out.constraints.size();
      out.constraints.resize(begin + room);
      for (const Warp& warp : warps) {
        std::copy(warp.held.begin(), warp.held.end(),
                  out.constraints.begin() + static_cast<std::ptrdiff_t>(begin + warp.first));
      }
      out.colour_begin.push_back(static_cast<std::uint32_t>(out.constraints.size()));
    }
    return out;
  }

  cl::Event enqueue(const CheckedView& src, const CheckedView& dst, bool in_place,
                    const std::vector<cl::Event>& wait) const {
    const State& s = *state_;
    const Island& island = s.problem.island;
    const cl_ulong src_offset = src.offset / kParticleBytes;
    const cl_ulong src_pitch = src.pitch / kParticleBytes;
    const cl_ulong dst_offset = dst.offset / kParticleBytes;
    const cl_ulong dst_pitch = dst.pitch / kParticleBytes;
    const cl_uint particles = island.particles;
    const cl_uint islands = s.problem.islands;
    const cl_uint iterations = s.problem.iterations;
    const cl_uint colours = island.colours();
    const auto group = static_cast<std::size_t>(s.plan.group);
    const auto packed = static_cast<cl_uint>(s.plan.packed);
    const auto lanes = static_cast<cl_uint>(s.plan.lanes);
    const LocalBytes local{s.plan.local_bytes};
    Kernel kernel(s.runtime, s.program, s.kernel);
    const auto run = [&](const auto&... more) {
      return kernel(launch(s), wait, src.buffer, src_offset, src_pitch, dst.buffer, dst_offset,
                    dst_pitch, s.constraints, more...);
    };
    switch (s.variant) {
      case Variant::per_colour: {
        std::vector<cl::Event> last = wait;
        if (!in_place) {
          Kernel copy(s.runtime, s.copy, "local_multipass_copy");
          last = {copy(Launch::cover({std::size_t{particles} * islands, 1, 1}, {group, 1, 1}), last,
                       src.buffer, src_offset, src_pitch, dst.buffer, dst_offset, dst_pitch,
                       particles, islands)};
        }
        for (cl_uint iteration = 0; iteration < iterations; ++iteration) {
          for (cl_uint colour = 0; colour < colours; ++colour) {
            const cl_uint begin = island.colour_begin[colour];
            const cl_uint count = island.colour_begin[colour + 1] - begin;
            last = {kernel(Launch::cover({std::size_t{count} * islands, 1, 1}, {group, 1, 1}), last,
                           dst.buffer, dst_offset, dst_pitch, s.constraints, begin, count,
                           islands)};
          }
        }
        return last.front();
      }
      case Variant::per_iteration: {
        std::vector<cl::Event> last = wait;
        for (cl_uint iteration = 0; iteration < iterations; ++iteration) {
          const cl_uint copy = iteration == 0 && !in_place ? 1 : 0;
          last = {kernel(launch(s), last, src.buffer, src_offset, src_pitch, dst.buffer, dst_offset,
                         dst_pitch, s.constraints, s.colour_begin, colours, particles, copy)};
        }
        return last.front();
      }
      case Variant::all_local:
        return run(s.colour_begin, colours, iterations, particles, local);
      case Variant::packed_islands:
        return run(s.colour_begin, colours, iterations, particles, islands, packed, lanes, local);
      case Variant::resident:
        return run(s.colour_begin, iterations, particles, islands, packed, lanes, local);
      case Variant::cpu_lanes:
        return run(static_cast<cl_uint>(island.constraints.size()), iterations, particles, islands,
                   local);
      case Variant::automatic:
        break;
    }
    fail(Errc::invalid_argument, kName, "automatic does not run");
  }

  std::shared_ptr<const State> state_;

 public:
  // Every variant that runs, in the order of the recipe.
  static constexpr Variant kVariants[] = {Variant::per_colour, Variant::per_iteration,
                                          Variant::all_local,  Variant::packed_islands,
                                          Variant::resident,   Variant::cpu_lanes};

  static const char* to_string(Variant variant) {
    switch (variant) {
      case Variant::automatic:
        return "automatic";
      case Variant::per_colour:
        return "per_colour";
      case Variant::per_iteration:
        return "per_iteration";
      case Variant::all_local:
        return "all_local";
      case Variant::packed_islands:
        return "packed_islands";
      case Variant::resident:
        return "resident";
      case Variant::cpu_lanes:
        return "cpu_lanes";
    }
    fail(Errc::invalid_argument, kName,
         text("there is no variant of the value ", static_cast<int>(variant)));
  }

  // The variant of that name, automatic included. Throws Error(invalid_argument) that lists the
  // names.
  static Variant parse_variant(std::string_view name) {
    return parse_name<Variant>(kName, "variant", name, kVariants,
                               [](Variant variant) { return to_string(variant); },
                               {Variant::automatic});
  }
};

}  // namespace clcook
