// bug: vectorises vectors again in a function, and takes five times as long to compile
// workaround: kernels/gaussian_blur/cpu_fused.cl, vec_type_hint(float16)
// control: 5 -DHINT
// arguments: out 0
// expect: 0
// fails: Intel CPU 2026
#define FOUR(DO) DO DO DO DO
#define EACH(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)
#define ZERO(I) float16 sum##I = 0;
#define FMA(I) sum##I = fma(v, to[I], sum##I);
#define STORE(I) vstore16(sum##I, I, to);
#define TAP                    \
  v = vload16(0, at += count); \
  EACH(FMA)
static __attribute__((noinline)) void filter(__global float* at, __global float* to, int count) {
  float16 v;
  EACH(ZERO)
  for (int i = 0; i < count; ++i) {
    FOUR(FOUR(FOUR(TAP)))
  }
  EACH(STORE)
}
#ifdef HINT
__attribute__((vec_type_hint(float16)))
#endif
__kernel void
reproduce(__global float* to, int count) {
  filter(to, to, count);
}
