// bug: ends the process in its pass "Machine InstCombiner", over networks that share values
// workaround: lib/clcook/core/quirks.hpp, breaks_networks: rank_filter refuses such networks
// arguments: ones out
// expect: 1065353216 1065353216 1065353216 1065353216
// fails: Intel CPU 2026
#define SORT(a, i, j) low = min(a[i], a[j]), a[j] = max(a[i], a[j]), a[i] = low
#define UNROLL _Pragma("unroll")
__kernel void reproduce(__global const uint* in, __global uint* out) {
  uint rows[8][5], low;
  UNROLL for (int t = 0; t < 8; ++t) {
    for (int i = 0; i < 5; ++i) rows[t][i] = in[t + i];
    for (int s = 0; s < 5; ++s)
      for (int i = s % 2; i < 4; i += 2) SORT(rows[t], i, i + 1);
  }
  UNROLL for (int p = 0; p < 2; ++p) {
    uint all[32], best = ~0u;
    UNROLL for (int e = 0; e < 32; ++e) all[e] =
        e % 16 < 10 ? rows[2 * p + e / 16 * 2 + e % 16 / 5 + 1][e % 5] : best;
    UNROLL for (int k = 16; k > 0; k /= 2)
        UNROLL for (int e = 0; e + k < 32; ++e) if (k == 16 ? e < 16 : e / k % 2 == 1)
            SORT(all, e, e + k);
    for (int q = 0; q < 2; ++q) {
      best = all[12];
      for (int i = 0; i < 5; ++i) best = min(best, max(rows[2 * p + 5 * q][i], all[11 - i]));
      out[2 * p + q] = best;
    }
  }
}
