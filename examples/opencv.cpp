// Pictures of OpenCV through a blur, a median, a dilation and a list of their bright places: a cv::UMat on
// OpenCV's own queue, where no pixel is copied or converted, and a cv::Mat in its own memory. Compares
// results and times with those of OpenCV.
//
//   opencv in.png
//   opencv           a test scene of its own
//
// test: scene:97x61 --rounds 1
// demo: scene --rounds 3

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <clcook/gaussian_blur.hpp>
#include <clcook/halo_tile.hpp>
#include <clcook/rank_filter.hpp>
#include <clcook/stream_compaction.hpp>
#include <functional>
#include <opencv2/core.hpp>
#include <opencv2/core/ocl.hpp>
#include <opencv2/imgproc.hpp>
#include <string>
#include <vector>

#include "support/program.hpp"
#include "support/scene.hpp"

namespace {

using clcook::PixelType;

struct Arguments {
  std::vector<std::string> files;
  std::string device;
  int rounds = 9;
};

constexpr double kSigma = 3;
constexpr int kSide = 15;  // taps of the blur, as OpenCV counts them
constexpr int kRadius = 2;
constexpr double kBrightness = 160;

// The plans, once for each size.
struct Plans {
  Plans(const clcook::Runtime& runtime, cv::Size size)
      : blur(runtime, soft(size)),
        median(runtime, middle(size)),
        dilate(runtime, largest(size)),
        compact(runtime, bright(size)) {}

  clcook::GaussianBlur blur;
  clcook::RankFilter median;
  clcook::HaloTile dilate;
  clcook::StreamCompaction compact;

 private:
  static clcook::GaussianBlur::Problem soft(cv::Size size) {
    clcook::GaussianBlur::Problem out;
    out.width = size.width;
    out.height = size.height;
    out.sigma_x = out.sigma_y = kSigma;
    out.truncate = kSide / 2 / kSigma;
    out.pixel = PixelType::rgb8;
    out.border = clcook::Border::reflect_101;
    return out;
  }
  static clcook::RankFilter::Problem middle(cv::Size size) {
    clcook::RankFilter::Problem out;
    out.width = size.width;
    out.height = size.height;
    out.radius = kRadius;
    out.pixel = PixelType::rgb8;
    return out;
  }
  static clcook::HaloTile::Problem largest(cv::Size size) {
    clcook::HaloTile::Problem out;
    out.filter = clcook::HaloTile::Filter::dilation;
    out.width = size.width;
    out.height = size.height;
    out.radius = kRadius;
    out.pixel = PixelType::rgb8;
    return out;
  }
  static clcook::StreamCompaction::Problem bright(cv::Size size) {
    clcook::StreamCompaction::Problem out;
    out.width = size.width;
    out.height = size.height;
    out.pixel = PixelType::rgb8;
    out.weights = {19, 183, 54};  // blue, green, red
    return out;
  }
};

// The pixels of a UMat where they lie. A part of a larger UMat is one by its offset and step, and ends
// where it ends, as OpenCV's BORDER_ISOLATED says.
clcook::BufferView view(const cv::UMat& picture, cv::AccessFlag access) {
  return {static_cast<cl_mem>(picture.handle(access)), picture.offset, picture.step};
}

// A Mat's memory as a buffer, no copy where the device shares memory with the host. The Mat must outlive
// it and keep its memory: create() of another size would take another. While commands may use the
// buffer, the host leaves the pixels alone; map() lets it see and change them.
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
  // CL_MAP_READ: waits until the host sees what the commands before have written. CL_MAP_WRITE: tells
  // the device that the host has written.
  void map(cl_map_flags flags) const {
    cl_int status = CL_SUCCESS;
    void* const mapped = clEnqueueMapBuffer(runtime_.queue()(), buffer_(), CL_TRUE, flags, 0,
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

// How many bytes differ, and by how much at most.
std::string difference(const cv::Mat& a, const cv::Mat& b) {
  cv::Mat away;
  cv::absdiff(a, b, away);
  double most = 0;
  cv::minMaxLoc(away.reshape(1), nullptr, &most);
  return fmt::format("{} of {} bytes differ, by {} at most", cv::countNonZero(away.reshape(1)),
                     away.total() * away.elemSize(), most);
}

// The median times, in turn in every round, and what note() says of the results.
void print_row(int rounds, const std::string& name, const std::function<void()>& theirs,
               const std::function<void()>& ours, const std::function<std::string()>& note) {
  theirs();
  ours();
  const std::string same = note();
  std::vector<double> times[2];
  for (int i = 0; i < rounds; ++i) {
    for (const std::size_t which : {std::size_t{0}, std::size_t{1}}) {
      const auto begin = std::chrono::steady_clock::now();
      which == 0 ? theirs() : ours();
      const std::chrono::duration<double, std::milli> took =
          std::chrono::steady_clock::now() - begin;
      times[which].push_back(took.count());
    }
  }
  for (auto& all : times) std::sort(all.begin(), all.end());
  const double before = times[0][times[0].size() / 2];
  const double after = times[1][times[1].size() / 2];
  fmt::print("{:<12} OpenCV {:8.3f} ms, clcook {:8.3f} ms, {:5.2f} times as fast; {}\n", name,
             before, after, before / after, same);
}

// The three filters, of Mats or UMats: call(plan) filters `frame` with clcook, and finish() waits for all.
template <class Call>
void compare(int rounds, const Plans& plans, cv::InputArray frame, cv::OutputArray theirs,
             const Call& call, const std::function<void()>& finish,
             const std::function<std::string()>& note) {
  const cv::Mat square =
      cv::getStructuringElement(cv::MORPH_RECT, {2 * kRadius + 1, 2 * kRadius + 1});
  const auto row = [&](const std::string& name, const std::function<void()>& before,
                       const auto& plan) {
    const auto theirs_done = [&] {
      before();
      finish();
    };
    const auto ours_done = [&] {
      call(plan);
      finish();
    };
    print_row(rounds, name, theirs_done, ours_done, note);
  };
  row(
      "blur",
      [&] {
        cv::GaussianBlur(frame, theirs, {kSide, kSide}, kSigma);
      },
      plans.blur);
  row(
      "median", [&] { cv::medianBlur(frame, theirs, 2 * kRadius + 1); }, plans.median);
  row(
      "dilation",
      [&] {
        cv::dilate(frame, theirs, square, {-1, -1}, 1, cv::BORDER_REPLICATE);
      },
      plans.dilate);
}

void filter_umat(const Arguments& arguments, const clcook::Runtime& picked,
                 const cv::Mat& picture) {
  // OpenCV's context and queue on the device that clcook picked.
  cl_platform_id platform = nullptr;
  clcook::check(
      clGetDeviceInfo(picked.device()(), CL_DEVICE_PLATFORM, sizeof platform, &platform, nullptr),
      "clGetDeviceInfo");
  cv::ocl::OpenCLExecutionContext::create(picked.info().platform, platform, picked.context()(),
                                          picked.device()())
      .bind();
  const clcook::Runtime runtime =
      picked.with_queue(static_cast<cl_command_queue>(cv::ocl::Queue::getDefault().ptr()));
  const Plans plans(runtime, picture.size());

  // What clcook writes must be there; OpenCV makes its results itself.
  const cv::UMat frame = picture.getUMat(cv::ACCESS_READ).clone();
  cv::UMat ours(frame.size(), frame.type());
  cv::UMat theirs;
  fmt::print("cv::UMat\n");
  compare(
      arguments.rounds, plans, frame, theirs,
      [&](const auto& plan) { plan(view(frame, cv::ACCESS_READ), view(ours, cv::ACCESS_WRITE)); },
      cv::ocl::finish,
      // The Mats are let go at once: a UMat that the host looks at has no handle.
      [&] { return difference(ours.getMat(cv::ACCESS_READ), theirs.getMat(cv::ACCESS_READ)); });

  cv::UMat indices(1, static_cast<int>(picture.total()), CV_32S);
  cv::UMat count(1, 1, CV_32S);
  plans.compact(view(frame, cv::ACCESS_READ), view(indices, cv::ACCESS_WRITE),
                view(count, cv::ACCESS_WRITE), 256 * kBrightness);
  cv::ocl::finish();
  fmt::print("{} pixels are at least {} bright\n", count.getMat(cv::ACCESS_READ).at<int>(0),
             kBrightness);
}

void filter_mat(const Arguments& arguments, const clcook::Runtime& runtime, cv::Mat& frame) {
  const Plans plans(runtime, frame.size());
  cv::Mat ours(frame.size(), frame.type());
  cv::Mat theirs;
  const HostBuffer from(runtime, frame);
  const HostBuffer to(runtime, ours);
  from.map(CL_MAP_WRITE);
  fmt::print("cv::Mat\n");
  compare(
      arguments.rounds, plans, frame, theirs,
      [&](const auto& plan) {
        plan(from.view(), to.view());
        to.map(CL_MAP_READ);
      },
      [] {}, [&] { return difference(ours, theirs); });

  cv::Mat indices(1, static_cast<int>(frame.total()), CV_32S);
  cv::Mat count(1, 1, CV_32S);
  const HostBuffer list(runtime, indices);
  const HostBuffer kept(runtime, count);
  plans.compact(from.view(), list.view(), kept.view(), 256 * kBrightness);
  kept.map(CL_MAP_READ);
  fmt::print("{} pixels are at least {} bright\n", count.at<int>(0), kBrightness);
}

void run(const Arguments& arguments) {
  auto picture =
      clcook::example::open_picture(arguments.files.empty() ? "scene" : arguments.files[0]);
  cv::Mat frame;  // blue, green, red
  cv::cvtColor(cv::Mat(picture.height, picture.width, CV_8UC4, picture.rgba.data()), frame,
               cv::COLOR_RGBA2BGR);
  const clcook::Runtime runtime = clcook::Runtime::pick(arguments.device);
  fmt::print("{} x {} pixels of BGR, OpenCV {}, on {}\n", frame.cols, frame.rows, CV_VERSION,
             runtime.info().name);
  filter_umat(arguments, runtime, frame);
  filter_mat(arguments, runtime, frame);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  clcook::example::CommandLine line{"Filters pictures of OpenCV where they lie, and compares"};
  line.add("FILE", arguments.files, "Picture (PNG, JPEG, 'scene' or 'scene:WIDTHxHEIGHT')",
           clcook::example::values(0, 1));
  line.device(arguments.device);
  line.rounds(arguments.rounds);
  return line.run(argc, argv, [&] { run(arguments); });
}
