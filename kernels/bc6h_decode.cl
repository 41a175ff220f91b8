// BC6H textures to RGBA half or RGBA float: every variant of the recipe bc6h_decode.
//
// A block is 16 bytes for 4 x 4 texels; the blocks of a row of blocks lie side by side. All
// variants give the same bits: those of Microsoft's rule, alpha 1, and 0 for blocks of a reserved
// mode. Halfs are written as bit patterns; floats are the exact values of the halfs.
//
// Arguments: src, src_offset and src_pitch in blocks; dst, dst_offset and dst_pitch in texels;
// width and height in texels. Texels of the last blocks beyond width or height are not written.
//
// The host compiles one variant per program: -DCLCOOK_BC6H_DECODE_ONLY
// -DCLCOOK_BC6H_DECODE_<VARIANT>, with -DCLCOOK_BC6H_SIGNED for BC6H_SF16 and -DCLCOOK_BC6H_FLOAT
// for float results.
#include <clcook/bc6h.clh>

#ifndef CLCOOK_BC6H_DECODE_ONLY
#define CLCOOK_BC6H_DECODE_BRANCHY
#define CLCOOK_BC6H_DECODE_TABLE_DRIVEN
#define CLCOOK_BC6H_DECODE_LOCAL_HEADERS
#define CLCOOK_BC6H_DECODE_CPU_LANES
#endif

#ifdef CLCOOK_BC6H_SIGNED
#define IS_SIGNED 1
#else
#define IS_SIGNED 0
#endif

#ifdef CLCOOK_BC6H_FLOAT
typedef float4 texel;
#else
typedef uint2 texel;  // four halfs
#endif

static inline texel make_texel(uint r, uint g, uint b) {
#ifdef CLCOOK_BC6H_FLOAT
  return (float4)(clcook_half_to_float(r), clcook_half_to_float(g), clcook_half_to_float(b), 1.0f);
#else
  return (uint2)(r | (g << 16), b | ((uint)CLCOOK_HALF_ONE << 16));
#endif
}

// ------------------------------------------------------------------------------------------------
// branchy and table_driven: one work-item per block, texel after texel as the format's description
// has it. They differ in how they take the header apart.
#if defined(CLCOOK_BC6H_DECODE_BRANCHY) || defined(CLCOOK_BC6H_DECODE_TABLE_DRIVEN)

// The fields of a header in the order rw gw bw rx gx bx ry gy by rz gz bz, as they are stored.
typedef struct {
  int field[12];
  uint precision;
  uint width[3];
  int differ;
  int two;
} bc6h_header;

static inline void bc6h_store_block(uint4 block, bc6h_header* h, __global texel* dst, ulong pitch,
                                    uint columns, uint rows) {
  const uint p = h->precision;
  const int fields = h->two ? 12 : 6;
  for (int f = 0; f < fields; ++f) {
    int e = h->field[f];
    if (f >= 3) {
      if (h->differ || IS_SIGNED) e = clcook_bc6h_sign_extend(e, h->width[f % 3]);
      if (h->differ) e = (e + h->field[f % 3]) & ((1 << p) - 1);
    }
    if (IS_SIGNED && (f < 3 || h->differ)) e = clcook_bc6h_sign_extend(e, p);
    h->field[f] = e;
  }
  for (int f = 0; f < fields; ++f) {
    h->field[f] = clcook_bc6h_unquantise(h->field[f], p, IS_SIGNED);
  }

  const uint number = h->two ? clcook_bc6h_bits(block, 77, 5) : 0;
  const uint regions = h->two ? clcook_bc6h_partition(number) : 0;
  const uint anchor = h->two ? clcook_bc6h_anchor(number) : 0;
  const uint bits = h->two ? 3 : 4;
  uint at = h->two ? 82 : 65;
  for (uint i = 0; i < 16; ++i) {
    const uint count = bits - (i == 0 || i == anchor);
    const int weight = clcook_bc6h_weight(clcook_bc6h_bits(block, at, count), bits);
    at += count;
    const int* ends = (regions >> i) & 1 ? h->field + 6 : h->field;
    uint rgb[3];
    for (int c = 0; c < 3; ++c) {
      const int v = (ends[c] * (64 - weight) + ends[3 + c] * weight + 32) >> 6;
      rgb[c] = clcook_bc6h_finish(v, IS_SIGNED);
    }
    if (i % 4 < columns && i / 4 < rows) {
      dst[(i / 4) * pitch + i % 4] = make_texel(rgb[0], rgb[1], rgb[2]);
    }
  }
}

// A block of a reserved mode.
static inline void bc6h_store_black(__global texel* dst, ulong pitch, uint columns, uint rows) {
  for (uint y = 0; y < min(rows, 4u); ++y) {
    for (uint x = 0; x < min(columns, 4u); ++x) dst[y * pitch + x] = make_texel(0, 0, 0);
  }
}

#endif

// ------------------------------------------------------------------------------------------------
// branchy: one arm of a switch for each mode.
#ifdef CLCOOK_BC6H_DECODE_BRANCHY

enum { rw, gw, bw, rx, gx, bx, ry, gy, by, rz, gz, bz };

// What a mode stores in one piece: w has `bits` bits there, x and the others those of their
// channel.
#define ENDPOINTS_1(bits, r, g, b) \
  h.field[rw] = BITS(5, bits);     \
  h.field[gw] = BITS(15, bits);    \
  h.field[bw] = BITS(25, bits);    \
  h.field[rx] = BITS(35, r);       \
  h.field[gx] = BITS(45, g);       \
  h.field[bx] = BITS(55, b);
#define ENDPOINTS_2(bits, r, g, b) \
  ENDPOINTS_1(bits, r, g, b)       \
  h.field[ry] = BITS(65, r);       \
  h.field[gy] = BITS(41, 4);       \
  h.field[by] = BITS(61, 4);       \
  h.field[rz] = BITS(71, r);       \
  h.field[gz] = BITS(51, 4);       \
  h.field[bz] = 0;
#define BITS(at, count) (int)clcook_bc6h_bits(block, at, count)
// Bit `bit` of a field is block bit `at`.
#define BIT(name, bit, at) h.field[name] |= BITS(at, 1) << (bit);
#define MODE(p, r, g, b, differences, regions) \
  h.precision = p;                             \
  h.width[0] = r;                              \
  h.width[1] = g;                              \
  h.width[2] = b;                              \
  h.differ = differences;                      \
  h.two = regions - 1;

__kernel void bc6h_decode_branchy(__global const uint4* restrict src, ulong src_offset,
                                  ulong src_pitch, __global texel* restrict dst, ulong dst_offset,
                                  ulong dst_pitch, uint width, uint height) {
  const uint x = (uint)get_global_id(0) * 4;
  const uint y = (uint)get_global_id(1) * 4;
  if (x >= width || y >= height) return;
  const uint4 block = src[src_offset + get_global_id(1) * src_pitch + x / 4];
  dst += dst_offset + y * dst_pitch + x;
  bc6h_header h;
  // clang-format off
  switch (clcook_bc6h_mode(block.x)) {
    case 0:
      ENDPOINTS_2(10, 5, 5, 5)
      BIT(gy, 4, 2) BIT(by, 4, 3) BIT(bz, 4, 4) BIT(gz, 4, 40) BIT(bz, 0, 50) BIT(bz, 1, 60)
      BIT(bz, 2, 70) BIT(bz, 3, 76)
      MODE(10, 5, 5, 5, 1, 2)
      break;
    case 1:
      ENDPOINTS_2(7, 6, 6, 6)
      BIT(gy, 5, 2) BIT(gz, 4, 3) BIT(gz, 5, 4) BIT(bz, 0, 12) BIT(bz, 1, 13) BIT(by, 4, 14)
      BIT(by, 5, 22) BIT(bz, 2, 23) BIT(gy, 4, 24) BIT(bz, 3, 32) BIT(bz, 5, 33) BIT(bz, 4, 34)
      MODE(7, 6, 6, 6, 1, 2)
      break;
    case 2:
      ENDPOINTS_2(10, 5, 4, 4)
      BIT(rw, 10, 40) BIT(gw, 10, 49) BIT(bz, 0, 50) BIT(bw, 10, 59) BIT(bz, 1, 60) BIT(bz, 2, 70)
      BIT(bz, 3, 76)
      MODE(11, 5, 4, 4, 1, 2)
      break;
    case 3:
      ENDPOINTS_2(10, 4, 5, 4)
      BIT(rw, 10, 39) BIT(gz, 4, 40) BIT(gw, 10, 50) BIT(bw, 10, 59) BIT(bz, 1, 60) BIT(bz, 0, 69)
      BIT(bz, 2, 70) BIT(gy, 4, 75) BIT(bz, 3, 76)
      MODE(11, 4, 5, 4, 1, 2)
      break;
    case 4:
      ENDPOINTS_2(10, 4, 4, 5)
      BIT(rw, 10, 39) BIT(by, 4, 40) BIT(gw, 10, 49) BIT(bz, 0, 50) BIT(bw, 10, 60) BIT(bz, 1, 69)
      BIT(bz, 2, 70) BIT(bz, 4, 75) BIT(bz, 3, 76)
      MODE(11, 4, 4, 5, 1, 2)
      break;
    case 5:
      ENDPOINTS_2(9, 5, 5, 5)
      BIT(by, 4, 14) BIT(gy, 4, 24) BIT(bz, 4, 34) BIT(gz, 4, 40) BIT(bz, 0, 50) BIT(bz, 1, 60)
      BIT(bz, 2, 70) BIT(bz, 3, 76)
      MODE(9, 5, 5, 5, 1, 2)
      break;
    case 6:
      ENDPOINTS_2(8, 6, 5, 5)
      BIT(gz, 4, 13) BIT(by, 4, 14) BIT(bz, 2, 23) BIT(gy, 4, 24) BIT(bz, 3, 33) BIT(bz, 4, 34)
      BIT(bz, 0, 50) BIT(bz, 1, 60)
      MODE(8, 6, 5, 5, 1, 2)
      break;
    case 7:
      ENDPOINTS_2(8, 5, 6, 5)
      BIT(bz, 0, 13) BIT(by, 4, 14) BIT(gy, 5, 23) BIT(gy, 4, 24) BIT(gz, 5, 33) BIT(bz, 4, 34)
      BIT(gz, 4, 40) BIT(bz, 1, 60) BIT(bz, 2, 70) BIT(bz, 3, 76)
      MODE(8, 5, 6, 5, 1, 2)
      break;
    case 8:
      ENDPOINTS_2(8, 5, 5, 6)
      BIT(bz, 1, 13) BIT(by, 4, 14) BIT(by, 5, 23) BIT(gy, 4, 24) BIT(bz, 5, 33) BIT(bz, 4, 34)
      BIT(gz, 4, 40) BIT(bz, 0, 50) BIT(bz, 2, 70) BIT(bz, 3, 76)
      MODE(8, 5, 5, 6, 1, 2)
      break;
    case 9:
      ENDPOINTS_2(6, 6, 6, 6)
      BIT(gz, 4, 11) BIT(bz, 0, 12) BIT(bz, 1, 13) BIT(by, 4, 14) BIT(gy, 5, 21) BIT(by, 5, 22)
      BIT(bz, 2, 23) BIT(gy, 4, 24) BIT(gz, 5, 31) BIT(bz, 3, 32) BIT(bz, 5, 33) BIT(bz, 4, 34)
      MODE(6, 6, 6, 6, 0, 2)
      break;
    case 10:
      ENDPOINTS_1(10, 10, 10, 10)
      MODE(10, 10, 10, 10, 0, 1)
      break;
    case 11:
      ENDPOINTS_1(10, 9, 9, 9)
      BIT(rw, 10, 44) BIT(gw, 10, 54) BIT(bw, 10, 64)
      MODE(11, 9, 9, 9, 1, 1)
      break;
    case 12:
      ENDPOINTS_1(10, 8, 8, 8)
      BIT(rw, 11, 43) BIT(rw, 10, 44) BIT(gw, 11, 53) BIT(gw, 10, 54) BIT(bw, 11, 63)
      BIT(bw, 10, 64)
      MODE(12, 8, 8, 8, 1, 1)
      break;
    case 13:
      ENDPOINTS_1(10, 4, 4, 4)
      BIT(rw, 15, 39) BIT(rw, 14, 40) BIT(rw, 13, 41) BIT(rw, 12, 42) BIT(rw, 11, 43)
      BIT(rw, 10, 44) BIT(gw, 15, 49) BIT(gw, 14, 50) BIT(gw, 13, 51) BIT(gw, 12, 52)
      BIT(gw, 11, 53) BIT(gw, 10, 54) BIT(bw, 15, 59) BIT(bw, 14, 60) BIT(bw, 13, 61)
      BIT(bw, 12, 62) BIT(bw, 11, 63) BIT(bw, 10, 64)
      MODE(16, 4, 4, 4, 1, 1)
      break;
    default:
      bc6h_store_black(dst, dst_pitch, width - x, height - y);
      return;
  }
  // clang-format on
  bc6h_store_block(block, &h, dst, dst_pitch, width - x, height - y);
}
#endif

// ------------------------------------------------------------------------------------------------
// table_driven: the same for every mode, from tables: 12 fields of a start and a length, then
// single bits.
#ifdef CLCOOK_BC6H_DECODE_TABLE_DRIVEN

__constant uchar bc6h_start[12] = {5, 15, 25, 35, 45, 55, 65, 41, 61, 71, 51, 0};

// Stored bits of w, of x, and of y and z; these two have four in green and none in blue's z.
__constant uchar bc6h_first[14] = {10, 7, 10, 10, 10, 9, 8, 8, 8, 6, 10, 10, 10, 10};
__constant uchar bc6h_width[14][3] = {{5, 5, 5},    {6, 6, 6}, {5, 4, 4}, {4, 5, 4}, {4, 4, 5},
                                      {5, 5, 5},    {6, 5, 5}, {5, 6, 5}, {5, 5, 6}, {6, 6, 6},
                                      {10, 10, 10}, {9, 9, 9}, {8, 8, 8}, {4, 4, 4}};
__constant uchar bc6h_precision[14] = {10, 7, 11, 11, 11, 9, 8, 8, 8, 6, 10, 11, 12, 16};

// Single bits: field << 12 | bit of the field << 8 | bit of the block. Those of mode m begin at
// bc6h_single_begin[m].
__constant uchar bc6h_single_begin[15] = {0,  8,  20, 27, 36, 45,  53, 61,
                                          71, 81, 93, 93, 96, 102, 120};
__constant ushort bc6h_single[120] = {
    0x7402, 0x8403, 0xB404, 0xA428, 0xB032, 0xB13C, 0xB246, 0xB34C, 0x7502, 0xA403, 0xA504, 0xB00C,
    0xB10D, 0x840E, 0x8516, 0xB217, 0x7418, 0xB320, 0xB521, 0xB422, 0x0A28, 0x1A31, 0xB032, 0x2A3B,
    0xB13C, 0xB246, 0xB34C, 0x0A27, 0xA428, 0x1A32, 0x2A3B, 0xB13C, 0xB045, 0xB246, 0x744B, 0xB34C,
    0x0A27, 0x8428, 0x1A31, 0xB032, 0x2A3C, 0xB145, 0xB246, 0xB44B, 0xB34C, 0x840E, 0x7418, 0xB422,
    0xA428, 0xB032, 0xB13C, 0xB246, 0xB34C, 0xA40D, 0x840E, 0xB217, 0x7418, 0xB321, 0xB422, 0xB032,
    0xB13C, 0xB00D, 0x840E, 0x7517, 0x7418, 0xA521, 0xB422, 0xA428, 0xB13C, 0xB246, 0xB34C, 0xB10D,
    0x840E, 0x8517, 0x7418, 0xB521, 0xB422, 0xA428, 0xB032, 0xB246, 0xB34C, 0xA40B, 0xB00C, 0xB10D,
    0x840E, 0x7515, 0x8516, 0xB217, 0x7418, 0xA51F, 0xB320, 0xB521, 0xB422, 0x0A2C, 0x1A36, 0x2A40,
    0x0B2B, 0x0A2C, 0x1B35, 0x1A36, 0x2B3F, 0x2A40, 0x0F27, 0x0E28, 0x0D29, 0x0C2A, 0x0B2B, 0x0A2C,
    0x1F31, 0x1E32, 0x1D33, 0x1C34, 0x1B35, 0x1A36, 0x2F3B, 0x2E3C, 0x2D3D, 0x2C3E, 0x2B3F, 0x2A40};

__kernel void bc6h_decode_table_driven(__global const uint4* restrict src, ulong src_offset,
                                       ulong src_pitch, __global texel* restrict dst,
                                       ulong dst_offset, ulong dst_pitch, uint width, uint height) {
  const uint x = (uint)get_global_id(0) * 4;
  const uint y = (uint)get_global_id(1) * 4;
  if (x >= width || y >= height) return;
  const uint4 block = src[src_offset + get_global_id(1) * src_pitch + x / 4];
  dst += dst_offset + y * dst_pitch + x;
  const uint mode = clcook_bc6h_mode(block.x);
  if (mode == CLCOOK_BC6H_RESERVED) {
    bc6h_store_black(dst, dst_pitch, width - x, height - y);
    return;
  }
  bc6h_header h;
  h.precision = bc6h_precision[mode];
  h.differ = mode != 9 && mode != 10;
  h.two = mode < 10;
  for (int c = 0; c < 3; ++c) h.width[c] = bc6h_width[mode][c];
  for (int f = 0; f < 12; ++f) {
    const uint length = f < 3                  ? bc6h_first[mode]
                        : f == 11              ? 0
                        : f >= 6 && f % 3 != 0 ? 4
                                               : bc6h_width[mode][f % 3];
    h.field[f] = (int)clcook_bc6h_bits(block, bc6h_start[f], length);
  }
  for (uint k = bc6h_single_begin[mode]; k < bc6h_single_begin[mode + 1]; ++k) {
    const uint one = bc6h_single[k];
    h.field[one >> 12] |= (int)(clcook_bc6h_bits(block, one & 127, 1) << ((one >> 8) & 15));
  }
  bc6h_store_block(block, &h, dst, dst_pitch, width - x, height - y);
}
#endif

// ------------------------------------------------------------------------------------------------
// local_headers: for GPUs. Each work-item takes one header apart, without a branch, and puts the
// block's 16 colours into local memory: 16 along its line, or 8 along each of its two. After the
// barrier the group writes the texels of all its blocks, each item 16 bytes of four rows at a time,
// so that the stores of neighbours join to whole cache lines. A texel is then a look-up.
//
// Colours are computed in float, exactly: integers are a few times slower on GPUs.
//   v = floor(a + 1/2 + d w / 64)       MOVE + a + 1/2 + d w / 64 lies between 2^17 and 2^18, where
//                                       floats have six binary places, so one fma is exact; what
//                                       lies behind the point is then set to ones
//   h = floor(31 v / 64)                the nearest number to 31 v / 64 - 63/128, never half-way
//                                       between two (signed: 31 |v| / 32 - 31/64). With
//                                       M = 1.5 * 2^23 the low bits of h + M are those of h.
// The second half of a line is computed from its other end, with -d in place of d, so that both
// halves take the same weights; a loop of two turns keeps the code short.
#ifdef CLCOOK_BC6H_DECODE_LOCAL_HEADERS

#undef CLCOOK_BC6H_SIXTEEN
#include <clcook/bc6h_lanes.clh>

#ifndef CLCOOK_BC6H_DECODE_GROUP
#define CLCOOK_BC6H_DECODE_GROUP 64
#endif
#define GROUP CLCOOK_BC6H_DECODE_GROUP

#ifdef CLCOOK_BC6H_FLOAT
#define COLUMNS 1
#else
#define COLUMNS 2
#endif

#define MOVE 180224.0f  // 2^17 + 2^15 + 2^14, a multiple of 64

// MOVE - 2 + a + 1/2, from 64 a + 32: the bits of MOVE - 2 are a whole number of 64ths.
static inline float bc6h_end(int base) { return as_float(0x482FFF80u + (uint)base); }

// 0x4B400000 + offset + the half of floor(a + 1/2 + d weight). v + 63/64 - 2 is v - 65/64, and
// 31/64 of 65/64 is between 31/64 and 1/2: what h is rounded with.
static inline uint bc6h_half(float end, float d, float weight, int offset) {
  const float v = as_float(as_uint(fma(d, weight, end)) | 63);
  if (!IS_SIGNED) {
    return as_uint(fma(v, 31.0f / 64, 12582912.0f - 31 * (MOVE / 64) + (float)offset));
  }
  const float whole = v - (MOVE - 65.0f / 64);
  const uint magnitude = as_uint(fma(fabs(whole), 31.0f / 32, -31.0f / 64) + 12582912.0f);
  return (magnitude | ((as_uint(whole + 1.0f) >> 16) & 0x8000)) + (uint)offset;
}

// Eight indices of three bits each, and eight regions, as eight indices of four bits.
static inline uint bc6h_four_bits(uint indices, uint regions) {
  indices &= 0xFFFFFF;
  indices += (indices & 0xFFF000) * 15;
  indices += (indices & 0x0FC00FC0) * 3;
  indices += indices & 0x38383838;
  regions = (regions * 0x1001) & 0x000F000F;
  regions = (regions * 0x41) & 0x03030303;
  regions = (regions * 9) & 0x11111111;
  return indices | (regions << 3);
}

static inline texel bc6h_texel(uint2 halfs) {
#ifdef CLCOOK_BC6H_FLOAT
  return make_texel(halfs.x & 0xFFFF, halfs.x >> 16, halfs.y & 0xFFFF);
#else
  return halfs;
#endif
}

// Colours 8 to 15 lie the other way round.
static inline uint bc6h_turned(uint indices) {
  return indices ^ (((indices >> 3) & 0x11111111) * 7);
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void bc6h_decode_local_headers(
    __global const uint4* restrict src, ulong src_offset, ulong src_pitch,
    __global texel* restrict dst, ulong dst_offset, ulong dst_pitch, uint width, uint height) {
  // As halfs. Colour e of block b is colours[e * GROUP + b]: neighbours' are in neighbouring banks.
  __local uint2 colours[16 * GROUP];
  __local uint2 indices[GROUP];

  const uint lid = (uint)get_local_id(0);
  const uint y = (uint)get_global_id(1) * 4;
  const uint span = (uint)get_group_id(0) * (4 * GROUP);
  if (span + 4 * lid < width) {
    const uint4 block = src[src_offset + get_global_id(1) * src_pitch + (uint)get_global_id(0)];
    const clcook_bc6h_header h = clcook_bc6h_read(block.x, block.y, block.z, block.w, IS_SIGNED);
    const bool two = h.two != 0;
    float end[3], d[3], other_end[3], other_d[3];
#pragma unroll
    for (int c = 0; c < 3; ++c) {
      end[c] = bc6h_end(h.base[c]);
      d[c] = convert_float(h.step[c]);
      other_d[c] = -convert_float(two ? h.step[3 + c] : h.step[c]);
      other_end[c] = bc6h_end(two ? h.base[3 + c] : h.base[c]) - other_d[c];
    }
    // The nearest 64th to e / 7 or e / 15: above 2^17 floats have six binary places.
    const float scale = two ? 1.0f / 7 : 1.0f / 15;
    float weight[8];
#pragma unroll
    for (int e = 0; e < 8; ++e) weight[e] = fma((float)e, scale, 196608.0f) - 196608.0f;
    __local uint2* to = colours + lid;
#pragma unroll 1
    for (int half_line = 0; half_line < 2; ++half_line) {
#pragma unroll
      for (int e = 0; e < 8; ++e) {
        // g - 0x4B40, shifted, takes from the sum the bits above r.
        const uint r = bc6h_half(end[0], d[0], weight[e], 0);
        const uint g = bc6h_half(end[1], d[1], weight[e], -0x4B40);
        const uint b = bc6h_half(end[2], d[2], weight[e], 0);
        to[e * GROUP] = (uint2)(r + (g << 16), b - 0x4B400000u + ((uint)CLCOOK_HALF_ONE << 16));
      }
      to += 8 * GROUP;
#pragma unroll
      for (int c = 0; c < 3; ++c) {
        end[c] = other_end[c];
        d[c] = other_d[c];
      }
    }
    const uint low = two ? bc6h_four_bits(h.low, h.regions & 0xFF) : h.low;
    const uint high = two ? bc6h_four_bits(h.high, h.regions >> 8) : h.high;
    indices[lid] = (uint2)(bc6h_turned(low), bc6h_turned(high));
  }
  barrier(CLK_LOCAL_MEM_FENCE);

  dst += dst_offset + y * dst_pitch + span;
  const uint rows = min(height - y, 4u);
  const bool whole = rows == 4 && (((uintptr_t)dst | (dst_pitch * sizeof(texel))) & 15) == 0;
#pragma unroll 1
  for (uint part = 0; part < 4 / COLUMNS; ++part) {
    const uint x = (part * GROUP + lid) * COLUMNS;
    if (span + x >= width) break;
    const uint2 index = indices[x / 4] >> (4 * (x & 3));
    __local const uint2* of_block = colours + x / 4;
    __global texel* to = dst + x;
#define COLOUR(row, column) \
  of_block[(((row) < 2 ? index.x : index.y) >> ((row) % 2 * 16 + (column)*4) & 15) * GROUP]
    if (whole && span + x + COLUMNS <= width) {
#pragma unroll
      for (uint row = 0; row < 4; ++row) {
#ifdef CLCOOK_BC6H_FLOAT
        to[row * dst_pitch] = bc6h_texel(COLOUR(row, 0));
#else
        *(__global uint4*)(to + row * dst_pitch) = (uint4)(COLOUR(row, 0), COLOUR(row, 1));
#endif
      }
    } else {
      const uint columns = min(width - span - x, (uint)COLUMNS);
#pragma unroll 1
      for (uint row = 0; row < rows; ++row) {
#pragma unroll 1
        for (uint column = 0; column < columns; ++column) {
          to[row * dst_pitch + column] = bc6h_texel(COLOUR(row, column));
        }
      }
    }
  }
}
#endif

// ------------------------------------------------------------------------------------------------
// cpu_lanes: for CPUs. One work-item per run of blocks of a row. The headers of sixteen blocks are
// taken apart in the lanes of vectors, without a branch whatever their modes are; then the sixteen
// texels of each block are one vector.
#ifdef CLCOOK_BC6H_DECODE_CPU_LANES

#define CLCOOK_BC6H_SIXTEEN
#include <clcook/bc6h_lanes.clh>
#include <clcook/streaming_store.clh>

// Vectors are put together from numbers: from smaller vectors it would be shuffles with undefined
// lanes, on which Oclgrind 21.10 crashes.
#define WORDS(a, b, c, d)                                                                          \
  (uint16)(q[0].a, q[0].b, q[0].c, q[0].d, q[1].a, q[1].b, q[1].c, q[1].d, q[2].a, q[2].b, q[2].c, \
           q[2].d, q[3].a, q[3].b, q[3].c, q[3].d)
#define JOIN(a, b)                                                                                 \
  (uint16)((a).s0, (a).s1, (a).s2, (a).s3, (a).s4, (a).s5, (a).s6, (a).s7, (b).s0, (b).s1, (b).s2, \
           (b).s3, (b).s4, (b).s5, (b).s6, (b).s7)

// The index of texel i is at shift[i] of its word.
__constant uint bc6h_shift[2][16] = {{0, 4, 8, 12, 16, 20, 24, 28, 0, 4, 8, 12, 16, 20, 24, 28},
                                     {0, 3, 6, 9, 12, 15, 18, 21, 0, 3, 6, 9, 12, 15, 18, 21}};

typedef struct {
  int base[6][16];
  int step[6][16];
  uint regions[16];
  uint low[16];
  uint high[16];
  uint two[16];
} bc6h_sixteen;

static inline uint16 bc6h_channel(const bc6h_sixteen* h, uint n, int c, int16 second,
                                  int16 weight) {
  const int16 base = second ? (int16)(h->base[3 + c][n]) : (int16)(h->base[c][n]);
  const int16 step = second ? (int16)(h->step[3 + c][n]) : (int16)(h->step[c][n]);
  const int16 v = (base + step * weight) >> 6;
  if (!IS_SIGNED) return (as_uint16(v) * 31) >> 6;
  return ((as_uint16(max(v, -v)) * 31) >> 5) | ((as_uint16(v + 1) >> 16) & 0x8000);
}

// The 16 texels of block n: R G B as halfs.
static inline void bc6h_texels(const bc6h_sixteen* h, uint n, uint16* r, uint16* g, uint16* b) {
  const uint two = h->two[n];
  const uint16 bit =
      (uint16)(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768);
  const int16 second = ((uint16)(h->regions[n]) & bit) != 0;
  const uint low = h->low[n];
  const uint high = h->high[n];
  const uint16 word = (uint16)(low, low, low, low, low, low, low, low, high, high, high, high, high,
                               high, high, high);
  const uint16 index = (word >> vload16(0, bc6h_shift[two])) & (15 >> two);
  const int16 weight = as_int16((index * (two ? 585 : 273) + 32) >> 6);
  *r = bc6h_channel(h, n, 0, second, weight);
  *g = bc6h_channel(h, n, 1, second, weight);
  *b = bc6h_channel(h, n, 2, second, weight);
}

#ifdef CLCOOK_BC6H_FLOAT
static inline float16 bc6h_floats(uint16 half_bits) {
  const uint16 magnitude = half_bits & 0x7FFF;
  uint16 bits = (magnitude << 13) + 0x38000000u;
  if (IS_SIGNED) bits = magnitude >= 0x7C00 ? bits + 0x38000000u : bits;
  const uint16 small = as_uint16(convert_float16(as_int16(magnitude)) * 0x1p-24f);
  bits = magnitude < 0x400 ? small : bits;
  return as_float16(bits | ((half_bits & 0x8000) << 16));
}
#endif

// The rows of block n, and 64 bytes of a row of the result.
#ifdef CLCOOK_BC6H_FLOAT
typedef float16 bc6h_row;
typedef float16 bc6h_line;
#define STORE_UNALIGNED(value, to) vstore16(value, 0, (__global float*)(to))
#define R(k) r.s##k, g.s##k, b.s##k, 1.0f
static inline void bc6h_rows(const bc6h_sixteen* h, uint n, bc6h_row* rows) {
  uint16 halfs[3];
  bc6h_texels(h, n, &halfs[0], &halfs[1], &halfs[2]);
  const float16 r = bc6h_floats(halfs[0]);
  const float16 g = bc6h_floats(halfs[1]);
  const float16 b = bc6h_floats(halfs[2]);
  rows[0] = (float16)(R(0), R(1), R(2), R(3));
  rows[1] = (float16)(R(4), R(5), R(6), R(7));
  rows[2] = (float16)(R(8), R(9), R(a), R(b));
  rows[3] = (float16)(R(c), R(d), R(e), R(f));
}
#undef R
#else
typedef uint8 bc6h_row;
typedef uint16 bc6h_line;
#define STORE_UNALIGNED(value, to) vstore16(value, 0, (__global uint*)(to))
static inline void bc6h_rows(const bc6h_sixteen* h, uint n, bc6h_row* rows) {
  uint16 r, g, b;
  bc6h_texels(h, n, &r, &g, &b);
  const uint16 rg = r | (g << 16);
  const uint16 ba = b | ((uint)CLCOOK_HALF_ONE << 16);
  rows[0] = (uint8)(rg.s0, ba.s0, rg.s1, ba.s1, rg.s2, ba.s2, rg.s3, ba.s3);
  rows[1] = (uint8)(rg.s4, ba.s4, rg.s5, ba.s5, rg.s6, ba.s6, rg.s7, ba.s7);
  rows[2] = (uint8)(rg.s8, ba.s8, rg.s9, ba.s9, rg.sa, ba.sa, rg.sb, ba.sb);
  rows[3] = (uint8)(rg.sc, ba.sc, rg.sd, ba.sd, rg.se, ba.se, rg.sf, ba.sf);
}
#endif

static inline void store_line(bc6h_line value, __global texel* to, int aligned) {
  if (aligned) {
    CLCOOK_STREAM(value, (__global bc6h_line*)to);
  } else {
    STORE_UNALIGNED(value, to);
  }
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void bc6h_decode_cpu_lanes(
    __global const uint4* restrict src, ulong src_offset, ulong src_pitch,
    __global texel* restrict dst, ulong dst_offset, ulong dst_pitch, uint width, uint height,
    uint run) {
  const uint y = (uint)get_global_id(1) * 4;
  const uint wide = width / 4 + (width % 4 != 0);
  const uint begin = (uint)get_global_id(0) * run;
  const uint end = min(begin + run, wide);
  const uint rows = min(height - y, 4u);
  src += src_offset + get_global_id(1) * src_pitch;
  dst += dst_offset + y * dst_pitch;
  const int aligned = (((uintptr_t)dst | dst_pitch * sizeof(texel)) & 63) == 0;

  for (uint first = begin; first < end; first += 16) {
    const uint count = min(end - first, 16u);
    uint16 q[4];
    if (count == 16) {
      for (int k = 0; k < 4; ++k) q[k] = vload16(k, (__global const uint*)(src + first));
    } else {
      uint4 last[16];
      for (uint k = 0; k < 16; ++k) last[k] = src[first + min(k, count - 1)];
      for (int k = 0; k < 4; ++k) q[k] = vload16(k, (const uint*)last);
    }
    const clcook_bc6h_header_16 lanes =
        clcook_bc6h_read_16(WORDS(s0, s4, s8, sc), WORDS(s1, s5, s9, sd), WORDS(s2, s6, sa, se),
                            WORDS(s3, s7, sb, sf), IS_SIGNED);
    bc6h_sixteen h;
    for (int k = 0; k < 6; ++k) {
      vstore16(lanes.base[k], 0, h.base[k]);
      vstore16(lanes.step[k], 0, h.step[k]);
    }
    vstore16(lanes.regions, 0, h.regions);
    vstore16(lanes.low, 0, h.low);
    vstore16(lanes.high, 0, h.high);
    vstore16(lanes.two, 0, h.two);

    const uint whole = (first + count) * 4 <= width && rows == 4 ? count : 0;
    uint n = 0;
#ifndef CLCOOK_BC6H_FLOAT
    // Two blocks make a cache line of each row.
    for (; n + 1 < whole; n += 2) {
      bc6h_row a[4];
      bc6h_row b[4];
      bc6h_rows(&h, n, a);
      bc6h_rows(&h, n + 1, b);
      __global texel* to = dst + (first + n) * 4;
      for (int k = 0; k < 4; ++k) store_line(JOIN(a[k], b[k]), to + k * dst_pitch, aligned);
    }
#endif
    for (; n < count; ++n) {
      bc6h_row block[4];
      bc6h_rows(&h, n, block);
      __global texel* to = dst + (first + n) * 4;
#ifdef CLCOOK_BC6H_FLOAT
      if (n < whole) {
        for (int k = 0; k < 4; ++k) store_line(block[k], to + k * dst_pitch, aligned);
        continue;
      }
#endif
      const texel* texels = (const texel*)block;
      const uint columns = min(width - (first + n) * 4, 4u);
      for (uint k = 0; k < rows; ++k) {
        for (uint x = 0; x < columns; ++x) to[k * dst_pitch + x] = texels[4 * k + x];
      }
    }
  }
}
#endif
