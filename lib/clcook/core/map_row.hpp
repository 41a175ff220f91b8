// The host's side of kernels/clcook/map_row.clh: operations that make one row of another, word by
// word, several words per work-item on GPUs and a strip of the row per work-item on CPUs.
#pragma once

#include <clcook/core/launch.hpp>
#include <clcook/core/plan.hpp>
#include <cstddef>
#include <string>
#include <vector>

namespace clcook {

// The common part of their specs. Rows for CPUs are those that take strips.
struct MapRowSpec : PlainSpec {
  static constexpr int kStrip = 16384;  // words per work-item

  // How to run, for tuning; 0 is open.
  struct Tune {
    int group = 0;     // work-items per work-group; on strips: 1
    int per_item = 0;  // words per work-item: 1, 4, 8, 16 or 32; on strips: 0
  };

  static std::vector<TuneField<Tune>> fields() {
    return {tune_field("group", &Tune::group), tune_field("per_item", &Tune::per_item)};
  }

  template <class Row, class Problem>
  static Tune defaults(const Row& row, const Problem&, const DeviceInfo&) {
    return row.is_for_cpus ? Tune{1, 0} : Tune{256, 16};
  }

  template <class Spec>
  static void check_tune(const Setup<Spec>& s) {
    if (s.row.is_for_cpus) {
      if (s.tune.group == 1 && s.tune.per_item == 0) return;
      fail(Errc::invalid_argument, Spec::kName,
           text("the variant ", s.row.name, " takes a group of 1 and no per_item, got ",
                s.tune.group, " and ", s.tune.per_item));
    }
    check_one_of(Spec::kName, "per_item", s.tune.per_item, {1, 4, 8, 16, 32});
  }

  // Words per work-item; on GPUs as the definition `name`.
  template <class Spec>
  static void set_per_item(Defines& defines, const Setup<Spec>& s, const char* name) {
    if (s.row.is_for_cpus) defines.set("CLCOOK_MAP_STRIP", kStrip);
    if (s.tune.per_item != 0) defines.set(name, s.tune.per_item);
  }

  // The geometry for `count` words.
  template <class Spec>
  static Launch launch(const Setup<Spec>& s, std::size_t count) {
    if (s.row.is_for_cpus) return Launch::groups({count / kStrip + 2, 1, 1}, {1, 1, 1});
    const auto per_item = static_cast<std::size_t>(s.tune.per_item);
    return Launch::cover({(count + per_item - 1) / per_item, 1, 1},
                         {static_cast<std::size_t>(s.tune.group), 1, 1});
  }
};

}  // namespace clcook
