// What the two examples for OpenCV share: the four steps in OpenCV's words, and a table of times.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <string>
#include <vector>

namespace clcook::example {

// Red, green, blue and alpha as OpenCV keeps colours: blue, green, red.
inline cv::Mat bgr_of(int width, int height, std::vector<std::uint8_t>& rgba) {
  cv::Mat out;
  cv::cvtColor(cv::Mat(height, width, CV_8UC4, rgba.data()), out, cv::COLOR_RGBA2BGR);
  return out;
}

// The sigma of what cv::GaussianBlur() takes for this ksize, the other way round of truncate.
inline double truncate_of(int ksize, double sigma) { return ksize / 2 / sigma; }

// A square of 2 radius + 1, as cv::dilate() takes it.
inline cv::Mat square(int radius) {
  return cv::getStructuringElement(cv::MORPH_RECT, {2 * radius + 1, 2 * radius + 1});
}

// Says how many bytes differ, and by how much at most.
inline std::string difference(const cv::Mat& a, const cv::Mat& b) {
  cv::Mat away;
  cv::absdiff(a, b, away);
  double most = 0;
  cv::minMaxLoc(away.reshape(1), nullptr, &most);
  return fmt::format("{} of {} bytes differ, by {} at most", cv::countNonZero(away.reshape(1)),
                     away.total() * away.elemSize(), most);
}

// The median time of each, in turn in every round, after a call that is not counted.
inline void print_times(int rounds, const std::string& name, const std::function<void()>& theirs,
                        const std::function<void()>& ours, const std::string& note) {
  const auto time = [](const std::function<void()>& call) {
    const auto begin = std::chrono::steady_clock::now();
    call();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
        .count();
  };
  std::vector<double> their_times;
  std::vector<double> our_times;
  theirs();
  ours();
  for (int i = 0; i < rounds; ++i) {
    their_times.push_back(time(theirs));
    our_times.push_back(time(ours));
  }
  const auto median = [](std::vector<double>& all) {
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    std::nth_element(all.begin(), middle, all.end());
    return *middle;
  };
  const double before = median(their_times);
  const double after = median(our_times);
  fmt::print("{:<12} OpenCV {:8.3f} ms, clcook {:8.3f} ms, {:5.2f} times as fast; {}\n", name,
             before, after, before / after, note);
}

}  // namespace clcook::example
