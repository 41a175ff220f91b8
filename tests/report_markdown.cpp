// clcook report --markdown: the tables and figures of the documents.
#include <optional>

#include "bench/cookbook/recipes.hpp"
#include "bench/tool/command.hpp"
#include "bench/tool/fingerprint.hpp"
#include "clcook_places.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;
namespace fs = std::filesystem;

namespace {

const std::string kData = CLCOOK_SOURCE_DIR "/tests/data/report/";

// The clcook command beside this test; where it was not built, the test is skipped visibly.
std::string program() { return not_built("clcook") ? "" : built_program("clcook"); }

// A project of one document, with the fixtures as its results.
struct Project {
  TempFolder folder;

  explicit Project(const std::string& document, const std::string& name = "docs/page.md") {
    write_bytes(folder / name, document);
    fs::create_directories(folder / "bench");
    fs::copy(kData + "bench/results", folder / "bench" / "results");
  }

  Ran report(bool check) const {
    std::vector<std::string> command{program(), "report", "--markdown", "--root",
                                     folder.path().string()};
    if (check) command.push_back("--check");
    return run_program(command);
  }
  std::string document(const std::string& name = "docs/page.md") const {
    return read_bytes(folder / name);
  }
};

const std::string kEnd = "\n<!-- /clcook:table -->\n";

}  // namespace

TEST_CASE("the committed tables and figures belong to the committed results") {
  if (program().empty()) return;
  const Ran ran =
      run_program({program(), "report", "--markdown", "--check", "--root", CLCOOK_SOURCE_DIR});
  CHECK_MESSAGE(ran.code == 0, (ran.out + ran.err));
}

TEST_CASE("the tables of the fixtures are as committed") {
  if (program().empty()) return;
  const Project project(read_bytes(kData + "docs/document.md"));
  const Ran ran = project.report(true);
  CHECK_MESSAGE(ran.code == 0, (ran.out + ran.err));
  CHECK(contains(ran.out, "13 tables and figures, 0 differ"));
}

TEST_CASE("what differs is shown, and written without --check") {
  if (program().empty()) return;
  const std::string good = read_bytes(kData + "docs/document.md");
  std::string stale = good;
  const std::size_t at = stale.find("| tiled group=256 |");
  REQUIRE(at != std::string::npos);
  stale[at + 2] = 'T';
  const Project project(stale);
  const Ran check = project.report(true);
  CHECK(check.code == 1);
  CHECK(contains(check.out, "docs/page.md:"));
  CHECK(contains(check.out, "table bench gpu-bench fixture_blur"));
  CHECK(contains(check.out, "\n- | Tiled group=256 |"));
  CHECK(contains(check.out, "\n+ | tiled group=256 |"));
  CHECK(project.document() == stale);
  CHECK(project.report(false).code == 0);
  CHECK(project.document() == good);
  CHECK(contains(project.report(false).out, "0 changed"));
}

TEST_CASE("the table of recipes has a column per device") {
  if (program().empty()) return;
  const Project project("<!-- clcook:table recipes -->" + kEnd, "README.md");
  REQUIRE(project.report(false).code == 0);
  const std::string text = project.document("README.md");
  CHECK(contains(text, "| Recipe | The question | Fixture CPU | Fixture GPU |"));
  CHECK(contains(text, "| [fixture_blur](docs/fixture_blur.md) |"));
  CHECK(contains(text, "× tiled** |"));
  // Nothing in a name becomes markup.
  CHECK(contains(text, "&lt;b&gt;&amp;\"odd'\\|name"));
  CHECK(contains(text, "fast\\`x\\`&lt;i&gt;"));
}

TEST_CASE("the index of techniques has a word for each, its evidence, and what pays first") {
  if (program().empty()) return;
  const Project project("<!-- clcook:table techniques real -->" + kEnd);
  const std::string results = CLCOOK_SOURCE_DIR "/bench/results/";
  fs::copy(results + "h200_bench_gbuffer_shade.json", project.folder / "bench/results/real.json");
  fs::copy(results + "h200_explore_group_size.json", project.folder / "bench/results/swept.json");
  fs::copy(results + "h200_counters.json", project.folder / "bench/results/counted.json");
  REQUIRE(project.report(false).code == 0);
  const std::string text = project.document();
  CHECK(contains(text, "| It | Evidence on NVIDIA H200 | Page |\n"));
  CHECK(contains(text, "| ties | predicates to sign_bit "));
  CHECK(contains(text, "| costs | packed to short2 "));
  CHECK(contains(text,
                 "| **pays** | prefix sums, as many waves resident, groups of 1024 to groups "
                 "of 128: "));
  // A technique that saves registers is not tested where none is saved.
  CHECK(contains(text, "| not tested | predicates to reloaded "));
  CHECK(contains(text, "; 120 registers both: the driver saves none"));
  // No result of this device, and none at all.
  CHECK(contains(text, "| not tested | no time of this device yet | [vertex_transform]"));
  CHECK(contains(text, "| not tested | clcook bench halo_tile --all-tunes;"));
  CHECK_FALSE(contains(text, "see the page"));
  CHECK(text.find("**pays**") < text.find("| ties |"));
  CHECK(text.find("| ties |") < text.find("| costs |"));
  CHECK(text.rfind("| costs |") < text.find("| not tested |"));
}

TEST_CASE("a ladder has the device and the shape of the page's chart, and what limits each rung") {
  if (program().empty()) return;
  const auto made = [](const std::string& chart, const std::string& ladder) {
    const Project project("<!-- clcook:chart " + chart + " -->\n<!-- /clcook:chart -->\n\n" +
                          "<!-- clcook:table ladder " + ladder + " -->" + kEnd);
    const std::string results = CLCOOK_SOURCE_DIR "/bench/results/";
    for (const char* name : {"h200_bench_argument_swap", "h200_counters", "h200_bench_halo_tile",
                             "pocl_bench_regroup"})
      fs::copy(results + name + ".json", project.folder / "bench/results");
    const Ran ran = project.report(false);
    return ran.code == 0 ? project.document() : ran.err;
  };
  const std::string swap = made("argument_swap h200_bench_argument_swap", "argument_swap");
  CHECK(
      contains(swap,
               "| Variant | What it changes | Median µs | Of the multiply-adds | This step alone | "
               "What limits it now |\n|---|---|---:|---:|---|---|\n| two_calls | one call in each "
               "branch | "));
  CHECK(contains(swap, " | baseline | 16 of 32 lanes active |\n| swap_in_place | "));
  CHECK(contains(swap, "×** | issue slots 9"));
  CHECK(contains(swap, " | tie | issue slots 9"));
  CHECK_FALSE(contains(swap, "cpu_lanes"));
  CHECK(contains(swap, "run=1.* [How to read it](report.md#ladders).\n<!--"));
  // At a radius that nobody has counted; with one rung more.
  const std::string halo =
      made("halo_tile h200_bench_halo_tile filter=dilation radius=4", "halo_tile direct_multi");
  CHECK(contains(halo, "| Of the copy | This step alone |\n"));
  CHECK(contains(halo, "\n| direct_multi | "));
  CHECK(contains(halo, "\n| local_tile | after direct: "));
  CHECK(contains(halo, "radius=4 pixel=rgba32f border=clamp; a copy takes "));
  // On a CPU to what is recommended there.
  CHECK(contains(made("regroup pocl_bench_regroup paths=8", "regroup"), "\n| cpu_lanes | "));
  CHECK(contains(made("halo_tile h200_bench_halo_tile radius=4", "halo_tile block"),
                 "'h200_bench_halo_tile' has no time of 'block' at filter=dilation"));
  CHECK(contains(made("halo_tile h200_bench_halo_tile", "regroup"),
                 "a ladder has the shape of a chart above it; there is none of 'regroup'"));
}

TEST_CASE("markers that make no sense are errors with file and line, and nothing is written") {
  if (program().empty()) return;
  const auto refused = [](const std::string& part, const std::string& because) {
    const std::string good = "<!-- clcook:value gpu-bench /seed -->old<!-- /clcook:value -->\n";
    const Project project(good + "\n" + part);
    const Ran ran = project.report(false);
    CHECK(ran.code == 2);
    CHECK_MESSAGE(contains(ran.err, because), ran.err);
    CHECK(contains(ran.err, "docs/page.md:3"));
    CHECK(contains(project.document(), ">old<"));
  };
  const auto table = [](const std::string& what) {
    return "<!-- clcook:table " + what + " -->" + kEnd;
  };
  const auto value = [](const std::string& what) {
    return "<!-- clcook:value " + what + " --><!-- /clcook:value -->\n";
  };
  refused(table("nonsense"), "there is no table 'nonsense'; known are recipes");
  refused(table("techniques"), "expected: clcook:table techniques RESULT");
  refused(table("techniques gpu-check"), "is a result of kind 'check', this needs 'bench'");
  refused(table("bench gpu-bench"), "expected: clcook:table bench RESULT RECIPE");
  refused(table("bench gpu-bench other"), "'gpu-bench' has nothing about 'other'");
  refused(table("bench gpu-check fixture_blur"), "is a result of kind 'check', this needs 'bench'");
  refused(table("counters gpu-counters fixture_blur"),
          "expected: clcook:table counters RESULT RECIPE COUNTER...");
  refused(table("counters gpu-counters fixture_blur lanes widths"),
          "there is no counter 'widths'; known are time_ns lanes instructions");
  refused(table("counters gpu-counters other lanes"), "'gpu-counters' has nothing about 'other'");
  refused(table("counters gpu-bench fixture_blur lanes"), "this needs 'counters'");
  refused(table("steps absent"), "there is no recipe 'absent'");
  refused(table("ladder"), "expected: clcook:table ladder RECIPE [VARIANT...]");
  refused(table("stages absent"), "there is no result 'absent'; known are cpu-bench gpu-bench");
  refused("<!-- clcook:table results -->\n", "not closed by <!-- /clcook:table -->");
  refused("<!-- clcook:table results -->\n" + table("results"), "not closed");
  refused("<!-- /clcook:table -->\n", "nothing is open here");
  refused("<!-- clcook:figure x -->\n", "unknown marker");
  refused(value("gpu-bench"), "expected: clcook:value RESULT POINTER");
  refused(value("gpu-bench /nothing"), "there is no 'nothing'");
  refused(value("gpu-bench /rows/99"), "there is no element 99");
  refused(value("gpu-bench /rows/0"), "neither a number nor a text");
  refused(value("gpu-bench /rows/variant=tiled/median_us"), "several elements");
  refused(value("gpu-bench /rows/variant=absent/median_us"), "no element has");
  refused(value("gpu-bench /seed {:s}"), "does not fit 1");
  refused(value("gpu-bench /seed x*{}"), "no number before the '*'");
}

TEST_CASE("of several elements the one with the shortest shape is meant") {
  if (program().empty()) return;
  const Project project(
      "<!-- clcook:value gpu-bench /rows/variant=tiled/median_us {} --><!-- /clcook:value -->\n");
  const fs::path file = project.folder / "bench/results/gpu-bench.json";
  const std::string both = read_bytes(file);
  // One more parameter in the shapes of one height, so that those of the other are meant.
  const auto longer = [&](const std::string& height) {
    std::string out = both;
    const std::string member = "\"height\": " + height;
    for (std::size_t at = 0; (at = out.find(member, at)) != std::string::npos;
         at += member.size()) {
      out.insert(at, "\"depth\": 1, ");
      at += 12;
    }
    return out;
  };
  for (const auto& one :
       {std::make_pair("64", " -->309.532<!--"), std::make_pair("1080", " -->3.096<!--")}) {
    write_bytes(file, longer(one.first));
    const Ran ran = project.report(false);
    CHECK_MESSAGE(ran.code == 0, (ran.out + ran.err));
    CHECK_MESSAGE(contains(project.document(), one.second), project.document());
  }
}

TEST_CASE(
    "times of another tree or of what ran otherwise are refused, but where a page vouches for "
    "them") {
  if (program().empty()) return;
  using tool::Json;
  // Rows of a recipe that this program has, with what they ran.
  const Recipe& recipe = find_recipe(cookbook::recipes(), "threshold_count");
  const std::string variant = recipe.baseline().name;
  const Params tune = combinations(recipe.baseline().axes).front();
  const Params shape = recipe.bench_shapes.front();
  DeviceInfo device;
  device.name = "Fixture GPU";
  device.platform = "Fixtures";
  device.gpu = true;
  device.max_group = 256;
  device.local_mem = 1 << 15;
  const Json now = to_json(tool::fingerprint_of(recipe, variant, tune, {shape}, device));
  const auto checked = [&](const std::string& of_commit, const Json& ran,
                           const std::string& document, const std::string& kernels = "") {
    const Project project(document);
    const fs::path path = project.folder / "bench" / "results" / "gpu-bench.json";
    Json json = Json::parse(read_bytes(path));
    json["commit"] = of_commit;
    json["device"] = tool::to_json(device);
    Json rows = Json::array();
    for (Json row : json["rows"]) {
      if (row["status"] != "measured") continue;
      row["recipe"] = recipe.name;
      row["variant"] = variant;
      row["tune"] = tool::to_json(tune);
      row["shape"] = tool::to_json(shape);
      row.erase("ran");
      if (!ran.is_null()) row["ran"] = ran;
      rows.push_back(row);
      break;
    }
    json["rows"] = rows;
    write_bytes(path, json.dump());
    const ScopedVariable folder("CLCOOK_KERNEL_DIR",
                                kernels.empty() ? std::nullopt : std::optional(kernels));
    return project.report(true);
  };
  const auto older = [](const std::string& words, const std::string& why = "It holds.") {
    return "<!-- clcook:older " + words + " gpu-bench -->\n" + why + "\n<!-- /clcook:older -->\n";
  };
  const auto passes = [](const Ran& ran) { CHECK_MESSAGE(ran.code == 0, (ran.out + ran.err)); };
  const auto refused = [](const Ran& ran, const std::string& because) {
    CHECK(ran.code == 1);
    CHECK_MESSAGE(contains(ran.out, because), ran.out);
  };
  const auto other = [&](const char* key) {
    Json out = now;
    out[key] = "01234567";
    return out;
  };
  const std::string since = "threshold_count has changed since abc1234: " + variant;
  passes(checked("abc1234", now, "# A page\n"));
  refused(checked("abc1234-dirty", now, "# A page\n"),
          "gpu-bench.json: it is of a tree that was never committed, abc1234-dirty: measure again");
  refused(checked("unknown", now, "# A page\n"), "does not say of which commit");
  refused(checked("abc1234", Json(), "# A page\n"),
          "it does not say what " + variant + " of threshold_count ran at abc1234");
  refused(
      checked("abc1234", other("kernels"), "# A page\n"),
      since + " (the text of its kernels): measure again, or say in docs/threshold_count.md why");
  refused(checked("abc1234", other("options"), "# A page\n"), since + " (its options)");
  refused(checked("abc1234", other("launches"), "# A page\n"), since + " (its launches)");

  // The kernel as it stands, and with a planted comment or line.
  const std::string file = "threshold_count.cl";
  const std::string text = read_bytes(std::string(CLCOOK_SOURCE_DIR "/kernels/") + file);
  const TempFolder kernels;
  write_bytes(kernels / file, "// Planted.\n" + text);
  passes(checked("abc1234", now, "# A page\n", kernels.path().string()));
  write_bytes(kernels / file, text + "\n#define PLANTED 1\n");
  refused(checked("abc1234", now, "# A page\n", kernels.path().string()),
          since + " (the text of its kernels)");

  // A vouch holds for what would run when it was written.
  const Ran wrong = checked("abc1234", Json(), older("threshold_count@0"));
  refused(wrong,
          "docs/page.md:1: vouches for what these results ran as threshold_count was at 0; it is ");
  const std::size_t at = wrong.out.find("put threshold_count@") + 4;
  const std::string vouch = older(wrong.out.substr(at, wrong.out.find('\n', at) - at));
  passes(checked("abc1234", Json(), vouch));
  passes(checked("abc1234-dirty", Json(), vouch));
  refused(checked("abc1234", now, vouch), "docs/page.md:1: 'gpu-bench' needs nobody");
  refused(checked("abc1234", Json(), vouch, kernels.path().string()), "vouches for what these");
  refused(checked("abc1234", Json(), older("bc6h_mode@1")), "has no times of bc6h_mode");
  CHECK(checked("abc1234", now, older("threshold_count")).code == 2);
  CHECK(contains(checked("abc1234", now, older("threshold_count@1", " ")).err,
                 "must stand why the results hold"));
}

TEST_CASE("broken results and unwritable documents are errors") {
  if (program().empty()) return;
  const std::string part = "<!-- clcook:value gpu-bench /seed -->old<!-- /clcook:value -->\n";
  const Project project(part);
  fs::copy(kData + "bad/truncated.json", project.folder / "bench" / "results");
  const Ran ran = project.report(false);
  CHECK(ran.code == 2);
  CHECK(contains(ran.err, "not a whole JSON file"));
  CHECK(project.document() == part);

  const TempFolder nothing;
  CHECK(contains(
      run_program({program(), "report", "--markdown", "--root", nothing.path().string()}).err,
      "there is neither README.md nor docs/*.md"));
}

namespace {

const char* const kKernels =
    "#define TWICE(x) \\\n  ((x) + \\\n   (x))\n"
    "static float twice_of(float x);\n"
    "static float twice_of(float x) {\n  return TWICE(x);\n}\n\n"
    "__kernel void slow(__global float* y,\n                   int n) {\n"
    "  const int i = get_global_id(0);\n  float sum = 0;\n  for (int k = 0; k < n; ++k) {\n"
    "    sum += twice_of(y[k]);\n  }\n  y[i] = sum;\n}\n";

Ran cut(const std::string& arguments, std::string* document = nullptr) {
  const Project project("<!-- clcook:kernel k.cl " + arguments + " -->\n<!-- /clcook:kernel -->\n");
  write_bytes(project.folder / "k.cl", kKernels);
  const Ran ran = project.report(false);
  if (document != nullptr) *document = project.document();
  if (ran.code == 0) CHECK(project.report(true).code == 0);
  return ran;
}

}  // namespace

TEST_CASE("functions and macros are cut out of kernel files") {
  if (program().empty()) return;
  std::string document;
  CHECK(cut("TWICE twice_of", &document).code == 0);
  CHECK(contains(document,
                 "-->\n```c\n#define TWICE(x)\n  ((x) +\n   (x))\n\n"
                 "static float twice_of(float x) {\n  return TWICE(x);\n}\n```\n\n"
                 "[k.cl, lines 1 to 3](../k.cl#L1-L3), [k.cl, lines 5 to 7](../k.cl#L5-L7)\n<!--"));
  CHECK(cut("TWICE from=\"(x))\"", &document).code == 0);
  CHECK(contains(document, "-->\n```c\n#define TWICE(x)\n  // ...\n   (x))\n```\n"));
  CHECK(cut("slow from=\"for (\" to=\"sum +=\" mark=\"twice_of(\"", &document).code == 0);
  CHECK(contains(document,
                 "-->\n```c hl_lines=\"4\"\n__kernel void slow(...) {\n  // ...\n  for (int k = 0; "
                 "k < n; ++k) {\n"
                 "    sum += twice_of(y[k]);  // <--\n  // ...\n}\n```\n\n"
                 "[k.cl, lines 9 to 17](../k.cl#L9-L17)\n<!--"));
}

TEST_CASE("README's links to the lines of a kernel begin at the root") {
  if (program().empty()) return;
  const std::string block = "<!-- clcook:kernel k.cl ONE -->\n<!-- /clcook:kernel -->\n";
  const Project project(block, "README.md");
  write_bytes(project.folder / "k.cl", "\n#define ONE 1\n");
  REQUIRE(project.report(false).code == 0);
  CHECK(contains(project.document("README.md"),
                 "```c\n#define ONE 1\n```\n\n[k.cl, line 2](k.cl#L2)\n<!--"));
}

TEST_CASE("what a kernel file does not have is an error") {
  if (program().empty()) return;
  const auto refused = [](const std::string& arguments, const std::string& message) {
    const Ran ran = cut(arguments);
    CHECK(ran.code == 2);
    CHECK_MESSAGE(contains(ran.err, message), ran.err);
  };
  refused("", "expected: clcook:kernel FILE NAME");
  refused("twice", "there is no function or macro 'twice' in k.cl");
  refused("slow from=\"while\"", "'slow' has no line with from=\"while\"");
  refused("slow from=\"for\" to=\"while\"",
          "'slow' has no line with to=\"while\" after from=\"for\"");
  refused("slow from=\"for\" to=\"sum\" mark=\"y[i]\"",
          "what is shown of 'slow' has no mark=\"y[i]\"");
  refused("slow to=\"for\"", "to=\"for\" has no from before it");
  refused("slow colour=\"red\"", "'colour' is neither from, to nor mark");
  refused("slow mark=\"for", "no closing quote");
}

TEST_CASE("a kernel that has changed since is found") {
  if (program().empty()) return;
  const Project project("<!-- clcook:kernel k.cl twice_of -->\n<!-- /clcook:kernel -->\n");
  write_bytes(project.folder / "k.cl", kKernels);
  CHECK(project.report(false).code == 0);
  std::string changed = kKernels;
  changed.replace(changed.find("return TWICE(x)"), 15, "return 2.0f * x");
  write_bytes(project.folder / "k.cl", changed);
  const Ran ran = project.report(true);
  CHECK(ran.code == 1);
  CHECK(contains(ran.out, "docs/page.md:1: kernel k.cl twice_of  differs from"));
}

TEST_CASE("gains, charts and tables of shapes say what the results say") {
  if (program().empty()) return;
  const Project project(
      "It is <!-- clcook:gain gpu-bench fixture_blur tiled --><!-- /clcook:gain --> (<!-- "
      "clcook:gain gpu-bench fixture_blur tiled short --><!-- /clcook:gain -->).\n"
      "<!-- clcook:table speed gpu-bench fixture_blur -->" +
      kEnd + "<!-- clcook:chart fixture_blur gpu-bench -->\n<!-- /clcook:chart -->\n");
  const Ran ran = project.report(false);
  CHECK_MESSAGE(ran.code == 0, ran.err);
  CHECK(contains(project.document(), "as<!-- /clcook:gain --> (<"));
  CHECK(contains(project.document(), "-->3.2×<!-- /clcook:gain -->).\n"));
  CHECK(contains(project.document(),
                 "| Fixture GPU | width=1920 height=1080 | width=64 height=64 |\n|---|---:|---:|\n"
                 "| naive | 996 µs | 9.97 µs |\n| tiled | **3.22×** | **3.22×** |\n"
                 "| unrolled | tie | tie |\n| packed | 0.71× | 0.71× |\n"));
  const std::string chart = project.document("docs/images/chart_fixture_blur.svg");
  CHECK(contains(chart, "<text class=\"ink small strong\" x=\"16\" y=\"97\">tiled</text>"));
  CHECK(!contains(chart, "strong\" x=\"16\" y=\"73\">naive"));
  for (const char* sign :
       {">baseline<", ">faster<", ">a tie<", ">slower<", ">bold<", ">95 % interval<"})
    CHECK_MESSAGE(contains(chart, sign), sign);
  CHECK(!contains(chart, "too long to draw"));
  CHECK(project.report(true).code == 0);
  write_bytes(project.folder / "docs/images/chart_fixture_blur.svg", "");
  const Ran check = project.report(true);
  CHECK(check.code == 1);
  CHECK(contains(check.out, "docs/images/chart_fixture_blur.svg differs from the results"));
  const auto refused = [](const std::string& part, const std::string& message) {
    const Ran wrong = Project(part).report(false);
    CHECK(wrong.code == 2);
    CHECK_MESSAGE(contains(wrong.err, message), wrong.err);
  };
  refused("<!-- clcook:gain gpu-bench fixture_blur gone --><!-- /clcook:gain -->",
          "'gpu-bench' has no ratio of 'gone'");
  refused("<!-- clcook:gain gpu-bench fixture_blur tiled width=1 --><!-- /clcook:gain -->",
          "has no times of 'fixture_blur' with width=1");
  refused("<!-- clcook:chart gone gpu-bench -->\n<!-- /clcook:chart -->", "has no times of 'gone'");
  const std::string twice =
      "<!-- clcook:chart fixture_blur gpu-bench -->\n<!-- /clcook:chart -->\n";
  refused(twice + twice, "docs/page.md:3: there is another chart");
}
