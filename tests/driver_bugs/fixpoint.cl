// bug: ends the process: "Instruction Combining did not reach a fixpoint"
// workaround: lib/clcook/core/quirks.hpp, breaks_shared_rows: halo_tile refuses such kernels
// items: 8
// arguments: ones out 16
// expect: 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3
// fails: PoCL 6.0
#define SUMS(AT)                                               \
  for (int t = 0; t < 2; ++t) {                                \
    const float a = in[AT], b = in[AT + 1];                    \
    _Pragma("unroll") for (int j = 0; j < 2; ++j) {            \
      if (t >= j) sum[j][1] = t == j ? a : fmax(a, sum[j][1]); \
      if (t == j) sum[j][0] = b;                               \
      if (t == j) sum[j][3] = a;                               \
    }                                                          \
  }
__kernel __attribute__((reqd_work_group_size(8, 1, 1))) void reproduce(__global const float* in,
                                                                       __global int* out,
                                                                       int width) {
  const int x = (int)get_global_id(0);
  float sum[2][4];
  if (width > 7) {
    SUMS(x)
  } else {
    SUMS(min(x, width))
  }
#pragma unroll
  for (int j = 0; j < 2; ++j)
    if (x + j < width) out[j * 8 + x] = (int)(sum[j][0] + sum[j][1] + sum[j][3]);
}
