// A cv::Mat through a blur, a median, a dilation and a list of its bright places. Buffers are made on the
// Mats' own memory, where a device that shares it with the host, such as a CPU, reads and writes it.
// Compares results and times with those of OpenCV.
//
//   opencv_mat in.png
//   opencv_mat           a test scene of its own
//
// test: scene:97x61 --rounds 1
// demo: scene --rounds 3

#include <fmt/format.h>

#include <clcook/gaussian_blur.hpp>
#include <clcook/halo_tile.hpp>
#include <clcook/rank_filter.hpp>
#include <clcook/stream_compaction.hpp>
#include <string>
#include <vector>

#include "support/opencv.hpp"
#include "support/program.hpp"
#include "support/scene.hpp"

namespace {

using clcook::PixelType;

struct Arguments {
  std::vector<std::string> files;
  std::string device;
  int rounds = 9;
};

// A Mat's memory as a buffer. The Mat must outlive it and keep its memory: create() of another size
// would take another. While commands may use the buffer, the host leaves the pixels alone, and reads
// results behind download().
class HostBuffer {
 public:
  HostBuffer(const clcook::Runtime& runtime, cv::Mat& picture)
      : runtime_(runtime),
        step_(picture.step),
        bytes_(static_cast<std::size_t>(picture.rows - 1) * picture.step +
               static_cast<std::size_t>(picture.cols) * picture.elemSize()) {
    cl_int status = CL_SUCCESS;
    buffer_ =
        cl::Buffer(clCreateBuffer(runtime.context()(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
                                  bytes_, picture.data, &status));
    clcook::check(status, "clCreateBuffer");
  }

  clcook::BufferView view() const { return {buffer_, 0, step_}; }
  // Waits until the host sees what the commands before have written.
  void download() const {
    cl_int status = CL_SUCCESS;
    void* const mapped = clEnqueueMapBuffer(runtime_.queue()(), buffer_(), CL_TRUE, CL_MAP_READ, 0,
                                            bytes_, 0, nullptr, nullptr, &status);
    clcook::check(status, "clEnqueueMapBuffer");
    clcook::check(
        clEnqueueUnmapMemObject(runtime_.queue()(), buffer_(), mapped, 0, nullptr, nullptr),
        "clEnqueueUnmapMemObject");
  }
  // Tells the device that the host has written the pixels.
  void upload() const {
    cl_int status = CL_SUCCESS;
    void* const mapped = clEnqueueMapBuffer(runtime_.queue()(), buffer_(), CL_TRUE, CL_MAP_WRITE, 0,
                                            bytes_, 0, nullptr, nullptr, &status);
    clcook::check(status, "clEnqueueMapBuffer");
    clcook::check(
        clEnqueueUnmapMemObject(runtime_.queue()(), buffer_(), mapped, 0, nullptr, nullptr),
        "clEnqueueUnmapMemObject");
  }

 private:
  clcook::Runtime runtime_;
  std::size_t step_;
  std::size_t bytes_;
  cl::Buffer buffer_;
};

void run(const Arguments& arguments) {
  auto picture =
      clcook::example::open_picture(arguments.files.empty() ? "scene" : arguments.files[0]);
  const clcook::Runtime runtime = clcook::Runtime::pick(arguments.device);
  const int width = picture.width;
  const int height = picture.height;
  cv::Mat frame = clcook::example::bgr_of(width, height, picture.rgba);

  // The plans, once for each size.
  constexpr double kSigma = 3;
  constexpr int kSide = 15;  // taps, as OpenCV counts them
  clcook::GaussianBlur::Problem soft;
  soft.width = width;
  soft.height = height;
  soft.sigma_x = soft.sigma_y = kSigma;
  soft.truncate = clcook::example::truncate_of(kSide, kSigma);
  soft.pixel = clcook::Channel::u8;
  soft.channels = 3;
  soft.border = clcook::Border::reflect_101;
  const clcook::GaussianBlur blur(runtime, soft);
  clcook::RankFilter::Problem middle;
  middle.width = width;
  middle.height = height;
  middle.radius = 2;
  middle.pixel = PixelType::rgb8;
  const clcook::RankFilter median(runtime, middle);
  clcook::HaloTile::Problem largest;
  largest.filter = clcook::HaloTile::Filter::dilation;
  largest.width = width;
  largest.height = height;
  largest.radius = 2;
  largest.pixel = PixelType::rgb8;
  const clcook::HaloTile dilate(runtime, largest);
  clcook::StreamCompaction::Problem bright;
  bright.width = picture.pixels() / static_cast<std::size_t>(height);
  bright.height = static_cast<std::size_t>(height);
  bright.pixel = PixelType::rgb8;
  bright.weights = {19, 183, 54};  // blue, green, red
  const clcook::StreamCompaction compact(runtime, bright);
  constexpr double kBrightness = 160;

  cv::Mat ours(frame.size(), frame.type());
  cv::Mat theirs;
  cv::Mat indices(1, static_cast<int>(picture.pixels()), CV_32S);
  cv::Mat count(1, 1, CV_32S);
  const HostBuffer from(runtime, frame);
  const HostBuffer to(runtime, ours);
  const HostBuffer list(runtime, indices);
  const HostBuffer kept(runtime, count);
  fmt::print("{} x {} pixels of BGR, OpenCV {}, on {}\n", width, height, CV_VERSION,
             runtime.info().name);
  const auto row = [&](const std::string& name, const std::function<void()>& before,
                       const auto& plan) {
    const auto after = [&] {
      plan(from.view(), to.view());
      to.download();
    };
    before();
    after();
    clcook::example::print_times(arguments.rounds, name, before, after,
                                 clcook::example::difference(ours, theirs));
  };
  from.upload();
  row(
      "blur",
      [&] {
        cv::GaussianBlur(frame, theirs, {kSide, kSide}, kSigma);
      },
      blur);
  row(
      "median", [&] { cv::medianBlur(frame, theirs, 5); }, median);
  const cv::Mat square = clcook::example::square(2);
  row(
      "dilation",
      [&] {
        cv::dilate(frame, theirs, square, {-1, -1}, 1, cv::BORDER_REPLICATE);
      },
      dilate);

  compact(from.view(), list.view(), kept.view(), 256 * kBrightness);
  kept.download();
  fmt::print("{} pixels are at least {} bright\n", count.at<int>(0), kBrightness);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  clcook::example::CommandLine line{"Filters a cv::Mat where it lies, and compares"};
  line.add("FILE", arguments.files, "Picture (PNG, JPEG, 'scene' or 'scene:WIDTHxHEIGHT')",
           clcook::example::values(0, 1));
  line.device(arguments.device);
  line.rounds(arguments.rounds);
  return line.run(argc, argv, [&] { run(arguments); });
}
