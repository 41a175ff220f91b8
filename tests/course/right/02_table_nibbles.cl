// clcook course, exercise 2: a table instead of a cascade
// clcook: local = 64
// Four bits for each mode, in four words.
__kernel void block_modes(__global const uint* headers, __global uchar* modes, int count) {
  const int i = (int)get_global_id(0);
  if (i >= count) return;
  const uint code = headers[i] & 31;
  const uint low = code & 8 ? 0xD510C410u : 0xB310A210u;
  const uint high = code & 8 ? 0xF910F810u : 0xF710F610u;
  modes[i] = (uchar)((code & 16 ? high : low) >> 4 * (code & 7) & 15);
}
