// Catmull-Clark patches to bicubic Bezier patches.
//
//   clcook::BezierPatches convert{runtime, {vertices, valences, indices}};
//   cl::Event done = convert(positions, control_points, {uploaded});
//
// Each quad of a mesh, with the ring of vertices around it, becomes a bicubic Bezier patch of 16
// control points (approximate Catmull-Clark, Loop and Schaefer 2008). Where all four valences are 4
// the patch is exactly the Catmull-Clark surface; elsewhere its corners lie on it, and neighbours
// meet without a gap.
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
#include <clcook/embedded/folded_switch.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace clcook {

// A plan: constructed once per mesh, called for each set of positions.
//
// Construction checks the whole topology and uploads it, so no call can read out of bounds. Calls
// enqueue one kernel and never block. All const member functions may be called from several
// threads. Copies are cheap and share the topology on the device.
class BezierPatches {
 public:
  // The topology. The points of a patch: its quad's four vertices, counter-clockwise, then the ring
  // around it, counter-clockwise, from the neighbour of vertex 0 beyond the edge 0-3.
  // clcook::io::make_patches() makes these lists from a mesh of quads.
  struct Problem {
    std::size_t vertices = 0;                           // in the buffer of positions, 1 to 2^32 - 1
    std::vector<std::array<std::uint8_t, 4>> valences;  // per patch, of its quad's vertices, 3 to 8
    // Of the points of all patches, one patch after the other: 2 (n0 + n1 + n2 + n3) - 16 each.
    std::vector<std::uint32_t> indices;
  };

  enum class Variant {
    automatic,      // what was measured to be fastest; without that cpu_patch on CPUs, else
                    // weight_matrix for regular patches and split for others
    switch16,       // a control point per work-item, a switch with an arm for each of the sixteen
    folded3,        // the switch only chooses one of three functions and its argument
    index_tables,   // one formula for all sixteen, its arguments and weights from a table
    weight_matrix,  // M P M^T by rows and columns; all valences must be 4
    per_corner,     // four control points per work-item: the same formulas at each corner
    split,          // weight_matrix for the regular patches, per_corner for the others, sorted
    cpu_patch,      // for CPUs: a whole patch at a time, many patches per work-item
  };

  // How to run, for tuning; the defaults are good.
  struct Tune {
    int group = 0;  // work-items per work-group, 0 for the variant's default; a multiple of 4 up to
                    // 1024, cpu_patch: only 0 or 1
    int run = 0;    // switch16, folded3, index_tables: how many neighbouring work-items make the
                    // same control point, each of another patch: 1, 2, 4 to 1024; 0 for 1
  };

  static constexpr std::size_t kPointBytes = 16;  // a position or control point: x, y, z, w
  static constexpr unsigned kMinValence = 3;
  static constexpr unsigned kMaxValence = 8;
  static constexpr std::size_t kMaxPatches = std::size_t{1} << 30;

  // Throws Error: invalid_argument for a broken topology or a value out of range, unsupported where
  // the variant cannot run this topology or the device not this group size, out_of_resources,
  // build_failed. The lists of `problem` are not kept.
  BezierPatches(const Runtime& runtime, const Problem& problem, Variant variant, Tune tune)
      : state_(make_state(runtime, problem, variant, tune)) {}
  explicit BezierPatches(const Runtime& runtime, const Problem& problem,
                         Variant variant = Variant::automatic)
      : BezierPatches(runtime, problem, variant, Tune{}) {}

  // Enqueues the conversion behind the events of `wait` and returns its event.
  //
  // positions: `vertices` points of four floats, w is treated as x, y and z are. control_points: 16
  // points per patch in the order of the patches, row by row; the rows' ends 0, 3, 15 and 12 belong
  // to the quad's vertices 0 to 3. Offsets are multiples of 16 bytes, the pitch is not used. The
  // views must not overlap. Throws Error(invalid_argument), with nothing enqueued, when a view
  // breaks a rule.
  cl::Event operator()(const BufferView& positions, const BufferView& control_points,
                       const std::vector<cl::Event>& wait = {}) const {
    const State& s = *state_;
    const RowLayout in{s.vertices * kPointBytes, 1, kPointBytes};
    const RowLayout out{s.patches * 16 * kPointBytes, 1, kPointBytes};
    const CheckedView from =
        check_view(s.runtime, flat(positions), in, Access::read, kName, "positions");
    const CheckedView to =
        check_view(s.runtime, flat(control_points), out, Access::write, kName, "control_points");
    check_disjoint(from, to, kName, "positions", "control_points");
    Kernel kernel(s.runtime, s.program, kernel_name(s.variant));
    const auto from_offset = static_cast<cl_ulong>(from.offset / kPointBytes);
    const auto to_offset = static_cast<cl_ulong>(to.offset / kPointBytes);
    const auto patches = static_cast<cl_ulong>(s.patches);
    const Launch where = launch(s);
    switch (s.variant) {
      case Variant::weight_matrix:
        return kernel(where, wait, from.buffer, from_offset, s.indices, to.buffer, to_offset,
                      patches, LocalBytes{s.local_bytes});
      case Variant::per_corner:
        return kernel(where, wait, from.buffer, from_offset, s.indices, s.heads, to.buffer,
                      to_offset, patches, LocalBytes{s.local_bytes});
      case Variant::split:
        return kernel(where, wait, from.buffer, from_offset, s.indices, s.heads, s.slots, to.buffer,
                      to_offset, patches, static_cast<cl_ulong>(s.regular_patches),
                      static_cast<cl_ulong>(groups_for(s, s.regular_patches)),
                      LocalBytes{s.local_bytes});
      case Variant::cpu_patch:
        return kernel(where, wait, from.buffer, from_offset, s.indices, s.heads, to.buffer,
                      to_offset, patches, static_cast<cl_ulong>(s.task));
      default:
        return kernel(where, wait, from.buffer, from_offset, s.indices, s.heads, to.buffer,
                      to_offset, patches, static_cast<cl_int>(s.run_bits));
    }
  }

  std::size_t vertices() const { return state_->vertices; }
  std::size_t patches() const { return state_->patches; }
  // Whether all valences are 4.
  bool regular() const { return state_->regular; }
  // The variant that runs; never automatic.
  Variant variant() const { return state_->variant; }
  int group() const { return state_->group; }
  // Bytes of topology that a call reads.
  std::size_t topology_bytes() const { return state_->topology_bytes; }

  // Points of a patch.
  static std::size_t point_count(const std::array<std::uint8_t, 4>& n) {
    return 2 * (std::size_t{n[0]} + n[1] + n[2] + n[3]) - 16;
  }

  // Work-items per work-group where Tune::group is 0.
  static int default_group(Variant variant) {
    if (variant == Variant::cpu_patch) return 1;
    return has_run(variant) ? 128 : 64;
  }

  // Under which name tunings are filed: for patches whose valences are all 4, and for others.
  static std::string tuning_name(bool regular) {
    return regular ? "folded_switch/regular" : "folded_switch/mixed";
  }

  // Whether the variant has the tuning `run`.
  static bool has_run(Variant variant) {
    return variant == Variant::switch16 || variant == Variant::folded3 ||
           variant == Variant::index_tables;
  }

  // A program of a variant: the definitions that select it.
  struct Unit {
    std::string kernel;
    Defines defines;
  };

  // The programs that a plan of this variant consists of. For tools; plans call it themselves.
  static std::vector<Unit> units(Variant variant) {
    std::string upper = to_string(variant);
    for (char& c : upper) {
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    Unit unit{kernel_name(variant), {}};
    unit.defines.flag("CLCOOK_FOLDED_SWITCH_ONLY").flag("CLCOOK_FOLDED_SWITCH_" + upper);
    return {unit};
  }

  static std::string kernel_name(Variant variant) {
    return std::string("folded_switch_") + to_string(variant);
  }

  // Every variant that runs, in the order of the recipe.
  static constexpr Variant kVariants[] = {
      Variant::switch16,   Variant::folded3, Variant::index_tables, Variant::weight_matrix,
      Variant::per_corner, Variant::split,   Variant::cpu_patch};

  static const char* to_string(Variant variant) {
    switch (variant) {
      case Variant::automatic:
        return "automatic";
      case Variant::switch16:
        return "switch16";
      case Variant::folded3:
        return "folded3";
      case Variant::index_tables:
        return "index_tables";
      case Variant::weight_matrix:
        return "weight_matrix";
      case Variant::per_corner:
        return "per_corner";
      case Variant::split:
        return "split";
      case Variant::cpu_patch:
        return "cpu_patch";
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

 private:
  static constexpr const char* kName = "BezierPatches";
  static constexpr std::size_t kCells = 20;  // float4 of local memory per patch

  struct State {
    Runtime runtime;
    std::size_t vertices = 0;
    std::size_t patches = 0;
    bool regular = false;
    Variant variant = Variant::switch16;
    int group = 0;
    int run_bits = 0;
    std::size_t task = 1;             // cpu_patch: patches per work-item
    std::size_t regular_patches = 0;  // split
    std::size_t local_bytes = 0;
    std::size_t topology_bytes = 0;
    cl::Program program;
    cl::Buffer heads;
    cl::Buffer indices;
    cl::Buffer slots;  // split

    explicit State(Runtime rt) : runtime(std::move(rt)) {}
  };

  static BufferView flat(const BufferView& view) { return BufferView(view.buffer, view.offset); }

  // Checks the topology; returns whether all valences are 4.
  static bool check_topology(const Problem& p) {
    constexpr std::size_t kMaxCount = std::numeric_limits<std::uint32_t>::max();
    if (p.vertices < 1 || p.vertices > kMaxCount) {
      fail(Errc::invalid_argument, kName,
           text("vertices must be 1 to ", kMaxCount, ", got ", p.vertices));
    }
    if (p.valences.empty() || p.valences.size() > kMaxPatches) {
      fail(Errc::invalid_argument, kName,
           text("the patches must be 1 to ", kMaxPatches, ", got ", p.valences.size()));
    }
    bool regular = true;
    std::size_t points = 0;
    for (std::size_t i = 0; i < p.valences.size(); ++i) {
      for (std::size_t k = 0; k < 4; ++k) {
        const unsigned n = p.valences[i][k];
        if (n < kMinValence || n > kMaxValence) {
          fail(Errc::invalid_argument, kName,
               text("corner ", k, " of patch ", i, " has the valence ", n, "; it must be ",
                    kMinValence, " to ", kMaxValence));
        }
        regular = regular && n == 4;
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
    return regular;
  }

  static std::shared_ptr<const State> make_state(const Runtime& runtime, const Problem& problem,
                                                 Variant variant, Tune tune) {
    to_string(variant);  // refuses a value that is no variant
    auto state = std::make_shared<State>(runtime);
    state->regular = check_topology(problem);
    state->vertices = problem.vertices;
    state->patches = problem.valences.size();
    choose(runtime, *state, variant, tune);
    state->variant = variant;
    if (variant == Variant::weight_matrix && !state->regular) {
      fail(Errc::unsupported, kName,
           "the variant weight_matrix needs patches with four valences of 4, and some are not");
    }
    check_tune(*state, tune);
    upload(*state, problem);
    const Unit unit = units(variant)[0];
    state->program = runtime.build(Source(embedded::folded_switch), unit.defines, unit.kernel);
    Kernel(runtime, state->program, unit.kernel).check_launch(launch(*state), state->local_bytes);
    return state;
  }

  // Fills in what the caller left open: from what was measured, else the built-in defaults.
  static void choose(const Runtime& runtime, const State& state, Variant& variant, Tune& tune) {
    const double bytes = static_cast<double>(state.vertices + 16 * state.patches) * kPointBytes;
    const bool automatic = variant == Variant::automatic;
    const TuningChoice choice = runtime.tuning().choose(runtime.info(), tuning_name(state.regular),
                                                        bytes, automatic ? "" : to_string(variant));
    const bool measured = choice.match != TuningChoice::Match::none;
    if (automatic) {
      variant = measured             ? parse_variant(choice.entry.variant)
                : runtime.info().cpu ? Variant::cpu_patch
                : state.regular      ? Variant::weight_matrix
                                     : Variant::split;
      // A file can say anything.
      if (variant == Variant::weight_matrix && !state.regular) variant = Variant::split;
    }
    if (!measured) return;
    const int group = choice.entry.integer("group", 0);
    if (tune.group == 0 && group > 0 && static_cast<std::size_t>(group) <= runtime.info().max_group)
      tune.group = group;
    if (tune.run == 0 && has_run(variant)) tune.run = choice.entry.integer("run", 0);
  }

  static void check_tune(State& state, const Tune& tune) {
    const Variant variant = state.variant;
    if (tune.group != 0 && (tune.group < 4 || tune.group > 1024 || tune.group % 4 != 0) &&
        variant != Variant::cpu_patch) {
      fail(Errc::invalid_argument, kName,
           text("group must be a multiple of 4 up to 1024, got ", tune.group));
    }
    if (variant == Variant::cpu_patch && tune.group != 0 && tune.group != 1) {
      fail(Errc::invalid_argument, kName,
           text("the variant cpu_patch takes a group of 1 work-item, got ", tune.group));
    }
    state.group = tune.group == 0 ? default_group(variant) : tune.group;
    if (tune.run != 0 && !has_run(variant)) {
      fail(Errc::invalid_argument, kName,
           text("the variant ", to_string(variant), " has no runs, got ", tune.run));
    }
    const int run = tune.run == 0 ? 1 : tune.run;
    if (run < 1 || run > 1024 || (run & (run - 1)) != 0) {
      fail(Errc::invalid_argument, kName,
           text("run must be a power of two from 1 to 1024, got ", tune.run));
    }
    while (1 << state.run_bits < run) ++state.run_bits;
  }

  // The lists as the variant wants them.
  static void upload(State& state, const Problem& p) {
    const Variant variant = state.variant;
    const bool sorts = variant == Variant::weight_matrix || variant == Variant::split;
    if (sorts || variant == Variant::per_corner) {
      state.local_bytes = static_cast<std::size_t>(state.group) / 4 * kCells * kPointBytes;
    }
    if (variant == Variant::cpu_patch) {
      // Enough tasks for all cores to end together, each long enough to be worth its start.
      const std::size_t tasks = 16 * std::max<std::size_t>(1, state.runtime.info().compute_units);
      state.task = std::max<std::size_t>(64, (state.patches + tasks - 1) / tasks);
    }
    std::vector<std::uint32_t> heads;
    std::size_t first = 0;
    if (!sorts) {
      for (const auto& n : p.valences) {
        add_head(heads, first, n);
        first += point_count(n);
      }
      state.heads = make_buffer(state.runtime, heads);
      state.indices = make_buffer(state.runtime, p.indices);
      state.topology_bytes = (heads.size() + p.indices.size()) * sizeof heads[0];
      return;
    }
    // Regular patches first, their points in the order of the grid, row by row.
    constexpr std::size_t kGrid[16] = {5, 6, 7, 8, 4, 0, 1, 9, 15, 3, 2, 10, 14, 13, 12, 11};
    std::vector<std::uint32_t> indices;
    std::vector<std::uint32_t> slots;
    indices.reserve(p.indices.size());
    for (const bool regular : {true, false}) {
      first = 0;
      for (std::size_t i = 0; i < state.patches; ++i) {
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
      if (regular) state.regular_patches = slots.size();
    }
    state.indices = make_buffer(state.runtime, indices);
    state.topology_bytes = indices.size() * sizeof indices[0];
    if (variant == Variant::split) {
      state.topology_bytes += (heads.size() + slots.size()) * sizeof slots[0];
      if (heads.empty()) heads = {0, 0};  // a buffer has at least one element
      state.heads = make_buffer(state.runtime, heads);
      state.slots = make_buffer(state.runtime, slots);
    }
  }

  static bool is_regular(const std::array<std::uint8_t, 4>& n) {
    return n[0] == 4 && n[1] == 4 && n[2] == 4 && n[3] == 4;
  }

  static void add_head(std::vector<std::uint32_t>& heads, std::size_t first,
                       const std::array<std::uint8_t, 4>& n) {
    heads.push_back(static_cast<std::uint32_t>(first));
    heads.push_back(std::uint32_t{n[0]} | std::uint32_t{n[1]} << 8 | std::uint32_t{n[2]} << 16 |
                    std::uint32_t{n[3]} << 24);
  }

  // Work-groups for that many patches at four work-items each.
  static std::size_t groups_for(const State& s, std::size_t patches) {
    const std::size_t per_group = static_cast<std::size_t>(s.group) / 4;
    return (patches + per_group - 1) / per_group;
  }

  static cl::Buffer make_buffer(const Runtime& runtime, const std::vector<std::uint32_t>& data) {
    return create_buffer(runtime, data.size() * sizeof data[0], CL_MEM_READ_ONLY, data.data());
  }

  static Launch launch(const State& s) {
    const auto group = static_cast<std::size_t>(s.group);
    if (s.variant == Variant::split) {
      return Launch::groups(
          {groups_for(s, s.regular_patches) + groups_for(s, s.patches - s.regular_patches), 1, 1},
          {group, 1, 1});
    }
    std::size_t items = 0;
    if (s.variant == Variant::cpu_patch) {
      items = (s.patches + s.task - 1) / s.task;
    } else if (has_run(s.variant)) {
      const std::size_t run = std::size_t{1} << s.run_bits;
      items = (s.patches + run - 1) / run * run * 16;
    } else {
      items = 4 * s.patches;
    }
    return Launch::cover({items, 1, 1}, {group, 1, 1});
  }

  std::shared_ptr<const State> state_;
};

}  // namespace clcook
