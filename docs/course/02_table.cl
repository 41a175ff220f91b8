// clcook course, exercise 2: a table instead of a cascade
// clcook: local = 64
// clcook: outputs = 1
//
// modes[i] is the mode of a BC6H block, from the low bits of its first word: two bits for the modes 0
// and 1, five for the others. The codes that are left over give 15.
__kernel void block_modes(__global const uint* headers, __global uchar* modes, int count) {
  const int i = (int)get_global_id(0);
  if (i < count) {
    const uint word = headers[i];
    const uint code = word & 31;
    uint mode = 15;
    if ((word & 3) == 0x00) {
      mode = 0;
    } else if ((word & 3) == 0x01) {
      mode = 1;
    } else if (code == 0x02) {
      mode = 2;
    } else if (code == 0x06) {
      mode = 3;
    } else if (code == 0x0A) {
      mode = 4;
    } else if (code == 0x0E) {
      mode = 5;
    } else if (code == 0x12) {
      mode = 6;
    } else if (code == 0x16) {
      mode = 7;
    } else if (code == 0x1A) {
      mode = 8;
    } else if (code == 0x1E) {
      mode = 9;
    } else if (code == 0x03) {
      mode = 10;
    } else if (code == 0x07) {
      mode = 11;
    } else if (code == 0x0B) {
      mode = 12;
    } else if (code == 0x0F) {
      mode = 13;
    }
    modes[i] = (uchar)mode;
  }
}
