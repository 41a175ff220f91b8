// The mode index of BC6H block headers: every variant of the recipe bc6h_mode.
//
// A header's mode code is in the low bits of its first word: two bits for the modes 0 and 1, five
// for the others. Four of the 32 codes are reserved and give RESERVED.
//
// The host compiles one variant per program: -DCLCOOK_BC6H_MODE_ONLY -DCLCOOK_BC6H_MODE_<VARIANT>,
// with -DCLCOOK_BC6H_MODE_STRIDE=1 or 4 words from one header to the next and
// -DCLCOOK_BC6H_MODE_PER_ITEM headers per work-item. Offsets are in words and bytes. The global
// size is padded to whole work-groups; the loops of map_row.clh guard.
//

#ifndef CLCOOK_BC6H_MODE_ONLY
#define CLCOOK_BC6H_MODE_CASCADE
#define CLCOOK_BC6H_MODE_SWITCH
#define CLCOOK_BC6H_MODE_CONSTANT_TABLE
#define CLCOOK_BC6H_MODE_LOCAL_TABLE
#define CLCOOK_BC6H_MODE_PACKED_NIBBLES
#define CLCOOK_BC6H_MODE_ARITHMETIC
#define CLCOOK_BC6H_MODE_CPU_STRIP
#endif
#ifndef CLCOOK_BC6H_MODE_STRIDE
#define CLCOOK_BC6H_MODE_STRIDE 1
#endif
#ifndef CLCOOK_BC6H_MODE_PER_ITEM
#define CLCOOK_BC6H_MODE_PER_ITEM 16
#endif

#include <clcook/map_row.clh>
#include <clcook/table.clh>

#define RESERVED 15

// ------------------------------------------------------------------------------------------------
// cascade: one comparison after the other, as the SDK's decoder has it. There a reserved code
// leaves the result undefined; here it does not.
#ifdef CLCOOK_BC6H_MODE_CASCADE
static inline uint bc6h_mode_cascade_of(uint word) {
  const uint code = word & 31;
  uint mode = RESERVED;
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
  return mode;
}

__kernel void bc6h_mode_cascade(__global const uint* restrict headers, ulong headers_offset,
                                __global uchar* restrict modes, ulong modes_offset, ulong count) {
  CLCOOK_MAP_ROW(uint, uchar, bc6h_mode_cascade_of, headers, headers_offset,
                 CLCOOK_BC6H_MODE_STRIDE, modes, modes_offset, count, CLCOOK_BC6H_MODE_PER_ITEM);
}
#endif

// ------------------------------------------------------------------------------------------------
// switch: the same as one switch over the code.
#ifdef CLCOOK_BC6H_MODE_SWITCH
static inline uint bc6h_mode_switch_of(uint word) {
  switch (word & 31) {
    case 0x00:
    case 0x04:
    case 0x08:
    case 0x0C:
    case 0x10:
    case 0x14:
    case 0x18:
    case 0x1C:
      return 0;
    case 0x01:
    case 0x05:
    case 0x09:
    case 0x0D:
    case 0x11:
    case 0x15:
    case 0x19:
    case 0x1D:
      return 1;
    case 0x02:
      return 2;
    case 0x06:
      return 3;
    case 0x0A:
      return 4;
    case 0x0E:
      return 5;
    case 0x12:
      return 6;
    case 0x16:
      return 7;
    case 0x1A:
      return 8;
    case 0x1E:
      return 9;
    case 0x03:
      return 10;
    case 0x07:
      return 11;
    case 0x0B:
      return 12;
    case 0x0F:
      return 13;
    default:
      return RESERVED;
  }
}

__kernel void bc6h_mode_switch(__global const uint* restrict headers, ulong headers_offset,
                               __global uchar* restrict modes, ulong modes_offset, ulong count) {
  CLCOOK_MAP_ROW(uint, uchar, bc6h_mode_switch_of, headers, headers_offset, CLCOOK_BC6H_MODE_STRIDE,
                 modes, modes_offset, count, CLCOOK_BC6H_MODE_PER_ITEM);
}
#endif

// ------------------------------------------------------------------------------------------------
// constant_table and local_table: 32 entries, one per code. Words, not bytes: in local memory each
// entry has a bank of its own, so that 32 different codes are one access.
#if defined(CLCOOK_BC6H_MODE_CONSTANT_TABLE) || defined(CLCOOK_BC6H_MODE_LOCAL_TABLE)
__constant uint bc6h_mode_table[32] = {0, 1, 2, 10,       0, 1, 3, 11,       0, 1, 4, 12,
                                       0, 1, 5, 13,       0, 1, 6, RESERVED, 0, 1, 7, RESERVED,
                                       0, 1, 8, RESERVED, 0, 1, 9, RESERVED};
#endif

#ifdef CLCOOK_BC6H_MODE_CONSTANT_TABLE
#define BC6H_MODE_CONSTANT_OF(word) bc6h_mode_table[(word)&31]
__kernel void bc6h_mode_constant_table(__global const uint* restrict headers, ulong headers_offset,
                                       __global uchar* restrict modes, ulong modes_offset,
                                       ulong count) {
  CLCOOK_MAP_ROW(uint, uchar, BC6H_MODE_CONSTANT_OF, headers, headers_offset,
                 CLCOOK_BC6H_MODE_STRIDE, modes, modes_offset, count, CLCOOK_BC6H_MODE_PER_ITEM);
}
#endif

#ifdef CLCOOK_BC6H_MODE_LOCAL_TABLE
#define BC6H_MODE_LOCAL_OF(word) table[(word)&31]
__kernel void bc6h_mode_local_table(__global const uint* restrict headers, ulong headers_offset,
                                    __global uchar* restrict modes, ulong modes_offset,
                                    ulong count) {
  __local uint table[32];
  for (uint i = (uint)get_local_id(0); i < 32; i += (uint)get_local_size(0)) {
    table[i] = bc6h_mode_table[i];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  CLCOOK_MAP_ROW(uint, uchar, BC6H_MODE_LOCAL_OF, headers, headers_offset, CLCOOK_BC6H_MODE_STRIDE,
                 modes, modes_offset, count, CLCOOK_BC6H_MODE_PER_ITEM);
}
#endif

// ------------------------------------------------------------------------------------------------
// packed_nibbles: the table in four words that are constants of the code: two selects, one shift.
#ifdef CLCOOK_BC6H_MODE_PACKED_NIBBLES
static inline uint bc6h_mode_nibbles_of(uint word) {
  const uint4 table =
      (uint4)(CLCOOK_NIBBLES8(0, 1, 2, 10, 0, 1, 3, 11), CLCOOK_NIBBLES8(0, 1, 4, 12, 0, 1, 5, 13),
              CLCOOK_NIBBLES8(0, 1, 6, RESERVED, 0, 1, 7, RESERVED),
              CLCOOK_NIBBLES8(0, 1, 8, RESERVED, 0, 1, 9, RESERVED));
  return clcook_nibble32(table, word);
}

__kernel void bc6h_mode_packed_nibbles(__global const uint* restrict headers, ulong headers_offset,
                                       __global uchar* restrict modes, ulong modes_offset,
                                       ulong count) {
  CLCOOK_MAP_ROW(uint, uchar, bc6h_mode_nibbles_of, headers, headers_offset,
                 CLCOOK_BC6H_MODE_STRIDE, modes, modes_offset, count, CLCOOK_BC6H_MODE_PER_ITEM);
}
#endif

// ------------------------------------------------------------------------------------------------
// arithmetic: no table. The codes of the modes 2..9 end in 10, those of 10..13 in 11, and count
// upwards in the three bits above; what would be mode 14 to 17 is reserved.
#if defined(CLCOOK_BC6H_MODE_ARITHMETIC) || defined(CLCOOK_BC6H_MODE_CPU_STRIP)
static inline uint bc6h_mode_arithmetic_of(uint word) {
  const uint low = word & 3;
  const uint five = (word >> 2 & 7) + 2 + ((word & 1) << 3);
  const uint defined = five < 14 ? five : RESERVED;
  return low < 2 ? low : defined;
}
#endif

#ifdef CLCOOK_BC6H_MODE_ARITHMETIC
__kernel void bc6h_mode_arithmetic(__global const uint* restrict headers, ulong headers_offset,
                                   __global uchar* restrict modes, ulong modes_offset,
                                   ulong count) {
  CLCOOK_MAP_ROW(uint, uchar, bc6h_mode_arithmetic_of, headers, headers_offset,
                 CLCOOK_BC6H_MODE_STRIDE, modes, modes_offset, count, CLCOOK_BC6H_MODE_PER_ITEM);
}
#endif

// ------------------------------------------------------------------------------------------------
// cpu_strip: arithmetic, for a CPU: explicit vectors, a work-item per strip.
#ifdef CLCOOK_BC6H_MODE_CPU_STRIP
static inline uchar16 bc6h_mode_arithmetic_of16(uint16 words) {
  const uint16 low = words & 3;
  const uint16 five = (words >> 2 & 7) + 2 + ((words & 1) << 3);
  const uint16 defined = five < 14 ? five : RESERVED;
  return convert_uchar16(low < 2 ? low : defined);
}

__kernel void bc6h_mode_cpu_strip(__global const uint* restrict headers, ulong headers_offset,
                                  __global uchar* restrict modes, ulong modes_offset, ulong count) {
  CLCOOK_MAP_ROW_STRIP(uint, uchar, bc6h_mode_arithmetic_of, bc6h_mode_arithmetic_of16, headers,
                       headers_offset, CLCOOK_BC6H_MODE_STRIDE, modes, modes_offset, count);
}
#endif
