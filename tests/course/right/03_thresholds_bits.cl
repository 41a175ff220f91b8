// clcook course, exercise 3: count thresholds without a chain
// clcook: local = 64
// The comparisons as bits of a word; the first that is set is found by clz().
__kernel void slots_of(__global const float* x, __constant float* thresholds, __global uchar* slots,
                       int count) {
  const int i = (int)get_global_id(0);
  if (i >= count) return;
  const float value = x[i];
  uint reached = 0;
#pragma unroll
  for (int k = 0; k < THRESHOLDS; ++k) reached |= value >= thresholds[k] ? 0x80000000u >> k : 0;
  slots[i] = (uchar)min((int)clz(reached), THRESHOLDS);
}
