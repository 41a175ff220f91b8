// Pictures of the order in which the cells of a grid are visited.
#pragma once

#include <pictures/picture.hpp>
#include <vector>

namespace clcook::example {

struct Cell {
  int x = 0;
  int y = 0;
};

// Draws a grid of columns x rows for each order, side by side: from dark blue to yellow, with a line
// from each cell to the next where they touch.
pictures::Picture draw_orders(const std::vector<std::vector<Cell>>& orders, int columns, int rows);

}  // namespace clcook::example
