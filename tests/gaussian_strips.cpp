// Pictures in host memory over one or several runtimes: whatever the strips, the devices and the way
// that rows get there, the result is the blur of the whole picture.
#include <doctest/doctest.h>

#include <clcook/cookbook/gaussian_blur.hpp>
#include <clcook/core/strips.hpp>
#include <clcook/gaussian_blur_strips.hpp>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/grid.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;

namespace {

using Problem = GaussianBlur::Problem;
using Bytes = std::vector<unsigned char>;

// The device again, in a context of its own.
Runtime another() {
  static const Runtime one = [] {
    const cl_device_id id = runtime().device()();
    cl_int status = CL_SUCCESS;
    const cl::Context context(clCreateContext(nullptr, 1, &id, nullptr, nullptr, &status));
    check(status, "clCreateContext");
    cl::CommandQueue queue(detail::create_queue(context(), id, 0, &status));
    check(status, "clCreateCommandQueue");
    return Runtime(queue);
  }();
  return one;
}

// A second queue of the same context.
Runtime beside() {
  cl_int status = CL_SUCCESS;
  cl::CommandQueue queue(
      detail::create_queue(runtime().context()(), runtime().device()(), 0, &status));
  check(status, "clCreateCommandQueue");
  return runtime().with_queue(queue);
}

std::size_t row_bytes(const Problem& p) {
  return gaussian::pixel_bytes(p) * static_cast<std::size_t>(p.width);
}
std::size_t rows_of(const Problem& p) {
  return static_cast<std::size_t>(p.height) * static_cast<std::size_t>(p.batch);
}

Bytes picture_of(const Problem& p) {
  Random random(3);
  std::vector<double> values(rows_of(p) *
                             static_cast<std::size_t>(p.width * gaussian::channels_of(p)));
  for (double& value : values) value = static_cast<double>(random.uniform());
  return cookbook::gaussian_blur_card::store(p.pixel, values);
}

Bytes whole_of(const Problem& p, const Bytes& src, GaussianBlur::Variant variant) {
  const GaussianBlur blur(runtime(), p, variant);
  const cl::Buffer from = create_buffer(runtime(), src.size(), CL_MEM_READ_WRITE, src.data());
  const cl::Buffer to = create_buffer(runtime(), src.size());
  const cl::Event done = blur(from, to);
  return read_buffer<unsigned char>(runtime(), to, src.size(), {done});
}

bool is_exact(const std::string& variant) {
  return variant != "pyramid" && variant != "cpu_pyramid" && variant.compare(0, 6, "tensor") != 0;
}

// The largest difference, in units of the peak.
double difference(const Problem& p, const Bytes& a, const Bytes& b) {
  double worst = 0;
  const std::size_t count = a.size() / channel_bytes(p.pixel);
  for (std::size_t i = 0; i < count; ++i) {
    const double off = load_channel(p.pixel, a.data(), i) - load_channel(p.pixel, b.data(), i);
    worst = std::max(worst, std::abs(off));
  }
  return worst / gaussian::peak_of(p);
}

}  // namespace

LONG_TEST_CASE("strips: every height, border and method gives the whole picture, bit for bit", 32) {
  StripPipeline pipeline({runtime(), another(), beside()});
  Problem small{37, 70, 1.5, 3};
  small.outside = {0.25f, 0.5f, 0.75f, 1};
  Problem bytes{53, 61, 2, 2, PixelType::rgb8};
  bytes.outside = {200, 100, 50, 0};
  Problem large{40, 300, 17, 18};
  large.peak = 1;
  Problem shorts{64, 500, 20, 16.5, PixelType::r16};
  shorts.truncate = 2;
  for (Problem p : {small, bytes, large, shorts}) {
    for (const BorderRow& border : kBorders) {
      p.border = border.value;
      p.quality = 30;
      const Bytes src = picture_of(p);
      for (const GaussianBlur::Row& row : GaussianBlur::variants()) {
        if (!GaussianBlur::Posed(p).offer(runtime(), row).can()) continue;
        const Bytes expected = whole_of(p, src, row);
        for (const int rows : {1000, 64, 33, 7}) {
          if (rows == 7 && p.height > 100) continue;
          Bytes got(src.size(), 77);
          const StripReport report =
              GaussianBlur::by_strips(pipeline, p, src.data(), 0, got.data(), 0, rows, {}, row);
          CAPTURE(row.name);
          CAPTURE(border.name);
          CAPTURE(rows);
          CAPTURE(p.height);
          const double off = difference(p, got, expected);
          // Of the others the sums are in another order.
          const double allowed = gaussian::is_integer(p.pixel) ? 1 / gaussian::peak_of(p) : 2e-6;
          if (is_exact(row.name)) {
            CHECK(off <= 0);
          } else {
            CHECK(off <= allowed);
          }
          CHECK(report.strips == static_cast<std::size_t>((p.height + rows - 1) / rows));
        }
      }
    }
  }
}

LONG_TEST_CASE("strips: batches, pitches, and every way to the device", 16) {
  Problem p{45, 40, 2, 4, PixelType::rg32f};
  p.batch = 3;
  for (const auto border : {GaussianBlur::Border::clamp, GaussianBlur::Border::wrap}) {
    p.border = border;
    const Bytes src = picture_of(p);
    const Bytes expected = whole_of(p, src, {});
    const std::size_t row = row_bytes(p);
    for (const StripWay way :
         {StripWay::automatic, StripWay::staged, StripWay::direct, StripWay::mapped}) {
      for (const std::size_t runtimes : {1U, 2U}) {
        std::vector<Runtime> devices{runtime()};
        if (runtimes == 2) devices.push_back(another());
        StripPipeline pipeline(devices, {3, way});
        for (const int strip : {0, 17, 5, 1}) {  // the buffers of the call before are used again
          for (const std::size_t pad : {0U, 12U}) {
            Bytes from(rows_of(p) * (row + pad), 1);
            Bytes to(rows_of(p) * (row + 2 * pad), 2);
            for (std::size_t y = 0; y < rows_of(p); ++y)
              std::memcpy(&from[y * (row + pad)], &src[y * row], row);
            std::size_t told = 0;
            const StripReport report =
                GaussianBlur::by_strips(pipeline, p, from.data(), row + pad, to.data(),
                                        row + 2 * pad, strip, [&](std::size_t rows) {
                                          CHECK(rows > told);
                                          told = rows;
                                        });
            CHECK(told == rows_of(p));
            bool same = true;
            bool kept = true;
            for (std::size_t y = 0; y < rows_of(p); ++y) {
              same = same && std::memcmp(&to[y * (row + 2 * pad)], &expected[y * row], row) == 0;
              for (std::size_t i = 0; i < 2 * pad; ++i)
                kept = kept && to[y * (row + 2 * pad) + row + i] == 2;
            }
            CAPTURE(to_string(way));
            CAPTURE(strip);
            CAPTURE(pad);
            CHECK(same);
            CHECK(kept);
            CHECK(report.devices.size() == runtimes);
            std::size_t made = 0;
            for (const StripReport::Device& one : report.devices) {
              made += one.strips;
              CHECK(one.failure.empty());
            }
            CHECK(made == report.strips);
          }
        }
      }
    }
  }
}

LONG_TEST_CASE("strips: more bytes than a staging piece, copied by several threads", 16) {
  // Rows of 17 MB, larger than a piece.
  Problem p{(1 << 20) + 5, 3, 0.25, 0.25, PixelType::rgba32f};
  p.peak = 1;
  const Bytes src = picture_of(p);
  const Bytes expected = whole_of(p, src, {});
  for (const StripWay way : {StripWay::staged, StripWay::mapped}) {
    StripPipeline pipeline({runtime(), runtime()}, {4, way});
    Bytes got(src.size());
    GaussianBlur::by_strips(pipeline, p, src.data(), 0, got.data(), 0, 2);
    CHECK(got == expected);
  }
}

TEST_CASE("strips: an exception of the progress callback ends the call") {
  const Problem p{32, 400, 1, 1};
  const Bytes src = picture_of(p);
  Bytes got(src.size());
  StripPipeline pipeline({runtime(), another()});
  // The first one: on a busy machine it may speak of all strips.
  int calls = 0;
  CHECK_THROWS_WITH_AS(GaussianBlur::by_strips(pipeline, p, src.data(), 0, got.data(), 0, 8,
                                               [&](std::size_t) {
                                                 ++calls;
                                                 throw std::runtime_error("enough");
                                               }),
                       "enough", std::runtime_error);
  CHECK(calls == 1);
  // The pipeline can be used again.
  GaussianBlur::by_strips(pipeline, p, src.data(), 0, got.data(), 0, 8);
  CHECK(got == whole_of(p, src, {}));
}

TEST_CASE("strips: what is refused, before anything is written") {
  const Problem p{32, 40, 1, 1, PixelType::rgba8};
  Bytes src(5120, 1);
  Bytes dst(5120, 9);
  StripPipeline pipeline({runtime()});
  const auto refused = [&](const Problem& problem, const void* from, std::size_t from_pitch,
                           void* to, std::size_t to_pitch, int rows, const char* says) {
    try {
      GaussianBlur::by_strips(pipeline, problem, from, from_pitch, to, to_pitch, rows);
      FAIL_CHECK(says);
    } catch (const Error& error) {
      CHECK(error.code == Errc::invalid_argument);
      CHECK_MESSAGE(std::string(error.what()).find(says) != std::string::npos, error.what());
    }
  };
  refused(p, nullptr, 0, dst.data(), 0, 8, "src, dst and pitches");
  refused(p, src.data(), 127, dst.data(), 0, 8, "pitches of 127 and 128");
  refused(p, src.data(), 0, dst.data(), 1, 8, "pitches of 128 and 1");
  refused(p, src.data(), 0, dst.data(), 0, -1, "got -1");
  refused(p, src.data(), 0, src.data(), 0, 8, "overlap");
  Problem bad = p;
  bad.sigma_y = -1;
  refused(bad, src.data(), 0, dst.data(), 0, 8, "sigma_y");
  CHECK(dst == Bytes(5120, 9));
  CHECK_THROWS_AS(StripPipeline({}), Error);
  CHECK_THROWS_AS(StripPipeline({runtime()}, {-1, StripWay::automatic}), Error);
  CHECK_THROWS_AS(parse_strip_way("pigeon"), Error);
  CHECK(parse_strip_way("staged") == StripWay::staged);
}

TEST_CASE("strips: rows for the bus and the devices") {
  const std::vector<Runtime> one{runtime()};
  // 64 MiB of source and result, a multiple of the step.
  const std::size_t rows = strip_rows_for(one, 1 << 20, 1, 1 << 16, 0, 64);
  CHECK(rows % 64 == 0);
  CHECK(rows <= 1024);
  CHECK(strip_rows_for(one, 100, 1, 1 << 16, 0) == 25);
  CHECK(strip_rows_for(one, 3, 1, 1 << 16, 0, 64) == 3);
  CHECK(strip_rows_for({runtime(), runtime()}, 80, 1, 1 << 16, 0) == 10);
  CHECK(strip_rows_for(one, 1 << 20, 1, std::size_t{1} << 40, 0) == 1);
}
