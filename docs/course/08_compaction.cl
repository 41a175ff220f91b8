// clcook course, exercise 8: compaction with a scan
// clcook: local = 256
//
// kept gets the numbers of the pixels with 54 r + 183 g + 19 b >= threshold, in ascending order. A
// group has CHUNK pixels, the next ones of the picture; kept[first[group]] is where its first one
// goes. r, g and b are the lowest bytes of a pixel. The grader defines CHUNK.
__kernel void compact(__global const uint* pixels, __global const uint* first, __global uint* kept,
                      int count, uint threshold) {
  __local uint found[256];
  const int lid = (int)get_local_id(0);
  const int run = CHUNK / 256;
  const int begin = (int)get_group_id(0) * CHUNK + lid * run;
  uint mine = 0;
  for (int k = begin; k < min(begin + run, count); ++k) {
    const uint p = pixels[k];
    if (54 * (p & 255) + 183 * (p >> 8 & 255) + 19 * (p >> 16 & 255) >= threshold) {
      ++mine;
    }
  }
  found[lid] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  uint at = first[get_group_id(0)];
  for (int before = 0; before < lid; ++before) {
    at += found[before];
  }
  for (int k = begin; k < min(begin + run, count); ++k) {
    const uint p = pixels[k];
    if (54 * (p & 255) + 183 * (p >> 8 & 255) + 19 * (p >> 16 & 255) >= threshold) {
      kept[at++] = (uint)k;
    }
  }
}
