// bug: crashes on a call with barriers if the caller uses its arguments afterwards
// workaround: kernels/clcook/sub_group.clh and bin.clh: functions with barriers are inlined early
// items: 8
// expect: 0 0 1 2 3 4 5 6
// fails: rusticl 25.0
static uint of_lane(__local uint* row, uint lane, uint x, uint from) {
  row[lane] = x;
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint out = row[from % 8];
  barrier(CLK_LOCAL_MEM_FENCE);
  return out;
}
static uint up(__local uint* row, uint lane, uint x, uint by) {
  const uint other = of_lane(row, lane, x, lane - by);
  return lane < by ? x : other;
}
__kernel void reproduce(__global uint* out) {
  __local uint rows[64];
  const uint i = (uint)get_local_id(0);
  out[i] = up(rows + i / 8 * 8, i % 8, i, (uint)get_num_groups(0));
}
