// What the Python package is compared with: the same operations called from C++, on files of raw
// values, and the time that they take.
//
//   plain gaussian_blur IN OUT WIDTH HEIGHT CHANNELS PIXEL SIGMA_X SIGMA_Y BORDER TRUNCATE
//   plain bc6h_decode IN OUT WIDTH HEIGHT FORMAT TEXEL
//   plain rank_filter IN OUT WIDTH HEIGHT PIXEL RADIUS RANK BORDER
//   plain stream_compaction IN OUT WIDTH HEIGHT PIXEL THRESHOLD
//   plain time WIDTH HEIGHT CHANNELS PIXEL SIGMA ROUNDS   microseconds as JSON: from memory to memory
//                                                         ("transfers": upload, blur, read back, into
//                                                         memory that is new or the same each time),
//                                                         and of the host for a call on buffers

#include <algorithm>
#include <chrono>
#include <clcook/bc6h_decode.hpp>
#include <clcook/core/staging.hpp>
#include <clcook/gaussian_blur.hpp>
#include <clcook/rank_filter.hpp>
#include <clcook/stream_compaction.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

namespace {

using Bytes = std::vector<char>;

Bytes read_file(const char* path) {
  std::ifstream in(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(in), {});
}

void write_file(const char* path, const void* data, std::size_t bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
  if (!out.flush()) clcook::fail(clcook::Errc::io, "plain", std::string("cannot write ") + path);
}

cl::Buffer upload(const clcook::Runtime& rt, const Bytes& from) {
  return clcook::create_buffer(rt, from.size(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                               from.data());
}

void read(const clcook::Runtime& rt, const cl::Buffer& from, std::size_t bytes, void* to,
          const cl::Event& after) {
  const cl_event event = after();
  clcook::check(
      clEnqueueReadBuffer(rt.queue()(), from(), CL_TRUE, 0, bytes, to, 1, &event, nullptr),
      "clEnqueueReadBuffer");
}

clcook::GaussianBlur::Problem blur_problem(char** a) {
  clcook::GaussianBlur::Problem p;
  p.width = std::atoi(a[0]);
  p.height = std::atoi(a[1]);
  p.pixel = clcook::pixel_type(clcook::GaussianBlur::parse_pixel(a[3]), std::atoi(a[2]));
  return p;
}

void blur(char** a) {
  const auto rt = clcook::Runtime::pick();
  const Bytes in = read_file(a[0]);
  auto p = blur_problem(a + 2);
  p.sigma_x = std::atof(a[6]);
  p.sigma_y = std::atof(a[7]);
  p.border = clcook::GaussianBlur::parse_border(a[8]);
  p.truncate = std::atof(a[9]);
  const clcook::GaussianBlur plan(rt, p);
  const cl::Buffer src = upload(rt, in);
  const cl::Buffer dst = clcook::create_buffer(rt, in.size());
  Bytes out(in.size());
  read(rt, dst, out.size(), out.data(), plan(src, dst));
  write_file(a[1], out.data(), out.size());
  std::puts(plan.variant().name().c_str());
}

void decode(char** a) {
  const auto rt = clcook::Runtime::pick();
  clcook::Bc6hDecode::Problem p;
  p.width = std::atoi(a[2]);
  p.height = std::atoi(a[3]);
  p.format = std::strcmp(a[4], "signed_float") == 0 ? clcook::bc6h_decode::Format::signed_float
                                                    : clcook::bc6h_decode::Format::unsigned_float;
  p.texel = clcook::parse_pixel_type(a[5], "plain");
  const cl::Buffer src = upload(rt, read_file(a[0]));
  Bytes out(clcook::Bc6hDecode::texture_bytes(p));
  const cl::Buffer dst = clcook::create_buffer(rt, out.size());
  read(rt, dst, out.size(), out.data(), clcook::Bc6hDecode(rt, p)(src, dst));
  write_file(a[1], out.data(), out.size());
}

void rank(char** a) {
  const auto rt = clcook::Runtime::pick();
  const Bytes in = read_file(a[0]);
  clcook::RankFilter::Problem p;
  p.width = std::atoi(a[2]);
  p.height = std::atoi(a[3]);
  p.pixel = clcook::parse_pixel_type(a[4], "plain");
  p.radius = std::atoi(a[5]);
  p.rank = std::atof(a[6]);
  p.border = clcook::parse_border(a[7], "plain");
  const cl::Buffer src = upload(rt, in);
  const cl::Buffer dst = clcook::create_buffer(rt, in.size());
  Bytes out(in.size());
  read(rt, dst, out.size(), out.data(), clcook::RankFilter(rt, p)(src, dst));
  write_file(a[1], out.data(), out.size());
}

void compact(char** a) {
  const auto rt = clcook::Runtime::pick();
  clcook::StreamCompaction::Problem p;
  p.width = static_cast<std::size_t>(std::atoi(a[2]));
  p.height = static_cast<std::size_t>(std::atoi(a[3]));
  p.pixel = clcook::parse_pixel_type(a[4], "plain");
  const cl::Buffer src = upload(rt, read_file(a[0]));
  const cl::Buffer dst = clcook::create_buffer(rt, p.pixels() * 4);
  const cl::Buffer kept = clcook::create_buffer(rt, 4);
  const cl::Event done = clcook::StreamCompaction(rt, p)(src, dst, kept, std::atof(a[5]));
  cl_uint count = 0;
  read(rt, kept, 4, &count, done);
  std::vector<cl_uint> out(p.pixels());
  read(rt, dst, out.size() * 4, out.data(), done);
  write_file(a[1], out.data(), std::size_t{count} * 4);
}

using Clock = std::chrono::steady_clock;
double microseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

// Prints the times of `rounds` calls as a list of JSON.
template <class Call>
void print_times(const char* name, int rounds, const Call& call) {
  std::printf("\"%s\": [", name);
  for (int i = -3; i < rounds; ++i) {
    const double time = call();
    if (i >= 0) std::printf("%s%.3f", i == 0 ? "" : ", ", time);
  }
  std::printf("]");
}

void measure(char** a) {
  const auto rt = clcook::Runtime::pick();
  auto p = blur_problem(a);
  p.sigma_x = p.sigma_y = std::atof(a[4]);
  const int rounds = std::atoi(a[5]);
  const clcook::GaussianBlur plan(rt, p);
  const std::size_t bytes = clcook::gaussian::pixel_bytes(p) * static_cast<std::size_t>(p.width) *
                            static_cast<std::size_t>(p.height);
  // 0.01 as floats, 1.1 as halves: behind the weights, smaller ones would be denormal and take a CPU long.
  const Bytes in(bytes, 0x3c);
  Bytes same(bytes);
  const cl::Buffer src = upload(rt, in);
  const cl::Buffer dst = clcook::create_buffer(rt, bytes);
  const auto rows = static_cast<std::size_t>(p.height);
  const clcook::HostRows from{in.data(), bytes / rows, bytes / rows, rows};
  clcook::Staging staging(rt);
  cl::Buffer kept[2];
  const auto through = [&](void* out) {
    const clcook::HostRowsToWrite to{out, bytes / rows, bytes / rows, rows};
    const clcook::Staged read = staging.up(from, kept[0]);
    const clcook::Staged made = staging.place(to, kept[1], &from);
    staging.down(made, to, plan(read.view, made.view, read.wait));
  };
  std::printf("{\"device\": \"%s\", \"variant\": \"%s\", ", rt.info().name.c_str(),
              plan.variant().name().c_str());
  print_times("transfers_new", rounds, [&] {
    const auto begin = Clock::now();
    std::unique_ptr<char[]> out(new char[bytes]);  // not initialised, as numpy.empty
    through(out.get());
    out.reset();
    return microseconds_since(begin);
  });
  std::printf(", ");
  print_times("transfers_same", rounds, [&] {
    const auto begin = Clock::now();
    through(same.data());
    return microseconds_since(begin);
  });
  std::printf(", ");
  // Twenty calls at a time wait for one event, so that nothing else runs while the host is timed.
  cl::Event gate;
  int behind = 0;
  print_times("call", 20 * rounds, [&] {
    if (behind == 0) {
      cl_int status = CL_SUCCESS;
      gate = cl::Event(clCreateUserEvent(rt.context()(), &status));
      clcook::check(status, "clCreateUserEvent");
    }
    const std::vector<cl::Event> wait{gate};
    const auto begin = Clock::now();
    const cl::Event done = plan(src, dst, wait);
    const double time = microseconds_since(begin);
    if (++behind == 20) {
      clcook::check(clSetUserEventStatus(gate(), CL_COMPLETE), "clSetUserEventStatus");
      clcook::check(clFinish(rt.queue()()), "clFinish");
      behind = 0;
    }
    return time;
  });
  if (behind > 0) clcook::check(clSetUserEventStatus(gate(), CL_COMPLETE), "clSetUserEventStatus");
  clcook::check(clFinish(rt.queue()()), "clFinish");
  std::printf("}\n");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  try {
    if (name == "gaussian_blur" && argc == 12) return blur(argv + 2), 0;
    if (name == "bc6h_decode" && argc == 8) return decode(argv + 2), 0;
    if (name == "rank_filter" && argc == 10) return rank(argv + 2), 0;
    if (name == "stream_compaction" && argc == 8) return compact(argv + 2), 0;
    if (name == "time" && argc == 8) return measure(argv + 2), 0;
  } catch (const clcook::Error& error) {
    std::fprintf(stderr, "%s\n%s\n", clcook::to_string(error.code), error.what());
    return 1;
  }
  std::fprintf(stderr, "plain: what it takes stands at the top of tests/python/plain.cpp\n");
  return 2;
}
