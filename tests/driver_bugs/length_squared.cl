// bug: takes more than 16 times as long to compile 16 times as much code that works on float16
// workaround: lib/clcook/core/quirks.hpp, takes_cpu_kernels
// control: 16 -DSIXTEENTH
// arguments: out out 0
// expect: 0
// fails: rusticl 25; NVIDIA 580
#define FOUR(DO) DO DO DO DO
#define EACH(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)
#define ZERO(I) float16 sum##I = 0;
#define FMA(I) sum##I = fma(v, weight[I], sum##I);
#define STORE(I) vstore16(sum##I, I, to);
#define TAP           \
  v = vload16(0, at); \
  EACH(FMA)           \
  weight += 1;        \
  at += count;
__kernel void reproduce(__global float* to, __global float* weight, int count) {
  __global float* at = to + 16 * get_global_id(0);
  float16 v;
  EACH(ZERO)
#ifdef SIXTEENTH
  FOUR(TAP)
#else
  FOUR(FOUR(FOUR(TAP)))
#endif
  EACH(STORE)
}
