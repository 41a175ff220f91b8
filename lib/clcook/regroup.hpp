// Computes results[i] = f(keys[i], items[i]), for an expensive function f, ours or the caller's,
// that takes another path for each key.
//
//   clcook::Regroup shade{runtime, {count, 32}};
//   cl::Event done = shade(materials, texels, colours, {uploaded});
//
// Work-items in lock-step whose keys differ run all their paths, one after the other. So most
// variants sort or bin the items by key first, and neighbours take the same path. Our function
// shades a texel of a G-buffer with one of up to 32 procedural materials, see
// <clcook/materials.clh>.
//
// For your own kernels, RegroupOrder gives the list of the items by key:
//
//   clcook::RegroupOrder sort{runtime, {count, 32}};
//   cl::Event sorted = sort(materials, order, offsets, {uploaded});
//
// The items of key k are order[offsets[k]] to order[offsets[k + 1] - 1], in their order. The host
// never waits for the numbers, since kernels read offsets.
#pragma once

#include <algorithm>
#include <clcook/core/math.hpp>
#include <clcook/core/own_function.hpp>
#include <clcook/core/plan.hpp>
#include <clcook/core/view.hpp>
#include <clcook/embedded/regroup.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace clcook {
namespace regroup {

constexpr std::size_t kMaxItems = std::size_t{1} << 31;
constexpr int kMinPaths = 2;
constexpr int kMaxPaths = 32;
constexpr int kMaxFreePaths = 8;  // of branch_free

// A function to call instead of ours: text that defines
//
//   static inline float4 clcook_path_function(int path, uint4 item, float4 parameters)
//
// path        the item's key; a switch over it is what all this is for. In launch_per_path it is a
//             constant, so that the other arms are not compiled
// item        the item's 16 bytes
// parameters  those of the problem
//
// It must not contain a barrier: work-items call the function in different branches. branch_free
// calls it with every path for every item.
using Function = OwnFunction;

struct Problem {
  std::size_t items = 0;  // 1 to kMaxItems
  int paths = 0;          // kMinPaths to kMaxPaths
  int key_bytes = 1;      // a key is a uchar, or with 4 a uint
  // Handed to the function. Ours takes the unit vector towards the light, x, y, z, and the
  // brightness of the light; all are finite.
  float parameters[4] = {0.48f, 0.6f, 0.64f, 0.75f};
  Function function = {};
};

// How to run, for tuning; 0 is open.
struct Tune {
  int group = 0;     // work-items per work-group: 32, 64, 128 or 256; cpu_lanes: 1
  int per_item = 0;  // sorted_groups: items that a work-item sorts, 2, 4, 8 or 16; others: 0
};

// The problem of a RegroupOrder.
struct OrderProblem {
  std::size_t items = 0;  // 1 to kMaxItems
  int paths = 0;          // kMinPaths to kMaxPaths
  int key_bytes = 1;      // a key is a uchar, or with 4 a uint
};

// Three launches that list the items by key.
namespace listing {

constexpr int kItems = 16;  // keys per work-item

struct Scratch {
  cl::Buffer counts;  // a uint per path and group
  cl::Buffer totals;  // per path
  cl::Buffer taken;   // batches of queues
};

// Throws Error(invalid_argument) for a value out of range.
template <class Problem>
void check(const Problem& p, const char* name) {
  check_range(name, "items", p.items, 1, kMaxItems);
  check_range(name, "paths", p.paths, kMinPaths, kMaxPaths);
  check_one_of(name, "key_bytes", p.key_bytes, {1, 4});
}

template <class Problem>
void set_defines(Defines& defines, const Problem& p, int group) {
  defines.set("CLCOOK_REGROUP_PATHS", p.paths);
  defines.set("CLCOOK_REGROUP_GROUP", group);
  if (p.key_bytes == 4) defines.flag("CLCOOK_REGROUP_WIDE_KEYS");
}

// count, scan, scatter.
template <class Spec>
std::vector<CompileUnit> units(const Setup<Spec>& s) {
  std::vector<CompileUnit> all;
  for (const char* name : {"count", "scan", "scatter"}) {
    CompileUnit unit = kernel_unit(s, name, embedded::regroup);
    unit.label = name;
    set_defines(unit.defines, s.problem, s.tune.group);
    unit.defines.set("CLCOOK_REGROUP_ITEMS", kItems);
    unit.defines.flag("CLCOOK_REGROUP_OWN_FUNCTION");  // they call none
    all.push_back(unit);
  }
  return all;
}

template <class Spec>
std::size_t groups(const Setup<Spec>& s) {
  const std::size_t each = static_cast<std::size_t>(s.tune.group) * kItems;
  return (s.problem.items + each - 1) / each;
}

template <class Spec>
Scratch allocate(const Runtime& runtime, const Setup<Spec>& s) {
  const auto paths = static_cast<std::size_t>(s.problem.paths);
  return {create_buffer(runtime, groups(s) * paths * sizeof(cl_uint)),
          create_buffer(runtime, paths * sizeof(cl_uint)), create_buffer(runtime, sizeof(cl_uint))};
}

// Enqueues the first three of `kernels` behind `wait` and returns the last event.
template <class Spec>
cl::Event enqueue(const Setup<Spec>& s, std::vector<Kernel>& kernels, const Scratch& scratch,
                  const CheckedView& keys, const cl::Buffer& order, cl_ulong order_offset,
                  const cl::Buffer& offsets, cl_ulong offsets_offset,
                  const std::vector<cl::Event>& wait) {
  const auto group = static_cast<std::size_t>(s.tune.group);
  const std::size_t number = groups(s);
  const Launch all = Launch::groups({number, 1, 1}, {group, 1, 1});
  const Launch paths =
      Launch::groups({static_cast<std::size_t>(s.problem.paths), 1, 1}, {group, 1, 1});
  const auto keys_offset =
      static_cast<cl_ulong>(keys.offset / static_cast<std::size_t>(s.problem.key_bytes));
  const auto items = static_cast<cl_uint>(s.problem.items);
  cl::Event last = kernels[0](all, wait, keys.buffer, keys_offset, items, scratch.counts);
  last = kernels[1](paths, {last}, scratch.counts, static_cast<cl_uint>(number), scratch.totals,
                    scratch.taken);
  return kernels[2](all, {last}, keys.buffer, keys_offset, items, scratch.counts, scratch.totals,
                    order, order_offset, offsets, offsets_offset);
}

}  // namespace listing

struct Spec : PlainSpec {
  using Problem = regroup::Problem;
  using Tune = regroup::Tune;
  struct Traits {
    bool lists = false;     // reads the list of all items by path
    bool per_path = false;  // a launch for each path
    bool stays = false;     // as many groups as fill the device
    bool free = false;      // takes every path for every item
    bool sorts = false;     // each group its own items, Tune::per_item per work-item
  };
  struct Resources {
    listing::Scratch scratch;
    cl::Buffer order;    // of those that list: a uint per item
    cl::Buffer offsets;  // a uint per path, and one more
    std::shared_ptr<CallOrder> call_order;
  };

  // A call, for the function of a row.
  struct Call {
    const Setup<Spec>& setup;
    const Resources& r;
    std::vector<Kernel> kernels;  // of those that list: three for the list, then what shades
    const CheckedView& keys;
    const CheckedView& items;
    const CheckedView& results;
    const std::vector<cl::Event>& wait;

    // Lists all items.
    cl::Event list() {
      return listing::enqueue(setup, kernels, r.scratch, keys, r.order, 0, r.offsets, 0, wait);
    }
    // A launch of `shader` with `work_items`, or a few more.
    template <class... More>
    cl::Event shade(Kernel& shader, std::size_t work_items, const std::vector<cl::Event>& behind,
                    const More&... more) const {
      const Problem& p = setup.problem;
      const auto place = [](const CheckedView& view, std::size_t bytes) {
        return static_cast<cl_ulong>(view.offset / bytes);
      };
      cl_float4 parameters{};
      for (int i = 0; i < 4; ++i) parameters.s[i] = p.parameters[i];
      return shader(Launch::cover(work_items, setup.tune.group), behind, keys.buffer,
                    place(keys, static_cast<std::size_t>(p.key_bytes)), items.buffer,
                    place(items, kItemBytes), results.buffer, place(results, kItemBytes),
                    static_cast<cl_uint>(p.items), parameters, more...);
    }
    // Work-items that fill the device.
    std::size_t filling() const {
      const auto group = static_cast<std::size_t>(setup.tune.group);
      return std::min(setup.problem.items, Spec::filling(setup) * group);
    }
  };
  using Row = VariantRow<Spec>;
  static constexpr const char* kName = "Regroup";
  static constexpr const char* kRecipe = "regroup";
  static constexpr std::size_t kItemBytes = 16;  // of an item, and of a result
  static constexpr int kCpuRun = 4096;           // items per work-item of cpu_lanes

  static const std::vector<Row>& variants() {
    const TuneAxis groups{"group", {128, 256}};
    static const std::vector<Row> all{
        Row("branchy", "an item per work-item, a branch over its path")
            .runs(alone)
            .baseline()
            .tunes({groups}),
        Row("branch_free", "every item takes all paths and keeps one result")
            .runs(alone)
            .with(&Traits::free)
            .against("branchy", "all paths are taken, one result is kept")
            .tunes({groups}),
        Row("sorted_groups", "each group sorts its items by path in local memory, then shades them")
            .runs(alone)
            .with(&Traits::sorts)
            .against("branchy", "a group sorts its items by path in local memory")
            .preferred(),
        Row("binned", "count, scan and scatter list all items by path, a last launch shades them")
            .runs(behind_list)
            .with(&Traits::lists)
            .against("sorted_groups", "all items are sorted, in three launches before")
            .tunes({groups}),
        Row("launch_per_path", "binned with a launch for each path, the path compiled in")
            .runs(path_by_path)
            .with(&Traits::lists, &Traits::per_path, &Traits::stays)
            .against("binned", "a launch for each path, its code alone")
            .tunes({groups}),
        Row("queues", "binned by groups that stay and take batches of one path from a counter")
            .runs(from_queues)
            .with(&Traits::lists, &Traits::stays)
            .against("binned", "groups stay and take batches of one path")
            .tunes({groups}),
        Row("cpu_lanes",
            "for CPUs: a work-item sorts a run of items and shades 16 of one path in vectors")
            .runs(alone)
            .against("sorted_groups", "a run per work-item, vectors of 16 items of one path")
            .for_cpus_only(),
    };
    return all;
  }

  static const std::vector<Axis<Tune>>& axes() {
    static const std::vector<Axis<Tune>> all{
        axis("group", &Tune::group, {128, 256}).only({32, 64, 128, 256}).on_cpus(1),
        axis("per_item", &Tune::per_item).only({0, 2, 4, 8, 16}).on_cpus(0)};
    return all;
  }

  static void check_tune(const Setup<Spec>& s) {
    if (!s.row.traits.sorts)
      check_one_of(kName, text("per_item of ", s.row.name), s.tune.per_item, {0});
  }

  static void check(const Problem& p) {
    listing::check(p, kName);
    check_own_function(p.function, embedded::regroup, kName);
    if (!p.function.text.empty()) return;
    double length = 0;
    for (const float value : p.parameters) {
      if (!math::isfinite(value)) {
        fail(Errc::invalid_argument, kName, text("the light must be finite, got ", value));
      }
    }
    for (int i = 0; i < 3; ++i) {
      const auto value = static_cast<double>(p.parameters[i]);
      length += value * value;
    }
    if (length > 1.001) {
      fail(Errc::invalid_argument, kName,
           text("the direction towards the light must be a unit vector or shorter, got the length ",
                std::sqrt(length)));
    }
  }

  static Tune defaults(const Row& row, const Problem& p, const DeviceInfo& device) {
    if (row.is_for_cpus) return {};
    if (row.traits.sorts) return sorting(p, device);
    return {device.cpu ? 64 : 0, 0};
  }
  // Of sorted_groups, by the problem, so that nothing is left to tune by its size. What a group sorts
  // is as long as some 64 items of each path, so that waves of 32 hardly have two. Longer, a work-item
  // shades more of them one after the other, while others have none. Where there are few items every
  // compute unit of a GPU gets a part; more than 16 paths are sorted by 1024 items all the same, down to
  // 256 items for a compute unit. As measured on an H200.
  static Tune sorting(const Problem& p, const DeviceInfo& device) {
    if (device.cpu) return {64, listing::kItems};
    Tune out{p.paths <= 16 ? 128 : 256, p.paths <= 8 ? 4 : 8};
    const std::size_t each = p.items / std::max<cl_uint>(device.compute_units, 1);
    if (each < 64) return {128, 2};
    const int least = p.paths <= 16 || each < 256 ? 2 : 4;
    while (out.per_item > least && each < static_cast<std::size_t>(out.per_item) * 256)
      out.per_item /= 2;
    return out;
  }

  // Of keys, items and results.
  static double bytes(const Problem& p) {
    return static_cast<double>(p.items) * (2.0 * kItemBytes + p.key_bytes);
  }

  static Offer offer(const Runtime&, const Setup<Spec>& s) {
    const Problem& p = s.problem;
    if (s.row.is_for_cpus && !p.function.text.empty())
      return Offer::no(Lacks::problem, "it computes our function alone, the problem has another");
    if (s.row.traits.free && p.paths > kMaxFreePaths) {
      return Offer::no(Lacks::problem, text("all paths for every item is offered for up to ",
                                            kMaxFreePaths, " paths, the problem has ", p.paths));
    }
    const auto items = static_cast<double>(p.items);
    Offer out;
    out.work.bytes_read = items * (double{kItemBytes} + p.key_bytes);
    out.work.bytes_written = items * double{kItemBytes};
    out.work.operations = items * operations(s);
    out.work.launches = 1;
    const auto& traits = s.row.traits;
    out.last = traits.free    ? !is_tiny(p, s.device)
               : traits.sorts ? is_short(p, s.device)
                              : !traits.lists && is_tiny(p, s.device);
    if (s.row.traits.lists) {
      out.work.bytes_read += items * (2.0 * p.key_bytes + sizeof(cl_uint));
      out.work.bytes_written += items * sizeof(cl_uint);
      out.work.launches = s.row.traits.per_path ? 3 + p.paths : 4;
    }
    return out;
  }

  // Items in units of 150 for each compute unit.
  static double fill(const Problem& p, const DeviceInfo& device) {
    return static_cast<double>(p.items) / (150.0 * std::max<cl_uint>(device.compute_units, 1));
  }
  // Whether sorting takes longer than the branches that it saves, as measured on an H200; others'
  // paths may be longer than ours.
  static bool is_short(const Problem& p, const DeviceInfo& device) {
    if (device.cpu) return false;
    if (!p.function.text.empty()) return p.paths * std::max(fill(p, device), 1.0) <= 3;
    return p.paths <= kMaxFreePaths && p.paths * p.paths * fill(p, device) <= 45;
  }
  // Whether the launch is most of it, so that all paths cost less than branches.
  static bool is_tiny(const Problem& p, const DeviceInfo& device) {
    return is_short(p, device) && p.function.text.empty() && fill(p, device) <= 0.8;
  }

  // Those of the list, then what shades.
  static std::vector<CompileUnit> units(const Setup<Spec>& s) {
    const Function& function = s.problem.function;
    std::vector<CompileUnit> all;
    if (s.row.traits.lists) all = listing::units(s);
    for (int path = 0; path < (s.row.traits.per_path ? s.problem.paths : 1); ++path) {
      CompileUnit unit = variant_unit(s, embedded::regroup);
      listing::set_defines(unit.defines, s.problem, s.tune.group);
      if (s.row.traits.sorts) unit.defines.set("CLCOOK_REGROUP_ITEMS", s.tune.per_item);
      if (s.row.is_for_cpus) unit.defines.set("CLCOOK_REGROUP_RUN", kCpuRun);
      if (s.row.traits.lists) unit.label = "shade";
      if (s.row.traits.per_path) {
        unit.defines.set("CLCOOK_REGROUP_PATH", path);
        unit.label = text("path ", path);
      }
      if (!function.text.empty()) {
        unit.defines.flag("CLCOOK_REGROUP_OWN_FUNCTION");
        unit.source = with_own_function(function, embedded::regroup);
      }
      all.push_back(unit);
    }
    return all;
  }

  // As many groups as keep all compute units busy to the end.
  static std::size_t filling(const Setup<Spec>& s) {
    const auto group = static_cast<std::size_t>(s.tune.group);
    const std::size_t each = s.device.cpu ? 4 : 4096 / group;
    return each * std::max<std::size_t>(1, s.device.compute_units);
  }

  static Resources allocate(const Runtime& runtime, const Setup<Spec>& s,
                            const std::vector<cl::Program>&) {
    Resources out;
    if (!s.row.traits.lists) return out;
    out.scratch = listing::allocate(runtime, s);
    out.order = create_buffer(runtime, s.problem.items * sizeof(cl_uint));
    out.offsets =
        create_buffer(runtime, (static_cast<std::size_t>(s.problem.paths) + 1) * sizeof(cl_uint));
    out.call_order = std::make_shared<CallOrder>();
    return out;
  }

 private:
  // For an item, in units of the device's rate, as measured on an H200. How the paths lie is not known:
  // they may be random, and a wave of 32 items takes each path that one of them has.
  static double operations(const Setup<Spec>& s) {
    constexpr double kFunction = 800;
    constexpr double kSort = 400;  // an item's place in local memory, which the next one waits for
    constexpr double kWave = 32;
    const double paths = s.problem.paths;
    const auto& traits = s.row.traits;
    const bool orders = traits.sorts || traits.lists || s.row.is_for_cpus;
    if (s.device.cpu) return kFunction * (traits.free ? paths : 1) + (orders ? kSort : 0);
    if (traits.free) return kFunction * paths;
    if (!orders) return kFunction * paths * (1 - std::pow(1 - 1 / paths, kWave));
    return kFunction + kSort * (traits.lists ? 4 : 1);
  }

  static cl::Event alone(Call& c) {
    const std::size_t each = c.setup.row.is_for_cpus ? kCpuRun
                             : c.setup.row.traits.sorts
                                 ? static_cast<std::size_t>(c.setup.tune.per_item)
                                 : 1;
    return c.shade(c.kernels[0], (c.setup.problem.items + each - 1) / each, c.wait);
  }

  static cl::Event behind_list(Call& c) {
    return c.shade(c.kernels[3], c.setup.problem.items, {c.list()}, c.r.order, c.r.offsets);
  }

  static cl::Event path_by_path(Call& c) {
    cl::Event last = c.list();
    for (std::size_t i = 3; i < c.kernels.size(); ++i)
      last = c.shade(c.kernels[i], c.filling(), {last}, c.r.order, c.r.offsets);
    return last;
  }

  static cl::Event from_queues(Call& c) {
    return c.shade(c.kernels[3], c.filling(), {c.list()}, c.r.order, c.r.offsets,
                   c.r.scratch.taken);
  }
};

struct OrderSpec : PlainSpec {
  using Problem = OrderProblem;
  using Tune = regroup::Tune;
  struct Resources {
    listing::Scratch scratch;
    std::shared_ptr<CallOrder> call_order;
  };
  using Row = VariantRow<OrderSpec>;
  static constexpr const char* kName = "RegroupOrder";
  static constexpr const char* kRecipe = "regroup";

  static const std::vector<Row>& variants() {
    static const std::vector<Row> all{
        Row("count_scan_scatter", "counts of groups, their sums, then each group stores its part")
            .baseline()};
    return all;
  }

  static const std::vector<Axis<Tune>>& axes() {
    static const std::vector<Axis<Tune>> all{
        axis("group", &Tune::group, {128, 256}).only({32, 64, 128, 256}).on_cpus(1)};
    return all;
  }
  static std::vector<std::string> tuning_names(const Problem&) { return {"regroup/order"}; }
  static void check(const Problem& p) { listing::check(p, kName); }
  static Tune defaults(const Row&, const Problem&, const DeviceInfo& device) {
    return {device.cpu ? 64 : 0};
  }
  // Of keys and order.
  static double bytes(const Problem& p) {
    return static_cast<double>(p.items) * (double{sizeof(cl_uint)} + p.key_bytes);
  }
  static std::vector<CompileUnit> units(const Setup<OrderSpec>& s) { return listing::units(s); }
  static Resources allocate(const Runtime& runtime, const Setup<OrderSpec>& s,
                            const std::vector<cl::Program>&) {
    return {listing::allocate(runtime, s), std::make_shared<CallOrder>()};
  }
};

}  // namespace regroup

// A plan: constructed once, called often. Thread-safe as Plan says. Calls of one plan that lists
// all items share its scratch memory and therefore run one after the other on the device; copies
// share it too. The program depends on the variant, the number of paths, the size of a key and the
// function; where the function does not compile the constructor throws Error(build_failed).
class Regroup : public Plan<regroup::Spec> {
 public:
  using Plan::Plan;
  using Function = regroup::Function;

  // Enqueues the calls behind the events of `wait` and returns the last event. Each view is one row:
  // a key per item; 16 bytes per item; four floats per result; offsets are multiples of an
  // element's bytes. An item whose key is not below `paths` takes no path, and its result keeps what
  // it held. results must not overlap the others. Throws Error(invalid_argument), with nothing
  // enqueued, when a view breaks a rule.
  cl::Event operator()(const BufferView& keys, const BufferView& items, const BufferView& results,
                       const std::vector<cl::Event>& wait = {}) const {
    constexpr const char* kName = Spec::kName;
    constexpr std::size_t kItem = Spec::kItemBytes;
    const Problem& p = problem();
    const auto key = static_cast<std::size_t>(p.key_bytes);
    const CheckedView paths =
        check_view(runtime(), keys, {p.items * key, 1, key}, Access::read, kName, "keys");
    const CheckedView from =
        check_view(runtime(), items, {p.items * kItem, 1, kItem}, Access::read, kName, "items");
    const CheckedView to = check_view(runtime(), results, {p.items * kItem, 1, kItem},
                                      Access::write, kName, "results");
    check_disjoint(paths, to, kName, "keys", "results");
    check_disjoint(from, to, kName, "items", "results");
    check_wait(runtime(), wait, kName);

    const Setup<Spec> s = setup();
    const Spec::Resources& r = resources();
    const auto run = [&](const Runtime& on, const std::vector<cl::Event>& before) {
      Spec::Call call{s, r, kernels(on), paths, from, to, before};
      return row().run(call);
    };
    if (!row().traits.lists) return run(runtime(), wait);
    CallScope scope(runtime(), *r.call_order);
    run(scope.runtime(), scope.wait_list(wait));
    return scope.end();
  }
};

// A plan: the items by their keys, for any kernels. Thread-safe as Plan says; calls of one plan run
// one after the other on the device.
class RegroupOrder : public Plan<regroup::OrderSpec> {
 public:
  using Plan::Plan;

  // Enqueues three launches behind the events of `wait` and returns the last event. keys: one row of
  // a uchar or uint per item. order: a uint per item, which receives the numbers of the items, those
  // with key 0 first; items with equal keys stay in their order. offsets: paths + 1 uints: where in
  // order each key's items begin, and in the end where the last key's end. An item whose key is not
  // below `paths` is not listed; behind the listed ones order keeps what it held. Offsets of views
  // are multiples of an element's bytes. The views must not overlap. Throws Error(invalid_argument),
  // with nothing enqueued, when a view breaks a rule.
  cl::Event operator()(const BufferView& keys, const BufferView& order, const BufferView& offsets,
                       const std::vector<cl::Event>& wait = {}) const {
    constexpr const char* kName = Spec::kName;
    const Problem& p = problem();
    const auto key = static_cast<std::size_t>(p.key_bytes);
    const auto paths = static_cast<std::size_t>(p.paths);
    const CheckedView from =
        check_view(runtime(), keys, {p.items * key, 1, key}, Access::read, kName, "keys");
    const CheckedView to =
        check_view(runtime(), order, {p.items * 4, 1, 4}, Access::write, kName, "order");
    const CheckedView starts =
        check_view(runtime(), offsets, {(paths + 1) * 4, 1, 4}, Access::write, kName, "offsets");
    check_disjoint(from, to, kName, "keys", "order");
    check_disjoint(from, starts, kName, "keys", "offsets");
    check_disjoint(to, starts, kName, "order", "offsets");
    check_wait(runtime(), wait, kName);
    const Spec::Resources& r = resources();
    CallScope scope(runtime(), *r.call_order);
    std::vector<Kernel> all = kernels(scope.runtime());
    regroup::listing::enqueue(setup(), all, r.scratch, from, to.buffer,
                              static_cast<cl_ulong>(to.offset / 4), starts.buffer,
                              static_cast<cl_ulong>(starts.offset / 4), scope.wait_list(wait));
    return scope.end();
  }
};

CLCOOK_PLAN(regroup::Spec);
CLCOOK_PLAN(regroup::OrderSpec);

}  // namespace clcook
