#pragma once

#include <string>
#include <vector>

struct Report {
  std::vector<float> pixels;
  std::vector<std::string> errors;
};

Report with_exceptions();
Report without_exceptions();
