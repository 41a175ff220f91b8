// fails: right
// says: at kept[
// clcook course, exercise 8: compaction with a scan
// clcook: local = 256
static int keep(uint p, uint threshold) {
  return 54 * (p & 255) + 183 * (p >> 8 & 255) + 19 * (p >> 16 & 255) >= threshold;
}

__kernel void compact(__global const uint* pixels, __global const uint* first, __global uint* kept,
                      int count, uint threshold) {
  __local uint sums[256];
  const int lid = (int)get_local_id(0);
  const int begin = (int)get_group_id(0) * CHUNK + lid * 32;
  uint flags = 0;
  for (int k = 0; k < 32; ++k)
    if (begin + k < count && keep(pixels[begin + k], threshold)) flags |= 1u << k;
  sums[lid] = popcount(flags);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int d = 1; d < 256; d *= 2) {
    const uint before = lid >= d ? sums[lid - d] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    sums[lid] += before;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  uint at = first[get_group_id(0)] + sums[lid] - 1;
  while (flags != 0) {
    const int k = 31 - (int)clz(flags & -flags);
    kept[at++] = (uint)(begin + k);
    flags &= flags - 1;
  }
}
