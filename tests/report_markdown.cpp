// clcook report --markdown: the tables and figures of the documents.
#include <optional>

#include "bench/cookbook/recipes.hpp"
#include "bench/measure/fingerprint.hpp"
#include "bench/tool/command.hpp"
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
  // At a size that nobody has counted; with one rung more.
  const std::string halo =
      made("halo_tile h200_bench_halo_tile width=1024", "halo_tile direct_multi");
  CHECK(contains(halo, "| Of the copy | This step alone |\n"));
  CHECK(contains(halo, "\n| direct_multi | "));
  CHECK(contains(halo, "\n| local_tile | after direct: "));
  CHECK(contains(halo, "radius=1 pixel=rgba32f border=clamp; a copy takes "));
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

namespace {

using tool::Json;
using tool::to_json;

// A Project in a git repository: a commit, one after it on main, and one on another branch.
struct Repository : Project {
  explicit Repository(const std::string& document, const std::string& gate = "")
      : Project(document) {
    if (!gate.empty()) write_bytes(folder / "bench/isa_gate.json", gate);
    git("init -q -b main . && git add . && " + kCommit + "first");
    first = git("rev-parse --short HEAD");
    git("checkout -q -b other && " + kCommit + "aside");
    aside = git("rev-parse --short HEAD");
    git("checkout -q main && " + kCommit + "last");
  }

  // What `git WORDS` prints, without the end of its line.
  std::string git(const std::string& words) const {
    const Ran ran =
        run_program({"/bin/sh", "-c", "cd \"$0\" && git " + words, folder.path().string()},
                    {{"GIT_CONFIG_GLOBAL", "/dev/null"}, {"GIT_DIR", std::nullopt}});
    REQUIRE_MESSAGE(ran.code == 0, (ran.out + ran.err));
    return ran.out.substr(0, ran.out.find('\n'));
  }

  std::string first;
  std::string aside;

 private:
  const std::string kCommit =
      "git -c user.name=test -c user.email=test@localhost commit -q --allow-empty -m ";
};

bool no_git() {
  if (run_program({"/bin/sh", "-c", "git --version"}).code == 0) return false;
  MESSAGE("SKIPPED: there is no git");
  return true;
}

void passes(const Ran& ran) { CHECK_MESSAGE(ran.code == 0, (ran.out + ran.err)); }
void refused(const Ran& ran, const std::string& because) {
  CHECK(ran.code == 1);
  CHECK_MESSAGE(contains(ran.out, because), ran.out);
}

const char* const kMaySay = "why it holds, in a block clcook:older";

// A result of a kind with rows of a recipe that this program has, and what they ran.
struct Measured {
  const Recipe& recipe = find_recipe(cookbook::recipes(), "threshold_count");
  std::string variant = recipe.baseline().name;
  Params tune = combinations(recipe.baseline().axes).front();
  Params shape = recipe.bench_shapes.front();
  DeviceInfo device;

  Measured() {
    device.name = "Fixture GPU";
    device.platform = "Fixtures";
    device.gpu = true;
    device.max_group = 256;
    device.local_mem = 1 << 15;
  }

  Json ran(const std::string& kind) const {
    if (kind == "check") return to_json(tool::fingerprint_of_check(recipe, variant, device));
    if (kind == "isa") return to_json(tool::fingerprint_of_isa(recipe, variant, "", "sm_90"));
    if (kind == "startup")
      return to_json(tool::fingerprint_of(find_recipe(cookbook::recipes(), "gaussian_blur"),
                                          "separable", {}, {picture()}, device));
    return to_json(tool::fingerprint_of(recipe, variant, tune, {shape}, device));
  }

  // With `ran` in its rows, none where that is null.
  Json result(const std::string& kind, const Json& ran, const std::string& commit) const {
    Json row{{"recipe", recipe.name}, {"variant", variant}};
    Json out{{"format", 1}, {"kind", kind}, {"commit", commit}, {"device", to_json(device)}};
    std::string list = "rows";
    if (kind == "bench") {
      const Json fixture = Json::parse(read_bytes(kData + "bench/results/gpu-bench.json"));
      for (const Json& one : fixture["rows"])
        if (one["status"] == "measured") row = one;
      row["recipe"] = recipe.name;
      row["variant"] = variant;
      row["tune"] = to_json(tune);
      row["shape"] = to_json(shape);
      out["seed"] = 1;
      out["processes"] = 3;
      out["ceilings"] = {
          {"copy_gbs", 1}, {"cached_copy_gbs", 1}, {"fma_gops", 1}, {"launch_us", 1}};
    } else if (kind == "check") {
      list = "totals";
      for (const char* count : {"runs", "passed"}) row[count] = 1;
      for (const char* count :
           {"failed", "skipped", "launches", "compared", "max_error", "bound", "share"})
        row[count] = 0;
      row["skips"] = Json::array();
    } else if (kind == "isa") {
      list = "kernels";
      out["targets"] = Json::array();
      row["tune"] = "";
      row["target"] = "sm_90";
      for (const char* text : {"kernel", "label", "options"}) row[text] = "";
      row["problem"] = "invented";
    } else if (kind == "startup") {
      out["problem"] = to_json(picture());
      row = {{"compiled", 1}, {"method", "separable"}};
      for (const char* time : {"pick_s", "plan_s", "first_blur_s", "second_blur_s", "processor_s"})
        row[time] = 1;
    } else if (kind == "stages") {
      out["recipe"] = recipe.name;
      out["shape"] = to_json(shape);
      row = {{"stage", variant}, {"seconds", {1}}, {"median_us", 1}};
    }
    row.erase("ran");
    if (!ran.is_null()) row["ran"] = ran;
    out[list].push_back(row);
    return out;
  }

  static Params picture() { return {{"width", 64}, {"height", 64}, {"sigma", 2.0}}; }

  // What the check says of one such result.
  Ran checked(const Project& project, const Json& result) const {
    fs::remove_all(project.folder / "bench/results");
    write_bytes(project.folder / "bench/results/measured.json", result.dump());
    return project.report(true);
  }
};

Json with_other(Json ran, const char* key) {
  ran[key] = "01234567";
  return ran;
}

std::string older(const std::string& words, const std::string& why = "It holds.") {
  return "<!-- clcook:older " + words + " measured -->\n" + why + "\n<!-- /clcook:older -->\n";
}

// "threshold_count@01234567", as a complaint says it.
std::string hash_in(const Ran& ran) {
  const std::size_t at = ran.out.find("and put ") + 8;
  return ran.out.substr(at, ran.out.find('\n', at) - at);
}

}  // namespace

TEST_CASE(
    "a result of any kind is of a commit before HEAD, or refused with what measures it again") {
  if (program().empty() || no_git()) return;
  const Repository project("# A page\n");
  const fs::path results = project.folder / "bench/results";
  for (const char* kind : {"peers", "startup"}) {
    Json more{{"format", 1},
              {"kind", kind},
              {"device", {{"name", "Fixture GPU"}, {"platform", "none"}, {"driver", "1"}}},
              {"problem", Json::object()},
              {"rows", Json::array()}};
    if (std::string(kind) == "peers") more["recipe"] = "fixture_blur";
    write_bytes(results / (std::string("gpu_") + kind + "_fixture_blur.json"), more.dump());
  }
  const auto checked = [&](const std::optional<std::string>& commit) {
    for (const auto& file : fs::directory_iterator(results)) {
      Json json = Json::parse(read_bytes(file.path()));
      json.erase("commit");
      if (commit) json["commit"] = *commit;
      write_bytes(file.path(), json.dump());
    }
    return project.report(true);
  };
  const std::vector<std::pair<std::string, std::string>> files{
      {"gpu-bench", "clcook bench --out PATH"},
      {"gpu-check", "clcook check fixture_blur.toml --out PATH"},
      {"gpu-counters", "clcook counters fixture_blur.toml --out PATH"},
      {"gpu-explore", "clcook explore fixture_blur.toml --out PATH"},
      {"gpu-stages", "the example fixture_blur.toml with --json PATH"},
      {"offline-isa", "clcook isa fixture_blur.toml --json PATH"},
      {"gpu_peers_fixture_blur", "bench/peers/run fixture_blur.toml --out FOLDER/gpu"},
      {"gpu_startup_fixture_blur", "clcook startup --out PATH"}};
  const auto all_refused = [&](const std::optional<std::string>& commit, const std::string& why) {
    const Ran ran = checked(commit);
    for (auto [name, command] : files) {
      const std::string path = (results / (name + ".json")).string();
      if (const std::size_t at = command.find("PATH"); at != std::string::npos)
        command.replace(at, 4, path);
      if (const std::size_t at = command.find("FOLDER"); at != std::string::npos)
        command.replace(at, 6, results.string());
      refused(ran, path + ": " + why + "; measure again: " + command + "; or say ");
    }
  };
  passes(checked(project.first));
  passes(checked("v1.0-5-g" + project.first));
  all_refused(project.aside, "its commit " + project.aside + " is not in the history of HEAD");
  all_refused("1234567", "its commit 1234567 is not in the history of HEAD");
  all_refused("main", "its commit main is not in the history of HEAD");
  all_refused(project.first + "-dirty",
              "it is of a tree that was never committed, " + project.first + "-dirty");
  all_refused("unknown", "it does not say of which commit it is");
  all_refused(std::nullopt, "it does not say of which commit it is");
  project.git("tag v1.0");
  passes(checked("v1.0"));

  // What cannot be asked becomes one note, and nothing is refused.
  const TempFolder shallow;
  project.git("clone -q --depth 1 \"file://$PWD\" '" + (shallow / "clone").string() + "'");
  const auto report = [](const fs::path& root) {
    return run_program({program(), "report", "--markdown", "--check", "--root", root.string()});
  };
  checked(project.first);
  fs::copy(results, shallow / "clone/bench/results",
           fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  const Ran of_clone = report(shallow / "clone");
  passes(of_clone);
  CHECK(contains(of_clone.out, "note: the clone is shallow; not looked for were " + project.first));
  fs::remove_all(project.folder / ".git");
  checked("1234567");
  const Ran outside = project.report(true);
  passes(outside);
  CHECK(count_of(outside.out, "note: no commit of a result was looked for: ") == 1);
  // The folder of a project in another project's repository.
  fs::create_directories(shallow / "clone/inner");
  fs::copy(project.folder.path(), shallow / "clone/inner", fs::copy_options::recursive);
  CHECK(contains(report(shallow / "clone/inner").out, "is not the top folder of a git repository"));
}

TEST_CASE("results of what ran otherwise are refused, of bench, check, isa and startup alike") {
  if (program().empty()) return;
  const Measured measured;
  const Project project("# A page\n");
  for (const std::string kind : {"bench", "check", "isa", "startup"}) {
    CAPTURE(kind);
    const Json now = measured.ran(kind);
    const auto checked = [&](const Json& ran) {
      return measured.checked(project, measured.result(kind, ran, "abc1234"));
    };
    const std::string recipe = kind == "startup" ? "gaussian_blur" : "threshold_count";
    const std::string variant = kind == "startup" ? "separable" : measured.variant;
    const std::string since = "measured.json: " + recipe + " has changed since abc1234: " + variant;
    passes(checked(now));
    refused(checked(with_other(now, "kernels")), since + " (the text of its kernels); measure");
    const Ran ran = checked(with_other(now, "options"));
    refused(ran, since + " (its options); measure again: clcook " + kind);
    CHECK(contains(ran.out, "; or say in docs/" + recipe + ".md " + kMaySay));
    if (kind != "isa") refused(checked(with_other(now, "launches")), since + " (its launches)");
    refused(checked(Json()),
            "measured.json: it does not say what " + variant + " of " + recipe + " ran");
  }
  // A variant that is gone.
  Json gone = measured.result("check", measured.ran("check"), "abc1234");
  gone["totals"][0]["variant"] = "gone";
  const Ran ran = measured.checked(project, gone);
  refused(ran, "has changed since abc1234: gone (it is no longer a variant); measure again");

  // The kernel as it stands, and with a planted comment or line.
  const std::string text = read_bytes(CLCOOK_SOURCE_DIR "/kernels/threshold_count.cl");
  const TempFolder kernels;
  const ScopedVariable folder("CLCOOK_KERNEL_DIR", kernels.path().string());
  for (const std::string kind : {"bench", "check", "isa"}) {
    CAPTURE(kind);
    fs::remove(kernels / "threshold_count.cl");
    const Json result = measured.result(kind, measured.ran(kind), "abc1234");
    write_bytes(kernels / "threshold_count.cl", "// Planted.\n" + text);
    passes(measured.checked(project, result));
    write_bytes(kernels / "threshold_count.cl", text + "\n#define PLANTED 1\n");
    refused(measured.checked(project, result), measured.variant + " (the text of its kernels)");
  }
}

TEST_CASE("a page vouches for what has changed, until it changes again") {
  if (program().empty()) return;
  const Measured measured;
  const Json now = measured.ran("bench");
  const auto checked = [&](const Json& ran, const std::string& document,
                           const std::string& commit = "abc1234",
                           const std::string& kind = "bench") {
    return measured.checked(Project(document), measured.result(kind, ran, commit));
  };
  const Json changed = with_other(now, "options");
  const Ran wrong = checked(changed, older("threshold_count@0"));
  refused(wrong,
          "docs/page.md:1: vouches for what these results ran as threshold_count was at 0; it is ");
  const std::string vouch = older(hash_in(wrong));
  passes(checked(changed, vouch));
  passes(checked(changed, vouch, "abc1234-dirty"));
  passes(checked(now, vouch, "abc1234-dirty"));
  refused(checked(now, vouch), "docs/page.md:1: 'measured' needs nobody to vouch for it");
  refused(checked(changed, older("bc6h_mode@1")), "'measured' has nothing of bc6h_mode");
  CHECK(checked(changed, older("threshold_count")).code == 2);
  CHECK(contains(checked(changed, older("threshold_count@1", " ")).err,
                 "must stand why the results hold"));
  // Also where nobody knows what ran.
  passes(checked(Json(), older(hash_in(checked(Json(), older("threshold_count@0"))))));
  const Ran stages = checked(Json(), older("threshold_count@0"), "abc1234", "stages");
  passes(checked(Json(), older(hash_in(stages)), "abc1234", "stages"));
  // For all recipes that the results have.
  const Ran every = checked(changed, older("*@0"));
  refused(every, "vouches for what these results ran as * was at 0; it is ");
  passes(checked(changed, older(hash_in(every))));
  refused(checked(now, older(hash_in(every))), "'measured' needs nobody to vouch for it");
  const TempFolder kernels;
  write_bytes(kernels / "threshold_count.cl",
              read_bytes(CLCOOK_SOURCE_DIR "/kernels/threshold_count.cl") + "#define PLANTED 1\n");
  const ScopedVariable folder("CLCOOK_KERNEL_DIR", kernels.path().string());
  refused(checked(changed, vouch), "vouches for what these");
}

TEST_CASE("a page that vouches for times of another machine code names the variant") {
  if (program().empty() || no_git()) return;
  const Measured measured;
  const auto gate = [&](int instructions) {
    return "{\"format\": 1, \"clang\": \"19\", \"ptxas\": \"\", \"kernels\": {" +
           text("\"threshold_count/", measured.variant,
                "\": {\"sm_90\": {\"instructions\": ", instructions, "}}}}");
  };
  const auto checked = [&](const std::string& document, int then, int at_present,
                           const char* commit = nullptr, const std::string& kind = "bench") {
    const Repository project(document, gate(then));
    write_bytes(project.folder / "bench/isa_gate.json", gate(at_present));
    return measured.checked(project,
                            measured.result(kind, with_other(measured.ran(kind), "kernels"),
                                            commit == nullptr ? project.first : commit));
  };
  const std::string vouch = older(hash_in(checked(older("threshold_count@0"), 7, 7)));
  refused(checked("# A page\n", 7, 7), kMaySay);
  passes(checked(vouch, 7, 7));
  const std::string changed =
      measured.variant + " (the text of its kernels); measure again: clcook";
  const std::string names = " that names `" + measured.variant + "`, whose machine code is another";
  refused(checked(vouch, 6, 7), changed);
  refused(checked(vouch, 6, 7), names);
  refused(checked("# A page\n", 6, 7), names);
  refused(checked(vouch, 7, 7, "1234567"), changed);
  const std::string named =
      older(hash_in(checked(older("threshold_count@0"), 7, 7)), "`" + measured.variant + "` does.");
  passes(checked(named, 6, 7));
  // That a device was right does not depend on one kernel.
  const std::string check =
      older(hash_in(checked(older("threshold_count@0"), 6, 7, nullptr, "check")));
  passes(checked(check, 6, 7, nullptr, "check"));
}

TEST_CASE("times of fewer than three processes, and of a device that was not alone, are refused") {
  if (program().empty()) return;
  const Measured measured;
  const Project project("# A page\n");
  Json json = measured.result("bench", measured.ran("bench"), "abc1234");
  json["ceilings"]["probe_us"] = 100;
  json["rows"][0]["probes_us"] = {101, 99, 400};
  passes(measured.checked(project, json));
  json["rows"][0]["probes_us"] = {101, 180, 190};
  refused(measured.checked(project, json), "the clock probe took 180 us in place of 100; measure");
  json["rows"][0]["probes_us"] = {101, 99, 100};
  json["rows"][0]["blocks"] = 2;
  refused(measured.checked(project, json),
          " has times of 2 processes, and intervals take at least");
  json["rows"][0]["blocks"] = 3;
  json.erase("processes");
  refused(measured.checked(project, json), "its times are of 1 process, and intervals take at");
}

TEST_CASE("a file that no one command wrote is refused") {
  if (program().empty()) return;
  const Measured measured;
  const Project project("# A page\n");
  const Json good = measured.result("bench", measured.ran("bench"), "abc1234");
  Json json = good;
  json["command"] = "clcook bench threshold_count --shape 'a;b' --out x.json";
  passes(measured.checked(project, json));
  json["command"] = "clcook bench, once for each; a at abc1234";
  const Ran ran = measured.checked(project, json);
  refused(ran, "it was joined by hand: its command is not one: 'clcook bench, once for each; a");
  for (const char* own : {"commit", "device"}) {
    json = good;
    json["rows"][0][own] = "another";
    refused(measured.checked(project, json),
            std::string("it was joined by hand: rows[0] has a ") + own + " of its own");
  }
}

TEST_CASE("a recipe's page shows each comparison with other programs") {
  if (program().empty()) return;
  const std::string part = "clcook:table peers gpu_peers_fixture_blur";
  const auto row = [](const char* who, double seconds) {
    return Json{{"case", "a picture"},           {"who", who},       {"version", ""},
                {"seconds", {seconds, seconds}}, {"max_error", 0.0}, {"psnr", nullptr}};
  };
  const auto report = [&](const std::string& document, const std::string& name, bool check) {
    const Project project(document, name);
    const Json peers{{"format", 1},
                     {"kind", "peers"},
                     {"commit", "abc1234"},
                     {"recipe", "fixture_blur"},
                     {"device", {{"name", "Fixture GPU"}, {"platform", "none"}, {"driver", "1"}}},
                     {"rows", {row("clcook", 1), row("other", 2)}}};
    write_bytes(project.folder / "bench/results/gpu_peers_fixture_blur.json", peers.dump());
    if (!check) return project.report(false);
    passes(project.report(false));
    return project.report(true);
  };
  const std::string page = "docs/fixture_blur.md";
  const std::string shown = "<!-- " + part + " -->" + kEnd;
  passes(report(shown, page, true));
  const std::string missing =
      page + " leaves out gpu_peers_fixture_blur: add <!-- " + part + " -->";
  refused(report("# A page\n", page, true), missing);
  // Neither another table nor one in inline code shows it.
  refused(report("<!-- clcook:table results -->" + kEnd, page, true), missing);
  refused(report("`<!-- " + part + " -->`\n", page, true), missing);
  passes(report("# A page\n", page, false));
  passes(report("# A page\n", "docs/other.md", true));  // a recipe without a page
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
