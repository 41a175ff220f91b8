// results[i] = f(keys[i], items[i]), where f takes another path for each key: every variant of the
// recipe regroup.
//
// f is expensive and its paths differ in length. Ours shades a texel of a G-buffer with one of up to
// 32 materials. With CLCOOK_REGROUP_OWN_FUNCTION the text before this one has defined
//   float4 clcook_path_function(int path, uint4 item, float4 parameters)
// (static inline or not), and that is f. An item whose key is not below CLCOOK_REGROUP_PATHS takes no
// path: its result stays as it was.
//
// The host compiles one kernel per program, -DCLCOOK_REGROUP_ONLY -DCLCOOK_REGROUP_<KERNEL>, and of
// launch_per_path one for each path. A work-group has CLCOOK_REGROUP_GROUP work-items, at least as
// many as there are paths. Those that sort take CLCOOK_REGROUP_ITEMS items for each of them, at most
// 16. Offsets are in keys, items and results; count is at most 2^31.

#ifndef CLCOOK_REGROUP_ONLY
#define CLCOOK_REGROUP_COUNT
#define CLCOOK_REGROUP_SCAN
#define CLCOOK_REGROUP_SCATTER
#define CLCOOK_REGROUP_BRANCHY
#define CLCOOK_REGROUP_BRANCH_FREE
#define CLCOOK_REGROUP_SORTED_GROUPS
#define CLCOOK_REGROUP_BINNED
#define CLCOOK_REGROUP_LAUNCH_PER_PATH
#define CLCOOK_REGROUP_QUEUES
#define CLCOOK_REGROUP_CPU_LANES
#endif

#ifndef CLCOOK_REGROUP_PATHS
#define CLCOOK_REGROUP_PATHS 8
#endif
#define PATHS CLCOOK_REGROUP_PATHS
#ifndef CLCOOK_REGROUP_GROUP
#define CLCOOK_REGROUP_GROUP 64
#endif
#define GROUP CLCOOK_REGROUP_GROUP
#define REGROUP_GROUP __attribute__((reqd_work_group_size(GROUP, 1, 1)))

// A key is a byte, or with CLCOOK_REGROUP_WIDE_KEYS a uint.
#ifdef CLCOOK_REGROUP_WIDE_KEYS
typedef uint regroup_key_t;
#else
typedef uchar regroup_key_t;
#endif

#include <clcook/bin.clh>

#ifndef CLCOOK_REGROUP_OWN_FUNCTION
#define CLCOOK_MATERIALS PATHS
#include <clcook/materials.clh>

static inline float4 clcook_path_function(int path, uint4 item, float4 parameters) {
  return clcook_shade_material(path, item, parameters);
}
#endif

#define KEYS __global const regroup_key_t *restrict keys, ulong keys_offset
#define REGROUP_ARGUMENTS                                         \
  KEYS, __global const uint4 *restrict items, ulong items_offset, \
      __global float4 *restrict results, ulong results_offset, uint count, float4 parameters
// With the list of the items by path, of which path p has those from offsets[p] up to the next.
#define LISTED_ARGUMENTS \
  REGROUP_ARGUMENTS, __global const uint *restrict order, __global const uint *restrict offsets

#define ITEM(i) items[items_offset + (i)]
#define RESULT(i) results[results_offset + (i)]

// ------------------------------------------------------------------------------------------------
// branchy: an item per work-item. Neighbours with different keys take their paths one after the
// other.
#ifdef CLCOOK_REGROUP_BRANCHY
__kernel REGROUP_GROUP void regroup_branchy(REGROUP_ARGUMENTS) {
  const uint i = (uint)get_global_id(0);
  if (i < count) {
    const uint path = keys[keys_offset + i];
    if (path < PATHS) RESULT(i) = clcook_path_function((int)path, ITEM(i), parameters);
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// branch_free: every item takes all paths and keeps one result.
#ifdef CLCOOK_REGROUP_BRANCH_FREE
__kernel REGROUP_GROUP void regroup_branch_free(REGROUP_ARGUMENTS) {
  const uint i = (uint)get_global_id(0);
  if (i < count) {
    const uint path = keys[keys_offset + i];
    const uint4 item = ITEM(i);
    float4 result = (float4)(0.0f);
#pragma unroll
    for (int p = 0; p < PATHS; ++p) {
      const float4 one = clcook_path_function(p, item, parameters);
      result = path == (uint)p ? one : result;
    }
    if (path < PATHS) RESULT(i) = result;
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// What sorts: a group takes GROUP * ITEMS keys, a work-item ITEMS neighbours among them, 2 to 16.
#ifndef CLCOOK_REGROUP_ITEMS
#define CLCOOK_REGROUP_ITEMS 16
#endif
#define ITEMS CLCOOK_REGROUP_ITEMS
#define WINDOW (GROUP * ITEMS)
#define CELLS CLCOOK_BIN_CELLS(PATHS, GROUP)

// The item's keys as bytes; 255, which is no path, where a key is larger or behind the end.
static inline uint4 regroup_keys(KEYS, uint count) {
  const uint first = (uint)get_global_id(0) * ITEMS;
  keys += keys_offset + first;
#if !defined(CLCOOK_REGROUP_WIDE_KEYS) && CLCOOK_REGROUP_ITEMS == 16
  if (first + ITEMS <= count && (size_t)keys % sizeof(uint4) == 0)
    return *(__global const uint4*)keys;
#endif
  uint word[4] = {0, 0, 0, 0};
#pragma unroll
  for (uint k = 0; k < ITEMS; ++k) {
    const uint key = first + k < count ? (uint)keys[k] : 255u;
    word[k / 4] |= min(key, 255u) << 8 * (k % 4);
  }
  return (uint4)(word[0], word[1], word[2], word[3]);
}

// Key k of them.
static inline uint regroup_key(uint4 own, uint k) {
  const uint low = k < 4 ? own.x : own.y;
  const uint high = k < 12 ? own.z : own.w;
  return (k < 8 ? low : high) >> 8 * (k % 4) & 255u;
}

// Counts the group's keys: `cells` holds the places of each item's keys after that. Returns how many
// have a path. For all items of the group.
static inline uint regroup_count_group(uint4 own, __local ushort* cells, __local uint* sums) {
  clcook_bin_clear(cells, PATHS, GROUP);
#pragma unroll
  for (uint k = 0; k < ITEMS; ++k) {
    clcook_bin_count(cells, regroup_key(own, k), PATHS, GROUP);
  }
  return clcook_bin_scan(cells, sums, PATHS, GROUP);
}

// Puts the group's items into `list` by path, as numbers from its first item on, in their order.
// For all items of the group, behind regroup_count_group() and a barrier.
static inline void regroup_list_group(uint4 own, __local ushort* cells, __local ushort* list) {
#pragma unroll
  for (uint k = 0; k < ITEMS; ++k) {
    const uint key = regroup_key(own, k);
    if (key < PATHS) {
      list[clcook_bin_place(cells, key, PATHS, GROUP)] =
          (ushort)((uint)get_local_id(0) * ITEMS + k);
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

// ------------------------------------------------------------------------------------------------
// sorted_groups: a group sorts its items by path in local memory, then work-items that are neighbours
// shade items that are neighbours in the sorted list.
#ifdef CLCOOK_REGROUP_SORTED_GROUPS
__kernel REGROUP_GROUP void regroup_sorted_groups(REGROUP_ARGUMENTS) {
  __local ushort cells[CELLS];
  __local uint sums[GROUP];
  __local ushort list[WINDOW];
  const uint4 own = regroup_keys(keys, keys_offset, count);
  const uint listed = regroup_count_group(own, cells, sums);
  regroup_list_group(own, cells, list);
  const uint first = (uint)get_group_id(0) * WINDOW;
  for (uint j = (uint)get_local_id(0); j < listed; j += GROUP) {
    const uint i = first + list[j];
    RESULT(i) = clcook_path_function((int)keys[keys_offset + i], ITEM(i), parameters);
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// The list of all items by path, in three launches.
//
// count: counts[path * groups + group] = how many of the group's keys are `path`.
#ifdef CLCOOK_REGROUP_COUNT
__kernel REGROUP_GROUP void regroup_count(KEYS, uint count, __global uint* restrict counts) {
  __local ushort cells[CELLS];
  __local uint sums[GROUP];
  const uint4 own = regroup_keys(keys, keys_offset, count);
  const uint listed = regroup_count_group(own, cells, sums);
  const uint path = (uint)get_local_id(0);
  if (path < PATHS) {
    const uint end = path + 1 < PATHS ? clcook_bin_first(cells, path + 1, PATHS, GROUP) : listed;
    counts[path * (uint)get_num_groups(0) + (uint)get_group_id(0)] =
        end - clcook_bin_first(cells, path, PATHS, GROUP);
  }
}
#endif

// scan: a group for each path. Each of its counts becomes the sum of those before it, totals[path]
// the sum of all. Also sets the number of batches that were taken to 0.
#ifdef CLCOOK_REGROUP_SCAN
#define COUNTS 8
__kernel REGROUP_GROUP void regroup_scan(__global uint* restrict counts, uint groups,
                                         __global uint* restrict totals,
                                         __global uint* restrict taken) {
  __local uint sums[GROUP];
  const uint lid = (uint)get_local_id(0);
  counts += get_group_id(0) * (ulong)groups;
  uint before = 0;
  for (uint first = 0; first < groups; first += GROUP * COUNTS) {
    const uint begin = first + lid * COUNTS;
    const uint end = min(begin + COUNTS, groups);
    uint sum = 0;
    for (uint i = begin; i < end; ++i) sum += counts[i];
    sums[lid] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint distance = 1; distance < GROUP; distance *= 2) {
      const uint below = lid >= distance ? sums[lid - distance] : 0u;
      barrier(CLK_LOCAL_MEM_FENCE);
      sums[lid] += below;
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint place = before + sums[lid] - sum;
    for (uint i = begin; i < end; ++i) {
      const uint one = counts[i];
      counts[i] = place;
      place += one;
    }
    before += sums[GROUP - 1];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (lid == 0) {
    totals[get_group_id(0)] = before;
    if (get_group_id(0) == 0) *taken = 0;
  }
}
#endif

// scatter: the items by path into `order`, those of a path in their order; offsets[p] is where path p
// begins, offsets[PATHS] where the last one ends. A group sorts its items first, so that neighbours
// store side by side.
#ifdef CLCOOK_REGROUP_SCATTER
__kernel REGROUP_GROUP void regroup_scatter(KEYS, uint count, __global const uint* restrict counts,
                                            __global const uint* restrict totals,
                                            __global uint* restrict order, ulong order_offset,
                                            __global uint* restrict offsets, ulong offsets_offset) {
  __local ushort cells[CELLS];
  __local uint sums[GROUP];
  __local ushort list[WINDOW];
  __local uint shift[PATHS];  // from a place in the group's list to one in `order`
  const uint lid = (uint)get_local_id(0);
  const uint group = (uint)get_group_id(0);
  const uint4 own = regroup_keys(keys, keys_offset, count);
  const uint listed = regroup_count_group(own, cells, sums);
  uint begin = 0;
  for (uint p = 0; p < min(lid, (uint)PATHS); ++p) begin += totals[p];
  if (lid < PATHS) {
    shift[lid] = begin + counts[lid * (uint)get_num_groups(0) + group] -
                 clcook_bin_first(cells, lid, PATHS, GROUP);
    if (group == 0) {
      offsets[offsets_offset + lid] = begin;
      if (lid + 1 == PATHS) offsets[offsets_offset + PATHS] = begin + totals[lid];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  regroup_list_group(own, cells, list);
  for (uint j = lid; j < listed; j += GROUP) {
    const uint i = group * WINDOW + list[j];
    order[order_offset + j + shift[keys[keys_offset + i]]] = i;
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// binned: work-items that are neighbours shade items that are neighbours in the list of all.
#ifdef CLCOOK_REGROUP_BINNED
__kernel REGROUP_GROUP void regroup_binned(LISTED_ARGUMENTS) {
  const uint j = (uint)get_global_id(0);
  if (j < offsets[PATHS]) {
    const uint i = order[j];
    RESULT(i) = clcook_path_function((int)keys[keys_offset + i], ITEM(i), parameters);
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// launch_per_path: a launch for each path, with the path's code alone. How many items a path has is
// known to the device only, so that a launch has as many work-items as fill it, and each of them
// takes every so many-th item.
#ifdef CLCOOK_REGROUP_LAUNCH_PER_PATH
#ifndef CLCOOK_REGROUP_PATH
#define CLCOOK_REGROUP_PATH 0
#endif
__kernel REGROUP_GROUP void regroup_launch_per_path(LISTED_ARGUMENTS) {
  const uint end = offsets[CLCOOK_REGROUP_PATH + 1];
  for (uint j = offsets[CLCOOK_REGROUP_PATH] + (uint)get_global_id(0); j < end;
       j += (uint)get_global_size(0)) {
    const uint i = order[j];
    RESULT(i) = clcook_path_function(CLCOOK_REGROUP_PATH, ITEM(i), parameters);
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// queues: groups that stay take batches of GROUP items, all of one path, until none is left. `taken`
// is how many batches were, 0 before the launch.
#ifdef CLCOOK_REGROUP_QUEUES
__kernel REGROUP_GROUP void regroup_queues(LISTED_ARGUMENTS, __global uint* restrict taken) {
  __local uint first_batch[PATHS + 1];  // of a path
  __local uint next[1];
  const uint lid = (uint)get_local_id(0);
  for (uint path = lid; path <= PATHS; path += GROUP) {
    uint batches = 0;
    for (uint p = 0; p < path; ++p) batches += (offsets[p + 1] - offsets[p] + GROUP - 1) / GROUP;
    first_batch[path] = batches;
  }
  if (lid == 0) next[0] = atomic_inc(taken);
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint batches = first_batch[PATHS];
  uint batch = next[0];
  while (batch < batches) {
    uint path = 0;
    while (first_batch[path + 1] <= batch) ++path;
    const uint j = offsets[path] + (batch - first_batch[path]) * GROUP + lid;
    if (j < offsets[path + 1]) {
      const uint i = order[j];
      RESULT(i) = clcook_path_function((int)path, ITEM(i), parameters);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid == 0) next[0] = atomic_inc(taken);
    barrier(CLK_LOCAL_MEM_FENCE);
    batch = next[0];
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// cpu_lanes: for CPUs, after sorted_groups, with our function alone. One work-item sorts a run of
// items, and shades 16 of one path at a time, in the elements of vectors.
#ifdef CLCOOK_REGROUP_CPU_LANES
#ifndef CLCOOK_REGROUP_RUN
#define CLCOOK_REGROUP_RUN 4096
#endif
#define RUN CLCOOK_REGROUP_RUN
#define LANES 16

CLCOOK_MATERIALS_OF(regroup_lanes, float16, uint16)

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void regroup_cpu_lanes(REGROUP_ARGUMENTS) {
  const uint first = (uint)get_global_id(0) * RUN;
  const uint some = min((uint)RUN, count - first);
  ushort list[RUN];
  uint end[PATHS + 1];  // first the counts, then where paths begin, and in the end where they end
  for (uint p = 0; p <= PATHS; ++p) end[p] = 0;
  keys += keys_offset + first;
  for (uint i = 0; i < some; ++i) ++end[min((uint)keys[i], (uint)PATHS)];
  uint begin = 0;
  for (uint p = 0; p <= PATHS; ++p) {
    const uint here = end[p];
    end[p] = begin;
    begin += here;
  }
  for (uint i = 0; i < some; ++i) list[end[min((uint)keys[i], (uint)PATHS)]++] = (ushort)i;
  uint j = 0;
  for (uint p = 0; p < PATHS; ++p) {
    for (; j < end[p]; j += LANES) {
      const uint lanes = min(end[p] - j, (uint)LANES);
      uint normal[LANES], albedo[LANES], place[LANES], seed[LANES];
      for (uint k = 0; k < LANES; ++k) {
        const uint4 texel = ITEM(first + list[j + min(k, lanes - 1)]);  // the last one again
        normal[k] = texel.x;
        albedo[k] = texel.y;
        place[k] = texel.z;
        seed[k] = texel.w;
      }
      const uint16 places = vload16(0, place);
      const float16 pattern =
          regroup_lanes_pattern((int)p, places & 0xFFFFu, places >> 16, vload16(0, seed));
      const float16 lit = pattern * regroup_lanes_light(vload16(0, normal), parameters);
      const uint16 colours = vload16(0, albedo);
      float red[LANES], green[LANES], blue[LANES];
      vstore16(regroup_lanes_byte(colours, 0) * lit, 0, red);
      vstore16(regroup_lanes_byte(colours, 8) * lit, 0, green);
      vstore16(regroup_lanes_byte(colours, 16) * lit, 0, blue);
      for (uint k = 0; k < lanes; ++k)
        RESULT(first + list[j + k]) = (float4)(red[k], green[k], blue[k], 1.0f);
    }
    j = end[p];
  }
}
#endif
