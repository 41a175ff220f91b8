// Decodes a BC6H texture of a DDS file on the device and writes it as a picture.
//
//   bc6h_decode in.dds out.exr|out.pfm|out.png|out.jpg [--exposure E] [--slice N] [--mip N]
//   bc6h_decode                  makes a texture of its own, a sunset, and decodes it to
//                                bc6h_decode.png
//
// EXR files hold the halfs that the texture decodes to, PFM files the same as floats, PNG files
// 8-bit values: times 2^E, cut at 1, with the sRGB curve.
//
// test: scene:93x61 {out}/bc6h_decode.exr
// test: scene:40x37 {out}/bc6h_decode.pfm --strip 8 --signed
// test: scene:64x16 {out}/bc6h_decode.png --exposure -2 --variant branchy
// demo: scene {out}/bc6h_decode.png --exposure -1

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <clcook/bc6h_decode.hpp>
#include <clcook/io/dds.hpp>
#include <clcook/io/exr.hpp>
#include <clcook/io/pfm.hpp>
#include <clcook/reference/bc6h_decode.hpp>
#include <clcook/reference/bc6h_encode.hpp>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "support/picture.hpp"
#include "support/stages.hpp"

namespace {

using clcook::Bc6hDecode;
using clcook::Errc;
using clcook::fail;
using clcook::text;

struct Arguments {
  std::vector<std::string> files;
  std::string device;
  std::string variant = "automatic";
  double exposure = 0;
  std::uint64_t slice = 0;
  std::size_t mip = 0;
  std::uint32_t strip = 0;  // rows of a strip, 0 for as many as fit
  bool is_signed = false;
};

// A sun above the sea, at most 50000 bright: halfs R G B, row by row.
std::vector<std::uint16_t> render_sunset(std::uint32_t width, std::uint32_t height) {
  std::vector<std::uint16_t> out;
  for (std::uint32_t y = 0; y < height; ++y) {
    for (std::uint32_t x = 0; x < width; ++x) {
      const double u = (x + 0.5) / width;
      const double v = (y + 0.5) / height;
      const double horizon = 0.62;
      const double mirrored = v < horizon ? v : 2 * horizon - v;
      const double dx = (u - 0.68) * width / height;
      const double dy = mirrored - 0.45;
      const double distance = std::sqrt(dx * dx + dy * dy);
      // Glow, and the disc itself with a rim of a few texels.
      const double glow = 0.06 / (distance * distance + 0.004);
      const double disc = 50000 / (1 + std::exp((distance - 0.03) * 900));
      const double sky = 0.25 + 1.5 * std::pow(std::max(0.0, mirrored / horizon), 3.0);
      double rgb[3] = {sky * 0.9 + glow + disc, sky * 0.65 + glow * 0.55 + disc * 0.85,
                       sky * (1.1 - 0.7 * mirrored) + glow * 0.25 + disc * 0.6};
      if (v > horizon) {
        const double wave =
            0.5 + 0.5 * std::sin(40 * std::log(v - horizon + 0.08) + 3 * std::sin(23 * u + 40 * v));
        const double tint[3] = {0.25, 0.35, 0.5};
        for (int c = 0; c < 3; ++c) rgb[c] = rgb[c] * tint[c] * wave * wave + 0.01;
      } else if (v > 0.5 + 0.04 * std::sin(9 * u) + 0.01 * std::sin(71 * u) + 0.25 * u) {
        rgb[0] = rgb[1] = 0.004;  // a shore in the dark
        rgb[2] = 0.007;
      }
      for (const double value : rgb) {
        out.push_back(clcook::reference::bc6h::half_from_float(static_cast<float>(value)));
      }
    }
  }
  return out;
}

// A DDS file in memory with that scene: what a file at hand would hold.
std::string make_texture(const std::string& source, bool is_signed) {
  std::uint32_t width = 768;
  std::uint32_t height = 432;
  char rest = 0;
  if (source != "scene" &&
      (std::sscanf(source.c_str(), "scene:%ux%u%c", &width, &height, &rest) != 2 || width < 1 ||
       height < 1 || width > 4096 || height > 4096)) {
    fail(Errc::invalid_argument, source,
         "expected scene:WIDTHxHEIGHT with sides of 1 to 4096, such as scene:640x360");
  }
  namespace ref = clcook::reference::bc6h;
  const std::vector<unsigned char> blocks =
      ref::encode_image(render_sunset(width, height), width, height,
                        is_signed ? ref::Format::sf16 : ref::Format::uf16);
  clcook::io::DdsDescription what;
  what.format = is_signed ? clcook::io::DdsFormat::bc6h_sf16 : clcook::io::DdsFormat::bc6h_uf16;
  what.width = width;
  what.height = height;
  return clcook::io::write_dds(
      what, std::string(reinterpret_cast<const char*>(blocks.data()), blocks.size()));
}

// A bar on standard error while something takes long; nothing where that is no terminal.
class Progress {
 public:
  explicit Progress(std::uint64_t total) : total_(total) {}
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() {
    if (shown_) fmt::print(stderr, "\r{:>60}\r", "");
  }

  void at(std::uint64_t done) {
    const auto now = std::chrono::steady_clock::now();
    if (!terminal_ || now - last_ < std::chrono::milliseconds(shown_ ? 100 : 1000)) return;
    last_ = now;
    shown_ = true;
    const auto part =
        static_cast<std::size_t>(40.0 * static_cast<double>(done) / static_cast<double>(total_));
    fmt::print(stderr, "\r[{:<40}] {:3.0f} %", std::string(part, '#'),
               100.0 * static_cast<double>(done) / static_cast<double>(total_));
    std::fflush(stderr);
  }

 private:
  std::uint64_t total_;
  bool terminal_ = isatty(STDERR_FILENO) != 0;
  bool shown_ = false;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// A file that appears under its name when it is complete, and not at all before.
class WholeFile {
 public:
  explicit WholeFile(const std::string& path)
      : path_(path), temporary_(path + ".tmp-" + std::to_string(getpid())) {
    std::error_code error;
    if (path_.has_parent_path()) std::filesystem::create_directories(path_.parent_path(), error);
    stream.open(temporary_, std::ios::binary | std::ios::trunc);
    if (!stream) fail(Errc::io, "write " + path, "cannot create the file");
  }
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;
  ~WholeFile() {
    std::error_code error;
    if (!temporary_.empty()) std::filesystem::remove(temporary_, error);
  }

  void finish() {
    stream.close();
    std::error_code error;
    if (stream) std::filesystem::rename(temporary_, path_, error);
    if (!stream || error) fail(Errc::io, "write " + path_.string(), "cannot write the file");
    temporary_.clear();
  }

  std::ofstream stream;

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;
};

std::uint8_t srgb(float value, float factor) {
  const float linear = std::clamp(value * factor, 0.0f, 1.0f);  // NaN does not occur
  const float curve =
      linear <= 0.0031308f ? 12.92f * linear : 1.055f * std::pow(linear, 1 / 2.4f) - 0.055f;
  return static_cast<std::uint8_t>(std::lround(curve * 255.0f));
}

int run(const Arguments& arguments) {
  const std::string in = arguments.files.empty() ? "scene" : arguments.files[0];
  const std::string out = arguments.files.empty() ? "bc6h_decode.png" : arguments.files[1];
  const std::string kind = std::filesystem::path(out).extension().string();
  const bool exr = kind == ".exr";
  const bool pfm = kind == ".pfm";
  if (!exr && !pfm) clcook::example::check_picture_path(out, ".exr, .pfm, ");

  // The layout of the texture, from the header and the length of the file alone.
  const bool scene = in.rfind("scene", 0) == 0 && !std::filesystem::exists(in);
  std::ifstream file;
  std::istringstream memory;
  std::uint64_t size = 0;
  if (scene) {
    memory.str(make_texture(in, arguments.is_signed));
    size = memory.str().size();
  } else {
    std::error_code error;
    size = std::filesystem::file_size(in, error);
    file.open(in, std::ios::binary);
    if (error || !file) fail(Errc::io, "read " + in, "cannot read the file");
  }
  std::istream& source = scene ? static_cast<std::istream&>(memory) : file;
  std::string head(clcook::io::kDdsHeaderBytes, '\0');
  source.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(source.gcount()));
  source.clear();
  clcook::io::Dds dds;
  clcook::io::DdsLevel level;
  try {
    dds = clcook::io::parse_dds(head, size);
    level = dds.level(arguments.slice, arguments.mip);
  } catch (const clcook::io::FormatError& error) {
    fail(Errc::io, in, error.what());
  }
  const bool is_signed = dds.format == clcook::io::DdsFormat::bc6h_sf16;

  clcook::PickOptions pick;
  pick.profiling = true;
  clcook::example::DeviceTimer timer;
  pick.runtime.on_launch = timer.observer();
  const clcook::Runtime rt = clcook::Runtime::pick(arguments.device, pick);

  // Strips of whole rows of blocks that fit into one buffer, and into a quarter of the device.
  Bc6hDecode::Problem problem;
  problem.width = static_cast<int>(level.width);
  problem.format =
      is_signed ? Bc6hDecode::Format::signed_float : Bc6hDecode::Format::unsigned_float;
  problem.texel = exr ? Bc6hDecode::Texel::rgba16f : Bc6hDecode::Texel::rgba32f;
  const std::uint64_t texel_row =
      level.width * std::uint64_t{Bc6hDecode::texel_bytes(problem.texel)};
  const std::uint64_t most =
      std::min({std::uint64_t{rt.info().max_allocation}, std::uint64_t{rt.info().global_mem} / 4,
                std::uint64_t{1} << 28});
  std::uint64_t strip = arguments.strip != 0 ? arguments.strip : most / texel_row;
  strip = std::max<std::uint64_t>(4, strip / 4 * 4);
  const std::uint64_t strips = (level.height + strip - 1) / strip;

  clcook::example::Picture picture;  // for PNG
  if (!exr && !pfm) {
    if (std::uint64_t{level.width} * level.height > std::uint64_t{1} << 29) {
      fail(Errc::invalid_argument, out,
           text(level.width, " x ", level.height,
                " texels are too many for a PNG file; EXR and PFM have no such limit"));
    }
    picture.width = problem.width;
    picture.height = static_cast<int>(level.height);
    picture.rgba.resize(picture.pixels() * 4);
  }
  std::unique_ptr<WholeFile> target;
  if (exr || pfm) target = std::make_unique<WholeFile>(out);
  if (exr) {
    target->stream << clcook::io::exr_header(level.width, level.height,
                                             clcook::io::ExrTexel::rgba16f);
  } else if (pfm) {
    target->stream << clcook::io::pfm_header(level.width, level.height);
  }

  const auto strip_rows = [&](std::uint64_t index) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(strip, level.height - index * strip));
  };
  problem.height = static_cast<int>(strip_rows(0));
  const cl::Buffer blocks =
      clcook::create_buffer(rt, Bc6hDecode::block_bytes(problem), CL_MEM_READ_ONLY);
  const cl::Buffer texels =
      clcook::create_buffer(rt, Bc6hDecode::texture_bytes(problem), CL_MEM_WRITE_ONLY);
  std::vector<unsigned char> raw(Bc6hDecode::block_bytes(problem));
  std::vector<unsigned char> decoded(Bc6hDecode::texture_bytes(problem));
  Progress progress(strips);
  double seconds = 0;
  const char* variant = "";
  for (std::uint64_t n = 0; n < strips; ++n) {
    const std::uint64_t index = pfm ? strips - 1 - n : n;  // PFM starts with the lowest row
    problem.height = static_cast<int>(strip_rows(index));
    const std::size_t block_bytes = Bc6hDecode::block_bytes(problem);
    const std::size_t texel_bytes = Bc6hDecode::texture_bytes(problem);
    source.seekg(
        static_cast<std::streamoff>(level.offset + index * (strip / 4) * level.row_bytes()));
    source.read(reinterpret_cast<char*>(raw.data()), static_cast<std::streamsize>(block_bytes));
    if (!source) fail(Errc::io, "read " + in, "the file ended early");
    clcook::check(clEnqueueWriteBuffer(rt.queue()(), blocks(), CL_TRUE, 0, block_bytes, raw.data(),
                                       0, nullptr, nullptr),
                  "clEnqueueWriteBuffer");

    const Bc6hDecode decode(rt, problem, Bc6hDecode::parse_variant(arguments.variant));
    variant = Bc6hDecode::to_string(decode.variant());
    seconds += timer.time([&] { return decode(blocks, texels); });

    clcook::check(clEnqueueReadBuffer(rt.queue()(), texels(), CL_TRUE, 0, texel_bytes,
                                      decoded.data(), 0, nullptr, nullptr),
                  "clEnqueueReadBuffer");
    const auto first_row = static_cast<std::uint32_t>(index * strip);
    const auto rows = static_cast<std::uint32_t>(problem.height);
    if (exr) {
      clcook::io::write_exr_lines(target->stream, decoded.data(), level.width, first_row, rows,
                                  clcook::io::ExrTexel::rgba16f);
    } else {
      const auto* floats = reinterpret_cast<const float*>(decoded.data());
      if (pfm) {
        clcook::io::write_pfm_rows(target->stream, floats, level.width, rows, 4);
      } else {
        const float factor = static_cast<float>(std::exp2(arguments.exposure));
        std::uint8_t* to = picture.rgba.data() + std::size_t{first_row} * level.width * 4;
        for (std::size_t i = 0; i < texel_bytes / sizeof(float); ++i) {
          to[i] = i % 4 == 3 ? 255 : srgb(floats[i], factor);
        }
      }
    }
    progress.at(n + 1);
  }
  if (target) {
    target->finish();
  } else {
    clcook::example::write_picture(out, picture);
  }

  fmt::print("{}: {} x {} texels, BC6H {}, slice {} of {}, mip {} of {}\n", in, level.width,
             level.height, is_signed ? "signed" : "unsigned", arguments.slice, dds.slices,
             arguments.mip, dds.mips.size());
  fmt::print("{} by variant {} on {} ({}): {:.3f} ms on the device in {} {}, {:.2f} Gtexel/s\n",
             out, variant, rt.info().name, rt.info().platform, seconds * 1e3, strips,
             strips == 1 ? "strip" : "strips",
             static_cast<double>(level.width) * level.height / seconds * 1e-9);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app{"Decodes a BC6H texture of a DDS file to an EXR, PFM or PNG picture"};
  app.add_option(
         "FILES", arguments.files,
         "Input (DDS, 'scene' or 'scene:WIDTHxHEIGHT') and output (EXR, PFM, PNG or JPEG); both "
         "or none")
      ->expected(0, 2);
  app.add_option("--exposure", arguments.exposure, "Stops that a PNG picture is made brighter")
      ->capture_default_str()
      ->check(CLI::Range(-64.0, 64.0));
  app.add_option("--slice", arguments.slice,
                 "Element of an array; of cube maps six times the cube plus the face")
      ->capture_default_str();
  app.add_option("--mip", arguments.mip, "Level of the mip chain, 0 the largest")
      ->capture_default_str();
  app.add_option("--variant", arguments.variant, "The variant that decodes")->capture_default_str();
  app.add_option("--device", arguments.device,
                 "Device specification; default CLCOOK_DEVICE, else any");
  app.add_option("--strip", arguments.strip,
                 "Rows to decode at a time, a multiple of 4; default as many as fit");
  app.add_flag("--signed", arguments.is_signed, "Make the scene's texture a signed one");
  CLI11_PARSE(app, argc, argv);
  if (arguments.files.size() == 1) {
    fmt::print(stderr, "bc6h_decode: give both or none of input and output; got only '{}'\n",
               arguments.files[0]);
    return 2;
  }
  try {
    return run(arguments);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bc6h_decode: {}\n", error.what());
    return 2;
  }
}
