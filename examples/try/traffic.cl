// What memory allows a kernel that reads READS and writes WRITES vectors of 16 bytes per work-item
// and does next to nothing else. 64 neighbours own a stretch of 64 * READS vectors to read and one of
// 64 * WRITES vectors to write, and read and write it 64 neighbouring vectors at a time.
#ifndef READS
#define READS 1
#endif
#ifndef WRITES
#define WRITES 1
#endif

#define STRETCH 64

#ifdef __NV_CL_C_VERSION
// A store that the caches may drop first.
inline void store_streaming(__global uint4* to, uint4 value) {
  __asm__ volatile("st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(value.x),
                   "r"(value.y), "r"(value.z), "r"(value.w)
                   : "memory");
}
#else
inline void store_streaming(__global uint4* to, uint4 value) { *to = value; }
#endif

inline uint4 read_all(__global const uint4* from) {
  from += get_global_id(0) / STRETCH * (STRETCH * READS) + get_global_id(0) % STRETCH;
  uint4 sum = (uint4)(0);
  for (int i = 0; i < READS; ++i) sum += from[i * STRETCH];
  return sum;
}

__kernel void traffic_plain(__global const uint4* from, __global uint4* to) {
  const uint4 sum = read_all(from);
  to += get_global_id(0) / STRETCH * (STRETCH * WRITES) + get_global_id(0) % STRETCH;
  for (int i = 0; i < WRITES; ++i) to[i * STRETCH] = sum + (uint)i;
}

__kernel void traffic_streaming(__global const uint4* from, __global uint4* to) {
  const uint4 sum = read_all(from);
  to += get_global_id(0) / STRETCH * (STRETCH * WRITES) + get_global_id(0) % STRETCH;
  for (int i = 0; i < WRITES; ++i) store_streaming(to + i * STRETCH, sum + (uint)i);
}
