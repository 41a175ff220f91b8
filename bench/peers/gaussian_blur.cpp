// The clcook side of gaussian_blur.py: blurs and times what it is told to on standard input, so
// that rounds of the library and of its peers can alternate.
//
//   plan WIDTH HEIGHT SIGMA TRUNCATE PIXEL QUALITY PEAK VARIANT FILE
//           makes a plan for the RGBA picture in FILE (raw values), answers "ok METHOD"
//   run     one blur, answers its event time in microseconds, the sum of all launches
//   save FILE
//           writes the last result
//   sigma SIGMA
//           another sigma on the plan, answers the host's time in microseconds
//
// Answers begin with "error" where something failed.
#include <chrono>
#include <clcook/gaussian_blur.hpp>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "measure/measure.hpp"

namespace {

using clcook::GaussianBlur;

struct Server {
  clcook::tool::EventTimer timer;
  clcook::Runtime runtime;
  std::optional<GaussianBlur> blur;
  cl::Buffer src;
  cl::Buffer dst;
  std::vector<char> picture;

  Server() : runtime(clcook::Runtime::pick({}, options())) {}

  clcook::PickOptions options() {
    clcook::PickOptions out;
    out.profiling = true;
    out.runtime.on_launch = timer.observer();
    return out;
  }

  std::string plan(std::istream& words) {
    GaussianBlur::Problem p;
    std::string pixel;
    std::string variant;
    std::string file;
    double sigma = 0;
    if (!(words >> p.width >> p.height >> sigma >> p.truncate >> pixel >> p.quality >> p.peak >>
          variant >> file))
      throw std::runtime_error("plan takes nine words");
    p.sigma_x = p.sigma_y = sigma;
    p.pixel = GaussianBlur::parse_pixel(pixel);
    std::ifstream in(file, std::ios::binary);
    picture.assign(std::istreambuf_iterator<char>(in), {});
    const std::size_t bytes = clcook::gaussian::pixel_bytes(p) * static_cast<std::size_t>(p.width) *
                              static_cast<std::size_t>(p.height);
    if (picture.size() != bytes)
      throw std::runtime_error(file + " has not the size of the picture");
    src = clcook::create_buffer(runtime, bytes, CL_MEM_READ_ONLY, picture.data());
    dst = clcook::create_buffer(runtime, bytes);
    blur.emplace(runtime, p, variant);
    return std::string("ok ") + blur->variant().name();
  }

  std::string answer(const std::string& line) {
    std::istringstream words(line);
    std::string command;
    words >> command;
    if (command == "device") {
      const clcook::DeviceInfo& info = runtime.info();
      return info.name + "|" + info.platform + "|" + info.driver;
    }
    if (command == "plan") return plan(words);
    if (!blur) throw std::runtime_error("there is no plan");
    if (command == "run") {
      return std::to_string(1e6 * timer.time([&] { return (*blur)(src, dst); }).sum);
    }
    if (command == "sigma") {
      double sigma = 0;
      words >> sigma;
      const auto begin = std::chrono::steady_clock::now();
      blur->set_sigma(sigma, sigma);
      const std::chrono::duration<double, std::micro> time =
          std::chrono::steady_clock::now() - begin;
      return std::to_string(time.count());
    }
    if (command == "save") {
      std::string file;
      words >> file;
      clcook::check(clEnqueueReadBuffer(runtime.queue()(), dst(), CL_TRUE, 0, picture.size(),
                                        picture.data(), 0, nullptr, nullptr),
                    "clEnqueueReadBuffer");
      std::ofstream out(file, std::ios::binary);
      out.write(picture.data(), static_cast<std::streamsize>(picture.size()));
      return out ? "ok" : "error cannot write " + file;
    }
    throw std::runtime_error("no such command");
  }
};

}  // namespace

int main() {
  try {
    Server server;
    for (std::string line; std::getline(std::cin, line);) {
      std::string said;
      try {
        said = server.answer(line);
      } catch (const std::exception& error) {
        said = std::string("error ") + error.what();
      }
      for (char& c : said) {
        if (c == '\n') c = ';';
      }
      std::cout << said << std::endl;
    }
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
