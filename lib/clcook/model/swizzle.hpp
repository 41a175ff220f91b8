// In which order the work-groups of a 2-D grid cover it, and what a cache makes of that. Std only.
//
// A device starts groups by rising flat id, row by row of the grid; OpenCL does not promise it, but
// GPUs do it. Groups that run at the same time then form a thin strip. What two of them share in y
// has long left the cache when the next row comes. Each order below turns a flat id into the place
// of the group, so that groups with neighbouring ids lie close together in x and y. Every order is
// a bijection of [0, x y) and the grid, for every grid. kernels/clcook/swizzle.clh holds the same
// functions for kernels: same names with the prefix clcook_, same results.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace clcook::model {

// A grid of work-groups, in groups.
struct GroupGrid {
  std::uint32_t x = 1;
  std::uint32_t y = 1;

  constexpr std::uint32_t count() const { return x * y; }
};

// The place of a group in its grid.
struct GroupPlace {
  std::uint32_t x = 0;
  std::uint32_t y = 0;

  friend constexpr bool operator==(const GroupPlace& a, const GroupPlace& b) {
    return a.x == b.x && a.y == b.y;
  }
  friend constexpr bool operator!=(const GroupPlace& a, const GroupPlace& b) { return !(a == b); }
};

// Throws std::invalid_argument for an empty grid, and for one of more than 2^32 - 1 groups: ids
// have 32 bits.
constexpr void check_grid(const GroupGrid& grid) {
  const std::uint64_t count = std::uint64_t{grid.x} * grid.y;
  if (count != 0 && count <= std::numeric_limits<std::uint32_t>::max()) return;
  throw std::invalid_argument("swizzle: a grid must have 1 to 4294967295 groups, got " +
                              std::to_string(grid.x) + " x " + std::to_string(grid.y));
}

namespace detail {

constexpr void check_id(const GroupGrid& grid, std::uint32_t id) {
  check_grid(grid);
  if (id < grid.count()) return;
  throw std::invalid_argument("swizzle: a group's id must be less than " +
                              std::to_string(grid.count()) + ", got " + std::to_string(id));
}

constexpr void check_place(const GroupGrid& grid, const GroupPlace& at) {
  check_grid(grid);
  if (at.x < grid.x && at.y < grid.y) return;
  throw std::invalid_argument("swizzle: the place (" + std::to_string(at.x) + ", " +
                              std::to_string(at.y) + ") is outside a grid of " +
                              std::to_string(grid.x) + " x " + std::to_string(grid.y));
}

constexpr void check_positive(const char* what, std::uint32_t value) {
  if (value == 0)
    throw std::invalid_argument(std::string("swizzle: ") + what + " must be at least 1, got 0");
}

// The largest power of two below `value`, 0 for 1.
constexpr std::uint32_t power_below(std::uint32_t value) {
  if (value < 2) return 0;
  std::uint32_t power = 1;
  while (power < value - power) power *= 2;
  return power;
}

// A part of the Hilbert curve: it starts at `x`, `y`, crosses a box of `w` along (ax, ay) and `h`
// along (bx, by), and ends at the far end of the first direction. Directions are 0, 1 and -1,
// modulo 2^32.
struct HilbertPart {
  std::uint32_t x = 0, y = 0;
  std::uint32_t w = 1, h = 1;
  std::uint32_t ax = 1, ay = 0;
  std::uint32_t bx = 0, by = 1;
  std::uint32_t id = 0;  // the place on the curve: of what is sought here, or of the part's start
};

constexpr HilbertPart hilbert_start(const GroupGrid& grid) {
  HilbertPart out;
  out.w = std::max(grid.x, grid.y);
  out.h = std::min(grid.x, grid.y);
  if (grid.y > grid.x) {
    out.ax = out.by = 0;
    out.ay = out.bx = 1;
  }
  return out;
}

// Where a part is cut: half its sides, made even where that is possible, because the curve can
// enter and leave a box of even width without a diagonal step. A box that is long is cut across
// only.
struct HilbertCut {
  bool across = false;
  std::uint32_t w = 0, h = 0;
};

constexpr HilbertCut hilbert_cut(const HilbertPart& part) {
  HilbertCut cut;
  cut.w = part.w / 2;
  cut.h = part.h / 2;
  cut.across = part.w > part.h + part.h / 2;
  if (cut.across) {
    if (cut.w % 2 != 0 && part.w > 2) ++cut.w;
  } else if (cut.h % 2 != 0 && part.h > 2) {
    ++cut.h;
  }
  return cut;
}

constexpr void hilbert_move(HilbertPart& part, std::uint32_t along, std::uint32_t beside) {
  part.x += along * part.ax + beside * part.bx;
  part.y += along * part.ay + beside * part.by;
}

constexpr void hilbert_turn(HilbertPart& part, std::uint32_t w, std::uint32_t h) {
  const std::uint32_t x = part.ax, y = part.ay;
  part.ax = part.bx;
  part.ay = part.by;
  part.bx = x;
  part.by = y;
  part.w = w;
  part.h = h;
}

// Goes down into piece 0, 1 or 2 of the part.
constexpr void hilbert_enter(HilbertPart& part, const HilbertCut& cut, int piece) {
  if (cut.across) {
    if (piece == 0) {
      part.w = cut.w;
    } else {
      hilbert_move(part, cut.w, 0);
      part.w -= cut.w;
    }
    return;
  }
  switch (piece) {
    case 0:
      hilbert_turn(part, cut.h, cut.w);
      break;
    case 1:
      hilbert_move(part, 0, cut.h);
      part.h -= cut.h;
      break;
    default:
      hilbert_move(part, part.w - 1, cut.h - 1);
      hilbert_turn(part, cut.h, part.w - cut.w);
      part.ax = 0 - part.ax;
      part.ay = 0 - part.ay;
      part.bx = 0 - part.bx;
      part.by = 0 - part.by;
      break;
  }
}

}  // namespace detail

// Row by row: what a device does by itself.
constexpr GroupPlace swizzle_row_major(std::uint32_t id, const GroupGrid& grid) {
  detail::check_id(grid, id);
  return {id % grid.x, id / grid.x};
}

constexpr std::uint32_t unswizzle_row_major(const GroupPlace& at, const GroupGrid& grid) {
  detail::check_place(grid, at);
  return at.y * grid.x + at.x;
}

// Vertical strips of `width` groups, left to right; row by row inside a strip. The last strip has
// what is left. Width 1 is column by column, a width of grid.x or more is row by row.
//
// The form that is usually published fails if grid.x is less than the width: it computes 0 - 1 for
// the last id of the full strips, cuts rows that are wider than the grid, and loses groups.
constexpr GroupPlace swizzle_columns(std::uint32_t id, const GroupGrid& grid, std::uint32_t width) {
  detail::check_id(grid, id);
  detail::check_positive("the width of the strips", width);
  const std::uint32_t full = std::min(width, grid.x);
  const std::uint32_t strip = id / (full * grid.y);
  const std::uint32_t rest = id - strip * full * grid.y;
  const std::uint32_t wide = std::min(full, grid.x - strip * full);
  return {strip * full + rest % wide, rest / wide};
}

constexpr std::uint32_t unswizzle_columns(const GroupPlace& at, const GroupGrid& grid,
                                          std::uint32_t width) {
  detail::check_place(grid, at);
  detail::check_positive("the width of the strips", width);
  const std::uint32_t full = std::min(width, grid.x);
  const std::uint32_t first = at.x / full * full;
  const std::uint32_t wide = std::min(full, grid.x - first);
  return first * grid.y + at.y * wide + (at.x - first);
}

// Morton order (Z order) of the smallest power-of-two square around the grid, with everything
// outside the grid left out. The descent counts the groups of each quarter that are inside.
constexpr GroupPlace swizzle_morton(std::uint32_t id, const GroupGrid& grid) {
  detail::check_id(grid, id);
  GroupPlace at;
  for (std::uint32_t half = detail::power_below(std::max(grid.x, grid.y)); half != 0; half /= 2) {
    const std::uint32_t left = std::min(half, grid.x - at.x);
    const std::uint32_t right = std::min(half, grid.x - at.x - left);
    const std::uint32_t top = std::min(half, grid.y - at.y);
    const std::uint32_t bottom = std::min(half, grid.y - at.y - top);
    const std::uint32_t upper = (left + right) * top;
    if (id >= upper) {
      id -= upper;
      at.y += half;
      if (id >= left * bottom) {
        id -= left * bottom;
        at.x += half;
      }
    } else if (id >= left * top) {
      id -= left * top;
      at.x += half;
    }
  }
  return at;
}

constexpr std::uint32_t unswizzle_morton(const GroupPlace& at, const GroupGrid& grid) {
  detail::check_place(grid, at);
  std::uint32_t id = 0;
  std::uint32_t x = 0, y = 0;
  for (std::uint32_t half = detail::power_below(std::max(grid.x, grid.y)); half != 0; half /= 2) {
    const std::uint32_t left = std::min(half, grid.x - x);
    const std::uint32_t right = std::min(half, grid.x - x - left);
    const std::uint32_t top = std::min(half, grid.y - y);
    const std::uint32_t bottom = std::min(half, grid.y - y - top);
    const bool lower = at.y - y >= half;
    if (lower) {
      id += (left + right) * top;
      y += half;
    }
    if (at.x - x >= half) {
      id += left * (lower ? bottom : top);
      x += half;
    }
  }
  return id;
}

// A Hilbert curve for any rectangle: a box is cut in halves, or into a turned quarter, a half and a
// quarter turned the other way, until it is one group wide. Neighbours on the curve are neighbours
// in the grid, but for one diagonal step where the larger side is odd and the smaller even.
constexpr GroupPlace swizzle_hilbert(std::uint32_t id, const GroupGrid& grid) {
  detail::check_id(grid, id);
  detail::HilbertPart part = detail::hilbert_start(grid);
  while (part.w > 1 && part.h > 1) {
    const detail::HilbertCut cut = detail::hilbert_cut(part);
    int piece = 0;
    const std::uint32_t first = cut.w * (cut.across ? part.h : cut.h);
    const std::uint32_t second = part.w * (part.h - cut.h);
    if (id >= first) {
      id -= first;
      piece = 1;
      if (!cut.across && id >= second) {
        id -= second;
        piece = 2;
      }
    }
    detail::hilbert_enter(part, cut, piece);
  }
  if (part.w > 1) {
    detail::hilbert_move(part, id, 0);
  } else {
    detail::hilbert_move(part, 0, id);
  }
  return {part.x, part.y};
}

constexpr std::uint32_t unswizzle_hilbert(const GroupPlace& at, const GroupGrid& grid) {
  detail::check_place(grid, at);
  detail::HilbertPart part = detail::hilbert_start(grid);
  std::uint32_t id = 0;
  const auto along = [&] { return (at.x - part.x) * part.ax + (at.y - part.y) * part.ay; };
  const auto beside = [&] { return (at.x - part.x) * part.bx + (at.y - part.y) * part.by; };
  while (part.w > 1 && part.h > 1) {
    const detail::HilbertCut cut = detail::hilbert_cut(part);
    int piece = 0;
    if (cut.across) {
      if (along() >= cut.w) {
        id += cut.w * part.h;
        piece = 1;
      }
    } else if (beside() >= cut.h) {
      id += cut.w * cut.h;
      piece = 1;
    } else if (along() >= cut.w) {
      id += cut.w * cut.h + part.w * (part.h - cut.h);
      piece = 2;
    }
    detail::hilbert_enter(part, cut, piece);
  }
  return id + (part.w > 1 ? along() : beside());
}

// For devices of several chiplets with a cache each, to which groups go in turn (AMD's MI300: 8
// XCDs): gives each chiplet a contiguous run of ids. The first count mod chiplets runs are one
// longer. Apply it to the id, then any order to the result. A 1 changes nothing.
constexpr std::uint32_t swizzle_chiplets(std::uint32_t id, std::uint32_t count,
                                         std::uint32_t chiplets) {
  detail::check_id({count, 1}, id);
  detail::check_positive("the number of chiplets", chiplets);
  const std::uint32_t chiplet = id % chiplets;
  return chiplet * (count / chiplets) + std::min(chiplet, count % chiplets) + id / chiplets;
}

constexpr std::uint32_t unswizzle_chiplets(std::uint32_t id, std::uint32_t count,
                                           std::uint32_t chiplets) {
  detail::check_id({count, 1}, id);
  detail::check_positive("the number of chiplets", chiplets);
  const std::uint32_t run = count / chiplets;
  const std::uint32_t longer = count % chiplets;
  const std::uint32_t in_longer = longer * (run + 1);
  if (id < in_longer) return id % (run + 1) * chiplets + id / (run + 1);
  return (id - in_longer) % run * chiplets + longer + (id - in_longer) / run;
}

enum class SwizzleKind { row_major, columns, morton, hilbert };

// What an order is. Its functions are swizzle_NAME() and unswizzle_NAME(), here and in swizzle.clh.
struct SwizzleRow {
  SwizzleKind kind;
  const char* name;
  bool has_width;
  GroupPlace (*place)(std::uint32_t id, const GroupGrid& grid, std::uint32_t width);
  std::uint32_t (*id)(const GroupPlace& at, const GroupGrid& grid, std::uint32_t width);
};

namespace detail {

// Of orders that have no width.
template <GroupPlace (*kPlace)(std::uint32_t, const GroupGrid&)>
constexpr GroupPlace place_of(std::uint32_t id, const GroupGrid& grid, std::uint32_t) {
  return kPlace(id, grid);
}
template <std::uint32_t (*kId)(const GroupPlace&, const GroupGrid&)>
constexpr std::uint32_t id_of(const GroupPlace& at, const GroupGrid& grid, std::uint32_t) {
  return kId(at, grid);
}

}  // namespace detail

inline constexpr SwizzleRow kSwizzles[] = {
    {SwizzleKind::row_major, "row_major", false, detail::place_of<swizzle_row_major>,
     detail::id_of<unswizzle_row_major>},
    {SwizzleKind::columns, "columns", true, swizzle_columns, unswizzle_columns},
    {SwizzleKind::morton, "morton", false, detail::place_of<swizzle_morton>,
     detail::id_of<unswizzle_morton>},
    {SwizzleKind::hilbert, "hilbert", false, detail::place_of<swizzle_hilbert>,
     detail::id_of<unswizzle_hilbert>},
};

constexpr const SwizzleRow& row_of(SwizzleKind kind) {
  for (const SwizzleRow& row : kSwizzles) {
    if (row.kind == kind) return row;
  }
  return kSwizzles[0];
}

// An order as one value.
struct SwizzleOrder {
  SwizzleKind kind = SwizzleKind::row_major;
  std::uint32_t width = 8;     // of the strips of `columns`
  std::uint32_t chiplets = 1;  // more than 1: runs of ids per chiplet first
};

constexpr GroupPlace swizzle(const SwizzleOrder& order, std::uint32_t id, const GroupGrid& grid) {
  detail::check_id(grid, id);
  return row_of(order.kind)
      .place(swizzle_chiplets(id, grid.count(), order.chiplets), grid, order.width);
}

// The id of the group at that place: the inverse of swizzle().
constexpr std::uint32_t unswizzle(const SwizzleOrder& order, const GroupPlace& at,
                                  const GroupGrid& grid) {
  return unswizzle_chiplets(row_of(order.kind).id(at, grid, order.width), grid.count(),
                            order.chiplets);
}

inline std::string to_string(const SwizzleOrder& order) {
  const SwizzleRow& row = row_of(order.kind);
  std::string out = row.name;
  if (row.has_width) out += " " + std::to_string(order.width);
  if (order.chiplets > 1) out += ", " + std::to_string(order.chiplets) + " chiplets";
  return out;
}

// A set-associative cache with least-recently-used replacement.
struct CacheShape {
  std::uint64_t bytes = 0;
  std::uint32_t ways = 16;
  std::uint32_t line = 128;  // bytes
};

// One such cache, filled as it is used. Not thread-safe.
class LruCache {
 public:
  // Throws std::invalid_argument when the size is not a whole number of sets.
  explicit LruCache(const CacheShape& shape) : shape_(shape) {
    const std::uint64_t set = std::uint64_t{shape.ways} * shape.line;
    if (set == 0 || shape.bytes == 0 || shape.bytes % set != 0) {
      throw std::invalid_argument(
          "cache: " + std::to_string(shape.bytes) + " bytes are no whole number of sets of " +
          std::to_string(shape.ways) + " lines of " + std::to_string(shape.line) + " bytes");
    }
    sets_ = shape.bytes / set;
    lines_.assign(static_cast<std::size_t>(sets_ * shape.ways), kEmpty);
  }

  // Reads the byte; true for a hit.
  bool read(std::uint64_t address) {
    const std::uint64_t line = address / shape_.line;
    // The most recently used line of a set stands first.
    const auto first = lines_.begin() + static_cast<std::ptrdiff_t>(line % sets_ * shape_.ways);
    const auto last = first + shape_.ways;
    const auto found = std::find(first, last, line);
    const bool hit = found != last;
    ++(hit ? hits_ : misses_);
    std::rotate(first, hit ? found : last - 1, hit ? found + 1 : last);
    *first = line;
    return hit;
  }

  std::uint64_t hits() const { return hits_; }
  std::uint64_t misses() const { return misses_; }

 private:
  static constexpr std::uint64_t kEmpty = std::numeric_limits<std::uint64_t>::max();
  CacheShape shape_;
  std::uint64_t sets_ = 0;
  std::vector<std::uint64_t> lines_;
  std::uint64_t hits_ = 0;
  std::uint64_t misses_ = 0;
};

struct CachePrediction {
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;

  double hit_rate() const {
    return hits + misses == 0 ? 0 : static_cast<double>(hits) / static_cast<double>(hits + misses);
  }
};

// The hits of all groups of a grid in a cache that they share. `resident` groups run at a time, in
// step: each makes its first access, then each its second. The next wave of groups starts when all
// have ended; the cache keeps its content. `address(place, step)` is the byte that the group at
// that place reads in that step, of `steps`; a negative one means none.
//
// With `chiplets` more than 1 there are as many caches, and the groups go to them in turn. Throws
// std::invalid_argument for an empty or overflowing grid, a cache that cannot be, and zeros.
template <class Address>
CachePrediction predict_cache(const CacheShape& shape, const SwizzleOrder& order,
                              const GroupGrid& grid, std::uint32_t resident, std::uint32_t steps,
                              const Address& address, std::uint32_t chiplets = 1) {
  check_grid(grid);
  detail::check_positive("the number of resident groups", resident);
  detail::check_positive("the number of accesses of a group", steps);
  detail::check_positive("the number of chiplets", chiplets);
  std::vector<LruCache> caches(chiplets, LruCache(shape));
  std::vector<GroupPlace> wave;
  for (std::uint64_t first = 0; first < grid.count(); first += resident) {
    wave.clear();
    for (std::uint64_t id = first; id < grid.count() && id - first < resident; ++id)
      wave.push_back(swizzle(order, static_cast<std::uint32_t>(id), grid));
    for (std::uint32_t step = 0; step < steps; ++step) {
      for (std::size_t i = 0; i < wave.size(); ++i) {
        const std::int64_t at = address(wave[i], step);
        if (at >= 0)
          caches[static_cast<std::size_t>((first + i) % chiplets)].read(
              static_cast<std::uint64_t>(at));
      }
    }
  }
  CachePrediction out;
  for (const LruCache& cache : caches) {
    out.hits += cache.hits();
    out.misses += cache.misses();
  }
  return out;
}

// How many different tiles the cache has to hold: those that `resident` groups with consecutive ids
// touch, if each reads `halo` tiles around its own. On average over the whole waves of the grid.
// Throws std::invalid_argument as above.
inline double mean_footprint(const SwizzleOrder& order, const GroupGrid& grid,
                             std::uint32_t resident, std::uint32_t halo) {
  check_grid(grid);
  detail::check_positive("the number of resident groups", resident);
  const std::uint32_t waves = std::max<std::uint32_t>(1, grid.count() / resident);
  std::vector<std::uint32_t> seen(grid.count(), 0);  // the wave that touched a tile last, plus 1
  std::uint64_t touched = 0;
  for (std::uint32_t wave = 0; wave < waves; ++wave) {
    for (std::uint32_t i = 0; i < resident && wave * resident + i < grid.count(); ++i) {
      const GroupPlace at = swizzle(order, wave * resident + i, grid);
      const std::uint32_t right = std::min(grid.x - 1 - at.x, halo) + at.x;
      const std::uint32_t bottom = std::min(grid.y - 1 - at.y, halo) + at.y;
      for (std::uint32_t y = at.y - std::min(at.y, halo); y <= bottom; ++y) {
        for (std::uint32_t x = at.x - std::min(at.x, halo); x <= right; ++x) {
          std::uint32_t& one = seen[std::size_t{y} * grid.x + x];
          touched += one != wave + 1 ? 1 : 0;
          one = wave + 1;
        }
      }
    }
  }
  return static_cast<double>(touched) / waves;
}

}  // namespace clcook::model
