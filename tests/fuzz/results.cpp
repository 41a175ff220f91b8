// Result files, as `clcook report` and `clcook bench --compare` read them: one file, or two with a
// byte 0 between them.
#include "bench/results.hpp"

#include "bench/any_result.hpp"
#include "bench/measure/compare.hpp"
#include "bench/tool/command.hpp"
#include "fuzz/fuzz.hpp"

namespace {

using namespace clcook;
using namespace clcook::tool;

// Runs a part of a tool that may refuse a file.
template <class Part>
void tried(const Part& part) {
  try {
    part();
  } catch (const Error&) {
  }
}

// What is read is written, and read again.
template <class Content>
void again(const Content& content) {
  const Json written = to_json(content);
  CLCOOK_FUZZ_CHECK(to_json(read_fields<Content>(written, "written")) == written);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view in = fuzz::view(data, size);
  std::vector<AnyResult> results;
  for (std::size_t at = 0; at <= in.size() && results.size() < 2;) {
    const std::size_t end = std::min(in.find('\0', at), in.size());
    try {
      results.push_back(parse_any(std::string(in.substr(at, end - at)),
                                  results.empty() ? "one.json" : "two.json"));
    } catch (const Error& error) {
      CLCOOK_FUZZ_CHECK(error.code == Errc::io);
      return 0;
    }
    at = end + 1;
  }
  // Of what is made of files that are taken, one thing each time.
  const std::uint32_t chance = fuzz::chance_of(in);
  const AnyResult& before = results.front();
  const AnyResult& after = results.back();
  const std::uint32_t which = chance % 12;
  if (which < 4) {
    tried([&] { compare_results(before.about, before.bench.rows, after.about, after.bench.rows); });
  } else if (which < 6) {
    tried([&] { dump_result(after.json); });
  } else {
    // In files that clcook wrote a reason stands where nothing was measured.
    if (after.kind == "bench") again(after.bench);
    if (after.kind == "check") again(after.check);
    if (after.kind == "stages") again(after.stages);
    if (after.kind == "startup") again(after.startup);
    if (after.kind == "counters") again(after.counters);
  }
  return 0;
}
