// A result file of whichever kind, read as strictly as results.hpp reads those of one.
#pragma once

#include <string>
#include <vector>

#include "results.hpp"

namespace clcook::tool {

// Of the contents the one of its kind is filled, none for a kind that has no rows in results.hpp.
struct AnyResult {
  std::string path;
  std::string stem;  // file name without folder and .json: how documents refer to it
  std::string kind;
  std::string commit;  // empty where it is not said
  std::string date;
  Device about;  // nameless for results of no device (isa)
  BenchResult bench;
  CheckResult check;
  IsaResult isa;
  StagesResult stages;
  PeersResult peers;
  GridResult grid;
  ExploreResult explore;
  StartupResult startup;
  CountersResult counters;
  Json json;               // the file as it is
  bool has_place = false;  // the page shows results of this kind; documents may quote any
};

// A result from the content of a file; `path` is its name. Throws Error(io) as reading results.hpp
// does.
AnyResult parse_any(const std::string& content, const std::string& path);

// Reads results. Throws Error(io) as parse_any() does; two files of one stem are an error.
std::vector<AnyResult> load(const std::vector<std::string>& paths);

// The checks of each variant, added up.
std::vector<CheckTotalRow> totals_of(const CheckResult& check);

// The command that measures a result file again, from its kind and recipes: also of one that cannot be
// read. Its options may have been others.
std::string renewal_of(const Json& json, const std::string& path);

}  // namespace clcook::tool
