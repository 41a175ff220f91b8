// The command line tool: what it prints, its JSON, its exit codes and its errors.
#include <chrono>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <clcook/core/program.hpp>
#include <clcook/core/source.hpp>
#include <clcook/registry/conformance.hpp>

#include "bench/cookbook/recipes.hpp"
#include "clcook_places.hpp"
#include "support/grid.hpp"
#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;
using Json = nlohmann::json;

namespace {

using Variables = std::vector<std::pair<std::string, std::optional<std::string>>>;

Ran tool(std::vector<std::string> arguments, const Variables& variables = {}) {
  arguments.insert(arguments.begin(), built_program("clcook"));
  return run_program(arguments, variables);
}

// An error: exit code 2, a message that holds `part`, nothing on standard output.
void refused(const std::vector<std::string>& arguments, const std::string& part,
             const Variables& variables = {}) {
  const Ran ran = tool(arguments, variables);
  CAPTURE(arguments.back());
  CAPTURE(ran.out);
  CAPTURE(ran.err);
  CHECK(ran.code == 2);
  CHECK(contains(ran.err, part));
  CHECK(ran.out.empty());
}

// The recipe that these tests try the commands on.
const Recipe& a_recipe() {
  static const std::vector<Recipe> all = cookbook::recipes();
  return find_recipe(all, "argument_swap");
}

// A copy of the kernels with the recipe's baseline broken: it computes from its index + 1.
void write_broken_kernels(const std::filesystem::path& folder) {
  const std::filesystem::path kernels = CLCOOK_SOURCE_DIR "/kernels";
  std::filesystem::copy(
      kernels, folder,
      std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing);
  const std::filesystem::path file = folder / (a_recipe().name + ".cl");
  std::string text = read_bytes(file);
  REQUIRE(contains(text, "get_global_id(0)"));
  text.insert(0, "#define get_global_id(d) (get_global_id(d) + 1)\n");
  write_bytes(file, text);
}

}  // namespace

TEST_CASE("list names every recipe and variant") {
  if (not_built("clcook")) return;
  const Ran ran = tool({"list"});
  CHECK(ran.code == 0);
  CHECK(ran.err.empty());
  for (const Recipe& recipe : cookbook::recipes()) {
    CHECK(contains(ran.out, recipe.name));
    CHECK(contains(ran.out, recipe.title));
    for (const VariantInfo& variant : recipe.variants) CHECK(contains(ran.out, variant.name));
  }
  CHECK(count_of(ran.out, "(baseline)") == cookbook::recipes().size());
  const Ran one = tool({"list", "halo_tile"});
  CHECK(contains(one.out,
                 "shape radius     of the neighbourhood, pixels: 1 to 64; when not given: 1"));
  CHECK_FALSE(contains(one.out, "line_blur"));
}

TEST_CASE("list --json holds every recipe with variants, baseline and tune axes") {
  if (not_built("clcook")) return;
  // It needs no device.
  const Ran ran = tool({"list", "--json"}, {{"OCL_ICD_VENDORS", "/nonexistent"}});
  REQUIRE(ran.code == 0);
  const Json json = Json::parse(ran.out);
  const std::vector<Recipe> recipes = cookbook::recipes();
  REQUIRE(json.at("recipes").size() == recipes.size());
  for (std::size_t r = 0; r < recipes.size(); ++r) {
    const Json& one = json.at("recipes")[r];
    CHECK(one.at("name") == recipes[r].name);
    CHECK(one.at("baseline") == recipes[r].baseline().name);
    REQUIRE(one.at("parameters").size() == recipes[r].parameters.size());
    for (std::size_t p = 0; p < recipes[r].parameters.size(); ++p) {
      const Parameter& parameter = recipes[r].parameters[p];
      const Json& row = one.at("parameters")[p];
      CHECK(row.at("name") == parameter.name);
      CHECK(row.at("range") == parameter.range());
      CHECK(row.contains("default") == !parameter.missing.empty());
    }
    REQUIRE(one.at("variants").size() == recipes[r].variants.size());
    for (std::size_t v = 0; v < recipes[r].variants.size(); ++v) {
      const VariantInfo& variant = recipes[r].variants[v];
      const Json& row = one.at("variants")[v];
      CHECK(row.at("name") == variant.name);
      CHECK(row.at("baseline") == variant.is_baseline);
      CHECK(row.at("summary") == variant.summary);
      REQUIRE(row.at("tunes").size() == variant.axes.size());
      for (std::size_t t = 0; t < variant.axes.size(); ++t) {
        CHECK(row.at("tunes")[t].at("name") == variant.axes[t].name);
        CHECK(row.at("tunes")[t].at("values").size() == variant.axes[t].values.size());
      }
    }
  }
}

LONG_TEST_CASE("devices lists them with the choice and the reasons", 16) {
  if (not_built("clcook")) return;
  const Ran plain = tool({"devices"});
  CHECK(plain.code == 0);
  CHECK(contains(plain.out, runtime().info().name));
  CHECK(contains(plain.out, "chosen"));
  const Ran json_ran = tool({"devices", "--json"});
  REQUIRE(json_ran.code == 0);
  const Json json = Json::parse(json_ran.out);
  int chosen = 0;
  for (const Json& row : json.at("devices")) {
    CHECK_FALSE(row.at("name").get<std::string>().empty());
    CHECK(contains(row.at("spec").get<std::string>(), ":"));
    chosen += row.at("verdict") == "chosen" ? 1 : 0;
  }
  CHECK(chosen == 1);
  // One recipe alone: all of its variants, each with its reason.
  const Recipe& recipe = a_recipe();
  const Ran one = tool({"devices", recipe.name});
  CHECK(one.code == 0);
  for (const VariantInfo& variant : recipe.variants) CHECK(contains(one.out, variant.name));
  CHECK_FALSE(contains(one.out, "gaussian_blur:"));
  CHECK(contains(tool({"devices", "no_recipe"}).err, "there is no recipe 'no_recipe'"));
  const Ran none = tool({"devices", "--device", "no such device"});
  CHECK(none.code == 2);
  CHECK(contains(none.out, "does not match 'no such device'"));
  const Ran variable = tool({"devices"}, {{"CLCOOK_DEVICE", "no such device"}});
  CHECK(variable.code == 2);
  const Ran bare = tool({"devices"}, {{"OCL_ICD_VENDORS", "/nonexistent"}});
  CHECK(bare.code == 2);
  CHECK(contains(bare.out, "pocl-opencl-icd"));
}

TEST_CASE("devices says once why the cache of programs is not used") {
  if (not_built("clcook")) return;
  const TempFolder folder;
  std::filesystem::create_directory(folder / "cache");
  const std::string cache = (folder / "cache").string();
  const auto devices = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"devices", "--device", "no such device"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return tool(arguments, {{"CLCOOK_CACHE_DIR", cache}, {"CLCOOK_CACHE", std::nullopt}}).out;
  };
  CHECK_FALSE(contains(devices({}), "cache of programs"));
  CHECK(Json::parse(devices({"--json"})).at("cache") == Json{{"folder", cache}, {"refusal", ""}});
  std::filesystem::permissions(folder / "cache", std::filesystem::perms(01777));
  const std::string why = cache + " has mode 1777: others may write to it";
  const std::string out = devices({});
  CAPTURE(out);
  CHECK(count_of(out, "cache of programs") == 1);
  CHECK(count_of(out, why) == 1);
  CHECK(Json::parse(devices({"--json"})).at("cache") == Json{{"folder", cache}, {"refusal", why}});
  CHECK(std::filesystem::is_empty(folder / "cache"));
}

TEST_CASE("check --json has one row per run with errors and bound") {
  if (not_built("clcook")) return;
  const Ran ran = tool({"check", a_recipe().name, "--tiny", "--in-order", "--json", "--seed", "7"});
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  const Json json = Json::parse(ran.out);
  CHECK(json.at("seed") == 7);
  CHECK(json.at("device").at("name") == runtime().info().name);
  CHECK(json.at("device").at("driver") == runtime().info().driver);
  CHECK_FALSE(json.at("commit").get<std::string>().empty());
  const Json& summary = json.at("summary");
  CHECK(summary.at("failed") == 0);
  CHECK(summary.at("passed").get<int>() > 0);
  CHECK(summary.at("launches").get<int>() >= summary.at("passed").get<int>());
  CHECK(json.at("rows").size() ==
        summary.at("passed").get<std::size_t>() + summary.at("skipped").get<std::size_t>());
  std::set<std::string> variants;
  for (const Json& row : json.at("rows")) {
    CAPTURE(row.dump());
    CHECK(row.at("recipe") == a_recipe().name);
    variants.insert(row.at("variant").get<std::string>());
    CHECK(row.at("shape").is_object());
    CHECK(row.at("tune").is_object());
    CHECK(row.at("queue") == "in-order");
    if (row.at("outcome") != "passed") continue;
    CHECK_FALSE(row.at("kernels").empty());
    CHECK(row.at("compared").get<int>() > 0);
    CHECK(row.at("mismatches") == 0);
    CHECK(row.at("max_error").get<double>() <= row.at("bound").get<double>());
    CHECK(row.at("guards_ok") == true);
  }
  CHECK(variants.size() == a_recipe().variants.size());
}

TEST_CASE("check prints a table, and takes one variant and one shape") {
  if (not_built("clcook")) return;
  const std::string variant = a_recipe().baseline().name;
  const std::string shape = a_recipe().test_shapes.front().str();
  const Ran ran = tool({"check", a_recipe().name, "--variant", variant, "--shape", shape});
  CAPTURE(ran.err);
  CHECK(ran.code == 0);
  CHECK(contains(ran.out, a_recipe().name + "/" + variant));
  CHECK(contains(ran.out, " 0 failed"));
  CHECK(contains(ran.out, "kernels ran"));
}

LONG_TEST_CASE(
    "what an implementation prints while it compiles is in the log of check --verbose alone", 16) {
  // PoCL says "1 warning generated." to the process's standard error.
  const TempFolder kernels;
  std::filesystem::copy(CLCOOK_SOURCE_DIR "/kernels", kernels.path(),
                        std::filesystem::copy_options::recursive);
  const std::filesystem::path file = kernels.path() / "argument_swap.cl";
  write_bytes(file, "#warning seen by the compiler\n" + read_bytes(file));
  const Variables variables{{"CLCOOK_KERNEL_DIR", kernels.path().string()},
                            {"CLCOOK_CACHE", "0"},
                            {"POCL_KERNEL_CACHE", "0"}};
  const std::vector<std::string> check{"check",     "argument_swap", "--variant",
                                       "two_calls", "--tiny",        "--in-order"};
  const Ran silent = tool(check, variables);
  CHECK(silent.code == 0);
  std::istringstream lines(silent.err);
  for (std::string line; std::getline(lines, line);)
    CHECK_MESSAGE(line.rfind("clcook: checking ", 0) == 0, line);  // on a slow machine
  std::vector<std::string> aloud = check;
  aloud.emplace_back("--verbose");
  const Ran verbose = tool(aloud, variables);
  CHECK(verbose.code == 0);
  CHECK_MESSAGE(contains(verbose.err, "seen by the compiler"), verbose.err);
  CHECK(verbose.out == silent.out);
}

TEST_CASE("check ends with 1 on a mismatch and says where") {
  if (not_built("clcook")) return;
  const TempFolder folder;
  write_broken_kernels(folder.path());
  const Variables variables{{"CLCOOK_KERNEL_DIR", folder.path().string()}, {"CLCOOK_CACHE", "0"}};
  const std::string variant = a_recipe().baseline().name;
  const std::vector<std::string> command{"check", a_recipe().name, "--variant", variant, "--tiny"};
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = command;
    all.insert(all.end(), more.begin(), more.end());
    return tool(all, variables);
  };
  const Ran ran = with({"--json"});
  CAPTURE(ran.err);
  CHECK(ran.code == 1);
  CHECK(contains(ran.err, "FAILED " + a_recipe().name + "/" + variant));
  const Json json = Json::parse(ran.out);
  CHECK(json.at("summary").at("failed").get<int>() > 0);
  bool described = false;
  for (const Json& row : json.at("rows")) {
    if (row.at("outcome") == "failed")
      described = described || contains(row.at("reason"), "expected");
  }
  CHECK(described);

  // The file has the rows that failed.
  const std::string file = (folder / "out.json").string();
  CHECK(with({"--out", file}).code == 1);
  const Json out = Json::parse(read_bytes(file));
  CHECK(out.at("summary") == json.at("summary"));
  CHECK(out.at("totals").size() == 1);
  REQUIRE(out.at("rows").size() == out.at("summary").at("failed").get<std::size_t>());
  CHECK(out.at("rows")[0].at("outcome") == "failed");
}

TEST_CASE("check ends with 1 and the log when a kernel does not build") {
  if (not_built("clcook")) return;
  const TempFolder folder;
  write_bytes(folder / (a_recipe().name + ".cl"),
              "__kernel void broken(void) { undeclared_thing; }\n");
  const Ran ran =
      tool({"check", a_recipe().name, "--variant", a_recipe().baseline().name, "--tiny"},
           {{"CLCOOK_KERNEL_DIR", folder.path().string()}, {"CLCOOK_CACHE", "0"}});
  CHECK(ran.code == 1);
  CHECK(contains(ran.err, "undeclared_thing"));
  CHECK(contains(ran.err, a_recipe().name + ".cl:1:"));
}

TEST_CASE("check --out writes the totals to a file") {
  if (not_built("clcook")) return;
  const TempFolder folder;
  const std::string variant = a_recipe().baseline().name;
  const std::string file = (folder / "rows.json").string();
  const Ran ran = tool({"check", "--variant", variant, "--tiny", "--out", file});
  CHECK(ran.code == 0);
  const Json json = Json::parse(read_bytes(file));
  CHECK(json.at("rows").empty());  // none failed
  Json sums{{"passed", 0}, {"failed", 0}, {"skipped", 0}, {"launches", 0}};
  for (const Json& total : json.at("totals")) {
    CHECK(total.at("variant") == variant);
    for (auto& [name, sum] : sums.items()) sum = sum.get<int>() + total.at(name).get<int>();
  }
  CHECK(sums == json.at("summary"));
  // Folders are not made without a word.
  write_bytes(folder / "file", "x");
  for (const char* missing : {"new", "file"}) {
    const Ran bad = tool({"check", "--variant", variant, "--tiny", "--out",
                          (folder / missing / "rows.json").string()});
    CHECK(bad.code == 2);
    CHECK(contains(bad.err, "rows.json"));
  }
}

TEST_CASE("unknown names and broken values are errors that name them") {
  if (not_built("clcook")) return;
  const std::string recipe = a_recipe().name;
  refused({"check", "no_such_recipe"}, "no_such_recipe");
  refused({"check", recipe, "--variant", "no_such_variant"}, "no_such_variant");
  refused({"check", "--device", "no such device"}, "no such device");
  refused({"check", "--device", "pocl:x"}, "pocl:x");
  refused({"check"}, "no such device", {{"CLCOOK_DEVICE", "no such device"}});
  refused({"check"}, "pocl-opencl-icd", {{"OCL_ICD_VENDORS", "/nonexistent"}});
  refused({"check", "--seed", "many"}, "many");
  refused({"check", "--seed", "-1"}, "-1");
  refused({"check", "--shape", "width"}, "width");
  // A misspelt name is named with those that there are, before any device is asked for.
  const Variables no_device{{"OCL_ICD_VENDORS", "/nonexistent"}};
  refused({"check", "halo_tile", "--shape", "width=64 height=64 raduis=4"},
          "has no 'raduis'; it has filter (dilation, erosion, median or clamp); width (1 to ");
  refused({"check", "halo_tile", "--shape", "width=64 height=64 radius=65"},
          "radius must be 1 to 64, got '65'");
  refused({"check", "halo_tile", "--shape", "width=64"}, "'height' (pixels, 1 to ");
  refused({"bench", recipe, "--shape", "garbage"}, "'garbage'", no_device);
  refused({"bench", recipe, "--shape", "wdith=64"}, "'wdith'", no_device);
  refused({"tune", recipe, "--shape", "wdith=64"}, "'wdith'", no_device);
  refused({"explore", "bc6h_mode", "--shape", "cuont=64"}, "'cuont'", no_device);
  refused({"list", "no_such_recipe"}, "no_such_recipe");
  refused({"check", "--no-such-option"}, "--no-such-option");
  refused({"no_such_command"}, "no_such_command");
  CHECK(tool({}).code == 2);
  CHECK(tool({"--help"}).code == 0);
  CHECK(contains(tool({"--help"}).out, "check"));
  CHECK(contains(tool({"--version"}).out, text("clcook ", CLCOOK_VERSION_MAJOR, ".",
                                               CLCOOK_VERSION_MINOR, ".", CLCOOK_VERSION_PATCH)));
  // An unknown recipe is named before any device is asked for.
  CHECK(contains(tool({"check", "no_such_recipe"}).err, recipe));  // with the known ones
}

LONG_TEST_CASE("flatten prints a text that builds by itself", 16) {
  if (not_built("clcook")) return;
  for (const Recipe& recipe : cookbook::recipes()) {
    const std::filesystem::path file = CLCOOK_SOURCE_DIR "/kernels/" + recipe.name + ".cl";
    if (!std::filesystem::exists(file)) continue;
    const Ran ran = tool({"flatten", file.string()});
    CHECK(ran.code == 0);
    CHECK_FALSE(contains(ran.out, "\n#include <clcook/"));
    CHECK(contains(ran.out, "#line 1 "));
    // The plain OpenCL call, with nothing of ours: the text must be complete.
    const char* text = ran.out.c_str();
    cl_int status = CL_SUCCESS;
    const cl::Program program(
        clCreateProgramWithSource(runtime().context()(), 1, &text, nullptr, &status));
    REQUIRE(status == CL_SUCCESS);
    const cl_device_id device = runtime().device()();
    status = clBuildProgram(program(), 1, &device, "-cl-std=CL1.2", nullptr, nullptr);
    CAPTURE(build_log(program, runtime().device()));
    CHECK(status == CL_SUCCESS);
  }
}

TEST_CASE("flatten takes folders and definitions, and leaves no include") {
  if (not_built("clcook")) return;
  const TempFolder folder;
  write_bytes(folder / "k.cl", "#ifdef DEEP\n#include DEEP\n#endif\n#include <v.clh>\n");
  write_bytes(folder / "inc/v.clh", "IN_V\n");
  write_bytes(folder / "inc/deep/d.clh", "IN_D\n");
  const std::string file = (folder / "k.cl").string();
  const std::string inc = (folder / "inc").string();
  const std::string plain = "#line 1 \"" + file + "\"\n#ifdef DEEP\n";
  CHECK(tool({"flatten", file, "-I", inc, "-DDEEP=<deep/d.clh>", "-D", "N=4"}).out ==
        "#define DEEP <deep/d.clh>\n#define N 4\n" + plain +
            "#line 1 \"deep/d.clh\"\nIN_D\n#line 3 \"" + file + "\"\n#endif\n#line 4 \"" + file +
            "\"\n#line 1 \"v.clh\"\nIN_V\n#line 5 \"" + file + "\"\n");
  const Ran without = tool({"flatten", file, "-I", inc});
  CHECK(without.code == 0);
  CHECK(contains(without.out, "#ifdef DEEP\n#error " + file + ":2: #include DEEP: "));
  refused({"flatten", file}, "k.cl:4: header 'v.clh' file not found");
  refused({"flatten", file, "-I", inc, "-DDEEP"}, "k.cl:2: #include DEEP: it comes to 1");
  refused({"flatten", file, "-I", inc, "-DDEEP=<no.clh>"},
          "k.cl:2: header 'no.clh' file not found");
  refused({"flatten", file, "-I", inc, "-D", "4"}, "NAME or NAME=VALUE");
  refused({"flatten", file, "-I", (folder / "no").string()}, (folder / "no").string());
  const std::string out = (folder / "out.cl").string();
  refused({"flatten", file, "--out", out}, "v.clh");
  CHECK_FALSE(std::filesystem::exists(out));
}

TEST_CASE("flatten writes files and refuses what is not there") {
  if (not_built("clcook")) return;
  const TempFolder folder;
  write_bytes(folder / "k.cl", "#include \"h.clh\"\nmain\n");
  write_bytes(folder / "h.clh", "header\n");
  const std::string out = (folder / "flat.cl").string();
  const Ran ran = tool({"flatten", (folder / "k.cl").string(), "--out", out});
  CHECK(ran.code == 0);
  CHECK(ran.out.empty());
  CHECK(contains(read_bytes(out), "\nheader\n"));
  refused({"flatten", (folder / "missing.cl").string()}, "missing.cl");
  refused({"flatten", folder.path().string()}, folder.path().string());
  refused({"flatten"}, "FILE");
  write_bytes(folder / "bad.cl", "#include <clcook/no_such_header.clh>\n");
  refused({"flatten", (folder / "bad.cl").string()}, "no_such_header");
  write_bytes(folder / "self.clh", "#include \"self.clh\"\n");
  write_bytes(folder / "cycle.cl", "#include \"self.clh\"\n");
  refused({"flatten", (folder / "cycle.cl").string()}, "self.clh -> self.clh");
}

TEST_CASE("counters are those of the cores, or the system says why there are none") {
  const TempFolder folder;
  const std::string file = (folder / "counters.json").string();
  const Ran ran = tool(
      {"counters", "threshold_count", "--shape", "count=4096 n=5 values=cosine", "--out", file});
  CAPTURE(ran.err);
  if (ran.code == 2) {
    CHECK(contains(ran.err, "the system gives no counters of the CPU: perf_event_open: "));
    CHECK(!std::filesystem::exists(file));
  } else {
    REQUIRE(ran.code == 0);
    for (const Json& row : Json::parse(read_bytes(file)).at("rows")) {
      if (row.at("status") == "counted")
        CHECK(row.at("counters").at("instructions").get<double>() > 4096);
    }
  }
  refused({"counters", "nonsense"}, "there is no recipe 'nonsense'");
  refused({"counters", "threshold_count", "--variant", "nonsense"}, "no variant 'nonsense'");
  refused({"counters", "threshold_count", "--shape", "colour=3"}, "colour");
  refused({"counters", "--out", file, "--resume", file}, "--out");
}

LONG_TEST_CASE("startup times a process with empty caches and one that compiles nothing", 16) {
  const TempFolder folder;
  const std::string file = (folder / "startup.json").string();
  const Ran ran =
      tool({"startup", "--width", "64", "--height", "48", "--sigma", "2", "--out", file},
           {{"CLCOOK_CACHE", std::nullopt}, {"POCL_KERNEL_CACHE", "0"}});
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  const Json rows = Json::parse(read_bytes(file)).at("rows");
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].at("compiled").get<int>() > 0);
  CHECK(rows[1].at("compiled").get<int>() == 0);
  for (const Json& row : rows) {
    CHECK(row.at("processor_s").get<double>() > 0);
    CHECK(row.at("ran").at("kernels") == rows[0].at("ran").at("kernels"));
  }
  refused({"startup", "--sigma", "-1"}, "sigma");
  refused({"startup", "--width", "0"}, "--width");
}

TEST_CASE("warm leaves nothing to compile") {
  const TempFolder folder;
  const Variables cache = {{"CLCOOK_CACHE", std::nullopt},
                           {"CLCOOK_CACHE_DIR", (folder / "cache").string()},
                           {"POCL_KERNEL_CACHE", "0"}};  // else PoCL keeps programs, and we none
  const std::vector<std::string> words = {"warm", "threshold_count", "--shape", "count=4096 n=5"};
  const Ran first = tool(words, cache);
  CAPTURE(first.err);
  REQUIRE(first.code == 0);
  CHECK(contains(first.out, "threshold_count count=4096 n=5"));
  CHECK(!contains(first.out, " 0 compiled"));
  const Ran second = tool(words, cache);
  REQUIRE(second.code == 0);
  CHECK(contains(second.out, " 0 compiled"));
  CHECK(!contains(second.out, " 0 from the cache"));
  // Where a program cannot be written.
  for (const auto& file : std::filesystem::directory_iterator(folder / "cache")) {
    if (file.path().extension() != ".clbin") continue;
    std::filesystem::remove(file.path());
    std::filesystem::create_directories(file.path() / "in the way");
  }
  const Ran full = tool(words, cache);
  CHECK(full.code == 2);
  CHECK(contains(full.err, "it lacks the program of threshold_count count=4096 n=5"));
  refused({"warm", "nonsense"}, "there is no recipe 'nonsense'", cache);
  refused({"warm", "threshold_count", "--shape", "colour=3"}, "colour", cache);
  refused(words, "the cache is off", {{"CLCOOK_CACHE", "0"}, {"POCL_KERNEL_CACHE", "0"}});
}
