// Blurs a picture in ordinary host memory on one and on all devices of a kind, and says what share
// of the bus, of the kernels and of the host's own copies that is, all measured in the same run.
//
//   strips --device nvidia --out strips.json        every way of the rows, on one GPU and on all
//   strips --pixel u8 --sigma 64 --quality 80       kernels that take longer than the bus
//   strips --width 1024 --height 1024 --depth 1024 --sigma 1 --pixel u16    a volume, in slabs
//
// test: --width 200 --height 300 --sigma 2 --rounds 1 --piece 1 --out {out}/strips.json
// test: --width 40 --height 30 --depth 20 --sigma 1 --rounds 1 --piece 1 --ways automatic
// demo: --width 1024 --height 2048 --sigma 8

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <clcook/core/device.hpp>
#include <clcook/core/strips.hpp>
#include <clcook/gaussian_blur_strips.hpp>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "support/program.hpp"

namespace {

using clcook::GaussianBlur;
using clcook::Runtime;

struct Arguments {
  int width = 16384;
  int height = 16384;
  int depth = 1;
  double sigma = 16;
  double quality = 90;
  std::string pixel = "f32";
  int channels = 1;
  int strip_rows = 0;
  int threads = 0;
  int most_devices = 8;
  int piece = 256;
  int rounds = 5;
  std::vector<std::string> ways{"staged", "direct", "mapped"};
  std::string device;
  std::string out;
};

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// The middle one of some times.
template <class Work>
double median_seconds(int rounds, const Work& work) {
  work();
  std::vector<double> times;
  for (int i = 0; i < rounds; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    times.push_back(seconds_since(begin));
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

// What the bus gives with pinned memory, in GB/s: up alone, down alone, both at once, over all
// devices together.
struct Bus {
  double up = 0;
  double down = 0;
  double both = 0;
};

Bus measure_bus(const std::vector<Runtime>& devices, std::size_t bytes, int rounds) {
  struct Lane {
    cl::CommandQueue queues[2];
    cl::Buffer host[2];
    void* mapped[2];
    cl::Buffer memory[2];
  };
  std::vector<Lane> lanes;
  for (const Runtime& rt : devices) {
    Lane lane;
    for (int i = 0; i < 2; ++i) {
      cl_int status = CL_SUCCESS;
      lane.queues[i] =
          cl::CommandQueue(clcook::detail::create_queue(rt.context()(), rt.device()(), 0, &status));
      clcook::check(status, "clCreateCommandQueue");
      lane.host[i] = clcook::create_buffer(rt, bytes, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR);
      lane.memory[i] = clcook::create_buffer(rt, bytes);
      lane.mapped[i] =
          clEnqueueMapBuffer(lane.queues[i](), lane.host[i](), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE,
                             0, bytes, 0, nullptr, nullptr, &status);
      clcook::check(status, "clEnqueueMapBuffer");
    }
    lanes.push_back(lane);
  }
  constexpr int kTimes = 4;
  const auto rate = [&](bool up, bool down) {
    const double seconds = median_seconds(rounds, [&] {
      for (int time = 0; time < kTimes; ++time) {
        for (const Lane& lane : lanes) {
          if (up) {
            clcook::check(clEnqueueWriteBuffer(lane.queues[0](), lane.memory[0](), CL_FALSE, 0,
                                               bytes, lane.mapped[0], 0, nullptr, nullptr),
                          "clEnqueueWriteBuffer");
            clFlush(lane.queues[0]());
          }
          if (down) {
            clcook::check(clEnqueueReadBuffer(lane.queues[1](), lane.memory[1](), CL_FALSE, 0,
                                              bytes, lane.mapped[1], 0, nullptr, nullptr),
                          "clEnqueueReadBuffer");
            clFlush(lane.queues[1]());
          }
        }
      }
      for (const Lane& lane : lanes) {
        for (const cl::CommandQueue& queue : lane.queues)
          clcook::check(clFinish(queue()), "clFinish");
      }
    });
    return 1e-9 * static_cast<double>(bytes) * kTimes * static_cast<double>(lanes.size()) *
           ((up ? 1 : 0) + (down ? 1 : 0)) / seconds;
  };
  const Bus out{rate(true, false), rate(false, true), rate(true, true)};
  for (const Lane& lane : lanes) {
    for (int i = 0; i < 2; ++i) {
      clEnqueueUnmapMemObject(lane.queues[i](), lane.host[i](), lane.mapped[i], 0, nullptr,
                              nullptr);
      clFinish(lane.queues[i]());
    }
  }
  return out;
}

// What the kernels give on memory of the device, in GB/s of source and result, over all devices
// together: of a picture, or a slab of a volume, that is as large as a strip.
double measure_kernels(const std::vector<Runtime>& devices, GaussianBlur::Problem problem,
                       int strip, int rounds) {
  int& length = problem.depth > 1 ? problem.depth : problem.height;
  length = std::min(length, strip);
  std::vector<GaussianBlur> blurs;
  std::vector<cl::Buffer> from;
  std::vector<cl::Buffer> to;
  const double bytes = clcook::gaussian::bytes_of(problem);
  for (const Runtime& rt : devices) {
    blurs.emplace_back(rt, problem);
    from.push_back(clcook::create_buffer(rt, static_cast<std::size_t>(bytes)));
    to.push_back(clcook::create_buffer(rt, static_cast<std::size_t>(bytes)));
    const cl_float zero = 0;
    clcook::check(clEnqueueFillBuffer(rt.queue()(), from.back()(), &zero, 1, 0,
                                      static_cast<std::size_t>(bytes), 0, nullptr, nullptr),
                  "clEnqueueFillBuffer");
  }
  constexpr int kTimes = 8;
  const double seconds = median_seconds(rounds, [&] {
    for (int time = 0; time < kTimes; ++time) {
      for (std::size_t i = 0; i < devices.size(); ++i) {
        blurs[i](from[i], to[i]);
        clFlush(devices[i].queue()());
      }
    }
    for (const Runtime& rt : devices) clcook::check(clFinish(rt.queue()()), "clFinish");
  });
  return 1e-9 * 2 * bytes * kTimes * static_cast<double>(devices.size()) / seconds;
}

// What as many threads as a pipeline of `devices` has copy from the source to the result, in GB/s.
double measure_copies(const std::vector<Runtime>& devices, const std::vector<unsigned char>& src,
                      std::vector<unsigned char>& dst, const Arguments& arguments) {
  const unsigned most = static_cast<unsigned>(8 * devices.size());
  const unsigned automatic = std::min(std::max(1U, std::thread::hardware_concurrency()), most);
  const int threads = arguments.threads > 0 ? arguments.threads : static_cast<int>(automatic);
  clcook::Staging staging(devices[0], {threads});
  const double seconds = median_seconds(arguments.rounds, [&] {
    staging.each(src.size(), [&](std::size_t begin, std::size_t end) {
      std::memcpy(dst.data() + begin, src.data() + begin, end - begin);
    });
  });
  return 1e-9 * static_cast<double>(src.size()) / seconds;
}

void run(const Arguments& arguments) {
  GaussianBlur::Problem problem;
  problem.width = arguments.width;
  problem.height = arguments.height;
  problem.depth = arguments.depth;
  problem.sigma_z = arguments.depth > 1 ? arguments.sigma : 0;
  problem.sigma_x = problem.sigma_y = arguments.sigma;
  problem.pixel =
      clcook::pixel_type(GaussianBlur::parse_pixel(arguments.pixel), arguments.channels);
  problem.quality = arguments.quality;
  problem.peak = 1;
  std::vector<Runtime> all = Runtime::pick(arguments.device).with_others();
  if (all.size() > static_cast<std::size_t>(arguments.most_devices))
    all.erase(all.begin() + arguments.most_devices, all.end());

  const auto bytes = static_cast<std::size_t>(clcook::gaussian::bytes_of(problem));
  std::vector<unsigned char> src(bytes);
  std::vector<unsigned char> dst(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    src[i] = static_cast<unsigned char>(i * 2654435761U >> 27 & 63);  // finite as floats and halves
  const double gigabytes = 2e-9 * static_cast<double>(bytes);
  fmt::print("{} x {} x {}, {} channels of {}, sigma {}: {:.3g} GB up and down\n", arguments.width,
             arguments.height, arguments.depth, arguments.channels, arguments.pixel,
             arguments.sigma, gigabytes);

  std::string rows;
  std::vector<std::size_t> counts{1};
  if (all.size() > 1) counts.push_back(all.size());
  double first_rate = 0;
  for (const std::size_t count : counts) {
    const std::vector<Runtime> devices(all.begin(),
                                       all.begin() + static_cast<std::ptrdiff_t>(count));
    const Bus bus =
        measure_bus(devices, static_cast<std::size_t>(arguments.piece) << 20, arguments.rounds);
    // Rows of a picture, slices of a volume.
    const auto length =
        static_cast<std::size_t>(problem.depth > 1 ? problem.depth : problem.height);
    const std::size_t row = bytes / length;
    const int strip =
        static_cast<int>(clcook::strip_rows_for(devices, length, 64, 2 * row, 2 * row));
    const double kernels =
        measure_kernels(devices, problem, arguments.strip_rows > 0 ? arguments.strip_rows : strip,
                        arguments.rounds);
    fmt::print("\n{} device(s), {}\n  {}\n", count, devices[0].info().name,
               GaussianBlur(devices[0], problem).describe());
    const double copies = measure_copies(devices, src, dst, arguments);
    fmt::print(
        "  bus, pinned: {:.1f} GB/s up, {:.1f} down, {:.1f} both at once; kernels: {:.1f}; "
        "copies of the host: {:.1f}\n",
        bus.up, bus.down, bus.both, kernels, copies);
    fmt::print("{:>10}{:>10}{:>12}{:>12}{:>12}{:>16}{:>16}\n", "way", "GB/s", "of the bus",
               "of kernels", "of copies", "of the slowest", "of one device");
    for (const std::string& way : arguments.ways) {
      clcook::StripPipeline pipeline(devices, {arguments.threads, clcook::parse_strip_way(way)});
      clcook::StripReport report;
      const double seconds = median_seconds(arguments.rounds, [&] {
        report = GaussianBlur::by_strips(pipeline, problem, src.data(), 0, dst.data(), 0,
                                         arguments.strip_rows);
      });
      const double rate = gigabytes / seconds;
      if (count == 1) first_rate = std::max(first_rate, rate);
      const double slowest = std::min({bus.both, kernels, copies});
      fmt::print("{:>10}{:>10.2f}{:>11.1f}%{:>11.1f}%{:>11.1f}%{:>15.1f}%{:>16.2f}\n", way, rate,
                 100 * rate / bus.both, 100 * rate / kernels, 100 * rate / copies,
                 100 * rate / slowest, rate / first_rate);
      fmt::print("    {}\n", report.describe());
      rows += fmt::format(
          "{}    {{\"devices\": {}, \"device\": \"{}\", \"driver\": \"{}\", \"way\": \"{}\", "
          "\"strips\": {}, \"seconds\": {:.6f}, \"gigabytes_per_second\": {:.3f}, "
          "\"bus_up\": {:.3f}, \"bus_down\": {:.3f}, \"bus_both\": {:.3f}, \"kernels\": {:.3f}, "
          "\"copies\": {:.3f}, \"of_slowest\": {:.4f}, \"of_one_device\": {:.4f}}}",
          rows.empty() ? "" : ",\n", count, devices[0].info().name, devices[0].info().driver, way,
          report.strips, seconds, rate, bus.up, bus.down, bus.both, kernels, copies, rate / slowest,
          rate / first_rate);
    }
  }
  if (arguments.out.empty()) return;
  std::ofstream file(arguments.out);
  file << fmt::format(
      "{{\n  \"width\": {}, \"height\": {}, \"depth\": {}, \"channels\": {}, \"pixel\": \"{}\",\n"
      "  \"sigma\": {}, \"quality\": {}, \"gigabytes\": {:.6f}, \"copy_threads\": {},\n"
      "  \"rows\": [\n{}\n  ]\n}}\n",
      arguments.width, arguments.height, arguments.depth, arguments.channels, arguments.pixel,
      arguments.sigma, arguments.quality, gigabytes, arguments.threads, rows);
  if (!file.flush()) clcook::fail(clcook::Errc::io, "strips", "cannot write " + arguments.out);
}

}  // namespace

int main(int argc, char** argv) {
  using clcook::example::between;
  Arguments arguments;
  clcook::example::CommandLine line{
      "Blurs a picture in host memory on one and on all devices; measures bus, kernels and copies"};
  line.add("--width", arguments.width, "Pixels", between(1, 1 << 20));
  line.add("--height", arguments.height, "Pixels", between(1, 1 << 24));
  line.add("--depth", arguments.depth, "Slices of a volume", between(1, 1 << 20));
  line.add("--sigma", arguments.sigma, "Standard deviation in pixels", between(0, 500));
  line.add("--quality", arguments.quality, "PSNR against the exact filter, in dB");
  line.add("--pixel", arguments.pixel, "u8, u16, f16 or f32");
  line.add("--channels", arguments.channels, "Of a pixel", between(1, 4));
  line.add("--strip-rows", arguments.strip_rows, "Rows of a strip, 0: chosen", between(0, 1 << 24));
  line.add("--threads", arguments.threads, "Threads that copy, 0: chosen", between(0, 1024));
  line.add("--devices", arguments.most_devices, "Devices at most", between(1, 64));
  line.add("--piece", arguments.piece, "MiB of a piece on the bus", between(1, 4096));
  line.add("--ways", arguments.ways, "Ways of the rows",
           clcook::example::one_of({"automatic", "staged", "direct", "mapped"}));
  line.add("--out", arguments.out, "Results as JSON");
  line.rounds(arguments.rounds);
  line.device(arguments.device);
  return line.run(argc, argv, [&] { run(arguments); });
}
