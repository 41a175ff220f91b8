// Pictures in the report: before, after, and where they differ.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <pictures/picture.hpp>

#include "report/report.hpp"

namespace clcook::tool::report {

namespace {

using pictures::Picture;

constexpr int kShownWidth = 960;  // wider pictures are shown smaller

std::string base64(const std::vector<std::uint8_t>& bytes) {
  static constexpr char kDigits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t there = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) group = group << 8 | (k < there ? bytes[i + k] : 0U);
    for (std::size_t k = 0; k < 4; ++k)
      out += k <= there ? kDigits[group >> (18 - 6 * k) & 63U] : '=';
  }
  return out;
}

std::string png_base64(const Picture& picture) {
  const std::string bytes = png_bytes("report", picture);
  return base64({bytes.begin(), bytes.end()});
}

std::size_t index_of(const Picture& picture, int x, int y) {
  return 4 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(picture.width) +
              static_cast<std::size_t>(x));
}

// Reduced by a whole factor so that it is at most kShownWidth wide: the mean of each block of
// pixels, or for a heat map its largest value, so that a single wrong pixel stays visible.
Picture reduced(const Picture& picture, bool largest) {
  const int factor = (picture.width + kShownWidth - 1) / kShownWidth;
  if (factor <= 1) return picture;
  Picture out;
  out.width = (picture.width + factor - 1) / factor;
  out.height = (picture.height + factor - 1) / factor;
  out.rgba.resize(out.pixels() * 4);
  for (int y = 0; y < out.height; ++y) {
    for (int x = 0; x < out.width; ++x) {
      std::array<unsigned, 4> sum{};
      std::array<unsigned, 4> most{};
      unsigned count = 0;
      for (int v = y * factor; v < std::min((y + 1) * factor, picture.height); ++v) {
        for (int u = x * factor; u < std::min((x + 1) * factor, picture.width); ++u, ++count) {
          const std::size_t at = index_of(picture, u, v);
          for (std::size_t c = 0; c < 4; ++c) {
            sum[c] += picture.rgba[at + c];
            most[c] = std::max<unsigned>(most[c], picture.rgba[at + c]);
          }
        }
      }
      const std::size_t at = index_of(out, x, y);
      for (std::size_t c = 0; c < 4; ++c)
        out.rgba[at + c] =
            static_cast<std::uint8_t>(largest ? most[c] : (sum[c] + count / 2) / count);
    }
  }
  return out;
}

struct Difference {
  Picture heat;
  int largest = 0;
  std::uint64_t pixels = 0;  // that differ at all
  double psnr = 0;           // of 8-bit RGB values, in dB; infinite when nothing differs
};

Difference compare(const Picture& before, const Picture& after) {
  Difference out;
  out.heat.width = before.width;
  out.heat.height = before.height;
  out.heat.rgba.resize(before.pixels() * 4);
  std::vector<std::uint8_t> errors(before.pixels());
  double squares = 0;
  for (std::size_t i = 0; i < before.pixels(); ++i) {
    int error = 0;
    for (std::size_t c = 0; c < 3; ++c) {
      const int one = std::abs(int{before.rgba[4 * i + c]} - int{after.rgba[4 * i + c]});
      squares += one * one;
      error = std::max(error, one);
    }
    errors[i] = static_cast<std::uint8_t>(error);
    out.largest = std::max(out.largest, error);
    if (error > 0) ++out.pixels;
  }
  // Black, red, yellow, white: brighter is worse in every step, for all eyes.
  for (std::size_t i = 0; i < errors.size(); ++i) {
    const int heat = out.largest == 0 ? 0 : 765 * errors[i] / out.largest;
    for (int c = 0; c < 3; ++c)
      out.heat.rgba[4 * i + static_cast<std::size_t>(c)] =
          static_cast<std::uint8_t>(std::clamp(heat - 255 * c, 0, 255));
    out.heat.rgba[4 * i + 3] = 255;
  }
  const double mean = squares / (3.0 * static_cast<double>(before.pixels()));
  out.psnr = mean == 0 ? HUGE_VAL : 10 * std::log10(255.0 * 255.0 / mean);
  return out;
}

std::string figure(const Picture& picture, bool largest, const std::string& caption) {
  const Picture shown = reduced(picture, largest);
  return fmt::format(
      "<figure><img width=\"{}\" height=\"{}\" alt=\"{}\" src=\"data:image/png;base64,{}\"/>"
      "<figcaption>{}</figcaption></figure>\n",
      shown.width, shown.height, escape(caption), png_base64(shown), escape(caption));
}

}  // namespace

Pictures parse_pictures(const std::string& argument) {
  Pictures out;
  const std::size_t equals = argument.find('=');
  out.recipe = argument.substr(0, equals);
  for (std::size_t at = equals; at != std::string::npos;) {
    const std::size_t comma = argument.find(',', at + 1);
    out.files.push_back(
        argument.substr(at + 1, comma == std::string::npos ? comma : comma - at - 1));
    at = comma;
  }
  const bool empty = std::any_of(out.files.begin(), out.files.end(),
                                 [](const std::string& one) { return one.empty(); });
  if (out.recipe.empty() || empty || out.files.size() < 2 || out.files.size() > 3)
    fail(Errc::invalid_argument, "report",
         fmt::format("--picture {}: expected RECIPE=BEFORE,AFTER or RECIPE=BEFORE,AFTER,REFERENCE",
                     argument));
  return out;
}

std::string pictures_html(const Pictures& pictures) {
  std::vector<Picture> all;
  for (const std::string& file : pictures.files) {
    all.push_back(pictures::read_picture(file));
    for (const std::string& one : all.back().warnings)
      fmt::print(stderr, "clcook: warning: {}: {}\n", file, one);
  }
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (all[i].width == all[0].width && all[i].height == all[0].height) continue;
    fail(Errc::invalid_argument, "report",
         fmt::format("{} has {} x {} pixels and {} has {} x {}; only pictures of one size can be "
                     "compared",
                     pictures.files[0], all[0].width, all[0].height, pictures.files[i],
                     all[i].width, all[i].height));
  }
  const bool reference = all.size() == 3;
  const Difference difference = compare(reference ? all[2] : all[0], all[1]);
  const std::string against = reference ? "the reference" : "before";
  std::string out = "<div class=\"pictures\">\n" + figure(all[0], false, "Before") +
                    figure(all[1], false, "After");
  if (reference) out += figure(all[2], false, "Reference");
  out +=
      figure(difference.heat, true,
             difference.largest == 0
                 ? fmt::format("Error of after against {}: none, every pixel is the same", against)
                 : fmt::format("Error of after against {}: black none, white {} of 255, the "
                               "largest",
                               against, difference.largest));
  out += "</div>\n";
  out += fmt::format(
      "<p class=\"note\">After against {}: PSNR {}, largest difference {} of 255, {:.3g} % of {} × "
      "{} pixels differ.</p>\n",
      against,
      std::isinf(difference.psnr) ? "infinite (identical)"
                                  : fmt::format("{:.1f} dB", difference.psnr),
      difference.largest,
      100.0 * static_cast<double>(difference.pixels) / static_cast<double>(all[0].pixels()),
      all[0].width, all[0].height);
  return out;
}

}  // namespace clcook::tool::report
