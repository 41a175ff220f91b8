// clcook course, exercise 8: compaction with a scan
// clcook: local = 64
// Turns of 64 neighbouring pixels, each with a scan over two words of flags.
static int keep(uint p, uint threshold) {
  return 54 * (p & 255) + 183 * (p >> 8 & 255) + 19 * (p >> 16 & 255) >= threshold;
}

__kernel void compact(__global const uint* pixels, __global const uint* first, __global uint* kept,
                      int count, uint threshold) {
  __local uint words[CHUNK / 32];
  __local uint before[CHUNK / 32];
  __local uint sums[64];
  const int lid = (int)get_local_id(0);
  const int begin = (int)get_group_id(0) * CHUNK;
  for (int w = lid; w < CHUNK / 32; w += 64) words[w] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = lid; k < CHUNK; k += 64)
    if (begin + k < count && keep(pixels[begin + k], threshold))
      atomic_or(&words[k / 32], 1u << (k % 32));
  barrier(CLK_LOCAL_MEM_FENCE);
  uint mine = 0;
  for (int w = lid * 4; w < lid * 4 + 4; ++w) mine += popcount(words[w]);
  sums[lid] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int d = 1; d < 64; d *= 2) {
    const uint left = lid >= d ? sums[lid - d] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    sums[lid] += left;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  uint sum = first[get_group_id(0)] + sums[lid] - mine;
  for (int w = lid * 4; w < lid * 4 + 4; ++w) {
    before[w] = sum;
    sum += popcount(words[w]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = lid; k < CHUNK; k += 64) {
    const uint word = words[k / 32];
    const uint bit = 1u << (k % 32);
    if (word & bit) kept[before[k / 32] + popcount(word & (bit - 1))] = (uint)(begin + k);
  }
}
