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

  static const std::vector<Axis<Tune>>& axes() {
    static const std::vector<Axis<Tune>> all{
        axis("group", &Tune::group, {256}).on_cpus(1),
        axis("per_item", &Tune::per_item, {16}).only({1, 4, 8, 16, 32}).on_cpus(0)};
    return all;
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
