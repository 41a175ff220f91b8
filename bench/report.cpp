// clcook report: the evidence of results as one page, or as the tables of the documents. What only this
// program knows, of recipes and of what results ran, goes to the scripts in bench/report, which write.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <clcook/embedded/report.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <pictures/picture.hpp>

#include "any_result.hpp"
#include "counters/show.hpp"
#include "measure/fingerprint.hpp"
#include "measure/verdict.hpp"
#include "tool/command.hpp"
#include "tool/process.hpp"
#include "tool/scratch_folder.hpp"
#include "tool/techniques.hpp"

namespace clcook::tool {

namespace {

struct ReportArguments {
  std::vector<std::string> files;
  std::string out = "out/report.html";
  std::vector<std::string> pictures;
  std::vector<std::string> curves;
  std::string demo;
  std::string root = ".";
  bool markdown = false;
  bool check = false;
};

// ROOT/bench/results/*.json in the order of their names.
std::vector<std::string> committed(const std::string& root) {
  std::vector<std::string> files;
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::path(root) / "bench" / "results";
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// ---- What the cards say ----

Json to_json(const Experiment& one) {
  constexpr const char* kKinds[] = {"pair",  "baseline",        "shapes",
                                    "sweep", "fewer_registers", "not_tested"};
  return {{"kind", kKinds[static_cast<int>(one.kind)]},
          {"without", one.without},
          {"with", one.with},
          {"words", one.words},
          {"what", one.what},
          {"shows_registers", one.shows_registers}};
}

Json to_json(const Recipe& recipe) {
  Json variants = Json::array();
  for (const VariantInfo& one : recipe.variants)
    variants.push_back({{"name", one.name},
                        {"summary", one.summary},
                        {"baseline", one.is_baseline},
                        {"approximate", one.is_approximate},
                        {"predecessor", one.predecessor},
                        {"change", one.change}});
  Json shows = Json::array();
  for (const Technique& one : recipe.shows) {
    Json experiments = Json::array();
    for (const Experiment& experiment : one.experiments) experiments.push_back(to_json(experiment));
    shows.push_back({{"number", one.number}, {"experiments", experiments}});
  }
  const VariantPair& headline = recipe.headline_pair;
  Json without_first = Json::array();
  for (const Params& one : recipe.without_first) without_first.push_back(tool::to_json(one));
  const Params first = recipe.bench_shapes.empty() ? Params() : recipe.bench_shapes.front();
  return {{"name", recipe.name},
          {"title", recipe.title},
          {"question", recipe.question},
          {"family", recipe.family},
          {"summary", recipe.summary},
          {"described", is_described(recipe.name)},
          {"for_gpus", recipe.for_gpus},
          {"for_cpus", recipe.for_cpus},
          {"written_first", recipe.written_first},
          {"without_first", without_first},
          {"headline",
           {{"with", headline.with}, {"without", headline.without}, {"words", headline.words}}},
          {"first_tune", tool::to_json(combinations(recipe.baseline().axes).front())},
          {"first_shape", tool::to_json(first)},
          {"variants", variants},
          {"shows", shows}};
}

// ---- What results ran, and would run now ----

// A row of a result, as far as its fingerprint goes.
struct Row {
  std::string variant;
  std::optional<Fingerprint> ran;
  // What it would run now, with as many cases of the record. Throws Error where the recipe no longer
  // has it.
  std::function<Fingerprint(std::size_t cases)> run;
};

// The points of a curve as shapes.
std::vector<Params> shapes_of(const Curve& curve) {
  std::vector<Params> out;
  for (const Value& point : curve.points) {
    // A file has whole numbers as 8.0 too, which parameters that count do not take.
    const auto* real = std::get_if<double>(&point);
    const bool whole = real != nullptr && *real == std::floor(*real) && std::fabs(*real) < 1e15;
    out.push_back(curve.shape);
    out.back().set(curve.along, whole ? Value(static_cast<std::int64_t>(*real)) : point);
  }
  return out;
}

// Throws Error(invalid_argument) for a variant that the recipe does not have.
Params default_tune(const Recipe& recipe, const std::string& variant) {
  return combinations(recipe.variant(variant).axes).front();
}

// Those that ran.
std::vector<Row> rows_of(const AnyResult& result, const Recipe& recipe) {
  std::vector<Row> out;
  const DeviceInfo device = info_of(result.about);
  using Tuned = std::function<Params()>;
  const auto add_tuned = [&](const std::string& variant, const std::optional<Fingerprint>& ran,
                             const Tuned& tune, const std::vector<Params>& shapes) {
    out.push_back({variant, ran, [=, &recipe](std::size_t cases) {
                     return fingerprint_of(recipe, variant, tune(), shapes, device,
                                           record_of(recipe.name), cases);
                   }});
  };
  const auto add = [&](const std::string& variant, const std::optional<Fingerprint>& ran,
                       const Params& tune, const std::vector<Params>& shapes) {
    add_tuned(
        variant, ran, [=] { return tune; }, shapes);
  };
  for (const BenchRow& row : result.bench.rows) {
    if (row.recipe == recipe.name && row.measured())
      add(row.variant, row.ran, row.tune, {row.shape});
  }
  for (const CountersRow& row : result.counters.rows) {
    if (row.recipe == recipe.name && row.counted())
      add(row.variant, row.ran, row.tune, {row.shape});
  }
  for (const Curve& curve : result.explore.curves) {
    if (curve.recipe != recipe.name) continue;
    for (const CurveVariant& one : curve.variants) {
      if (std::all_of(one.measured_us.begin(), one.measured_us.end(),
                      [](double time) { return std::isnan(time); }))
        continue;
      add_tuned(
          one.variant, one.ran,
          [&recipe, name = one.variant] { return default_tune(recipe, name); }, shapes_of(curve));
    }
  }
  if (result.stages.recipe == recipe.name) {
    for (const StageRow& row : result.stages.rows)
      if (!row.skipped) add(row.stage, std::nullopt, {}, {result.stages.shape});
  }
  if (result.peers.recipe == recipe.name) {
    // Times of others are no matter of the recipe.
    for (const PeerRow& row : result.peers.rows) {
      if (row.skipped || row.who.rfind("clcook (", 0) != 0) continue;
      const std::string variant = row.who.substr(8, row.who.find(')') - 8);
      std::vector<Params> shapes;
      if (row.shape) shapes.push_back(*row.shape);
      add(row.variant.value_or(variant), row.ran, row.tune.value_or(Params()), shapes);
    }
  }
  for (const GridRow& row : result.grid.rows) {
    if (row.recipe == recipe.name && !row.skipped) add(row.variant, row.ran, row.tune, {row.shape});
  }
  if (recipe.name == "gaussian_blur") {
    for (const StartupRow& row : result.startup.rows)
      add(row.method, row.ran, row.tune.value_or(Params()), {result.startup.problem});
  }
  for (const CheckTotalRow& row : totals_of(result.check)) {
    if (row.recipe != recipe.name || !row.did_run()) continue;
    out.push_back({row.variant, row.ran, [=, &recipe](std::size_t cases) {
                     return fingerprint_of_check(recipe, row.variant, device, cases);
                   }});
  }
  std::set<std::string> compiled;  // by kernels of which a variant may have several
  for (const IsaRow& row : result.isa.kernels) {
    if (row.recipe != recipe.name) continue;
    if (!compiled.insert(row.tuned() + " " + row.target).second) continue;
    out.push_back({row.variant, row.ran,
                   [&recipe, variant = row.variant, tune = row.tune, target = row.target](
                       std::size_t) { return fingerprint_of_isa(recipe, variant, tune, target); }});
  }
  return out;
}

// Of each row whether it says what it ran, in what that differs from now, and what it would run.
Json ran_of(const AnyResult& result) {
  Json out = Json::array();
  for (const Recipe& recipe : recipes()) {
    for (const Row& row : rows_of(result, recipe)) {
      Json one{{"recipe", recipe.name}, {"variant", row.variant}, {"says", row.ran.has_value()}};
      try {
        const Fingerprint now = row.run(row.ran ? row.ran->cases : 1);
        one["now"] = tool::to_json(now);
        if (row.ran) one["differs"] = difference(*row.ran, now);
        one["same_text"] = row.ran && row.ran->kernels == now.kernels;
      } catch (const Error& error) {
        const bool known = known_variant(&recipe, row.variant) != nullptr;
        one["differs"] = known ? error.what() : "it is no longer a variant";
      }
      out.push_back(std::move(one));
    }
  }
  return out;
}

// A row's tune with the defaults for what is left open; null for one of another version.
Json whole_tune(const AnyResult& result, const BenchRow& row) {
  const Recipe* recipe = known_recipe(row.recipe);
  if (recipe == nullptr || known_variant(recipe, row.variant) == nullptr) return nullptr;
  DeviceInfo info;
  info.cpu = result.about.type.value_or("") == "cpu";
  info.max_group = result.about.max_group.value_or(1024);
  info.local_mem = result.about.local_mem.value_or(32768);
  try {
    return tool::to_json(recipe->whole_tune(row.variant, row.tune, row.shape, info));
  } catch (const Error&) {
    return nullptr;
  }
}

Json to_json(const AnyResult& result, bool with_ran) {
  Json out{{"path", result.path},
           {"stem", result.stem},
           {"again", renewal_of(result.json, result.path)}};
  Json tunes = Json::array();
  for (const BenchRow& row : result.bench.rows) tunes.push_back(whole_tune(result, row));
  out["tunes"] = std::move(tunes);
  out["totals"] = tool::to_json(totals_of(result.check));
  if (with_ran) out["ran"] = ran_of(result);
  out["json"] = result.json;
  return out;
}

// ---- Pictures ----

std::string base64(const std::vector<std::uint8_t>& bytes) {
  static constexpr char kDigits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t there = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) group = group << 8 | (k < there ? bytes[i + k] : 0U);
    for (std::size_t k = 0; k < 4; ++k)
      out += k <= there ? kDigits[group >> (18 - 6 * k) & 63U] : '=';
  }
  return out;
}

// RECIPE=BEFORE,AFTER[,REFERENCE] with the pixels.
Json picture_of(const std::string& argument) {
  const std::size_t equals = argument.find('=');
  Json out{{"recipe", argument.substr(0, equals)}, {"pictures", Json::array()}};
  std::vector<std::string> files;
  for (std::size_t at = equals; at != std::string::npos;) {
    const std::size_t comma = argument.find(',', at + 1);
    files.push_back(argument.substr(at + 1, comma == std::string::npos ? comma : comma - at - 1));
    at = comma;
  }
  const bool empty = std::find(files.begin(), files.end(), "") != files.end();
  if (equals == 0 || empty || files.size() < 2 || files.size() > 3)
    fail(Errc::invalid_argument, "report",
         fmt::format("--picture {}: expected RECIPE=BEFORE,AFTER or RECIPE=BEFORE,AFTER,REFERENCE",
                     argument));
  for (const std::string& file : files) {
    const pictures::Picture one = pictures::read_picture(file);
    for (const std::string& warning : one.warnings)
      fmt::print(stderr, "clcook: warning: {}: {}\n", file, warning);
    out["pictures"].push_back(
        {{"file", file}, {"width", one.width}, {"height", one.height}, {"rgba", base64(one.rgba)}});
  }
  return out;
}

// ---- The command ----

// What ./cook demo measured here.
Json measured_here(const std::filesystem::path& folder) {
  Json out = Json::object();
  for (const char* kind : {"bench", "check"}) {
    const std::filesystem::path path = folder / (std::string(kind) + ".json");
    if (std::filesystem::exists(path)) out[kind] = to_json(load({path.string()}).front(), false);
  }
  out["loops"] = Json::array();
  for (const Recipe& one : recipes()) {
    const std::filesystem::path path = folder / ("loops_peers_" + one.name + ".json");
    if (std::filesystem::exists(path))
      out["loops"].push_back(to_json(load({path.string()}).front(), false));
  }
  return out;
}

// What the scripts read.
Json facts_of(const ReportArguments& arguments, const std::vector<AnyResult>& results) {
  Json out{
      {"out", arguments.out},      {"pictures", Json::array()}, {"curves", arguments.curves},
      {"demo", arguments.demo},    {"root", arguments.root},    {"markdown", arguments.markdown},
      {"check", arguments.check},  {"recipes", Json::array()},  {"techniques", Json::array()},
      {"counters", Json::array()}, {"results", Json::array()}};
  for (const Recipe& one : recipes()) out["recipes"].push_back(to_json(one));
  for (const TechniqueTitle& one : kTechniques)
    out["techniques"].push_back({{"number", one.number}, {"title", one.title}});
  for (const counters::Shown& one : counters::shown())
    out["counters"].push_back({{"key", one.key}, {"title", one.title}, {"factor", one.factor}});
  for (const AnyResult& one : results)
    out["results"].push_back(to_json(one, arguments.markdown && arguments.check));
  for (const std::string& one : arguments.pictures) out["pictures"].push_back(picture_of(one));
  if (!arguments.demo.empty()) out["here"] = measured_here(arguments.demo);
  return out;
}

// Runs the scripts, with `facts` as their standard input, and ends as they do. They are embedded: an
// installed program has no checkout.
[[noreturn]] void run_scripts(const Json& facts) {
  // A file without a name: no pipe that could fill up, nothing left behind.
  std::FILE* in = std::tmpfile();
  const std::string text = facts.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (in == nullptr || std::fwrite(text.data(), 1, text.size(), in) != text.size() ||
      std::fflush(in) != 0 || lseek(fileno(in), 0, SEEK_SET) != 0 ||
      dup2(fileno(in), STDIN_FILENO) < 0)
    fail(Errc::io, "report", std::string("cannot hand over the results: ") + std::strerror(errno));
  const std::string python = tool::find_program("python3");
  if (python.empty()) {
    fail(Errc::unsupported, "report",
         "needs python3, which was not found. On Debian: apt-get install python3 "
         "python3-jinja2 python3-numpy");
  }
  int status = 0;
  {
    const tool::ScratchFolder scripts("report");
    for (const embedded::File& file : embedded::report) scripts.write(file);
    std::fflush(nullptr);
    const pid_t child = tool::begin_child("report", [&] {
      execl(python.c_str(), "python3", "-B", scripts.path().c_str(), nullptr);
      return 127;
    });
    std::signal(SIGINT, SIG_IGN);  // the scripts get it too, and the folder is to go
    status = tool::wait_for("report", child, nullptr);
  }
  std::exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

void check_arguments(const ReportArguments& arguments, const std::vector<AnyResult>& results) {
  const auto wrong = [](const std::string& what) { fail(Errc::invalid_argument, "report", what); };
  if (!arguments.demo.empty()) {
    if (arguments.markdown || arguments.check || !arguments.pictures.empty() ||
        !arguments.curves.empty())
      wrong("--demo does not go with --markdown, --check, --picture or --curves");
    return;
  }
  if (!arguments.curves.empty()) return;
  if (arguments.markdown) {
    if (!arguments.pictures.empty()) wrong("--picture is for the page, not for --markdown");
    return;
  }
  if (arguments.check) wrong("--check needs --markdown");
  for (const AnyResult& one : results) {
    if (!one.has_place)
      fail(Errc::io, "result file " + one.path,
           fmt::format("the page has no place for a result of kind '{}'", one.kind));
  }
  if (results.empty() && arguments.pictures.empty())
    wrong("give result files: there is none in " + arguments.root + "/bench/results");
}

void run_report(const ReportArguments& arguments) {
  const std::vector<AnyResult> results =
      load(arguments.files.empty() ? committed(arguments.root) : arguments.files);
  check_arguments(arguments, results);
  run_scripts(facts_of(arguments, results));
}

}  // namespace

const Command add_report(11, [](CLI::App& app, int& /*exit_code*/) {
  CLI::App* command = app.add_subcommand(
      "report", "Show results as one page, or write the tables of README.md and docs/*.md");
  auto arguments = std::make_shared<ReportArguments>();
  command->add_option("FILES", arguments->files,
                      "Results of check, bench, isa and others; default bench/results/*.json. With "
                      "FILE.toml, see clcook try, also its title");
  command->add_option("--out", arguments->out, "The page")->capture_default_str();
  command
      ->add_option("--picture", arguments->pictures,
                   "RECIPE=BEFORE,AFTER[,REFERENCE]: pictures for a card, PNG or JPEG")
      ->allow_extra_args(false);
  command
      ->add_option("--curves", arguments->curves,
                   "RESULT RECIPE FILE.svg: only draw the curves of a result of kind explore")
      ->expected(3)
      ->allow_extra_args(false);
  command->add_option("--demo", arguments->demo,
                      "FOLDER: write FOLDER/index.html from what ./cook demo left in it; FILES are "
                      "the results of other devices");
  command->add_flag("--markdown", arguments->markdown,
                    "Rewrite the tables and figures of README.md and docs/*.md");
  command->add_flag("--check", arguments->check,
                    "With --markdown: change nothing, print what differs, exit code 1 if any does");
  command->add_option("--root", arguments->root, "Folder of README.md, docs and bench/results")
      ->capture_default_str();
  command->callback([arguments] {
    auto& files = arguments->files;
    const auto end = std::stable_partition(
        files.begin(), files.end(), [](const std::string& name) { return !is_description(name); });
    std::vector<std::string> described(end, files.end());
    files.erase(end, files.end());
    if (!described.empty() && files.empty())
      fail(Errc::invalid_argument, "report",
           "give the results of the described kernels too: clcook check and bench write them with "
           "--out");
    add_descriptions(described);
    run_report(*arguments);
  });
});

}  // namespace clcook::tool
