// A test scene for machines without a picture at hand.
#pragma once

#include <pictures/picture.hpp>
#include <string>

namespace clcook::example {

using pictures::Picture;

// Renders the test scene: a sky gradient, discs with hard edges, a star of thin rays, stripes of
// one to eight pixels, a checkerboard and reproducible noise. The same pixels on every machine for
// one size.
Picture render_scene(int width, int height);

// Whether `source` is a test scene, see open_picture(), and no file.
bool is_scene(const std::string& source);

// Reads `source`: a file, or "scene" or "scene:WIDTHxHEIGHT" for the test scene (1920 x 1080 by
// default).
Picture open_picture(const std::string& source);

// Every 20th pixel becomes black or white, the same ones on every machine.
void add_noise(Picture& picture);

// What the camera saw a few pixels to the left: a history that leaves ghosts.
Picture moved(const Picture& picture);

}  // namespace clcook::example
