// Position-based dynamics of many small islands: cloths and ropes of distance constraints.
//
//   const auto cloth = clcook::LocalMultipass::Island::cloth(16, 16, 0.1f);
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
// which (|d| w)^2 is a normal float, w being the sum of the two inverse masses. A constraint moves
// nothing if both of its particles are held, or if both are at the same place.
#pragma once

#include <algorithm>
#include <clcook/core/plan.hpp>
#include <clcook/core/view.hpp>
#include <clcook/embedded/local_multipass.hpp>
#include <clcook/local_multipass/geometry.hpp>
#include <clcook/local_multipass/island.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace clcook {
namespace local_multipass {

struct Problem {
  std::uint32_t islands = 0;     // at least 1
  std::uint32_t iterations = 0;  // 1 to kMaxIterations
  Island island{};
};

// How to run, for tuning; 0 is open.
struct Tune {
  int group = 0;  // work-items per work-group; cpu_lanes: 1
};

struct Spec : PlainSpec {
  using Problem = local_multipass::Problem;
  using Tune = local_multipass::Tune;
  using Row = VariantRow<Spec>;
  static constexpr const char* kName = local_multipass::kName;
  static constexpr const char* kRecipe = "local_multipass";
  static constexpr std::uint32_t kMaxIterations = 1 << 20;
  static constexpr int kCpuLanes = 16;       // islands per work-item of cpu_lanes
  static constexpr int kResidentLimit = 24;  // constraints per work-item of resident
  static constexpr std::size_t kParticleBytes = 16;

  // How a variant cuts the work.
  struct Design : clcook::Design, Geometry {
    explicit Design(const Geometry& geometry) : Geometry(geometry) {}
  };

  struct Resources {
    std::shared_ptr<const Geometry> geometry;
    cl::Buffer constraints;
    cl::Buffer colour_begin;
    cl::Program copy;  // of per_colour
  };

  // A constraint as the kernels take it.
  struct Record {
    cl_uint a;
    cl_uint b;
    cl_float pull;
    cl_float stiffness;
  };

  // Islands in memory, counted in particles.
  struct Rows {
    cl::Buffer buffer;
    cl_ulong offset;
    cl_ulong pitch;
  };

  // A call, for the function of a row.
  struct Call {
    const Runtime& runtime;
    const Problem& problem;
    const Resources& r;
    std::size_t group;
    Kernel kernel;
    Rows src;
    Rows dst;
    bool in_place;
    std::vector<cl::Event> wait;

    // A launch over all islands.
    template <class... More>
    cl::Event operator()(const More&... more) {
      const auto packed = static_cast<std::size_t>(r.geometry->packed);
      const Launch launch =
          Launch::groups({(problem.islands + packed - 1) / packed, 1, 1}, {group, 1, 1});
      return kernel(launch, wait, src.buffer, src.offset, src.pitch, dst.buffer, dst.offset,
                    dst.pitch, r.constraints, more...);
    }
    LocalBytes local() const { return {r.geometry->local_bytes}; }
  };

  struct Traits {
    Work (*work)(const Problem&, double groups);         // without the operations
    std::size_t (*island_bytes)(std::size_t particles);  // of local memory
    int islands = 1;                                     // per group; 0: a group knows no islands
    bool is_packed = false;    // more than that, as many as a group can serve
    bool is_resident = false;  // constraints in registers
  };

  static const std::vector<Row>& variants() {
    const auto none = [](std::size_t) { return std::size_t{0}; };
    const auto whole = [](std::size_t particles) { return particles * kParticleBytes; };
    static const std::vector<Row> all{
        Row("per_colour", "one launch per colour and iteration, through global memory",
            {work_per_colour, none, /*islands=*/0})
            .runs(per_colour)
            .baseline()
            .tunes({{"group", {256, 64}}}),
        Row("per_iteration",
            "one launch per iteration: an island per work-group, barriers between the colours",
            {work_per_iteration, none})
            .runs(per_iteration)
            .against("per_colour", "one launch per iteration, barriers between colours")
            .tunes(),
        Row("all_local", "one launch for all iterations: an island per work-group, in local memory",
            {work_in_local, whole})
            .runs(in_local)
            .against("per_iteration", "one launch for all iterations, in local memory")
            .tunes(),
        Row("packed_islands",
            "as many islands per work-group as its work-items and local memory can serve",
            {work_in_local, whole})
            .runs(packed)
            .with(&Traits::is_packed)
            .against("all_local", "several islands per work-group")
            .tunes({{"group", {128, 64, 256}}}),
        // x, y and z, an odd number of floats.
        Row("resident",
            "packed_islands with each item's constraints in registers and few bank conflicts",
            {work_in_registers,
             [](std::size_t particles) { return (particles * 3 | 1) * sizeof(float); }})
            .runs(resident)
            .with(&Traits::is_packed, &Traits::is_resident)
            .against("packed_islands", "constraints in registers, few bank conflicts")
            .preferred()
            .tunes(),
        Row("cpu_lanes", "for CPUs: 16 islands as the elements of a vector, no barriers",
            {work_in_local,
             [](std::size_t particles) { return particles * kParticleBytes * kCpuLanes; },
             kCpuLanes})
            .runs(in_vectors)
            .against("all_local", "16 islands in a vector, no barriers")
            .for_cpus(),
    };
    return all;
  }

  static const std::vector<Axis<Tune>>& axes() {
    static const std::vector<Axis<Tune>> all{axis("group", &Tune::group, {128, 64}).on_cpus(1)};
    return all;
  }

  static void check(const Problem& p) {
    if (p.islands < 1) fail(Errc::invalid_argument, kName, "islands must be at least 1, got 0");
    check_range(kName, "iterations", p.iterations, 1, kMaxIterations);
    check_island(p.island, p.islands);
  }

  static double bytes(const Problem& p) {
    return 2.0 * static_cast<double>(kParticleBytes) * p.islands * p.island.particles;
  }

  static std::shared_ptr<const Design> derive(const Setup<Spec>& s) {
    const Traits& traits = s.row.traits;
    const Island& island = s.problem.island;
    const std::size_t bytes = traits.island_bytes(island.particles);
    if (traits.is_packed && s.tune.group > 0)
      return std::make_shared<const Design>(
          pack(island, s.problem.islands, s.tune.group, bytes, local_memory(s.device)));
    return std::make_shared<const Design>(Geometry{traits.islands, s.tune.group, 0, bytes});
  }

  static Offer offer(const Runtime&, const Setup<Spec>& s) {
    const Island& island = s.problem.island;
    const std::size_t bytes = s.row.traits.island_bytes(island.particles);
    if (bytes > local_memory(s.device)) {
      return Offer::no(Lacks::local_memory,
                       text("it needs ", bytes, " bytes of local memory for an island of ",
                            island.particles, " particles, the device has ", s.device.local_mem));
    }
    const Geometry& cut = *s.design;
    const std::size_t held = static_cast<std::size_t>(cut.each) * island.colours();
    if (s.row.traits.is_resident && held > static_cast<std::size_t>(kResidentLimit)) {
      return Offer::no(
          Lacks::problem,
          text("it holds at most ", kResidentLimit, " constraints per work-item in registers; ",
               island.colours(), " colours of up to ", island.largest_colour(), " constraints on ",
               cut.lanes, " work-items need ", held));
    }
    Offer out;
    out.in_place = true;
    // Two constraints of a colour per work-item take the registers that a second group would have: 1.4
    // to 1.9 times as long on an H200.
    out.last = s.row.traits.is_resident && cut.each > 1;
    out.work = s.row.traits.work(
        s.problem, std::ceil(static_cast<double>(s.problem.islands) / std::max(1, cut.packed)));
    // A projection: 3 + 5 for the square of the distance, 1 + 5 + 3 + 5 for the reciprocal root, 4
    // for c, 2 + 12 for the moves. What depends on the masses alone is needed once.
    out.work.operations = 40.0 * projections(s.problem);
    return out;
  }

  static std::vector<CompileUnit> units(const Setup<Spec>& s) {
    const Geometry& cut = *s.design;
    CompileUnit unit = variant_unit(s, embedded::local_multipass);
    unit.local_bytes = cut.local_bytes;
    if (cut.packed != 0 && !s.row.is_for_cpus)
      unit.defines.set("CLCOOK_LOCAL_MULTIPASS_GROUP", s.tune.group);
    if (s.row.traits.is_resident) {
      unit.defines.set("CLCOOK_LOCAL_MULTIPASS_COLOURS",
                       static_cast<int>(s.problem.island.colours()));
      unit.defines.set("CLCOOK_LOCAL_MULTIPASS_EACH", cut.each);
    }
    return {unit};
  }

  static Resources allocate(const Runtime& runtime, const Setup<Spec>& s,
                            const std::vector<cl::Program>&) {
    Resources out;
    out.geometry = s.design;
    if (out.geometry->packed == 0) {
      Defines copy;
      copy.flag("CLCOOK_LOCAL_MULTIPASS_ONLY").flag("CLCOOK_LOCAL_MULTIPASS_COPY");
      out.copy = runtime.build(Source(embedded::local_multipass), copy, "local_multipass_copy");
    }
    const Island& given = s.problem.island;
    const Island island = s.row.traits.is_resident
                              ? spread_over_banks(given, out.geometry->lanes, out.geometry->each)
                              : given;
    std::vector<Record> records;
    for (const Constraint& one : island.constraints)
      records.push_back({one.a, one.b, one.stiffness * one.rest, one.stiffness});
    out.constraints =
        create_buffer(runtime, records.size() * sizeof(Record), CL_MEM_READ_ONLY, records.data());
    out.colour_begin = create_buffer(runtime, island.colour_begin.size() * sizeof(std::uint32_t),
                                     CL_MEM_READ_ONLY, island.colour_begin.data());
    return out;
  }

 private:
  static std::size_t local_memory(const DeviceInfo& device) {
    if (device.local_mem == 0) return std::numeric_limits<std::size_t>::max();  // not known
    return static_cast<std::size_t>(device.local_mem);
  }

  static double projections(const Problem& p) {
    return static_cast<double>(p.island.constraints.size()) * p.islands * p.iterations;
  }

  // `particles` bytes of particles, half of them in; each of `times` times the constraints.
  static Work moved(const Problem& p, double particles, double times, double launches) {
    Work out;
    out.bytes_written = particles / 2;
    out.bytes_read = out.bytes_written +
                     times * sizeof(Record) * static_cast<double>(p.island.constraints.size());
    out.launches = launches;
    return out;
  }
  // Two particles of each constraint, in and out.
  static Work work_per_colour(const Problem& p, double) {
    return moved(p, 4.0 * kParticleBytes * projections(p), 1.0 * p.islands * p.iterations,
                 1.0 * p.island.colours() * p.iterations);
  }
  static Work work_per_iteration(const Problem& p, double groups) {
    return moved(p, bytes(p) * p.iterations, groups * p.iterations, p.iterations);
  }
  static Work work_in_local(const Problem& p, double groups) {
    return moved(p, bytes(p), groups * p.iterations, 1);
  }
  static Work work_in_registers(const Problem& p, double groups) {
    return moved(p, bytes(p), groups, 1);
  }

  static cl::Event per_colour(Call& c) {
    const Island& island = c.problem.island;
    const cl_uint islands = c.problem.islands;
    const auto cover = [&](std::size_t count) {
      return Launch::cover({count * islands, 1, 1}, {c.group, 1, 1});
    };
    std::vector<cl::Event> last = c.wait;
    if (!c.in_place) {
      Kernel copy(c.runtime, c.r.copy, "local_multipass_copy");
      last = {copy(cover(island.particles), last, c.src.buffer, c.src.offset, c.src.pitch,
                   c.dst.buffer, c.dst.offset, c.dst.pitch, island.particles, islands)};
    }
    for (cl_uint iteration = 0; iteration < c.problem.iterations; ++iteration) {
      for (cl_uint colour = 0; colour < island.colours(); ++colour) {
        const cl_uint begin = island.colour_begin[colour];
        const cl_uint count = island.colour_begin[colour + 1] - begin;
        last = {c.kernel(cover(count), last, c.dst.buffer, c.dst.offset, c.dst.pitch,
                         c.r.constraints, begin, count, islands)};
      }
    }
    return last.front();
  }

  static cl::Event per_iteration(Call& c) {
    const Island& island = c.problem.island;
    for (cl_uint iteration = 0; iteration < c.problem.iterations; ++iteration) {
      const cl_uint copy = iteration == 0 && !c.in_place ? 1 : 0;
      c.wait = {c(c.r.colour_begin, island.colours(), island.particles, copy)};
    }
    return c.wait.front();
  }

  static cl::Event in_local(Call& c) {
    const Problem& p = c.problem;
    return c(c.r.colour_begin, p.island.colours(), p.iterations, p.island.particles, c.local());
  }

  static cl::Event packed(Call& c) {
    const Problem& p = c.problem;
    return c(c.r.colour_begin, p.island.colours(), p.iterations, p.island.particles, p.islands,
             static_cast<cl_uint>(c.r.geometry->packed), static_cast<cl_uint>(c.r.geometry->lanes),
             c.local());
  }

  static cl::Event resident(Call& c) {
    const Problem& p = c.problem;
    return c(c.r.colour_begin, p.iterations, p.island.particles, p.islands,
             static_cast<cl_uint>(c.r.geometry->packed), static_cast<cl_uint>(c.r.geometry->lanes),
             c.local());
  }

  static cl::Event in_vectors(Call& c) {
    const Problem& p = c.problem;
    return c(static_cast<cl_uint>(p.island.constraints.size()), p.iterations, p.island.particles,
             p.islands, c.local());
  }
};

}  // namespace local_multipass

// A plan: constructed once, called often.
//
// Construction also checks the constraints and uploads them; the number of islands, iterations and
// particles are not part of the program. A call allocates nothing and never blocks on the device.
// Thread-safe as Plan says; calls that share no buffer are independent.
class LocalMultipass : public Plan<local_multipass::Spec> {
 public:
  using Constraint = local_multipass::Constraint;
  using Island = local_multipass::Island;
  using Plan::Plan;

  static constexpr std::uint32_t kMaxIterations = Spec::kMaxIterations;

  // Enqueues all iterations behind the events of `wait` and returns the last event. Row i of the
  // views is island i, a float4 per particle; offsets and pitches are multiples of 16 bytes. src
  // and dst are the same view (the islands are solved in place) or share no byte. The inverse
  // masses are copied. The device does not check the particles; a host in doubt calls
  // local_multipass::check_particles(). Throws Error(invalid_argument), with nothing enqueued, when a
  // view breaks a rule.
  cl::Event operator()(const BufferView& src, const BufferView& dst,
                       const std::vector<cl::Event>& wait = {}) const {
    const Problem& p = problem();
    const RowLayout layout{p.island.particles * Spec::kParticleBytes, p.islands,
                           Spec::kParticleBytes};
    const CheckedView from = check_view(runtime(), src, layout, Access::read, Spec::kName, "src");
    const CheckedView to = check_view(runtime(), dst, layout, Access::write, Spec::kName, "dst");
    const bool in_place =
        from.buffer() == to.buffer() && from.offset == to.offset && from.pitch == to.pitch;
    if (!in_place) check_disjoint(from, to, Spec::kName, "src", "dst");
    check_wait(runtime(), wait, Spec::kName);
    const auto rows = [](const CheckedView& view) {
      return Spec::Rows{view.buffer, view.offset / Spec::kParticleBytes,
                        view.pitch / Spec::kParticleBytes};
    };
    Spec::Call call{runtime(), p,          resources(), static_cast<std::size_t>(tune().group),
                    kernel(),  rows(from), rows(to),    in_place,
                    wait};
    return row().run(call);
  }

  // The islands that one work-group solves; of per_colour 0.
  int packed() const { return resources().geometry->packed; }
};

CLCOOK_PLAN(local_multipass::Spec);

}  // namespace clcook
