// The filters of clcook.ndimage: sums, extremes and ranks of neighbours along one axis, or over a list of
// offsets. ndimage.py makes a chain of these passes of each call.
//
// An axis pass sees an array as lines of n elements that lie `inner` elements apart:
//   along    inner is small. A work-group loads a piece of a line with its neighbours into local
//            memory, borders included, so that the loops behind it know none.
//   across   inner is at least a vector. A work-item has a vector of lines side by side.
// A pass over offsets works on a copy with borders, which ndimage_pad makes.
//
// Sums are those of SciPy: double, in its order, products and sums rounded one by one. Where a device
// has no doubles they are sums of two floats, about 47 bits.
#ifndef CLCOOK_ND_SRC
#define CLCOOK_ND_SRC uchar  // the type of src in memory
#define CLCOOK_ND_DST uchar  // that of dst
#define CLCOOK_ND_DST_KIND 1
#define CLCOOK_ND_KEY uchar   // of ranks: unsigned, at least as wide as src
#define CLCOOK_ND_COUNT char  // as wide as the key
#define CLCOOK_ND_ORDER 0     // of src: 0 unsigned, 1 signed, 2 float
#define CLCOOK_ND_PAD 1       // elements of a row that a work-item copies
#define CLCOOK_ND_CORRELATE   // which kernels: a program has those of one kind
#define CLCOOK_ND_UNIFORM
#define CLCOOK_ND_EXTREME
#define CLCOOK_ND_AXIS
#define CLCOOK_ND_FLAT
#define CLCOOK_ND_COPY
#define CLCOOK_ND_RANK
#define CLCOOK_ND_SELECT 9  // neighbours
#define CLCOOK_ND_NUMBER 4
#define CLCOOK_ND_FIRST  // keeps the neighbours up to the rank
#define CLCOOK_ND_SUM
#define CLCOOK_ND_RAISED
#endif
#ifndef CLCOOK_ND_VEC
#define CLCOOK_ND_VEC 1  // elements of a work-item that lie side by side: 4 or 16 on CPUs
#endif

#ifdef CLCOOK_ND_DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#pragma OPENCL FP_CONTRACT OFF

#include <clcook/halo.clh>

// Of an axis pass, and in front of its taps.
typedef struct {
  int n;         // elements of a line of src
  int n_out;     // and of dst
  int inner;     // elements between two of a line
  int before;    // the first neighbour of element x is x - before
  int size;      // neighbours, or the number of taps
  int span;      // from the first neighbour to the last, and one
  int border;    // CLCOOK_BORDER_...
  int symmetry;  // 1 taps that mirror, -1 with the other sign, 0 none
  int piece;     // outputs of a work-group or of a work-item, times inner with `along`
  int width;     // of a tile
  int unused[6];
} Pass;
// Of a pass over offsets; x is the last dimension, the one without gaps.
typedef struct {
  int n[4];       // w, z, y, x
  int before[4];  // of the border in the copy
  int padded[4];  // the sizes of the copy, rows with their gaps
  int border;
  int count;  // offsets
  int rank;
  int unused;
} Offsets;

// ---- types ----

#define CAT_(a, b) a##b
#define CAT(a, b) CAT_(a, b)
#if CLCOOK_ND_VEC == 1
#define V(type) type
#else
#define V(type) CAT(type, CLCOOK_ND_VEC)
#endif
typedef CLCOOK_ND_SRC Src;
typedef CLCOOK_ND_DST Dst;
#define CONVERT(type) CAT(convert_, V(type))
#if CLCOOK_ND_VEC == 1
#define STORE(value, p) (*(p) = (value))
#define STORE_HALF(value, p) vstore_half(value, 0, p)
#else
#define STORE(value, p) CAT(vstore, CLCOOK_ND_VEC)(value, 0, p)
#define STORE_HALF(value, p) CAT(vstore_half, CLCOOK_ND_VEC)(value, 0, p)
#endif

// ...At is a vector at the address of any element. vload16() is the same, but PoCL makes it of pairs of
// elements, in which its compiler then also adds.
#define ALIGNED_AS(type) __attribute__((aligned(sizeof(type))))

// Elements in registers: halfs are floats there.
#ifdef CLCOOK_ND_SRC_HALF
typedef float Value;
typedef V(float) Values;
#define VALUE float
#define LOAD_ONE(p) vload_half(0, p)
#if CLCOOK_ND_VEC == 1
#define LOAD_VALUES(p) vload_half(0, p)
#else
#define LOAD_VALUES(p) CAT(vload_half, CLCOOK_ND_VEC)(0, p)
#endif
#else
typedef Src Value;
typedef V(CLCOOK_ND_SRC) Values;
#define VALUE CLCOOK_ND_SRC
#define LOAD_ONE(p) (*(p))
#define LOAD_VALUES(p) (*(__global const ValuesAt*)(p))
#endif
typedef Values ValuesAt ALIGNED_AS(Value);

// ---- sums ----

#ifdef CLCOOK_ND_DOUBLE
typedef double Wide1;
typedef V(double) Wide;
#define WIDE1(x) ((double)(x))
#define WIDE(x) CONVERT(double)(x)
typedef Wide WideAt ALIGNED_AS(double);
#define LOAD_WIDE(p) (*(__local const WideAt*)(p))
#define WIDE_ADD(a, b) ((a) + (b))
#define WIDE_SUB(a, b) ((a) - (b))
#define WIDE_MUL(a, b) ((a) * (b))
#define WIDE_DIV(a, b) ((a) / (b))
#define WIDE_LESS(a, b) ((a) < (b))

// What x86 makes of a double that an integer cannot hold: its least value.
static inline Wide fitting(Wide a, double limit) {
  return fabs(a) < (Wide)limit ? a : (Wide)-limit;
}
static inline double fitting_one(double a, double limit) { return fabs(a) < limit ? a : -limit; }
#define INTS(a) CONVERT(int)(fitting(a, 0x1p31))
#define LONGS(a) CONVERT(long)(fitting(a, 0x1p63))
#if CLCOOK_ND_DST_KIND == 0  // a float; a half is made from one
#define NARROW(a) CONVERT(CLCOOK_ND_DST)(a)
#elif CLCOOK_ND_DST_KIND == 1  // an integer of at most 16 bits, or int
#define NARROW(a) CONVERT(CLCOOK_ND_DST)(INTS(a))
#elif CLCOOK_ND_DST_KIND == 2  // uint or long
#define NARROW(a) CONVERT(CLCOOK_ND_DST)(LONGS(a))
#else  // ulong, as x86 makes it of a double
#define NARROW(a)                                                                  \
  ((a) >= (Wide)0x1p63 ? CONVERT(ulong)(LONGS((a)-0x1p63)) ^ (V(ulong))(1ul << 63) \
                       : CONVERT(ulong)(LONGS(a)))
#endif
#define NARROW_FLOAT(a) CONVERT(float)(a)

#else  // two floats, the second below half an ulp of the first; only with vectors of one element
typedef float2 Wide1;
typedef float2 Wide;
#define LOAD_WIDE(p) (*(p))
static inline float2 wide_sum(float a, float b) {
  const float s = a + b;
  const float c = s - a;
  return (float2)(s, (a - (s - c)) + (b - c));
}
static inline float2 wide_quick(float a, float b) {
  const float s = a + b;
  return (float2)(s, b - (s - a));
}
static inline float2 WIDE_ADD(float2 a, float2 b) {
  const float2 s = wide_sum(a.x, b.x);
  const float2 t = wide_sum(a.y, b.y);
  const float2 u = wide_quick(s.x, s.y + t.x);
  const float2 v = wide_quick(u.x, u.y + t.y);
  return isfinite(s.x) ? v : (float2)(s.x, 0.0f);
}
static inline float2 WIDE_SUB(float2 a, float2 b) { return WIDE_ADD(a, -b); }
static inline float2 WIDE_MUL(float2 a, float2 b) {
  const float p = a.x * b.x;
  const float e = fma(a.x, b.x, -p) + (a.x * b.y + a.y * b.x);
  return isfinite(p) ? wide_quick(p, e) : (float2)(p, 0.0f);
}
static inline float2 WIDE_DIV(float2 a, float2 b) {
  const float q = a.x / b.x;
  if (!isfinite(q)) return (float2)(q, 0.0f);
  const float2 r = WIDE_SUB(a, WIDE_MUL((float2)(q, 0.0f), b));
  return wide_quick(q, r.x / b.x);
}
#define WIDE_LESS(a, b) ((a).x < (b).x || ((a).x == (b).x && (a).y < (b).y))
#ifdef CLCOOK_ND_SRC_FLOAT
#define WIDE1(x) ((float2)(x, 0.0f))
#else
static inline float2 WIDE1(long x) {
  const float high = (float)x;
  return (float2)(high, (float)(x - (long)high));
}
#endif
#define WIDE(x) WIDE1(x)
static inline long wide_cut(float2 a) {
  const float whole = rint(a.x);
  const float rest = (a.x - whole) + a.y;
  return (long)whole + (long)(whole > 0.0f ? floor(rest) : whole < 0.0f ? ceil(rest) : rest);
}
#if CLCOOK_ND_DST_KIND == 0
#define NARROW(a) ((Dst)((a).x + (a).y))
#else
#define NARROW(a) ((Dst)wide_cut(a))
#endif
#define NARROW_FLOAT(a) ((a).x + (a).y)
#endif

// Writes `count` of the sums of a vector, cut off or rounded to the type.
static inline void store_some(Wide a, __global Dst* to, int count) {
#ifdef CLCOOK_ND_DST_HALF
  const V(float) out = NARROW_FLOAT(a);
#define STORE_OUT STORE_HALF(out, to)
#define STORE_ONE(k, v) vstore_half(v, k, to)
  float one[CLCOOK_ND_VEC];
#else
  const V(CLCOOK_ND_DST) out = NARROW(a);
#define STORE_OUT STORE(out, to)
#define STORE_ONE(k, v) (to[k] = (v))
  Dst one[CLCOOK_ND_VEC];
#endif
  if (count >= CLCOOK_ND_VEC) {
    STORE_OUT;
    return;
  }
  STORE(out, one);
  for (int k = 0; k < count; ++k) STORE_ONE(k, one[k]);
#undef STORE_OUT
#undef STORE_ONE
}

// What stands behind the head of a table.
#define TAPS(p) ((__global const Wide1*)((p) + 1))

// The row of an axis that stands for row x; -1: the constant.
static inline int row_at(__global const Pass* p, int x) {
  const int n = p->n;
  // Less than a line beyond the ends nothing has to be divided.
  if (p->border == CLCOOK_BORDER_MIRROR && x >= -n && x < 2 * n)
    return x < 0 ? -1 - x : x < n ? x : 2 * n - 1 - x;
  return clcook_border(x, n, p->border);
}
// Of element e of a line; e may be negative.
static inline int row_of(int e, int inner) {
  return inner == 1 ? e : e < 0 ? -((inner - 1 - e) / inner) : e / inner;
}

// Loads a piece of a line with its neighbours. `to` is Wide1 or Src, OUTSIDE the constant.
#define FILL(TO, FROM, MANY, OUTSIDE)                                                         \
  {                                                                                           \
    /* The part inside, which a piece far out does not have. */                               \
    const int in_begin = clamp(-first, 0, all), in_end = clamp(row - first, in_begin, all);   \
    for (int i = lid; i < in_begin; i += items) {                                             \
      const int e = first + i;                                                                \
      const int x = row_of(e, inner);                                                         \
      const int at = row_at(p, x);                                                            \
      TO[i] = at < 0 ? OUTSIDE : FROM(src[at * inner + (e - x * inner)]);                     \
    }                                                                                         \
    const int many = (in_end - in_begin) / CLCOOK_ND_VEC * CLCOOK_ND_VEC;                     \
    for (int i = lid * CLCOOK_ND_VEC; i < many; i += items * CLCOOK_ND_VEC)                   \
      STORE(MANY(src + first + in_begin + i), TO + in_begin + i);                             \
    for (int i = in_begin + many + lid; i < in_end; i += items) TO[i] = FROM(src[first + i]); \
    for (int i = in_end + lid; i < all; i += items) {                                         \
      const int x = row_of(first + i, inner);                                                 \
      const int at = row_at(p, x);                                                            \
      TO[i] = at < 0 ? OUTSIDE : FROM(src[at * inner + (first + i - x * inner)]);             \
    }                                                                                         \
    barrier(CLK_LOCAL_MEM_FENCE);                                                             \
  }
// What all kernels `along` begin with: this group's piece of a line.
#define PIECE()                                                         \
  const int lid = (int)get_local_id(0), items = (int)get_local_size(0); \
  const int inner = p->inner, size = p->size;                           \
  const int row = p->n * inner, row_out = p->n_out * inner;             \
  const int pieces = (row_out + p->piece - 1) / p->piece;               \
  const int at = (int)(get_group_id(0) % (uint)pieces);                 \
  const long of = (long)(get_group_id(0) / (uint)pieces);               \
  const int begin = at * p->piece;                                      \
  const int count = min(p->piece, row_out - begin);                     \
  const int first = begin - p->before * inner;                          \
  const int all = count + (p->span - 1) * inner;                        \
  src += of * row;                                                      \
  dst += of * row_out + begin;

// What all kernels `across` begin with: a vector of lines. The last vector of a row overlaps its
// neighbour, and both write the same values.
#define COLUMNS()                                                         \
  const int inner = p->inner, size = p->size;                             \
  int c = (int)get_global_id(0) * CLCOOK_ND_VEC;                          \
  if (c >= inner || (int)get_global_id(1) * p->piece >= p->n_out) return; \
  c = min(c, inner - CLCOOK_ND_VEC);                                      \
  src += (long)get_global_id(2) * p->n * inner + c;                       \
  dst += (long)get_global_id(2) * p->n_out * inner + c;

// ---- sums along an axis ----

#if defined CLCOOK_ND_CORRELATE || defined CLCOOK_ND_UNIFORM
#ifdef CLCOOK_ND_SRC_HALF
#define WIDE_AT(p) WIDE1(vload_half(0, &(p)))
#else
#define WIDE_AT(p) WIDE1(p)
#endif
#define WIDE_MANY(p) WIDE(LOAD_VALUES(p))

static inline Wide across_at(__global const Src* src, __global const Pass* p, int x) {
  const int at = row_at(p, x);
  const Wide outside = (Wide)(TAPS(p)[0]);
  return at < 0 ? outside : WIDE(LOAD_VALUES(src + (long)at * p->inner));
}
#endif

#ifdef CLCOOK_ND_CORRELATE
// The sum of size taps times what AT(j), the neighbour j, is.
#define SUM(AT)                                                                           \
  const int middle = size / 2;                                                            \
  Wide a;                                                                                 \
  if (p->symmetry > 0) {                                                                  \
    a = WIDE_MUL(AT(middle), (Wide)(taps[middle]));                                       \
    for (int j = 0; j < middle; ++j)                                                      \
      a = WIDE_ADD(a, WIDE_MUL(WIDE_ADD(AT(j), AT(size - 1 - j)), (Wide)(taps[j])));      \
  } else if (p->symmetry < 0) {                                                           \
    a = WIDE_MUL(AT(middle), (Wide)(taps[middle]));                                       \
    for (int j = 0; j < middle; ++j)                                                      \
      a = WIDE_ADD(a, WIDE_MUL(WIDE_SUB(AT(j), AT(size - 1 - j)), (Wide)(taps[j])));      \
  } else {                                                                                \
    a = WIDE_MUL(AT(size - 1), (Wide)(taps[size - 1]));                                   \
    for (int j = 0; j < size - 1; ++j) a = WIDE_ADD(a, WIDE_MUL(AT(j), (Wide)(taps[j]))); \
  }

__kernel void ndimage_correlate_along(__global const Src* src, __global Dst* dst,
                                      __global const Pass* p, __local Wide1* line) {
  __global const Wide1* taps = TAPS(p) + 1;
  PIECE()
  FILL(line, WIDE_AT, WIDE_MANY, TAPS(p)[0])
  for (int i = lid * CLCOOK_ND_VEC; i < count; i += items * CLCOOK_ND_VEC) {
#define AT(j) LOAD_WIDE(line + i + (j)*inner)
    SUM(AT)
#undef AT
    store_some(a, dst + i, count - i);
  }
}

// The same across lines, of a tile of `width` lines in local memory: for CPUs, whose caches do not like
// columns of power-of-two rows.
__kernel void ndimage_correlate_tile(__global const Src* src, __global Dst* dst,
                                     __global const Pass* p, __local Wide1* tile) {
  __global const Wide1* taps = TAPS(p) + 1;
  const int lid = (int)get_local_id(0), items = (int)get_local_size(0);
  const int inner = p->inner, size = p->size, width = p->width;
  const uint columns = (uint)((inner + width - 1) / width);
  const uint pieces = (uint)((p->n_out + p->piece - 1) / p->piece);
  const uint group = (uint)get_group_id(0);
  const int begin = (int)(group / columns % pieces) * p->piece;
  const int rows = min(p->piece, p->n_out - begin);
  // The last tile of a row overlaps its neighbour, and both write the same values.
  const int column = min((int)(group % columns) * width, inner - width);
  src += (long)(group / columns / pieces) * p->n * inner + column;
  dst += ((long)(group / columns / pieces) * p->n_out + begin) * inner + column;
  for (int y = 0; y < rows + size - 1; ++y) {
    const int at = row_at(p, begin - p->before + y);
    for (int x = lid * CLCOOK_ND_VEC; x < width; x += items * CLCOOK_ND_VEC) {
      const Wide v = at < 0 ? (Wide)(TAPS(p)[0]) : WIDE_MANY(src + (long)at * inner + x);
      STORE(v, tile + y * width + x);
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = lid * CLCOOK_ND_VEC; i < rows * width; i += items * CLCOOK_ND_VEC) {
#define AT(j) LOAD_WIDE(tile + i + (j)*width)
    SUM(AT)
#undef AT
    store_some(a, dst + (long)(i / width) * inner + i % width, CLCOOK_ND_VEC);
  }
}

__kernel void ndimage_correlate_across(__global const Src* src, __global Dst* dst,
                                       __global const Pass* p) {
  __global const Wide1* taps = TAPS(p) + 1;
  COLUMNS()
  const int x = (int)get_global_id(1);
  const int first = x - p->before;
  dst += (long)x * inner;
  if (first >= 0 && first + size <= p->n) {
    src += (long)first * inner;
#define AT(j) WIDE(LOAD_VALUES(src + (long)(j)*inner))
    SUM(AT)
#undef AT
    store_some(a, dst, CLCOOK_ND_VEC);
  } else {
#define AT(j) across_at(src, p, first + (j))
    SUM(AT)
#undef AT
    store_some(a, dst, CLCOOK_ND_VEC);
  }
}
#endif

#ifdef CLCOOK_ND_UNIFORM
// Means by running sums, each of which begins with a whole window: those of integers are exact.
__kernel void ndimage_uniform_along(__global const Src* src, __global Dst* dst,
                                    __global const Pass* p, __local Wide1* line) {
  PIECE()
  FILL(line, WIDE_AT, WIDE_MANY, TAPS(p)[0])
  const Wide1 divisor = TAPS(p)[1];
#if CLCOOK_ND_VEC > 1
  // Short windows are added up in vectors: a running sum takes its elements one by one.
  if (size <= 16) {
    for (int i = lid * CLCOOK_ND_VEC; i < count; i += items * CLCOOK_ND_VEC) {
      Wide a = LOAD_WIDE(line + i);
      for (int j = 1; j < size; ++j) a = WIDE_ADD(a, LOAD_WIDE(line + i + j * inner));
      store_some(WIDE_DIV(a, (Wide)(divisor)), dst + i, count - i);
    }
    return;
  }
#endif
  // A work-item has an element of `inner` of some of the piece.
  const int runs = items / inner > 0 ? items / inner : 1;
  const int steps = (count / inner + runs - 1) / runs;
  for (int k = lid; k < runs * inner; k += items) {
    const int begins = k / inner * steps * inner + k % inner;
    const int ends = min(begins + steps * inner, count);
    if (begins >= ends) continue;
    Wide1 a = line[begins];
    for (int j = 1; j < size; ++j) a = WIDE_ADD(a, line[begins + j * inner]);
    for (int i = begins; i < ends; i += inner) {
      if (i > begins) a = WIDE_ADD(a, WIDE_SUB(line[i + (size - 1) * inner], line[i - inner]));
      const Wide1 mean = WIDE_DIV(a, divisor);
#ifdef CLCOOK_ND_DST_HALF
#ifdef CLCOOK_ND_DOUBLE
      vstore_half((float)mean, i, dst);
#else
      vstore_half(mean.x + mean.y, i, dst);
#endif
#elif defined CLCOOK_ND_DOUBLE && CLCOOK_ND_DST_KIND == 1
      dst[i] = (Dst)(int)fitting_one(mean, 0x1p31);
#elif defined CLCOOK_ND_DOUBLE && CLCOOK_ND_DST_KIND == 2
      dst[i] = (Dst)(long)fitting_one(mean, 0x1p63);
#elif defined CLCOOK_ND_DOUBLE && CLCOOK_ND_DST_KIND == 3
      dst[i] = mean >= 0x1p63 ? (ulong)(long)fitting_one(mean - 0x1p63, 0x1p63) ^ (1ul << 63)
                              : (ulong)(long)fitting_one(mean, 0x1p63);
#elif defined CLCOOK_ND_DOUBLE
      dst[i] = (Dst)mean;
#else
      dst[i] = NARROW(mean);
#endif
    }
  }
}

__kernel void ndimage_uniform_across(__global const Src* src, __global Dst* dst,
                                     __global const Pass* p) {
  COLUMNS()
  const Wide divisor = (Wide)(TAPS(p)[1]);
  const int begins = (int)get_global_id(1) * p->piece;
  const int ends = min(begins + p->piece, p->n);
  const int first = begins - p->before;
  Wide a = across_at(src, p, first);
  for (int j = 1; j < size; ++j) a = WIDE_ADD(a, across_at(src, p, first + j));
  for (int x = begins; x < ends; ++x) {
    if (x > begins)
      a = WIDE_ADD(a, WIDE_SUB(across_at(src, p, x - p->before + size - 1),
                               across_at(src, p, x - p->before - 1)));
    store_some(WIDE_DIV(a, divisor), dst + (long)x * inner, CLCOOK_ND_VEC);
  }
}
#endif

// ---- extremes along an axis ----

#ifdef CLCOOK_ND_EXTREME
#ifdef CLCOOK_ND_MINIMUM
#define BETTER(a, b) ((b) < (a) ? (b) : (a))
#else
#define BETTER(a, b) ((a) < (b) ? (b) : (a))
#endif
#ifdef CLCOOK_ND_SRC_HALF
#define STORE_VALUES(v, p) STORE_HALF(v, p)
#define STORE_VALUE(v, p) vstore_half(v, 0, p)
#else
#define STORE_VALUES(v, p) STORE(v, p)
#define STORE_VALUE(v, p) (*(p) = (v))
#endif
// Behind the head of an axis pass: the constant, in 8 bytes, and an offset for each tap, in elements of the
// line; of a pass over offsets the same.
#define OUTSIDE(p) LOAD_ONE((__global const Src*)((p) + 1))
#define PLACES(p) ((__global const int*)((p) + 1) + 2)
#define VALUE_AT(p) LOAD_ONE(&(p))

#ifdef CLCOOK_ND_AXIS
__kernel void ndimage_extreme_along(__global const Src* src, __global Src* dst,
                                    __global const Pass* p, __local Value* line) {
  __global const int* places = PLACES(p);
  PIECE()
  FILL(line, VALUE_AT, LOAD_VALUES, OUTSIDE(p))
  for (int i = lid * CLCOOK_ND_VEC; i < count; i += items * CLCOOK_ND_VEC) {
    Values a = *(__local const ValuesAt*)(line + i);
    for (int j = 1; j < size; ++j) {
      const Values b = *(__local const ValuesAt*)(line + i + places[j] * inner);
      a = BETTER(a, b);
    }
    if (count - i >= CLCOOK_ND_VEC) {
      STORE_VALUES(a, dst + i);
    } else {
      Value one[CLCOOK_ND_VEC];
      STORE(a, one);
      for (int k = 0; k < count - i; ++k) STORE_VALUE(one[k], dst + i + k);
    }
  }
}

__kernel void ndimage_extreme_across(__global const Src* src, __global Src* dst,
                                     __global const Pass* p) {
  __global const int* places = PLACES(p);
  COLUMNS()
  const int x = (int)get_global_id(1);
  const int first = x - p->before;
  dst += (long)x * inner;
  Values a;
  if (first >= 0 && first + p->span <= p->n) {
    src += (long)first * inner;
    a = LOAD_VALUES(src);
    for (int j = 1; j < size; ++j) {
      const Values b = LOAD_VALUES(src + (long)places[j] * inner);
      a = BETTER(a, b);
    }
  } else {
    const Values outside = (Values)(OUTSIDE(p));
    for (int j = 0; j < size; ++j) {
      const int at = row_at(p, first + places[j]);
      const Values b = at < 0 ? outside : LOAD_VALUES(src + (long)at * inner);
      a = j == 0 ? b : BETTER(a, b);
    }
  }
  STORE_VALUES(a, dst);
}
#endif
#endif

// ---- over a list of offsets ----

#if defined CLCOOK_ND_COPY || defined CLCOOK_ND_RANK || defined CLCOOK_ND_SELECT
// Src is unsigned, the bits of an element. Keys are in the order of the elements.
typedef CLCOOK_ND_KEY Key;
typedef V(CLCOOK_ND_KEY) Keys;
typedef Keys KeysAt ALIGNED_AS(Key);
#define LOAD_KEYS(p) (*(__global const KeysAt*)(p))
#define TOP ((Key)((Key)1 << (8 * sizeof(Src) - 1)))
#if CLCOOK_ND_ORDER == 0
#define KEY(x) ((Key)(x))
#define BITS(k) ((Src)(k))
#elif CLCOOK_ND_ORDER == 1
#define KEY(x) ((Key)((Key)(x) ^ TOP))
#define BITS(k) ((Src)((k) ^ TOP))
#else
#define KEY(x) ((Key)((Key)(x)&TOP ? ~(Key)(x) : (Key)(x) | TOP))
#define BITS(k) ((Src)((k)&TOP ? (k) ^ TOP : ~(k)))
#endif
#endif

#ifdef CLCOOK_ND_COPY
// The copy with its borders.
__kernel void ndimage_pad(__global const Src* src, __global Key* dst, __global const Offsets* p) {
  const int begin = (int)get_global_id(0) * CLCOOK_ND_PAD;
  const int y = (int)get_global_id(1);
  const int zw = (int)get_global_id(2);
  const int z = zw % p->padded[1], w = zw / p->padded[1];
  const int width = p->padded[3], n = p->n[3];
  if (begin >= width || y >= p->padded[2]) return;
  const int aw = clcook_border(w - p->before[0], p->n[0], p->border);
  const int az = clcook_border(z - p->before[1], p->n[1], p->border);
  const int ay = clcook_border(y - p->before[2], p->n[2], p->border);
  const Key outside = KEY(*(__global const Src*)(p + 1));
  src += (((long)aw * p->n[1] + az) * p->n[2] + ay) * n;
  dst += (((long)w * p->padded[1] + z) * p->padded[2] + y) * width;
  const int end = min(begin + CLCOOK_ND_PAD, width);
  if (aw < 0 || az < 0 || ay < 0) {
    for (int i = begin; i < end; ++i) dst[i] = outside;
    return;
  }
  const int before = p->before[3];
  int i = begin;
  for (; i < min(end, before); ++i) {
    const int at = clcook_border(i - before, n, p->border);
    dst[i] = at < 0 ? outside : KEY(src[at]);
  }
  for (; i < min(end, before + n); ++i) dst[i] = KEY(src[i - before]);
  for (; i < end; ++i) {
    const int at = clcook_border(i - before, n, p->border);
    dst[i] = at < 0 ? outside : KEY(src[at]);
  }
}
#endif

// Behind the head: the constant in 8 bytes, where the neighbours lie in the copy, and from the next
// multiple of 8 bytes on a factor or height for each.
#define PLACE(p, j) (((__global const int*)((p) + 1))[2 + (j)])
#define FACTORS(p) \
  ((__global const Wide1*)((__global const int*)((p) + 1) + 2 + ((p)->count + 1) / 2 * 2))

// Where a work-item's vector lies in the copy and in dst, and how much of it is there.
#define VECTOR(many)                                                           \
  const int x = (int)get_global_id(0) * (many)*CLCOOK_ND_VEC;                  \
  const int y = (int)get_global_id(1);                                         \
  const int zw = (int)get_global_id(2);                                        \
  const int z = zw % p->n[1], w = zw / p->n[1];                                \
  const int count = min((many)*CLCOOK_ND_VEC, p->n[3] - x);                    \
  if (count <= 0 || y >= p->n[2]) return;                                      \
  src += (((long)w * p->padded[1] + z) * p->padded[2] + y) * p->padded[3] + x; \
  dst += ((long)zw * p->n[2] + y) * p->n[3] + x;

#ifdef CLCOOK_ND_RANK
// The element with that rank, bit by bit from the top: the largest key that at most `rank` neighbours
// are below. A work-item has two vectors, for which it reads an offset once.
__kernel void ndimage_rank(__global const Key* src, __global Src* dst, __global const Offsets* p) {
  VECTOR(2)
  typedef V(CLCOOK_ND_COUNT) Counts;
  const Counts most = (Counts)((CLCOOK_ND_COUNT)-p->rank);
  Keys found[2] = {(Keys)(Key)0, (Keys)(Key)0};
  for (int bit = 8 * (int)sizeof(Src) - 1; bit >= 0; --bit) {
    const Keys mask = (Keys)(Key)((Key)1 << bit);
    const Keys next0 = found[0] | mask, next1 = found[1] | mask;
    Counts below0 = (Counts)(CLCOOK_ND_COUNT)0, below1 = below0;
    for (int j = 0; j < p->count; ++j) {
      __global const Key* at = src + PLACE(p, j);
#if CLCOOK_ND_VEC == 1
      below0 -= at[0] < next0;
      below1 -= at[1] < next1;
#else
      below0 += LOAD_KEYS(at) < next0;
      below1 += LOAD_KEYS(at + CLCOOK_ND_VEC) < next1;
#endif
    }
    found[0] = below0 >= most ? next0 : found[0];
    found[1] = below1 >= most ? next1 : found[1];
  }
  Key one[2 * CLCOOK_ND_VEC];
  STORE(found[0], one);
  STORE(found[1], one + CLCOOK_ND_VEC);
  for (int k = 0; k < count; ++k) dst[k] = BITS(one[k]);
}
#endif

#ifdef CLCOOK_ND_SELECT
// The same for a count and a rank that the compiler knows, in registers. LOWER neighbours are before it,
// counted from the nearer end.
#define COUNT CLCOOK_ND_SELECT
#if 2 * CLCOOK_ND_NUMBER < COUNT
#define LOWER CLCOOK_ND_NUMBER
#define END ((Key) ~(Key)0)
#define ORDER(a, b)   \
  {                   \
    const Keys t = a; \
    a = min(t, b);    \
    b = max(t, b);    \
  }
#else  // from the other end
#define LOWER (COUNT - 1 - CLCOOK_ND_NUMBER)
#define END ((Key)0)
#define ORDER(a, b)   \
  {                   \
    const Keys t = a; \
    a = max(t, b);    \
    b = min(t, b);    \
  }
#endif

#ifdef CLCOOK_ND_FIRST
// Keeps the first LOWER + 1 of the neighbours in order.
static inline Keys select_one(__global const Key* src, __global const Offsets* p) {
  Keys v[LOWER + 1];
#pragma unroll
  for (int i = 0; i <= LOWER; ++i) v[i] = (Keys)END;
  for (int j = 0; j < COUNT; ++j) {
    Keys next = LOAD_KEYS(src + PLACE(p, j));
#pragma unroll
    for (int i = 0; i <= LOWER; ++i) ORDER(v[i], next)
  }
  return v[LOWER];
}
#else
// Of the neighbours seen so far the first and the last are dropped as long as neither can be the one, and
// the next takes their place.
#define HELD (COUNT - LOWER + 1)
static inline Keys select_one(__global const Key* src, __global const Offsets* p) {
  Keys v[HELD];
#pragma unroll
  for (int j = 0; j < HELD; ++j) v[j] = LOAD_KEYS(src + PLACE(p, j));
#pragma unroll
  for (int s = 0; s < LOWER; ++s) {
    const int k = HELD - s;
#pragma unroll
    for (int i = 0; i < k / 2; ++i) ORDER(v[i], v[k - 1 - i])
#pragma unroll
    for (int i = 1; i < (k + 1) / 2; ++i) ORDER(v[0], v[i])
#pragma unroll
    for (int i = k / 2; i < k - 1; ++i) ORDER(v[i], v[k - 1])
    if (s < LOWER - 1) v[0] = LOAD_KEYS(src + PLACE(p, HELD + s));
  }
  // Of those that are left, without v[0] and the last, the first.
#pragma unroll
  for (int i = 2; i < HELD - LOWER; ++i) ORDER(v[1], v[i])
  return v[1];
}
#endif

__kernel void ndimage_select(__global const Key* src, __global Src* dst,
                             __global const Offsets* p) {
  VECTOR(1)
  const Keys found = select_one(src, p);
#if CLCOOK_ND_VEC == 1
  *dst = BITS(found);
#else
  Key one[CLCOOK_ND_VEC];
  STORE(found, one);
  for (int k = 0; k < count; ++k) dst[k] = BITS(one[k]);
#endif
}
#endif

#ifdef CLCOOK_ND_FLAT
__kernel void ndimage_extreme(__global const Src* src, __global Src* dst,
                              __global const Offsets* p) {
  VECTOR(1)
  Values a = LOAD_VALUES(src + PLACE(p, 0));
  for (int j = 1; j < p->count; ++j) {
    const Values b = LOAD_VALUES(src + PLACE(p, j));
    a = BETTER(a, b);
  }
  Value one[CLCOOK_ND_VEC];
  STORE(a, one);
  for (int k = 0; k < count; ++k) STORE_VALUE(one[k], dst + k);
}
#endif

#ifdef CLCOOK_ND_SUM
// Factors times neighbours.
__kernel void ndimage_sum(__global const Src* src, __global Dst* dst, __global const Offsets* p) {
  VECTOR(1)
  Wide a = WIDE_MUL(WIDE(LOAD_VALUES(src + PLACE(p, 0))), (Wide)(FACTORS(p)[0]));
  for (int j = 1; j < p->count; ++j) {
    const Wide b = WIDE(LOAD_VALUES(src + PLACE(p, j)));
    a = WIDE_ADD(a, WIDE_MUL(b, (Wide)(FACTORS(p)[j])));
  }
  store_some(a, dst, count);
}
#endif

#ifdef CLCOOK_ND_RAISED
#ifdef CLCOOK_ND_MINIMUM
#define WIDE_BETTER(a, b) (WIDE_LESS(b, a) ? (b) : (a))
#else
#define WIDE_BETTER(a, b) (WIDE_LESS(a, b) ? (b) : (a))
#endif
// The best of neighbours and heights: the first as a double, the others in the type of src, as SciPy
// has it. The heights are typed but for the first.
__kernel void ndimage_raised(__global const Src* src, __global Dst* dst,
                             __global const Offsets* p) {
  VECTOR(1)
  __global const Value* heights = (__global const Value*)(FACTORS(p) + 1);
  Wide a = WIDE_ADD(WIDE(LOAD_VALUES(src + PLACE(p, 0))), (Wide)(FACTORS(p)[0]));
  for (int j = 1; j < p->count; ++j) {
    const Values b = LOAD_VALUES(src + PLACE(p, j)) + (Values)(heights[j]);
    const Wide wide = WIDE(b);
    a = WIDE_BETTER(a, wide);
  }
  store_some(a, dst, count);
}
#endif
