// NVIDIA Performance Primitives on 4-channel float and 1-channel float pictures, borders repeated.
// 0: FilterMedianBorder, 1: FilterMaxBorder, 2: DilateBorder; 3: FilterRowBorder, then
// FilterColumnBorder, of floats or bytes; FilterMedianBorder of 4: bytes, 5: 4 channels of bytes, 6:
// 16 bits; 7: FilterMaxBorder of bytes. shape: width, height, side of the mask or number of taps,
// channels, bytes of an integer or 0 for floats; for 3 the taps follow.
#include <nppcore.h>
#ifndef WITHOUT_NPPIF
#include <nppi_filtering_functions.h>
#endif
#ifndef WITHOUT_NPPIM
#include <nppi_morphological_operations.h>
#endif

#include "peer.cuh"

static NppStreamContext stream_context;
static Npp8u* scratch;
static void* between;
static Npp32f* taps;

static int number(int i) { return static_cast<int>(shape[i]); }
static NppiSize size() { return {number(0), number(1)}; }
static NppiSize mask() { return {number(2), number(2)}; }
static NppiPoint anchor() { return {number(2) / 2, number(2) / 2}; }
static int step() { return number(0) * number(3) * (number(4) != 0 ? number(4) : 4); }

static void check_npp(NppStatus status) {
  if (status < NPP_NO_ERROR && wrong.empty())
    wrong = "NPP status " + std::to_string(static_cast<int>(status));
}

static void prepare() {
  int device = 0;
  check(cudaGetDevice(&device));
  cudaDeviceProp about{};
  check(cudaGetDeviceProperties(&about, device));
  stream_context = {};
  stream_context.nCudaDeviceId = device;
  stream_context.nMultiProcessorCount = about.multiProcessorCount;
  stream_context.nMaxThreadsPerMultiProcessor = about.maxThreadsPerMultiProcessor;
  stream_context.nMaxThreadsPerBlock = about.maxThreadsPerBlock;
  stream_context.nSharedMemPerBlock = about.sharedMemPerBlock;
  stream_context.nCudaDevAttrComputeCapabilityMajor = about.major;
  stream_context.nCudaDevAttrComputeCapabilityMinor = about.minor;
#ifndef WITHOUT_NPPIF
  if (which == 0) {
    Npp32u bytes = 0;
    check_npp(nppiFilterMedianBorderGetBufferSize_32f_C1R_Ctx(size(), mask(), &bytes,
                                                              NPP_BORDER_REPLICATE,
                                                              stream_context));
    scratch = static_cast<Npp8u*>(allocate(bytes));
  }
  if (which >= 4 && which <= 6) {
    Npp32u bytes = 0;
    const auto ask = which == 4   ? nppiFilterMedianBorderGetBufferSize_8u_C1R_Ctx
                     : which == 5 ? nppiFilterMedianBorderGetBufferSize_8u_C4R_Ctx
                                  : nppiFilterMedianBorderGetBufferSize_16u_C1R_Ctx;
    check_npp(ask(size(), mask(), &bytes, NPP_BORDER_REPLICATE, stream_context));
    if (bytes != 0) scratch = static_cast<Npp8u*>(allocate(bytes));
  }
#else
  if (which != 2) wrong = "libnppif is not installed";
#endif
  if (which == 2) {
    const std::vector<Npp8u> ones(static_cast<std::size_t>(number(2)) * number(2), 1);
    scratch = static_cast<Npp8u*>(allocate(ones.size()));
    check(cudaMemcpy(scratch, ones.data(), ones.size(), cudaMemcpyHostToDevice));
#ifdef WITHOUT_NPPIM
    wrong = "libnppim is not installed";
#endif
  }
  if (which == 3) {
    between = allocate(in_bytes[0]);
    std::vector<Npp32f> values(number(2));
    for (int i = 0; i < number(2); ++i) values[i] = static_cast<Npp32f>(shape[5 + i]);
    taps = static_cast<Npp32f*>(allocate(values.size() * sizeof values[0]));
    check(cudaMemcpy(taps, values.data(), values.size() * sizeof values[0],
                     cudaMemcpyHostToDevice));
  }
}

static void call() {
  const NppiBorderType border = NPP_BORDER_REPLICATE;
  const NppiPoint origin{0, 0};
  const auto* src = static_cast<const Npp32f*>(in[0]);
  auto* dst = static_cast<Npp32f*>(out[0]);
#ifndef WITHOUT_NPPIF
  if (which == 0) {
    check_npp(nppiFilterMedianBorder_32f_C1R_Ctx(src, step(), size(), origin, dst, step(), size(),
                                                 mask(), anchor(), scratch, border,
                                                 stream_context));
  } else if (which == 1) {
    check_npp(nppiFilterMaxBorder_32f_C4R_Ctx(src, step(), size(), origin, dst, step(), size(),
                                              mask(), anchor(), border, stream_context));
  } else if (which == 3 && number(4) == 0) {
    auto* middle = static_cast<Npp32f*>(between);
    check_npp(nppiFilterRowBorder_32f_C4R_Ctx(src, step(), size(), origin, middle, step(), size(),
                                              taps, number(2), number(2) / 2, border,
                                              stream_context));
    check_npp(nppiFilterColumnBorder_32f_C4R_Ctx(middle, step(), size(), origin, dst, step(),
                                                 size(), taps, number(2), number(2) / 2, border,
                                                 stream_context));
  } else if (which == 4 || which == 5) {
    const auto median = which == 4 ? nppiFilterMedianBorder_8u_C1R_Ctx
                                   : nppiFilterMedianBorder_8u_C4R_Ctx;
    check_npp(median(static_cast<const Npp8u*>(in[0]), step(), size(), origin,
                     static_cast<Npp8u*>(out[0]), step(), size(), mask(), anchor(), scratch,
                     border, stream_context));
  } else if (which == 6) {
    check_npp(nppiFilterMedianBorder_16u_C1R_Ctx(
        static_cast<const Npp16u*>(in[0]), step(), size(), origin, static_cast<Npp16u*>(out[0]),
        step(), size(), mask(), anchor(), scratch, border, stream_context));
  } else if (which == 7) {
    check_npp(nppiFilterMaxBorder_8u_C1R_Ctx(
        static_cast<const Npp8u*>(in[0]), step(), size(), origin, static_cast<Npp8u*>(out[0]),
        step(), size(), mask(), anchor(), border, stream_context));
  } else if (which == 3) {
    const auto* bytes = static_cast<const Npp8u*>(in[0]);
    auto* middle = static_cast<Npp8u*>(between);
    check_npp(nppiFilterRowBorder32f_8u_C4R_Ctx(bytes, step(), size(), origin, middle, step(),
                                                size(), taps, number(2), number(2) / 2, border,
                                                stream_context));
    check_npp(nppiFilterColumnBorder32f_8u_C4R_Ctx(
        middle, step(), size(), origin, static_cast<Npp8u*>(out[0]), step(), size(), taps,
        number(2), number(2) / 2, border, stream_context));
  }
#endif
#ifndef WITHOUT_NPPIM
  if (which == 2) {
    check_npp(nppiDilateBorder_32f_C4R_Ctx(src, step(), size(), origin, dst, step(), size(),
                                           scratch, mask(), anchor(), border, stream_context));
  }
#endif
}
