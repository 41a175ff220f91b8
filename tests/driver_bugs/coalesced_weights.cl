// bug: begins a loop of every work-item at the index of the first item, so that weights stay unset
// workaround: lib/clcook/core/quirks.hpp, breaks_item_loops: line_blur refuses coalesced
// long: some forty smaller kernels with such a loop are right there
// options: -cl-std=CL1.2
// items: 128
// arguments: ones ulong=0 ulong=128 out ulong=0 ulong=8 128 8 27 ones 16 local=32000
// expect: 1104674816 1104674816 1104674816 1104674816
// fails: PoCL 5.0
// The kernel coalesced of line_blur: 128 pixels of 8 lines, all 1, with 27 weights of 1; 27.0f is
// 1104674816. There only weight 0 of each tile is copied to local memory: the sums are 2.0f.
__kernel __attribute__((reqd_work_group_size(128, 1, 1))) void reproduce(
    __global const float4* restrict src, ulong src_offset, ulong src_pitch,
    __global float4* restrict dst, ulong dst_offset, ulong dst_pitch, int length, int lines,
    int taps, __global const float* restrict weights, int tile_taps, __local float4* tile) {
  __local float4* tile_weights = tile + (128 + tile_taps) * 9;
  const int lid = (int)get_local_id(0);
  const size_t segments = (size_t)((length + 128 - 1) / 128);
  const int first = (int)(get_group_id(0) % segments) * 128 - taps / 2;
  const int first_line = (int)(get_group_id(0) / segments) * 8;
  const int load_lane = lid % 16;
  const int load_line = lid / 16;
  src += src_offset + (ulong)min(first_line + load_line, lines - 1) * src_pitch;
  const int line = lid % 8;
  const int column = lid / 8 * 8;
  __local const float4* window = tile + column * 9 + line;
  float4 sum[8];
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    sum[j] = (float4)(0.0f);
  }
  for (int t0 = 0; t0 < taps; t0 += tile_taps) {
    const int count = min(tile_taps, taps - t0);
    for (int x0 = load_lane; x0 < 128 + count; x0 += 4 * 16) {
      float4 pixel[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int x = min(x0 + i * 16, 128 + count - 1);
        pixel[i] = src[(ulong)clamp(first + t0 + x, 0, length - 1)];
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int x = x0 + i * 16;
        if (x < 128 + count) {
          tile[x * 9 + load_line] = pixel[i];
        }
      }
    }
    for (int t = lid; t < count; t += 128) {
      ((__local float*)tile_weights)[t] = weights[t0 + t];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    float4 ring[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      ring[j] = window[j * 9];
    }
    int t = 0;
    for (; t + 8 <= count; t += 8) {
      __local const float4* next = window + (t + 8) * 9;
#pragma unroll
      for (int u4 = 0; u4 < 8 / 4; ++u4) {
        const float4 w4 = tile_weights[t / 4 + u4];
        const float w[4] = {w4.x, w4.y, w4.z, w4.w};
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int u = u4 * 4 + i;
#pragma unroll
          for (int j = 0; j < 8; ++j) {
            sum[j] = fma((float4)(w[i]), ring[(u + j) % 8], sum[j]);
          }
          ring[u % 8] = next[u * 9];
        }
      }
    }
    for (; t < count; ++t) {
      const float w = ((__local const float*)tile_weights)[t];
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        sum[j] = fma((float4)(w), window[(t + j) * 9], sum[j]);
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (first_line + line < lines) {
    const int x0 = first + taps / 2 + column;
    dst += dst_offset + (ulong)(first_line + line);
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      if (x0 + j < length) {
        dst[(ulong)(x0 + j) * dst_pitch] = sum[j];
      }
    }
  }
}
