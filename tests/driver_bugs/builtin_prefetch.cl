// bug: cannot compile __builtin_prefetch, though __has_builtin() says 1
// workaround: lib/clcook/core/quirks.hpp, knows_prefetch; kernels/clcook/pixel16.clh
// expect: 1
// fails: rusticl 25.0; Oclgrind 21.10; NVIDIA 580.
__kernel void reproduce(__global int* out) {
#if __has_builtin(__builtin_prefetch)
  __builtin_prefetch(out, 0, 2);
#endif
  out[0] = 1;
}
