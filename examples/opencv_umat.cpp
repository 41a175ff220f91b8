// A cv::UMat through a blur, a median, a dilation and a list of its bright places, on OpenCV's own
// queue: no pixel is copied or converted. Compares results and times with those of OpenCV.
//
//   opencv_umat in.png
//   opencv_umat           a test scene of its own
//
// test: scene:97x61 --rounds 1
// demo: scene --rounds 3

#include <fmt/format.h>

#include <clcook/gaussian_blur.hpp>
#include <clcook/halo_tile.hpp>
#include <clcook/rank_filter.hpp>
#include <clcook/stream_compaction.hpp>
#include <opencv2/core/ocl.hpp>
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

// The pixels of a UMat where they lie. A part of a larger UMat is one by its offset and step, and ends
// where it ends, as OpenCV's BORDER_ISOLATED says.
clcook::BufferView view(const cv::UMat& picture, cv::AccessFlag access) {
  return {static_cast<cl_mem>(picture.handle(access)), picture.offset, picture.step};
}

// OpenCV's context and queue on the device that clcook picks.
clcook::Runtime share(const std::string& device) {
  const clcook::Runtime picked = clcook::Runtime::pick(device);
  cl_platform_id platform = nullptr;
  clcook::check(
      clGetDeviceInfo(picked.device()(), CL_DEVICE_PLATFORM, sizeof platform, &platform, nullptr),
      "clGetDeviceInfo");
  cv::ocl::OpenCLExecutionContext::create(picked.info().platform, platform, picked.context()(),
                                          picked.device()())
      .bind();
  return picked.with_queue(static_cast<cl_command_queue>(cv::ocl::Queue::getDefault().ptr()));
}

void run(const Arguments& arguments) {
  auto picture =
      clcook::example::open_picture(arguments.files.empty() ? "scene" : arguments.files[0]);
  const clcook::Runtime runtime = share(arguments.device);
  const int width = picture.width;
  const int height = picture.height;
  const cv::UMat frame =
      clcook::example::bgr_of(width, height, picture.rgba).getUMat(cv::ACCESS_READ).clone();

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

  // What clcook writes must be there; OpenCV makes its results itself.
  cv::UMat ours(frame.size(), frame.type());
  cv::UMat theirs;
  cv::UMat indices(1, static_cast<int>(picture.pixels()), CV_32S);
  cv::UMat count(1, 1, CV_32S);
  const auto compare = [&](const std::string& name, const std::function<void()>& before,
                           const std::function<void()>& after) {
    // The Mats are let go before the calls: a UMat that the host looks at has no handle.
    const std::string note =
        clcook::example::difference(ours.getMat(cv::ACCESS_READ), theirs.getMat(cv::ACCESS_READ));
    clcook::example::print_times(
        arguments.rounds, name,
        [&] {
          before();
          cv::ocl::finish();
        },
        [&] {
          after();
          cv::ocl::finish();
        },
        note);
  };
  const auto call = [&](const auto& plan) {
    plan(view(frame, cv::ACCESS_READ), view(ours, cv::ACCESS_WRITE));
  };
  const auto once = [&](const std::function<void()>& before, const std::function<void()>& after) {
    before();
    after();
    cv::ocl::finish();
  };
  fmt::print("{} x {} pixels of BGR, OpenCV {}, on {}\n", width, height, CV_VERSION,
             runtime.info().name);
  const auto row = [&](const std::string& name, const std::function<void()>& before,
                       const auto& plan) {
    const auto after = [&] { call(plan); };
    once(before, after);
    compare(name, before, after);
  };
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

  compact(view(frame, cv::ACCESS_READ), view(indices, cv::ACCESS_WRITE),
          view(count, cv::ACCESS_WRITE), 256 * kBrightness);
  cv::ocl::finish();
  const cv::Mat number = count.getMat(cv::ACCESS_READ);
  fmt::print("{} pixels are at least {} bright\n", number.at<int>(0), kBrightness);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  clcook::example::CommandLine line{"Filters a cv::UMat on OpenCV's queue, and compares"};
  line.add("FILE", arguments.files, "Picture (PNG, JPEG, 'scene' or 'scene:WIDTHxHEIGHT')",
           clcook::example::values(0, 1));
  line.device(arguments.device);
  line.rounds(arguments.rounds);
  return line.run(argc, argv, [&] { run(arguments); });
}
