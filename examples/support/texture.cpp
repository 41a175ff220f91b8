#include "texture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <clcook/core/error.hpp>
#include <clcook/reference/bc6h_decode.hpp>
#include <clcook/reference/bc6h_encode.hpp>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <istream>
#include <memory>
#include <sstream>
#include <system_error>
#include <vector>

namespace clcook::example {

namespace {

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
        out.push_back(reference::bc6h::half_from_float(static_cast<float>(value)));
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
  namespace ref = reference::bc6h;
  const std::vector<unsigned char> blocks =
      ref::encode_image(render_sunset(width, height), width, height,
                        is_signed ? ref::Format::sf16 : ref::Format::uf16);
  io::DdsDescription what;
  what.format = is_signed ? io::DdsFormat::bc6h_sf16 : io::DdsFormat::bc6h_uf16;
  what.width = width;
  what.height = height;
  return io::write_dds(what,
                       std::string(reinterpret_cast<const char*>(blocks.data()), blocks.size()));
}

}  // namespace

Texture open_texture(const std::string& source, std::uint64_t slice, std::size_t mip,
                     bool is_signed) {
  std::unique_ptr<std::istream> in;
  std::uint64_t size = 0;
  if (source.rfind("scene", 0) == 0 && !std::filesystem::exists(source)) {
    const std::string file = make_texture(source, is_signed);
    size = file.size();
    in = std::make_unique<std::istringstream>(file);
  } else {
    std::error_code error;
    size = std::filesystem::file_size(source, error);
    in = std::make_unique<std::ifstream>(source, std::ios::binary);
    if (error || !*in) fail(Errc::io, "read " + source, "cannot read the file");
  }
  // The layout follows from the header and the length of the file alone.
  std::string head(io::kDdsHeaderBytes, '\0');
  in->read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(in->gcount()));
  in->clear();
  Texture out;
  try {
    out.dds = io::parse_dds(head, size);
    out.level = out.dds.level(slice, mip);
  } catch (const io::FormatError& error) {
    fail(Errc::io, source, error.what());
  }
  for (const std::string& one : out.dds.warnings)
    fmt::print(stderr, "warning: {}: DDS: {}\n", source, one);
  out.blocks.resize(static_cast<std::size_t>(out.level.bytes));
  in->seekg(static_cast<std::streamoff>(out.level.offset));
  in->read(out.blocks.data(), static_cast<std::streamsize>(out.blocks.size()));
  if (!*in) fail(Errc::io, "read " + source, "the file ended early");
  return out;
}

pictures::Picture tone_map(const float* texels, int width, int height, double exposure) {
  const auto srgb = [factor = static_cast<float>(std::exp2(exposure))](float value) {
    const float linear = std::clamp(value * factor, 0.0f, 1.0f);  // NaN does not occur
    const float curve =
        linear <= 0.0031308f ? 12.92f * linear : 1.055f * std::pow(linear, 1 / 2.4f) - 0.055f;
    return static_cast<std::uint8_t>(std::lround(curve * 255.0f));
  };
  pictures::Picture out{width, height, {}};
  out.rgba.resize(out.pixels() * 4, 255);
  for (std::size_t i = 0; i < out.rgba.size(); ++i) {
    if (i % 4 != 3) out.rgba[i] = srgb(texels[i]);
  }
  return out;
}

}  // namespace clcook::example
