#include "order_sheet.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace clcook::example {

using pictures::Picture;

namespace {

constexpr int kCell = 10;  // pixels
constexpr int kMargin = 10;

using Colour = std::array<double, 3>;

void put(Picture& picture, int x, int y, const Colour& colour) {
  const std::size_t at = (static_cast<std::size_t>(y) * static_cast<std::size_t>(picture.width) +
                          static_cast<std::size_t>(x)) *
                         4;
  for (std::size_t c = 0; c < 3; ++c)
    picture.rgba[at + c] = static_cast<std::uint8_t>(colour[c] * 255 + 0.5);
}

// From dark blue over green to yellow.
Colour ramp(double t) {
  return {std::pow(t, 1.5), 0.1 + 0.8 * t, 0.45 + 0.25 * std::sin(3.1416 * t) - 0.3 * t};
}

// One order of a grid, with its upper left corner at (left, kMargin).
void draw(Picture& picture, int left, const std::vector<Cell>& order) {
  const auto last = static_cast<double>(std::max<std::size_t>(2, order.size()) - 1);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const int x0 = left + order[i].x * kCell;
    const int y0 = kMargin + order[i].y * kCell;
    const Colour colour = ramp(static_cast<double>(i) / last);
    for (int y = 0; y < kCell - 1; ++y) {
      for (int x = 0; x < kCell - 1; ++x) put(picture, x0 + x, y0 + y, colour);
    }
  }
  for (std::size_t i = 1; i < order.size(); ++i) {
    const auto middle = [](int from, int cell) { return from + cell * kCell + kCell / 2 - 1; };
    const int from_x = middle(left, order[i - 1].x);
    const int from_y = middle(kMargin, order[i - 1].y);
    const int x = middle(left, order[i].x) - from_x;
    const int y = middle(kMargin, order[i].y) - from_y;
    const int away = std::max(std::abs(x), std::abs(y));
    const int steps = away > kCell ? 0 : away;
    for (int k = 0; k < steps; ++k)
      put(picture, from_x + x * k / steps, from_y + y * k / steps, {1, 1, 1});
  }
}

}  // namespace

Picture draw_orders(const std::vector<std::vector<Cell>>& orders, int columns, int rows) {
  const int panel = columns * kCell + kMargin;
  Picture picture;
  picture.width = static_cast<int>(orders.size()) * panel + kMargin;
  picture.height = rows * kCell + 2 * kMargin;
  picture.rgba.assign(picture.pixels() * 4, 255);
  int left = kMargin;
  for (const std::vector<Cell>& order : orders) {
    draw(picture, left, order);
    left += panel;
  }
  return picture;
}

}  // namespace clcook::example
