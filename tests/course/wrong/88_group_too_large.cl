// fails: refused
// says: is no number from 1 to 1024
// clcook course, exercise 2: a table instead of a cascade
// clcook: local = 1000000
__constant uchar table[32] = {0, 1, 2, 10, 0, 1, 3, 11, 0, 1, 4, 12, 0, 1, 5, 13,
                              0, 1, 6, 15, 0, 1, 7, 15, 0, 1, 8, 15, 0, 1, 9, 15};

__kernel void block_modes(__global const uint* headers, __global uchar* modes, int count) {
  const int i = (int)get_global_id(0);
  if (i < count) modes[i] = table[headers[i] & 31];
}
