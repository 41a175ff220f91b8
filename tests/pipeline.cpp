// Operations composed: a texture decoded, blurred, dilated and listed on the device, in one queue,
// with events alone. Each stage is held against its scalar reference of what the stage before left.
#include <doctest/doctest.h>

#include <array>
#include <clcook/bc6h_decode.hpp>
#include <clcook/core/half.hpp>
#include <clcook/gaussian_blur.hpp>
#include <clcook/halo_tile.hpp>
#include <clcook/reference/bc6h_decode.hpp>
#include <clcook/reference/gaussian_blur.hpp>
#include <clcook/reference/halo_tile.hpp>
#include <clcook/reference/stream_compaction.hpp>
#include <clcook/registry/conformance.hpp>
#include <clcook/registry/pixels.hpp>
#include <clcook/registry/random.hpp>
#include <clcook/stream_compaction.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

#include "support/grid.hpp"
#include "support/testing.hpp"

namespace {

namespace ref = clcook::reference;
using namespace clcook;
using namespace clcook::testing;

constexpr int kWidth = 93;
constexpr int kHeight = 61;
constexpr std::size_t kPixels = std::size_t{kWidth} * kHeight;
constexpr std::size_t kBlocks = std::size_t{24} * 16;

// The part of the decoded picture that is blurred, at its pitch.
constexpr int kLeft = 5;
constexpr int kTop = 7;
constexpr int kPartWidth = 70;
constexpr int kPartHeight = 41;
constexpr std::size_t kPart = std::size_t{kPartWidth} * kPartHeight;

// Queues to run in: in order, and out of order where the device has such a queue.
std::vector<Runtime> runtimes() {
  std::vector<Runtime> out{runtime()};
  if (const auto other_queue = out_of_order_runtime(runtime())) out.push_back(*other_queue);
  return out;
}

std::vector<unsigned char> random_blocks() {
  clcook::Random random(11);
  std::vector<unsigned char> out(kBlocks * 16);
  for (unsigned char& byte : out) byte = static_cast<unsigned char>(random.bits());
  return out;
}

// The channels of a buffer as floats.
std::vector<float> values(const Runtime& rt, const cl::Buffer& buffer, Channel channel,
                          std::size_t pixels, const cl::Event& after) {
  const std::size_t count = pixels * 4;
  const auto bytes =
      read_buffer<unsigned char>(rt, buffer, count * clcook::channel_bytes(channel), {after});
  std::vector<float> out;
  for (std::size_t i = 0; i < count; ++i)
    out.push_back(static_cast<float>(clcook::load_channel(channel, bytes.data(), i)));
  return out;
}

struct Stages {
  std::vector<float> decoded;  // the whole picture
  std::vector<float> blurred;  // of the part
  std::vector<float> grown;
  std::vector<std::uint32_t> listed;
  double blur_error = 0;  // as promised, in units of the largest value
};

// All four behind one user event: nothing runs before the last is enqueued.
Stages run(const Runtime& rt, PixelType pixel, const std::vector<unsigned char>& blocks,
           double threshold) {
  const Channel channel = clcook::channel_of(pixel);
  const std::size_t bytes = clcook::pixel_bytes(pixel);
  const Bc6hDecode decode(rt, {kWidth, kHeight, Bc6hDecode::Format::unsigned_float, pixel});
  const GaussianBlur blur(rt, {kPartWidth, kPartHeight, 2.0, 1.5, pixel});
  const HaloTile dilate(rt, {HaloTile::Filter::dilation, kPartWidth, kPartHeight, 1, 2, pixel,
                             HaloTile::Border::wrap});
  const StreamCompaction compact(rt, {kPartWidth, kPartHeight, pixel});
  const cl::Buffer coded = clcook::create_buffer(rt, blocks.size());
  const cl::Buffer decoded = clcook::create_buffer(rt, kPixels * bytes);
  const cl::Buffer blurred = clcook::create_buffer(rt, kPart * bytes);
  const cl::Buffer grown = clcook::create_buffer(rt, kPart * bytes);
  const cl::Buffer list = clcook::create_buffer(rt, kPart * 4);
  const cl::Buffer kept = clcook::create_buffer(rt, 4);

  const cl::UserEvent gate(rt.context());
  const cl_event before = gate();
  cl_event uploaded = nullptr;
  clcook::check(clEnqueueWriteBuffer(rt.queue()(), coded(), CL_FALSE, 0, blocks.size(),
                                     blocks.data(), 1, &before, &uploaded),
                "clEnqueueWriteBuffer");
  const std::size_t pitch = kWidth * bytes;
  const BufferView part(decoded, kTop * pitch + kLeft * bytes, pitch);
  const cl::Event one = decode(coded, decoded, {cl::Event(uploaded)});
  const cl::Event two = blur(part, blurred, {one});
  const cl::Event three = dilate(blurred, grown, {two});
  const cl::Event done = compact(grown, list, kept, threshold, {three});
  clcook::check(clFlush(rt.queue()()), "clFlush");
  clcook::check(clSetUserEventStatus(gate(), CL_COMPLETE), "clSetUserEventStatus");

  Stages out;
  const auto count = read_buffer<std::uint32_t>(rt, kept, 1, {done})[0];
  REQUIRE(count <= kPart);
  if (count > 0) out.listed = read_buffer<std::uint32_t>(rt, list, count, {done});
  out.decoded = values(rt, decoded, channel, kPixels, done);
  out.blurred = values(rt, blurred, channel, kPart, done);
  out.grown = values(rt, grown, channel, kPart, done);
  out.blur_error = blur.offer().max_error;
  return out;
}

}  // namespace

LONG_TEST_CASE(
    "decoded, blurred, dilated and listed: each stage is its reference of the one before", 16) {
  const std::vector<unsigned char> blocks = random_blocks();
  const std::vector<float> want_decoded =
      ref::bc6h::to_float(ref::bc6h::to_rgba(ref::bc6h::decode_image(
          blocks.data(), blocks.size(), kWidth, kHeight, ref::bc6h::Format::uf16)));
  const double threshold = 256.0 * 20000;
  for (const Runtime& rt : runtimes()) {
    for (const PixelType pixel : {PixelType::rgba16f, PixelType::rgba32f}) {
      CAPTURE(clcook::pixel_type_name(pixel, "test"));
      const Stages got = run(rt, pixel, blocks, threshold);
      CHECK(got.decoded == want_decoded);

      ref::gaussian_blur::Picture part{kPartWidth, kPartHeight, 4, {}};
      double largest = 0;
      for (int y = 0; y < kPartHeight; ++y) {
        for (int i = 0; i < 4 * kPartWidth; ++i) {
          const int at = 4 * ((kTop + y) * kWidth + kLeft) + i;
          part.values.push_back(static_cast<double>(got.decoded[static_cast<std::size_t>(at)]));
          largest = std::max(largest, std::abs(part.values.back()));
        }
      }
      const auto blurred = ref::gaussian_blur::blur(part, ref::gaussian_blur::weights(2.0, 4),
                                                    ref::gaussian_blur::weights(1.5, 4),
                                                    ref::gaussian_blur::Border::clamp);
      REQUIRE(blurred.values.size() == got.blurred.size());
      double beyond = 0;
      const double rounding = pixel == PixelType::rgba16f ? 0x1p-11 : 0x1p-24;
      for (std::size_t i = 0; i < blurred.values.size(); ++i) {
        const double bound = got.blur_error * largest + rounding * std::abs(blurred.values[i]);
        const double off = std::abs(blurred.values[i] - static_cast<double>(got.blurred[i]));
        beyond = std::max(beyond, off - bound);
      }
      CHECK(beyond <= 0);

      const ref::halo_tile::Volume volume{kPartWidth, kPartHeight, 1, 4, got.blurred};
      CHECK(got.grown == ref::halo_tile::dilation(volume, 2, ref::halo_tile::Border::wrap, {}));

      std::vector<std::uint32_t> listed;
      for (std::size_t i = 0; i < kPart; ++i) {
        const float* p = &got.grown[4 * i];
        const auto bright = ref::stream_compaction::brightness(p[0], p[1], p[2]);
        if (static_cast<double>(bright) >= threshold)
          listed.push_back(static_cast<std::uint32_t>(i));
      }
      CHECK(listed.size() > 0);
      CHECK(listed.size() < kPart);
      CHECK(got.listed == listed);
    }
  }
}

LONG_TEST_CASE("a picture of bytes and of shorts goes through blur, dilation and list", 16) {
  for (const PixelType pixel : {PixelType::rgba8, PixelType::rgba16}) {
    CAPTURE(clcook::pixel_type_name(pixel, "test"));
    const Runtime& rt = runtime();
    const Channel channel = clcook::channel_of(pixel);
    const std::size_t bytes = clcook::pixel_bytes(pixel);
    const bool shorts = pixel == PixelType::rgba16;
    const double threshold = shorts ? 256 * 36000.0 : 256 * 140.0;
    clcook::Random random(3);
    std::vector<unsigned char> in(kPart * bytes);
    for (unsigned char& byte : in) byte = static_cast<unsigned char>(random.bits());
    const cl::Buffer src = clcook::create_buffer(rt, in.size(), CL_MEM_READ_ONLY, in.data());
    const cl::Buffer blurred = clcook::create_buffer(rt, in.size());
    const cl::Buffer grown = clcook::create_buffer(rt, in.size());
    const cl::Buffer list = clcook::create_buffer(rt, kPart * 4);
    const cl::Buffer kept = clcook::create_buffer(rt, 4);
    const GaussianBlur blur(rt, {kPartWidth, kPartHeight, 1.0, 1.0, pixel});
    const HaloTile dilate(rt, {HaloTile::Filter::dilation, kPartWidth, kPartHeight, 1, 1, pixel});
    const StreamCompaction compact(rt, {kPartWidth, kPartHeight, pixel});
    const cl::Event one = blur(src, blurred);
    const cl::Event two = dilate(blurred, grown, {one});
    const cl::Event done = compact(grown, list, kept, threshold, {two});
    const ref::halo_tile::Volume volume{kPartWidth, kPartHeight, 1, 4,
                                        values(rt, blurred, channel, kPart, done)};
    const std::vector<float> want =
        ref::halo_tile::dilation(volume, 1, ref::halo_tile::Border::clamp, {});
    CHECK(values(rt, grown, channel, kPart, done) == want);
    std::vector<std::uint32_t> listed;
    for (std::size_t i = 0; i < kPart; ++i) {
      const float* p = &want[4 * i];
      if (54.0f * p[0] + 183.0f * p[1] + 19.0f * p[2] >= static_cast<float>(threshold))
        listed.push_back(static_cast<std::uint32_t>(i));
    }
    CHECK(listed.size() > 0);
    CHECK(listed.size() < kPart);
    REQUIRE(read_buffer<std::uint32_t>(rt, kept, 1, {done})[0] == listed.size());
    CHECK(read_buffer<std::uint32_t>(rt, list, listed.size(), {done}) == listed);
  }
}
