// bug: starts every work-item's loop at the index of the first work-item, so that weights stay unset
// workaround: lib/clcook/core/quirks.hpp, breaks_item_loops: line_blur refuses coalesced
// options: -cl-std=CL1.2
// items: 128
// arguments: ones out 128 8 16 16 local=1024
// expect: 1073741824
// fails: PoCL 5.0
// Two of 16 weights of 1 are added: 2.0f is 1073741824. There only item 0 copies its weight.
__kernel void reproduce(__global const float* src, __global float* dst, int length, int lines,
                        int taps, int tile_taps, __local float* tile) {
  const int lid = (int)get_local_id(0);
  const size_t segments = (size_t)((length + 127) / 128);
  const int first = (int)(get_group_id(0) % segments) * 128 - taps / 2;
  const int first_line = (int)(get_group_id(0) / segments) * 8;
  float sum = 0.0f;
  for (int t0 = 0; t0 < taps; t0 += tile_taps) {
    const int count = min(tile_taps, taps - t0);
    for (int t = lid; t < count; t += 128) tile[t] = src[t0 + t];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int t = 0; t + 8 <= count; t += 8) sum += tile[t];
  }
  if (first_line + lid % 8 < lines) dst[first + taps / 2 + lid / 8 * 8] = sum;
}
