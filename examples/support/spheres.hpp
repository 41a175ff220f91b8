// Spheres on a plane, for a program that traces rays at them, and pictures of what it saw.
#pragma once

#include <pictures/picture.hpp>
#include <vector>

namespace clcook::example {

// Centre and radius.
inline constexpr float kSpheres[][4] = {{0, 1, 0, 1},
                                        {-2.4f, 0.7f, 1.5f, 0.7f},
                                        {2.3f, 1.4f, 2, 1.4f},
                                        {1.4f, 0.4f, -1.6f, 0.4f},
                                        {-1.2f, 0.3f, -2, 0.3f},
                                        {-5, 2, 5, 2},
                                        {5.6f, 0.9f, 0.5f, 0.9f},
                                        {-4.6f, 0.5f, -0.8f, 0.5f}};

// Of a pixel's ray: how far it went, and in how many steps.
struct Traced {
  float distance = 0;
  int steps = 0;
};

// The lit spheres, and beside them the steps: blue for few, red for many, on a logarithmic scale.
// The camera is that of clcook::GroupSize.
pictures::Picture draw_spheres(const std::vector<Traced>& pixels, int width, int height);

}  // namespace clcook::example
