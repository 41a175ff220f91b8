// Result files, as `clcook report` and `clcook bench --compare` read them: one file, or two with a
// byte 0 between them.
#include "bench/results.hpp"

#include "bench/measure/compare.hpp"
#include "bench/report/report.hpp"
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
  CLCOOK_FUZZ_CHECK(to_json(from_json<Content>(written, "written")) == written);
}

void tables(const report::Result& one) {
  using namespace clcook::tool::report;
  std::vector<Table> all{results_table({one}), check_table(totals_of(one, ""))};
  if (one.kind == "bench") all.push_back(ceilings_table(one));
  if (one.kind == "stages") all.push_back(stages_table(one));
  if (one.kind == "peers") all.push_back(peers_table(one));
  if (one.kind == "startup") all.push_back(startup_table(one));
  for (const CountersRow& row : one.counters.rows) all.push_back(counters_table(one, row.recipe));
  for (const BenchRow& row : one.bench.rows) all.push_back(bench_table(one, row.recipe));
  for (const IsaRow& row : one.isa.kernels) {
    all.push_back(isa_table(one, row.recipe, ""));
    all.push_back(findings_table(one, row.recipe));
  }
  std::size_t length = 0;
  for (const Table& table : all) length += to_markdown(table).size();
  fuzz::keep(static_cast<unsigned>(length));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view in = fuzz::view(data, size);
  std::vector<report::Result> results;
  for (std::size_t at = 0; at <= in.size() && results.size() < 2;) {
    const std::size_t end = std::min(in.find('\0', at), in.size());
    try {
      results.push_back(report::parse(std::string(in.substr(at, end - at)),
                                      results.empty() ? "one.json" : "two.json"));
    } catch (const Error& error) {
      CLCOOK_FUZZ_CHECK(error.code == Errc::io);
      return 0;
    }
    at = end + 1;
  }
  for (const report::Result& one : results) {
    // In files that clcook wrote a reason stands where nothing was measured.
    if (one.kind == "bench") again(one.bench);
    if (one.kind == "stages") again(one.stages);
    if (one.kind == "startup") again(one.startup);
    if (one.kind == "counters") again(one.counters);
    tried([&] { tables(one); });
    for (const Curve& curve : one.explore.curves)
      tried([&] { report::curves_file(one, curve.recipe); });
    tried([&] { dump_result(one.json); });
  }
  const report::Result& before = results.front();
  const report::Result& after = results.back();
  tried([&] { compare_results(before.about, before.bench.rows, after.about, after.bench.rows); });
  tried([&] { report::html_page(results, {}); });
  return 0;
}
