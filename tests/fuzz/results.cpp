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
  CLCOOK_FUZZ_CHECK(to_json(read_fields<Content>(written, "written")) == written);
}

void show(const report::Table& table) {
  fuzz::keep(static_cast<unsigned>(report::to_markdown(table).size()));
}

// The table of one row of many; none without rows.
template <class Row, class Of>
void table_of_one(const std::vector<Row>& rows, std::uint32_t chance, const Of& table_of) {
  if (!rows.empty()) show(table_of(rows[chance % rows.size()].recipe));
}

void table(const report::Result& one, std::uint32_t chance) {
  using namespace clcook::tool::report;
  switch (chance % 3) {
    case 0:
      show(results_table({one}));
      show(check_table(one, ""));
      return;
    case 1:
      if (one.kind == "bench") show(ceilings_table(one));
      table_of_one(one.isa.kernels, chance / 3, [&](const std::string& name) {
        return isa_table(one, name, "", {"instructions", "registers"});
      });
      break;
    default:
      table_of_one(one.bench.rows, chance / 3,
                   [&](const std::string& name) { return bench_table(one, name); });
      table_of_one(one.isa.kernels, chance / 3,
                   [&](const std::string& name) { return isa_table(one, name, ""); });
  }
  if (one.kind == "stages") show(stages_table(one));
  if (one.kind == "peers") show(peers_table(one));
  if (one.kind == "startup") show(startup_table(one));
  table_of_one(one.counters.rows, chance / 3,
               [&](const std::string& name) { return counters_table(one, name); });
  if (!one.explore.curves.empty())
    curves_file(one, one.explore.curves[chance / 3 % one.explore.curves.size()].recipe);
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
  // Of what is made of files that are taken, one thing each time.
  const std::uint32_t chance = fuzz::chance_of(in);
  const report::Result& before = results.front();
  const report::Result& after = results.back();
  const std::uint32_t which = chance % 16;
  if (which == 0) {
    tried([&] { report::html_page(results, {}); });
  } else if (which < 4) {
    tried([&] { compare_results(before.about, before.bench.rows, after.about, after.bench.rows); });
  } else if (which < 6) {
    tried([&] { dump_result(after.json); });
  } else if (which < 10) {
    // In files that clcook wrote a reason stands where nothing was measured.
    if (after.kind == "bench") again(after.bench);
    if (after.kind == "check") again(after.check);
    if (after.kind == "stages") again(after.stages);
    if (after.kind == "startup") again(after.startup);
    if (after.kind == "counters") again(after.counters);
  } else {
    tried([&] { table(after, chance / 16); });
  }
  return 0;
}
