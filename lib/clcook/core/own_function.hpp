// A function of the caller in one of our kernels.
//
//   clcook::OwnFunction function{"brdf.clh", "static inline float brdf(float x) { return x; }"};
//   clcook::check_own_function(function, clcook::embedded::argument_swap, "MyOperation");
//   clcook::Source both = clcook::with_own_function(function, clcook::embedded::argument_swap);
#pragma once

#include <clcook/core/error.hpp>
#include <clcook/core/source.hpp>
#include <string>

namespace clcook {

// OpenCL C 1.2 text that defines what the operation asks for. It may include `<clcook/...>` device
// headers. Messages of the compiler show `name` and the lines of the text where it follows `#line`;
// NVIDIA's says `<kernel>` and a line number that is 2 too large.
struct OwnFunction {
  std::string name;  // such as the text's file name; not empty, no quotes or line ends
  std::string text;  // empty for our function
};

// Throws Error(invalid_argument) if the name cannot be that of a file, or has no text. `where`
// names the operation.
inline void check_own_function(const OwnFunction& function, const embedded::File& file,
                               const char* where) {
  const std::string& name = function.name;
  if (function.text.empty()) {
    if (!name.empty()) {
      fail(Errc::invalid_argument, where,
           "the function '" + name + "' has no text; leave its name empty for ours");
    }
    return;
  }
  bool good = !name.empty();
  for (const char c : name) good = good && c != '"' && static_cast<unsigned char>(c) >= ' ';
  // These would take the place of the texts that the program is made of.
  good = good && name.rfind("clcook/", 0) != 0 && name != file.name;
  if (!good) {
    fail(Errc::invalid_argument, where,
         "the function's name must be a file name without quotes and line ends that is none of "
         "clcook's, got '" +
             name + "'");
  }
}

// The kernel file behind the function's text.
inline Source with_own_function(const OwnFunction& function, const embedded::File& file) {
  const Source ours(file);
  Source both(ours.name() + " with " + function.name,
              "#include \"" + function.name + "\"\n#include \"" + ours.name() + "\"\n");
  both.header(function.name, function.text).header(ours.name(), ours.flatten());
  return both;
}

}  // namespace clcook
