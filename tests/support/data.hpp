// Real inputs for tests: pictures, a texture, blocks that other decoders decoded. Small ones are in
// tests/data, whose README says where they are from; larger ones need not be there.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include <doctest/doctest.h>

#include "clcook_places.hpp"

namespace clcook::testing {

// The path of a file in tests/data.
inline std::filesystem::path small_data(const std::string& name) {
  return std::filesystem::path(CLCOOK_SOURCE_DIR) / "tests/data" / name;
}

// The path of a larger file in the folder CLCOOK_TEST_DATA: the environment's, else the cache variable of
// CMake, else ../shared/data beside the sources. Says so where it is not there: a visible skip.
inline std::optional<std::filesystem::path> test_data(const std::string& name) {
  const char* variable = std::getenv("CLCOOK_TEST_DATA");
  std::filesystem::path folder = variable == nullptr ? "" : variable;
  if (folder.empty()) folder = CLCOOK_TEST_DATA;
  if (folder.empty()) folder = std::filesystem::path(CLCOOK_SOURCE_DIR) / "../shared/data";
  const std::filesystem::path path = folder / name;
  std::error_code error;
  if (std::filesystem::exists(path, error)) return path;
  MESSAGE("SKIPPED: there is no file ", name, " in CLCOOK_TEST_DATA");
  return std::nullopt;
}

}  // namespace clcook::testing
