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
  std::size_t vertices = 0;                             // in the buffer of positions, 1 to 2^32 - 1
  std::vector<std::array<std::uint8_t, 4>> valences{};  // per patch, of its quad's vertices, 3 to 8
  // The points of all patches, one patch after the other: 2 (n0 + n1 + n2 + n3) - 16 each.
  std::vector<std::uint32_t> indices{};
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

// The topology corner by corner, for kernels that load each point once: the corner that it belongs to
// does. Of the 2 n - 5 ring points of a corner, in their order, neighbours along edges and across faces
// take turns; the first and the last are along edges.
struct CornerLists {
  // Per corner: its vertex, and its first, second and last ring point. Where n = 3, the only one counts
  // as all three.
  std::vector<std::uint32_t> corners;
  // The others, from the third to the last but one: n - 4 pairs for each corner where n > 4.
  std::vector<std::uint32_t> more;
  // Two words per patch: where its part of `more` begins; and four bits for the valence of each corner
  // from bit 0 on, then four for the pairs in `more` of the corners before it.
  std::vector<std::uint32_t> heads;
};

inline CornerLists corner_lists(const Problem& p) {
  static_assert(3 * (kMaxValence - 4) < 16, "the pairs before a corner fit into four bits");
  CornerLists out;
  out.corners.reserve(16 * p.valences.size());
  out.heads.reserve(2 * p.valences.size());
  const std::uint32_t* quad = p.indices.data();
  for (const auto& n : p.valences) {
    out.heads.push_back(static_cast<std::uint32_t>(out.more.size()));
    const std::uint32_t* ring = quad + 4;
    std::uint32_t valences = 0;
    std::uint32_t pairs = 0;
    for (unsigned k = 0; k < 4; ++k) {
      const std::size_t own = 2 * std::size_t{n[k]} - 5;
      valences |= std::uint32_t{n[k]} << (4 * k) | pairs << (16 + 4 * k);
      out.corners.insert(out.corners.end(),
                         {quad[k], ring[0], ring[own > 1 ? 1 : 0], ring[own - 1]});
      for (std::size_t j = 2; j + 1 < own; ++j) out.more.push_back(ring[j]);
      pairs += n[k] > 4 ? n[k] - 4u : 0u;
      ring += own;
    }
    out.heads.push_back(valences);
    quad = ring;
  }
  return out;
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
    bool regular_only = false;  // its indices lie in the order of the grid; refuses other patches
    bool by_corner = false;     // its indices lie corner by corner
    bool fused = false;         // makes control points and tangents in one launch
    bool has_runs() const { return items == 16; }
  };
  struct Resources {
    cl::Buffer heads;    // per patch: where its indices begin, its valences; see CornerLists
    cl::Buffer indices;  // as the variant reads them
    cl::Buffer more;     // by corner: see CornerLists
    // For the kernel `tangents`: as the problem has them.
    cl::Buffer tangent_heads;
    cl::Buffer tangent_indices;
    std::size_t task = 1;            // cpu_patch: patches per work-item
    std::size_t topology_bytes = 0;  // that a call reads
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
            .with(&Traits::regular_only)
            .against("switch4444", "M P M^T: a row and a column per work-item")
            .tunes(groups)
            .preferred(),
        Row("per_corner",
            "four control points per work-item: the formulas are the same at each corner",
            {4, Paths::one, 9})
            .runs(corners)
            .against("index_tables", "four control points per work-item, no case")
            .tunes(groups),
        Row("shared_gather",
            "per_corner that loads each point once, by the corner that owns it; the others get it "
            "through local memory",
            {4, Paths::one, 4})
            .runs(shared_corners)
            .with(&Traits::by_corner)
            .against("per_corner", "each point loaded once, shared through local memory")
            .tunes(groups)
            .preferred(),
        Row("cpu_patch", "for CPUs: a whole patch at a time, many patches per work-item",
            {1, Paths::one, 16})
            .runs(whole_patches)
            .against("per_corner", "a whole patch at a time, no local memory")
            .for_cpus(),
        Row("fused_tangents",
            "shared_gather that makes the tangent patches in the same launch; the others take "
            "another",
            {4, Paths::one, 4})
            .runs(shared_corners)
            .with(&Traits::by_corner, &Traits::fused)
            .against("shared_gather", "tangents in the same launch: a ring is read once")
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

  // Bytes of the __local argument: float4 for each patch with four work-items.
  static std::size_t local_bytes(const Setup<Spec>& s) {
    const std::size_t cells = s.row.traits.fused ? 24 : s.row.traits.by_corner ? 16 : 20;
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
    if (s.row.traits.by_corner) out[0].defines.set("CLCOOK_FOLDED_SWITCH_GROUP", s.tune.group);
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
    if (s.row.traits.by_corner) {
      CornerLists lists = corner_lists(p);
      out.topology_bytes =
          (lists.heads.size() + lists.corners.size() + lists.more.size()) * sizeof heads[0];
      if (lists.more.empty()) lists.more = {0};  // a buffer has at least one element
      out.heads = make_buffer(runtime, lists.heads);
      out.indices = make_buffer(runtime, lists.corners);
      out.more = make_buffer(runtime, lists.more);
      return out;
    }
    if (s.row.traits.regular_only && s.row.traits.items == 4) {
      // The points in the order of the grid, row by row.
      constexpr std::size_t kGrid[16] = {5, 6, 7, 8, 4, 0, 1, 9, 15, 3, 2, 10, 14, 13, 12, 11};
      std::vector<std::uint32_t> indices(p.indices.size());
      for (std::size_t i = 0; i < indices.size(); ++i)
        indices[i] = p.indices[i / 16 * 16 + kGrid[i % 16]];
      out.indices = make_buffer(runtime, indices);
      out.topology_bytes = indices.size() * sizeof indices[0];
      return out;
    }
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
  static cl::Event shared_corners(Call& c) {
    return c(4 * c.patches(), c.r.heads, c.r.more, c.dst.buffer, c.dst_offset(), c.patches(),
             c.local());
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
