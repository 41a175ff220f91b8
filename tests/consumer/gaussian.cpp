// Blurs one bright pixel; the sum stays, the pixel does not.
#include <clcook/gaussian_blur.hpp>
#if __cplusplus >= 202002L
#include <clcook/clcook.hpp>
#endif
#include <cmath>
#include <cstdio>
#include <exception>
#include <vector>

#if defined(EXPECT_COMPILED) && (!defined(CLCOOK_COMPILED) || CLCOOK_DEFINITIONS)
#error "clcook::clcook does not say that the definitions are elsewhere"
#endif

// The name of main() where it is a part of a larger program.
#ifndef CONSUMER_MAIN
#define CONSUMER_MAIN main
#endif
int CONSUMER_MAIN();

#if __cplusplus >= 202002L
// Problems are made by name. Sizes are ints, or what a program has them as.
namespace {
using clcook::PixelType;
constexpr int kWide = 64;
constexpr unsigned kHigh = 48;
[[maybe_unused]] const clcook::GaussianBlur::Problem kSoft{
    .width = kWide, .height = kHigh, .sigma_x = 2, .sigma_y = 2, .pixel = PixelType::rgb8};
[[maybe_unused]] const clcook::SeparableFilter::Problem kEdges{
    .width = kWide, .height = kHigh, .taps_x = {-1, 0, 1}, .pixel = PixelType::r32f};
[[maybe_unused]] const clcook::RankFilter::Problem kMedian{
    .width = kWide, .height = kHigh, .radius = 2, .pixel = PixelType::rgb8};
[[maybe_unused]] const clcook::HaloTile::Problem kGrown{
    .width = kWide, .height = kHigh, .radius = 2, .pixel = PixelType::rgb8};
[[maybe_unused]] const clcook::LineBlur::Problem kLine{
    .width = kWide, .height = kHigh, .radius = 2, .pixel = PixelType::rgb8};
[[maybe_unused]] const clcook::StreamCompaction::Problem kBright{
    .width = kWide, .height = kHigh, .pixel = PixelType::rgb8};
[[maybe_unused]] const clcook::Bc6hDecode::Problem kTexture{.width = kWide, .height = kHigh};
[[maybe_unused]] const clcook::GroupSwizzle::Problem kOrder{.width = kWide, .height = kHigh};
[[maybe_unused]] const clcook::ThresholdCount::Problem kCounted{.count = 4};
[[maybe_unused]] const clcook::FoldedSwitch::Problem kPatches{.vertices = 4};
[[maybe_unused]] const clcook::GbufferShade::Problem kShaded{.texels = 4};
[[maybe_unused]] const clcook::LocalMultipass::Problem kIslands{.islands = 4};
}  // namespace
#endif

int CONSUMER_MAIN() {
  try {
    const clcook::Runtime runtime = clcook::Runtime::pick();
    const int size = 33;
    std::vector<float> picture(4 * size * size, 0.0f);
    picture[4 * (16 * size + 16)] = 1;
    const std::size_t bytes = picture.size() * sizeof(float);
    const cl::Buffer src = clcook::create_buffer(runtime, bytes, CL_MEM_READ_WRITE, picture.data());
    const cl::Buffer dst = clcook::create_buffer(runtime, bytes);
    const clcook::GaussianBlur blur{runtime, {size, size, 2.0, 2.0}};
    const cl::Event done = blur(src, dst);
    const cl_event wait = done();
    clcook::check(clEnqueueReadBuffer(runtime.queue()(), dst(), CL_TRUE, 0, bytes, picture.data(),
                                      1, &wait, nullptr),
                  "clEnqueueReadBuffer");
    double sum = 0;
    for (const float value : picture) sum += static_cast<double>(value);
    const double middle = static_cast<double>(picture[4 * (16 * size + 16)]);
    // The middle weight is about 1 / (2 pi sigma^2) = 0.0398.
    const bool good = std::abs(sum - 1) < 1e-5 && std::abs(middle - 0.0398) < 1e-3;
    std::printf("%s: sum %g, middle %g\n", blur.describe().c_str(), sum, middle);
    return good ? 0 : 1;
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
    return 1;
  }
}
