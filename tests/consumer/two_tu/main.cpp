// Both units see the same pixels and the same errors.
#include <cstdio>
#include <exception>

#include "report.hpp"

int main() {
  try {
    const Report a = with_exceptions();
    const Report b = without_exceptions();
    int wrong = 0;
    if (a.pixels != b.pixels || a.pixels.empty()) {
      std::puts("the units computed different pixels");
      wrong = 1;
    }
    for (std::size_t i = 0; i < a.errors.size(); ++i) {
      std::printf("%s\n", a.errors[i].c_str());
      if (a.errors[i] == "no error" || a.errors[i] != b.errors[i]) {
        std::printf("  differs or is missing without exceptions: %s\n", b.errors[i].c_str());
        wrong = 1;
      }
    }
    return wrong;
  } catch (const std::exception& error) {
    std::printf("an error left a unit: %s\n", error.what());
    return 1;
  }
}
