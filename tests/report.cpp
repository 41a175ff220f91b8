// clcook report: the page, and the files that it refuses.
#include <algorithm>
#include <map>
#include <set>

#include "clcook_places.hpp"
#include "support/grid.hpp"
#include "support/testing.hpp"

using namespace clcook::testing;
namespace fs = std::filesystem;

namespace {

const std::string kData = CLCOOK_SOURCE_DIR "/tests/data/report/";

// The clcook command beside this test; where it was not built, the test is skipped visibly.
std::string tool() { return not_built("clcook") ? "" : built_program("clcook"); }

// Skips the test, visibly, where the command or gnuplot is missing.
bool can_plot() {
  if (tool().empty()) return false;
  if (run_program({"/bin/sh", "-c", "command -v gnuplot"}).code == 0) return true;
  MESSAGE("skipped: gnuplot is not installed");
  return false;
}

std::vector<std::string> fixtures() {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(kData + "bench/results"))
    files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

Ran report(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {tool(), "report"});
  return run_program(arguments);
}

// The page of some results.
std::string page_of(std::vector<std::string> arguments) {
  const TempFolder folder;
  const std::string out = (folder / "page.html").string();
  arguments.insert(arguments.end(), {"--out", out});
  const Ran ran = report(arguments);
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  return read_bytes(out);
}

// What is wrong with a document that should be well-formed as XML as well; empty: nothing.
std::string complaint(const std::string& text) {
  std::vector<std::string> open;
  std::set<std::string> ids;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '&') {
      static const std::vector<std::string> known{"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
      if (std::none_of(known.begin(), known.end(), [&](const std::string& one) {
            return text.compare(at, one.size(), one) == 0;
          }))
        return "a bare & at " + text.substr(at, 40);
    }
    if (text[at] != '<') {
      ++at;
      continue;
    }
    if (text.compare(at, 2, "<!") == 0) {
      at = text.find('>', at) + 1;
      continue;
    }
    const bool closing = text[at + 1] == '/';
    std::size_t end = at + (closing ? 2 : 1);
    const std::size_t name_at = end;
    while (std::isalnum(static_cast<unsigned char>(text[end])) != 0) ++end;
    const std::string name = text.substr(name_at, end - name_at);
    if (name.empty()) return "a bare < at " + text.substr(at, 40);
    bool empty = false;
    std::set<std::string> attributes;
    while (text[end] != '>') {
      if (text[end] == '/') empty = true;
      if (std::isspace(static_cast<unsigned char>(text[end])) != 0 || text[end] == '/') {
        ++end;
        continue;
      }
      const std::size_t equals = text.find('=', end);
      const std::size_t quote = text.find_first_of("\"'", equals);
      if (equals == std::string::npos || quote == std::string::npos) return "<" + name;
      const std::size_t last = text.find(text[quote], quote + 1);
      std::string attribute = text.substr(end, equals - end);
      while (attribute.back() == ' ') attribute.pop_back();
      if (attribute.find_first_of("<>\"' ") != std::string::npos) return attribute;
      const std::string value = text.substr(quote + 1, last - quote - 1);
      if (value.find('<') != std::string::npos) return "a < in " + attribute;
      if (!attributes.insert(attribute).second) return "two " + attribute + " in " + name;
      if (attribute == "id" && !ids.insert(value).second) return "two elements of id " + value;
      end = last + 1;
    }
    at = end + 1;
    if (closing) {
      if (open.empty() || open.back() != name) return "</" + name + "> closes nothing";
      open.pop_back();
    } else if (!empty) {
      open.push_back(name);
      // Style is no markup.
      if (name == "style") at = text.find("</style>", at);
    }
  }
  return open.empty() ? "" : "<" + open.back() + "> is not closed";
}

}  // namespace

TEST_CASE("the page of every kind of result is well-formed and stands alone") {
  if (!can_plot()) return;
  const std::string page = page_of(fixtures());
  CHECK(complaint(page) == "");
  CHECK(contains(page, "name=\"viewport\""));
  CHECK(contains(page, "prefers-color-scheme: dark"));
  for (const char* outside : {"<script", "http://", "https://", "<link", "@import", "url("}) {
    const std::size_t allowed = std::string(outside) == "http://"
                                    ? count_of(page, "xmlns=\"http://www.w3.org/2000/svg\"")
                                    : 0;
    CHECK_MESSAGE(count_of(page, outside) == allowed, outside);
  }
  // 2 devices x (2 shapes + 1 shape) bars, rooflines where operations are counted, one curve.
  CHECK(count_of(page, "<svg class=\"plot\"") == 6 + 4 + 1);
  CHECK(contains(page, "No roofline"));
  for (const char* fixed : {"rgb(", "#000000", "black", "gnuplot", "gpPt"})
    CHECK_MESSAGE(!contains(page.substr(page.find("</style>")), fixed), fixed);
}

TEST_CASE("negative results stand at the top of the card") {
  if (!can_plot()) return;
  const std::string page = page_of(fixtures());
  const std::size_t card = page.find("id=\"fixture_blur\"");
  const std::size_t box = page.find("Does not pay here", card);
  const std::size_t proof = page.find("Is it right?", card);
  REQUIRE(box != std::string::npos);
  REQUIRE(box < proof);
  const std::string list = page.substr(box, proof - box);
  CHECK(contains(list, "<strong>packed</strong>: <span class=\"failed\">1 of 2 runs are wrong"));
  CHECK(contains(list, "<strong>packed</strong>: <span class=\"\">slower 0.7"));
  CHECK(contains(list, "<strong>unrolled</strong>: <span class=\"\">tie "));
  CHECK(contains(list, "<strong>tiled@256</strong>: <span class=\"\">tie "));
  CHECK(contains(list, "On Fixture GPU, Fixture CL, driver 1.0"));
  CHECK(contains(list, "On Fixture CPU, Fixture CL, driver 2.0"));
}

TEST_CASE("names are escaped") {
  if (!can_plot()) return;
  const std::string page = page_of(fixtures());
  CHECK(contains(page, "&lt;b&gt;&amp;&quot;odd&#39;|name"));
  CHECK(!contains(page, "<b>"));
  CHECK(!contains(page, "<i>"));
}

TEST_CASE("a card says which proof is missing") {
  if (!can_plot()) return;
  const std::string page = page_of({kData + "bench/results/gpu-check.json"});
  CHECK(complaint(page) == "");
  CHECK(contains(page, "No offline compilation was given for this recipe."));
  CHECK(contains(page, "Not measured on any device yet."));
  CHECK(!contains(page, "<svg"));
}

TEST_CASE("pictures come with their error and PSNR") {
  if (!can_plot()) return;
  const std::string before = kData + "before.png";
  const std::string after = kData + "after.png";
  const std::string page = page_of({"--picture", "fixture_blur=" + before + "," + after});
  CHECK(complaint(page) == "");
  CHECK(contains(page, "Unknown: there is no time measurement here."));
  CHECK(count_of(page, "data:image/png;base64,") == 3);
  // One of 16 pixels is off by 16 in one channel.
  CHECK(contains(page, "PSNR 40.9 dB, largest difference 16 of 255, 6.25 % of 4 × 4 pixels"));
  CHECK(contains(page_of({"--picture", "a=" + before + "," + before}), "infinite (identical)"));
  CHECK(count_of(page_of({"--picture", "a=" + before + "," + after + "," + after}), "base64,") ==
        4);

  const std::string other = kData + "wide.png";
  CHECK(contains(report({"--picture", "a=" + before + "," + other}).err, "pictures of one size"));
  CHECK(report({"--picture", "a=" + before}).code == 2);
  CHECK(report({"--picture", before}).code == 2);
  CHECK(report({"--picture", "a=" + before + "," + kData + "README.md"}).code == 2);
}

TEST_CASE("the committed results make a page, each kind in its place") {
  if (!can_plot()) return;
  std::vector<std::string> files{"--root", CLCOOK_SOURCE_DIR};
  if (short_grid()) {
    // The smallest of each kind, which is behind the device: h200_bench_line_blur, but isa.
    std::map<std::string, fs::path> smallest;
    for (const auto& entry : fs::directory_iterator(CLCOOK_SOURCE_DIR "/bench/results")) {
      const std::string stem = entry.path().stem().string();
      const std::string rest = stem.substr(stem.find('_') + 1);
      fs::path& best = smallest[rest.substr(0, rest.find('_'))];
      if (best.empty() || entry.file_size() < fs::file_size(best)) best = entry.path();
    }
    files.clear();
    for (const auto& [kind, path] : smallest) files.push_back(path.string());
  }
  const std::string page = page_of(files);
  CHECK(contains(page, "<h3>The first blur of a new process</h3>"));
  CHECK(contains(page, "<summary>Beside other libraries</summary>"));
  CHECK(!contains(page, "<h2></h2>"));
  for (const char* kind : {"check", "bench", "isa", "stages", "explore", "peers", "startup",
                           "counters", "python", "compile"})
    CHECK_MESSAGE(contains(page, "<td>" + std::string(kind) + "</td>"), kind);
}

TEST_CASE("files that are no results of this version are refused and nothing is written") {
  if (tool().empty()) return;
  const auto refused = [](const std::string& file, const std::string& because) {
    const TempFolder folder;
    const std::string out = (folder / "page.html").string();
    const Ran ran = report({kData + file, "--out", out});
    CHECK(ran.code == 2);
    CHECK_MESSAGE(contains(ran.err, because), ran.err);
    CHECK(contains(ran.err, file));
    CHECK(fs::is_empty(folder.path()));
  };
  refused("bad/version.json",
          "format version 99, this clcook reads version 1; measure again: clcook bench");
  refused("bad/truncated.json", "not a whole JSON file");
  refused("bad/kind.json", "no place for a result of kind 'shopping_list'");
  refused("bad/rows.json", "rows[0] has no 'variant'");
  refused("bad/rows.json", "bad/rows.json: malformed: rows[0]");  // file, row and field
  refused("bad/nodevice.json", "'device' is missing");
  refused("bad/absent.json", "absent.json");
  const std::string twice = kData + "bench/results/gpu-bench.json";
  CHECK(contains(report({twice, twice}).err, "have the same name"));
}

TEST_CASE("an unwritable place leaves no half-written file") {
  if (!can_plot()) return;
  const TempFolder folder;
  const std::string check = kData + "bench/results/gpu-check.json";
  write_bytes(folder / "file", "not a folder");
  const Ran ran = report({check, "--out", (folder / "file" / "page.html").string()});
  CHECK(ran.code == 2);
  CHECK(contains(ran.err, "write "));
  CHECK(read_bytes(folder / "file") == "not a folder");
  // A folder of that name: the rename fails.
  fs::create_directories(folder / "page.html" / "inside");
  CHECK(report({check, "--out", (folder / "page.html").string()}).code == 2);
  CHECK(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()) == 2);
}

TEST_CASE("without gnuplot the error says what to install") {
  if (tool().empty()) return;
  const TempFolder folder;
  const std::string out = (folder / "page.html").string();
  const Ran ran =
      run_program({tool(), "report", kData + "bench/results/gpu-bench.json", "--out", out},
                  {{"PATH", folder.path().string()}});
  CHECK(ran.code == 2);
  CHECK(contains(ran.err, "apt-get install gnuplot-nox"));
  CHECK(!fs::exists(out));
}

TEST_CASE("options that do not belong together are refused") {
  if (tool().empty()) return;
  CHECK(report({"--check"}).code == 2);
  CHECK(report({"--markdown", "--picture", "a=b,c"}).code == 2);
  const TempFolder empty;
  CHECK(contains(report({"--root", empty.path().string()}).err, "give result files"));
}

TEST_CASE("the page of the demo opens with what pays here, and says what does not") {
  if (tool().empty()) return;
  const TempFolder folder;
  write_bytes(folder / "bench.json", read_bytes(kData + "bench/results/gpu-bench.json"));
  write_bytes(folder / "line_blur.txt",
              "line_blur scene out/picture.png out/absent.png\n3 < 4 us\n");
  write_bytes(folder / "picture.png", read_bytes(kData + "before.png"));
  const auto page = [&] {
    const Ran ran =
        report({"--demo", folder.path().string(), kData + "bench/results/cpu-bench.json"});
    REQUIRE_MESSAGE(ran.code == 0, ran.err);
    return read_bytes(folder / "index.html");
  };
  const std::string all = page();
  CHECK(complaint(all) == "");
  CHECK(!contains(all, "<script"));
  CHECK(contains(all, "name=\"viewport\""));
  const std::size_t pays = all.find("What pays on your device");
  const std::size_t not_here = all.find("What does not pay here");
  const std::size_t pictures = all.find("Pictures, and what was printed");
  const std::size_t others = all.find("Other devices");
  REQUIRE(pays < not_here);
  REQUIRE(not_here < pictures);
  REQUIRE(pictures < others);
  REQUIRE(others != std::string::npos);
  // The largest gain first, with the figures of the file.
  const std::string table = all.substr(pays, not_here - pays);
  CHECK(table.find("fixture_blur") > table.find("|name"));
  CHECK(contains(table, "faster\">3.2"));
  CHECK(contains(table, "tiled"));
  CHECK(contains(table, "996 µs"));
  CHECK(contains(table, "in the cache"));
  const std::string negative = all.substr(not_here, pictures - not_here);
  CHECK(contains(negative, "unrolled <span class=\"\">tie 0.99×"));
  CHECK(contains(negative, "packed <span class=\"\">slower 0.7"));
  CHECK(!contains(negative, "tiled"));
  // A picture that is there, and what was printed.
  CHECK(count_of(all, "<img ") == 1);
  CHECK(contains(all, "src=\"picture.png\""));
  CHECK(contains(all, "3 &lt; 4 us"));
  CHECK(contains(all, "fixture_blur/images</strong>: skipped: no image support"));
  CHECK(contains(all, "Fixture CPU: the fastest variant"));

  SUBCASE("the best is a tie, or does not pay") {
    std::string json = read_bytes(folder / "bench.json");
    const auto without = [&](const std::string& variant) {
      for (std::size_t at = 0;
           (at = json.find("\"variant\": \"" + variant + "\"", at)) != std::string::npos;) {
        const std::size_t begin = json.rfind('{', at);
        json.replace(json.find("\"ratio\"", begin), 7, "\"other\"");
        at += variant.size();
      }
    };
    without("tiled");
    write_bytes(folder / "bench.json", json);
    CHECK(contains(page(), "tie\">tie: 0.99×"));
    without("unrolled");
    write_bytes(folder / "bench.json", json);
    CHECK(contains(page(), "slower\">slower: 0.7"));
  }
  SUBCASE("nothing was measured yet") {
    fs::remove(folder / "bench.json");
    CHECK(contains(page(), "Not measured yet"));
    fs::remove(folder / "line_blur.txt");
    const Ran ran = report({"--demo", folder.path().string()});
    CHECK(ran.code == 2);
    CHECK(contains(ran.err, "neither a bench.json nor"));
  }
  SUBCASE("a result of another kind is refused") {
    write_bytes(folder / "bench.json", read_bytes(kData + "bench/results/gpu-check.json"));
    const Ran ran = report({"--demo", folder.path().string()});
    CHECK(ran.code == 2);
    CHECK(contains(ran.err, "holds a result of kind 'check', expected 'bench'"));
  }
  CHECK(report({"--demo", folder.path().string(), "--markdown"}).code == 2);
}

TEST_CASE("curves that lie on each other are drawn once, with all their names") {
  if (!can_plot()) return;
  const TempFolder folder;
  std::string curves;
  for (const int run : {1, 8, 64}) {
    curves += std::string(curves.empty() ? "" : ",") +
              R"({"recipe": "toy", "axis": "share", "along": "share", "shape": {"run": )" +
              std::to_string(run) + R"(}, "points": [0, 50, 100], "variants": [
                {"variant": "calls", "baseline": true, "measured_us": [100, )" +
              (run == 1 ? "300" : "100") + R"(, 100]},
                {"variant": "select", "baseline": false, "measured_us": [100.5, 100, 100]}]})";
  }
  write_bytes(
      folder.path() / "toy.json",
      R"({"format": 1, "kind": "explore", "commit": "1234567", "date": "2026-01-02T03:04:05Z",
                  "device": {"name": "A", "platform": "B", "driver": "C"}, "curves": [)" +
          curves + "]}");
  const fs::path svg = folder.path() / "toy.svg";
  const Ran ran =
      report({"--curves", "toy", "toy", svg.string(), (folder.path() / "toy.json").string()});
  CHECK_MESSAGE(ran.code == 0, ran.err);
  const std::string text = read_bytes(svg);
  CHECK(complaint(text) == "");
  CHECK(contains(text, "calls, run 1<"));
  CHECK(contains(text, "calls, run 8, 64; select<"));
}

TEST_CASE("cook names the argument that it does not know, and builds nothing") {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"demo", "fully"}, {"demo", "--full", "fully"}, {"fully"}}) {
    std::vector<std::string> command{"/bin/bash", CLCOOK_SOURCE_DIR "/cook"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const Ran ran = run_program(command);
    CHECK(ran.code == 1);
    CHECK(contains(ran.err, "'fully'"));
    CHECK(!contains(ran.out, "packages"));
  }
}
