// Catmull-Clark patches to bicubic Bezier patches.
//
//   clcook::FoldedSwitch convert{runtime, {vertices, valences, indices}};
//   cl::Event done = convert(positions, control_points, {uploaded});
//
// Each quad of a mesh, with the ring of vertices around it, becomes a bicubic Bezier patch of 16
// control points (approximate Catmull-Clark, Loop and Schaefer 2008). If all four valences are 4,
// the patch is exactly the Catmull-Clark surface. Otherwise its corners lie on that surface, and
// neighbours meet without a gap. Problem::tangents asks for tangent patches too, from which light
// gets normals that agree where they meet.
#pragma once

#include <algorithm>
#include <array>
#include <clcook/core/plan.hpp>
#include <clcook/core/view.hpp>
#include <clcook/embedded/folded_switch.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace clcook {
namespace folded_switch {

constexpr std::size_t kPointBytes = 16;  // a position or control point: x, y, z, w
constexpr unsigned kMinValence = 3;
constexpr unsigned kMaxValence = 8;
constexpr std::size_t kMaxPatches = std::size_t{1} << 30;
constexpr std::size_t kTangents = 24;  // vectors of a patch's two tangent patches

// The topology. The points of a patch: its quad's four vertices, counter-clockwise, then the ring
// around it, counter-clockwise, from the neighbour of vertex 0 beyond the edge 0-3.
// clcook::io::make_patches() makes these lists from a mesh of quads.
struct Problem {
  std::size_t vertices = 0;                           // in the buffer of positions, 1 to 2^32 - 1
  std::vector<std::array<std::uint8_t, 4>> valences;  // per patch, of its quad's vertices, 3 to 8
  // The points of all patches, one patch after the other: 2 (n0 + n1 + n2 + n3) - 16 each.
  std::vector<std::uint32_t> indices;
  // Write the tangent patches too, behind the control points of all patches: 24 vectors per patch,
  // derivatives to the patch's parameters. First those along the rows, u, 4 rows of 3; then those
  // along the columns, v, 3 rows of 4.
  bool tangents = false;
};

// How to run, for tuning; 0 is open.
struct Tune {
  int group = 0;  // work-items per work-group: a multiple of 4 up to 1024; cpu_patch: 1
  int run = 0;    // how many neighbouring work-items compute the same control point, of as many
                  // patches: 1, 2, 4 to 1024; variants without a control point per work-item: 0
};

// Points of a patch.
inline std::size_t point_count(const std::array<std::uint8_t, 4>& n) {
  return 2 * (std::size_t{n[0]} + n[1] + n[2] + n[3]) - 16;
}

inline bool is_regular(const std::array<std::uint8_t, 4>& n) {
  return n[0] == 4 && n[1] == 4 && n[2] == 4 && n[3] == 4;
}

// Whether all valences are 4.
inline bool is_regular(const Problem& p) {
  return std::all_of(p.valences.begin(), p.valences.end(),
                     [](const auto& n) { return is_regular(n); });
}

struct Spec : PlainSpec {
  // Where the work-items of a variant diverge.
  enum class Paths {
    one,         // nowhere
    arms,        // an arm for each of the sixteen control points
    inner_arms,  // the three functions, and their switches over the argument
    turns,       // the turns of a loop over a corner's ring
  };
  struct Traits {
    int items = 4;  // work-items per patch; 1: each work-item has many patches
    Paths paths = Paths::one;
    double points = 0;          // read by a work-item that has one path
    bool sorted = false;        // regular patches come first, in another form
    bool regular_only = false;  // refuses other patches
    bool fused = false;         // makes control points and tangents in one launch
    bool has_runs() const { return items == 16; }
  };
  struct Resources {
    cl::Buffer heads;    // per patch: its first index, its valences; sorted: of the others
    cl::Buffer indices;  // sorted: those of regular patches first, in the order of the grid
    cl::Buffer slots;    // sorted: the number of each patch
    // For the kernel `tangents`: of all patches, in their order.
    cl::Buffer tangent_heads;
    cl::Buffer tangent_indices;
    std::size_t regular_patches = 0;  // sorted
    std::size_t task = 1;             // cpu_patch: patches per work-item
    std::size_t topology_bytes = 0;   // that a call reads
  };
  using Problem = folded_switch::Problem;
  using Tune = folded_switch::Tune;

  // A call, for the function of a row.
  struct Call {
    const Setup<Spec>& setup;
    const Resources& r;
    Kernel kernel;
    const CheckedView& src;
    const CheckedView& dst;
    const std::vector<cl::Event>& wait;

    // A launch of `items` work-items, or a few more.
    template <class... More>
    cl::Event operator()(std::size_t items, const More&... more) {
      return kernel(Launch::cover(items, setup.tune.group), wait, src.buffer,
                    static_cast<cl_ulong>(src.offset / kPointBytes), r.indices, more...);
    }
    cl_ulong patches() const { return setup.problem.valences.size(); }
    cl_ulong dst_offset() const { return dst.offset / kPointBytes; }
    LocalBytes local() const { return {local_bytes(setup)}; }
    // Work-items for whole runs of patches, 16 each, and the run's logarithm.
    std::size_t items_in_runs() const {
      const auto run = static_cast<std::size_t>(setup.tune.run);
      return (setup.problem.valences.size() + run - 1) / run * run * 16;
    }
    cl_int run_bits() const {
      cl_int bits = 0;
      while (1 << bits < setup.tune.run) ++bits;
      return bits;
    }
  };
  using Row = VariantRow<Spec>;
  static constexpr const char* kName = "FoldedSwitch";
  static constexpr const char* kRecipe = "folded_switch";

  static const std::vector<Row>& variants() {
    const std::vector<TuneAxis> runs{{"run", {1, 32}}};
    const std::vector<TuneAxis> arms{{"run", {32, 1}}};  // for variants with arms
    const std::vector<TuneAxis> groups{{"group", {64, 32, 128}}};
    static const std::vector<Row> all{
        Row("switch16", "a control point per work-item, a switch with sixteen arms",
            {16, Paths::arms})
            .runs(points)
            .baseline()
            .tunes(arms),
        Row("folded3",
            "the switch only chooses one of three calls and its argument; two of the functions "
            "switch on",
            {16, Paths::inner_arms})
            .runs(points)
            .against("switch16", "the switch chooses one of three calls and its argument")
            .tunes(arms),
        Row("switch4444",
            "the article's switch: switch16 with the valences as constants; none but regular "
            "patches",
            {16, Paths::arms})
            .runs(regular_points)
            .with(&Traits::regular_only)
            .against("switch16", "valences are constants of the code: regular patches alone")
            .tunes(arms),
        Row("folded4444", "the article's folded switch: folded3 with the valences as constants",
            {16, Paths::inner_arms})
            .runs(regular_points)
            .with(&Traits::regular_only)
            .against("switch4444", "the switch chooses one of three calls and its argument")
            .tunes(arms),
        Row("index_tables", "one formula for all sixteen, its arguments and weights from a table",
            {16, Paths::turns})
            .runs(points)
            .against("folded3", "one formula, its arguments from a table")
            .tunes(runs),
        Row("weight_matrix",
            "regular patches as M P M^T, a row and a column per work-item; none but regular ones",
            {4, Paths::one, 8})
            .runs(regular_corners)
            .with(&Traits::sorted, &Traits::regular_only)
            .against("switch4444", "M P M^T: a row and a column per work-item")
            .tunes(groups)
            .preferred(),
        Row("per_corner",
            "four control points per work-item: the formulas are the same at each corner",
            {4, Paths::one, 9})
            .runs(corners)
            .against("index_tables", "four control points per work-item, no case")
            .tunes(groups),
        Row("split",
            "weight_matrix for regular patches and per_corner for the others, sorted by the plan",
            {4, Paths::one, 8})
            .runs(regular_first)
            .with(&Traits::sorted)
            .against("per_corner", "regular patches sorted out, through weight_matrix")
            .tunes(groups)
            .preferred(),
        Row("cpu_patch", "for CPUs: a whole patch at a time, many patches per work-item",
            {1, Paths::one, 16})
            .runs(whole_patches)
            .against("split", "a whole patch at a time, no local memory")
            .for_cpus(),
        Row("fused_tangents",
            "per_corner that makes the tangent patches in the same launch; the others take another",
            {4, Paths::one, 9})
            .runs(corners)
            .with(&Traits::fused)
            .against("per_corner", "tangents in the same launch: a ring is read once")
            .tunes(groups),
    };
    return all;
  }

  static const std::vector<Axis<Tune>>& axes() {
    static const std::vector<Axis<Tune>> all{axis("group", &Tune::group), axis("run", &Tune::run)};
    return all;
  }

  // Tunings are filed for patches whose valences are all 4, for others, and for those with tangents.
  static std::vector<std::string> tuning_names(const Problem& p) {
    if (p.tangents) return {"folded_switch/tangents"};
    return {is_regular(p) ? "folded_switch/regular" : "folded_switch/mixed"};
  }

  // The whole topology.
  static void check(const Problem& p) {
    constexpr std::size_t kMaxCount = std::numeric_limits<std::uint32_t>::max();
    check_range(kName, "vertices", p.vertices, 1, kMaxCount);
    check_range(kName, "the patches", p.valences.size(), 1, kMaxPatches);
    std::size_t points = 0;
    for (std::size_t i = 0; i < p.valences.size(); ++i) {
      for (std::size_t k = 0; k < 4; ++k) {
        const unsigned n = p.valences[i][k];
        if (n < kMinValence || n > kMaxValence) {
          fail(Errc::invalid_argument, kName,
               text("corner ", k, " of patch ", i, " has the valence ", n, "; it must be ",
                    kMinValence, " to ", kMaxValence));
        }
      }
      points += point_count(p.valences[i]);
    }
    if (points > kMaxCount) {
      fail(Errc::invalid_argument, kName,
           text("the patches have ", points, " points; there may be ", kMaxCount));
    }
    if (points != p.indices.size()) {
      fail(Errc::invalid_argument, kName,
           text("the valences of the ", p.valences.size(), " patches ask for ", points,
                " indices, got ", p.indices.size()));
    }
    for (std::size_t i = 0; i < p.indices.size(); ++i) {
      if (p.indices[i] >= p.vertices) {
        fail(Errc::invalid_argument, kName,
             text("index ", i, " is ", p.indices[i], "; there are ", p.vertices, " vertices"));
      }
    }
  }

  static Tune defaults(const Row& row, const Problem&, const DeviceInfo& device) {
    if (row.is_for_cpus) return {1, 0};
    if (!row.traits.has_runs()) return {64, 0};
    return {128, device.cpu || row.traits.paths == Paths::turns ? 1 : 32};
  }

  static void check_tune(const Setup<Spec>& s) {
    const Tune& tune = s.tune;
    const auto refuse = [](const std::string& what) { fail(Errc::invalid_argument, kName, what); };
    if (s.row.is_for_cpus) {
      if (tune.group != 1) {
        refuse(text("the variant ", s.row.name, " takes a group of 1 work-item, got ", tune.group));
      }
    } else if (tune.group < 4 || tune.group > 1024 || tune.group % 4 != 0) {
      refuse(text("group must be a multiple of 4 up to 1024, got ", tune.group));
    }
    if (!s.row.traits.has_runs()) {
      if (tune.run != 0) refuse(text("the variant ", s.row.name, " has no runs, got ", tune.run));
    } else if (tune.run < 1 || tune.run > 1024 || (tune.run & (tune.run - 1)) != 0) {
      refuse(text("run must be a power of two from 1 to 1024, got ", tune.run));
    }
  }

  static double bytes(const Problem& p) {
    return static_cast<double>((p.vertices + results(p) * p.valences.size()) * kPointBytes);
  }

  // Points and vectors per patch.
  static std::size_t results(const Problem& p) { return p.tangents ? 16 + kTangents : 16; }

  static Offer offer(const Runtime&, const Setup<Spec>& s) {
    if (s.row.traits.regular_only && !is_regular(s.problem)) {
      return Offer::no(Lacks::problem, "needs patches with four valences of 4, and some are not");
    }
    if (s.row.traits.fused && !s.problem.tangents)
      return Offer::no(Lacks::problem, "it makes tangents, and the problem asks for none");
    return {};
  }

  // Bytes of the __local argument: 20 float4 for each patch with four work-items, with tangents 24.
  static std::size_t local_bytes(const Setup<Spec>& s) {
    const std::size_t cells = s.row.traits.fused ? 24 : 20;
    return s.row.traits.items != 4
               ? 0
               : static_cast<std::size_t>(s.tune.group) / 4 * cells * kPointBytes;
  }

  // The kernel for the control points; for tangents, unless it makes them too, another one.
  static std::vector<CompileUnit> units(const Setup<Spec>& s) {
    const bool fused = s.row.traits.fused;
    std::vector<CompileUnit> out{
        variant_unit(s, fused ? embedded::folded_switch_tangents : embedded::folded_switch)};
    out[0].local_bytes = local_bytes(s);
    if (s.problem.tangents && !fused) {
      out.push_back(kernel_unit(s, "tangents", embedded::folded_switch_tangents));
      out[1].label = "tangents";
    }
    return out;
  }

  // Uploads the lists in the variant's layout.
  static Resources allocate(const Runtime& runtime, const Setup<Spec>& s,
                            const std::vector<cl::Program>&) {
    const Problem& p = s.problem;
    Resources out;
    std::vector<std::uint32_t> heads;
    std::size_t first = 0;
    if (p.tangents && !s.row.traits.fused) {
      for (const auto& n : p.valences) {
        add_head(heads, first, n);
        first += point_count(n);
      }
      out.tangent_heads = make_buffer(runtime, heads);
      out.tangent_indices = make_buffer(runtime, p.indices);
      heads.clear();
      first = 0;
    }
    if (!s.row.traits.sorted) {
      if (!s.row.traits.regular_only) {
        for (const auto& n : p.valences) {
          add_head(heads, first, n);
          first += point_count(n);
        }
        out.heads = make_buffer(runtime, heads);
      }
      out.indices = make_buffer(runtime, p.indices);
      out.topology_bytes = (heads.size() + p.indices.size()) * sizeof heads[0];
      // Enough tasks that all cores end together, each long enough to be worth its start.
      const std::size_t tasks = 16 * std::max<std::size_t>(1, runtime.info().compute_units);
      out.task = std::max<std::size_t>(64, (p.valences.size() + tasks - 1) / tasks);
      return out;
    }
    // Regular patches first, their points in the order of the grid, row by row.
    constexpr std::size_t kGrid[16] = {5, 6, 7, 8, 4, 0, 1, 9, 15, 3, 2, 10, 14, 13, 12, 11};
    std::vector<std::uint32_t> indices;
    std::vector<std::uint32_t> slots;
    indices.reserve(p.indices.size());
    for (const bool regular : {true, false}) {
      first = 0;
      for (std::size_t i = 0; i < p.valences.size(); ++i) {
        const auto& n = p.valences[i];
        const std::size_t points = point_count(n);
        if (is_regular(n) == regular) {
          if (!regular) add_head(heads, indices.size(), n);
          for (std::size_t j = 0; j < points; ++j) {
            indices.push_back(p.indices[first + (regular ? kGrid[j] : j)]);
          }
          slots.push_back(static_cast<std::uint32_t>(i));
        }
        first += points;
      }
      if (regular) out.regular_patches = slots.size();
    }
    out.indices = make_buffer(runtime, indices);
    out.topology_bytes = indices.size() * sizeof indices[0];
    if (!s.row.traits.regular_only) {
      out.topology_bytes += (heads.size() + slots.size()) * sizeof slots[0];
      if (heads.empty()) heads = {0, 0};  // a buffer has at least one element
      out.heads = make_buffer(runtime, heads);
      out.slots = make_buffer(runtime, slots);
    }
    return out;
  }

 private:
  static cl::Event points(Call& c) {
    return c(c.items_in_runs(), c.r.heads, c.dst.buffer, c.dst_offset(), c.patches(), c.run_bits());
  }
  static cl::Event regular_points(Call& c) {
    return c(c.items_in_runs(), c.dst.buffer, c.dst_offset(), c.patches(), c.run_bits());
  }
  static cl::Event corners(Call& c) {
    return c(4 * c.patches(), c.r.heads, c.dst.buffer, c.dst_offset(), c.patches(), c.local());
  }
  static cl::Event regular_corners(Call& c) {
    return c(4 * c.patches(), c.dst.buffer, c.dst_offset(), c.patches(), c.local());
  }
  // Whole groups of regular patches, then whole groups of the others.
  static cl::Event regular_first(Call& c) {
    const auto group = static_cast<std::size_t>(c.setup.tune.group);
    const auto groups_for = [&](std::size_t some) { return (4 * some + group - 1) / group; };
    const std::size_t first = groups_for(c.r.regular_patches);
    return c((first + groups_for(c.patches() - c.r.regular_patches)) * group, c.r.heads, c.r.slots,
             c.dst.buffer, c.dst_offset(), c.patches(), static_cast<cl_ulong>(c.r.regular_patches),
             static_cast<cl_ulong>(first), c.local());
  }
  static cl::Event whole_patches(Call& c) {
    return c((c.patches() + c.r.task - 1) / c.r.task, c.r.heads, c.dst.buffer, c.dst_offset(),
             c.patches(), static_cast<cl_ulong>(c.r.task));
  }

  static void add_head(std::vector<std::uint32_t>& heads, std::size_t first,
                       const std::array<std::uint8_t, 4>& n) {
    heads.push_back(static_cast<std::uint32_t>(first));
    heads.push_back(std::uint32_t{n[0]} | std::uint32_t{n[1]} << 8 | std::uint32_t{n[2]} << 16 |
                    std::uint32_t{n[3]} << 24);
  }

  static cl::Buffer make_buffer(const Runtime& runtime, const std::vector<std::uint32_t>& data) {
    return create_buffer(runtime, data.size() * sizeof data[0], CL_MEM_READ_ONLY, data.data());
  }
};

}  // namespace folded_switch

// A plan: constructed once per mesh, called for each set of positions. Thread-safe as Plan says;
// copies share the topology on the device.
//
// Construction checks the whole topology and uploads it, so no call can read out of bounds. The
// plan also keeps the lists of its problem. Calls enqueue one kernel and never block.
class FoldedSwitch : public Plan<folded_switch::Spec> {
 public:
  using Plan::Plan;

  // Enqueues the conversion behind the events of `wait` and returns its event.
  //
  // positions: `vertices` points of four floats, w is treated as x, y and z are. control_points: 16
  // points per patch in the order of the patches, row by row; the rows' ends 0, 3, 15 and 12 belong
  // to the quad's vertices 0 to 3. With tangents their 24 vectors per patch follow, in the order of
  // the patches too. Offsets are multiples of 16 bytes, the pitch is not used. The
  // views must not overlap. Throws Error(invalid_argument), with nothing enqueued, when a view
  // breaks a rule.
  cl::Event operator()(const BufferView& positions, const BufferView& control_points,
                       const std::vector<cl::Event>& wait = {}) const {
    constexpr const char* kName = Spec::kName;
    constexpr std::size_t kPointBytes = folded_switch::kPointBytes;
    const std::size_t count = problem().valences.size();
    const RowLayout in{problem().vertices * kPointBytes, 1, kPointBytes};
    const RowLayout out{count * Spec::results(problem()) * kPointBytes, 1, kPointBytes};
    const CheckedView from =
        check_view(runtime(), flat(positions), in, Access::read, kName, "positions");
    const CheckedView to =
        check_view(runtime(), flat(control_points), out, Access::write, kName, "control_points");
    check_disjoint(from, to, kName, "positions", "control_points");
    const Setup<Spec> s = setup();
    Spec::Call call{s, resources(), kernel(), from, to, wait};
    const cl::Event points = row().run(call);
    if (!problem().tangents || row().traits.fused) return points;
    // A work-item per corner; on CPUs one for whole tasks of patches.
    const std::size_t each = row().is_for_cpus ? 4 * resources().task : 1;
    return kernel(runtime(), 1)(Launch::cover((4 * count + each - 1) / each, s.tune.group),
                                {points}, from.buffer,
                                static_cast<cl_ulong>(from.offset / kPointBytes),
                                resources().tangent_indices, resources().tangent_heads, to.buffer,
                                call.dst_offset(), call.patches(), static_cast<cl_ulong>(each));
  }

  // Bytes of topology that a call reads.
  std::size_t topology_bytes() const { return resources().topology_bytes; }

 private:
  static BufferView flat(const BufferView& view) { return BufferView(view.buffer, view.offset); }
};

CLCOOK_PLAN(folded_switch::Spec);

}  // namespace clcook
