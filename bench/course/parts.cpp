#include "course/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>

#include <clcook/core/cache.hpp>
#include <clcook/core/source.hpp>

#include "course/learner.hpp"
#include "isa/jobs.hpp"
#include "isa/tools.hpp"
#include "measure/measure.hpp"
#include "results.hpp"
#include "try/recipe.hpp"

namespace clcook::tool::course {

namespace {

class Report {
 public:
  explicit Report(const Part& part) : nonce_(part.nonce), out_(part.report, std::ios::app) {
    if (!out_) fail(Errc::io, part.report, "cannot be written");
  }

  void say(const char* key, const Json& value) {
    out_ << Json{{"nonce", nonce_}, {key, value}}.dump(-1, ' ', false,
                                                       Json::error_handler_t::replace)
         << std::endl;
  }

 private:
  std::string nonce_;
  std::ofstream out_;
};

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// The compiler's first complaint: "mine.cl:12:5: error: ...".
std::string complaint(const Error& error) {
  std::string rest = error.build_log;
  while (!rest.empty()) {
    const std::string line = first_line(rest);
    if (line.find("error") != std::string::npos) return line;
    rest.erase(0, line.size() + 1);
  }
  return error.build_log.empty() ? first_line(error.what()) : first_line(error.build_log);
}

Entry entry_of(const Exercise& exercise, const std::string& name, const std::string& file,
               const std::string& text) {
  return {name, file, text, geometry_in(exercise, file, text)};
}

Entry start_entry(const Exercise& exercise) {
  return entry_of(exercise, "start", exercise.name + ".cl", start_of(exercise));
}

using Shared = std::shared_ptr<const described::Description>;

Shared share(described::Description about) {
  return std::make_shared<const described::Description>(std::move(about));
}

// Draws the numbers of the problem that kernels are counted on: the same for all, so that figures can
// be compared. Its sizes and data are not, so that nobody can know them.
constexpr std::uint64_t kCountedSeed = 1;

// Whether these problems come out right; else it is reported.
bool are_right(const Runtime& runtime, const Shared& about, const std::vector<Params>& shapes,
               std::uint64_t seed, const Entry& entry, Report& report) {
  const Recipe recipe = described::recipe_of(about);
  for (const Params& shape : shapes) {
    Params sizes;
    for (const Params::Entry& one : shape.entries()) {
      if (one.name != "tiny") sizes.set(one.name, one.value);
    }
    const std::unique_ptr<Case> problem = recipe.make(runtime, shape, seed++);
    problem->prepare(entry.name, {});
    problem->poison();
    report.say("at", sizes.str());
    const cl::Event done = problem->run({problem->upload({})});
    const Diff diff = problem->check({done});
    if (!diff.ok()) {
      report.say("wrong",
                 fmt::format("with {}: {}{}", sizes.str(), diff.first(),
                             diff.mismatches() > 1 ? fmt::format(" ({} of {} numbers are wrong)",
                                                                 diff.mismatches(), diff.compared())
                                                   : std::string()));
      return false;
    }
  }
  return true;
}

void check_right(const Exercise& exercise, const Part& part, const Entry& entry, bool tiny,
                 Report& report) {
  const Runtime runtime = Runtime::pick(part.device);
  const Shared about = share(description_of(exercise, part.seed, part.seed, {entry}));
  std::vector<Params> shapes = about->check_shapes;
  if (tiny) shapes.resize(1);
  if (!are_right(runtime, about, shapes, part.seed + 1, entry, report)) return;
  if (!tiny) {
    // The very problem that the shape is counted on.
    const Shared counted = share(description_of(exercise, kCountedSeed, part.seed, {entry}));
    if (!are_right(runtime, counted, counted->bench_shapes, part.seed, entry, report)) return;
  }
  report.say("done", fmt::format("{} problems of random sizes and data", shapes.size()));
}

// ---- Shape --------------------------------------------------------------------------------------

bool wants(const Exercise& exercise, Figure figure) {
  return std::any_of(exercise.limits.begin(), exercise.limits.end(),
                     [&](const Limit& one) { return one.figure == figure; });
}

// What a kernel writes when its items have other numbers than they think: `numbers` is text before it
// that defines clcook_course_group() and clcook_course_local(). 1 for each element that is written.
struct Written {
  std::vector<char> elements;
  int width = 0;
  int height = 0;
};

Written run_with(const Exercise& exercise, const Part& part, const Entry* entry,
                 const std::string& numbers) {
  const std::string before =
      numbers +
      "static inline size_t clcook_course_global(uint d) {\n"
      "  return clcook_course_group(d) * get_local_size(d) + clcook_course_local(d);\n"
      "}\n"
      "#define get_group_id(d) clcook_course_group(d)\n"
      "#define get_local_id(d) clcook_course_local(d)\n"
      "#define get_global_id(d) clcook_course_global(d)\n#line 1\n";
  std::vector<Entry> entries;
  if (entry != nullptr) {
    entries.push_back(*entry);
    entries.back().text = before + entries.back().text;
  }
  described::Description about = description_of(exercise, kCountedSeed, part.seed, entries);
  described::KernelEntry& kernel = about.kernels.front();
  if (entry == nullptr) kernel.source = Source("recipe.cl", before + kernel.source.flatten());
  const std::string name = kernel.name;
  Written out;
  Random random(part.seed);
  out.width = 16 * 36 - static_cast<int>(random.below(8));
  out.height = 16 * 36 - static_cast<int>(random.below(8));
  Params shape;
  shape.set("width", std::int64_t{out.width}).set("height", std::int64_t{out.height});
  about.bench_shapes = {shape};
  const std::size_t output = about.compare.outputs.front();
  const std::size_t bytes = about.arguments[output].type.size();
  about.compare.look = [&](const std::vector<std::vector<unsigned char>>& contents) {
    const std::vector<unsigned char>& got = contents[output];
    out.elements.assign(got.size() / bytes, 0);
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (got[i] != 0xCD) out.elements[i / bytes] = 1;
    }
  };
  const Recipe recipe = described::recipe_of(share(about));
  const Runtime runtime = Runtime::pick(part.device);
  const std::unique_ptr<Case> problem = recipe.make(runtime, shape, part.seed);
  problem->prepare(name, {});
  problem->poison();
  problem->check({problem->run({problem->upload({})})});
  return out;
}

std::size_t group_of(const described::Description& about, const Entry* entry) {
  std::size_t out = 1;
  if (entry != nullptr) {
    for (const std::size_t one : entry->geometry.local) out *= one;
    return out;
  }
  const Params& shape = about.bench_shapes.front();
  for (const std::size_t one :
       described::geometry_of(about.baseline(), described::names_of(shape, {})).local)
    out *= one;
  return out;
}

// Pixels of the source within the radius of what the first groups write, per pixel that they write.
// The kernel runs with the numbers of the first groups alone; what it wrote tells where they were.
double reach(const Exercise& exercise, const Part& part, const Entry* entry) {
  constexpr int kRadius = 12;
  constexpr int kFirst = 24;  // groups
  const Written written = run_with(
      exercise, part, entry,
      fmt::format(
          "static inline size_t clcook_course_group(uint d) {{\n"
          "  return d == 0 ? get_group_id(0) % {}u : get_group_id(d);\n"
          "}}\n"
          "static inline size_t clcook_course_local(uint d) {{ return get_local_id(d); }}\n",
          kFirst));
  const auto at = [&](int x, int y) { return static_cast<std::size_t>(y * written.width + x); };
  std::vector<char> row(written.elements.size(), 0);
  double writes = 0;
  for (const char one : written.elements) writes += one;
  double reads = 0;
  for (int y = 0; y < written.height; ++y) {
    for (int x = 0; x < written.width; ++x) {
      for (int i = std::max(x - kRadius, 0); i <= std::min(x + kRadius, written.width - 1); ++i) {
        if (written.elements[at(i, y)] != 0) row[at(x, y)] = 1;
      }
    }
  }
  for (int y = 0; y < written.height; ++y) {
    for (int x = 0; x < written.width; ++x) {
      char any = 0;
      for (int j = std::max(y - kRadius, 0); j <= std::min(y + kRadius, written.height - 1); ++j)
        any = row[at(x, j)] != 0 ? 1 : any;
      reads += any;
    }
  }
  if (writes == 0) unweighable("its first groups write nothing");
  std::size_t group = group_of(description_of(exercise, kCountedSeed, part.seed, {}), entry);
  if (entry != nullptr) {
    for (const std::size_t one : entry->geometry.outputs) group *= one;
  }
  // A group that writes more than others would look better than it is.
  if (writes > static_cast<double>(kFirst * group))
    unweighable("its first groups write more than their own tiles");
  // As of groups of 16 x 16: larger ones are fewer at a time.
  return reads / writes * std::sqrt(static_cast<double>(group) / 256);
}

// The line of a text that has this word first; 0: none.
unsigned line_of(const std::string& text, const std::string& word) {
  const std::size_t at = text.find(word);
  if (at == std::string::npos) return 0;
  return 1 + static_cast<unsigned>(
                 std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

Figures figures_of(const Exercise& exercise, const Part& part, const Entry* entry,
                   const isa::Toolchain* tools, const DiskCache& cache) {
  Figures out;
  const std::string text = entry == nullptr ? "" : entry->text;
  if (wants(exercise, Figure::reach))
    out[Figure::reach] = {reach(exercise, part, entry), line_of(text, "get_group_id")};
  if (tools == nullptr) return out;
  std::vector<Entry> entries;
  if (entry != nullptr) entries.push_back(*entry);
  const described::Description about = description_of(exercise, kCountedSeed, part.seed, entries);
  const std::string name = entry == nullptr ? "recipe" : entry->name;
  if (wants(exercise, Figure::registers))
    out[Figure::registers] = {static_cast<double>(registers_of(about, name, *tools, cache)),
                              line_of(text, exercise.kernel + "(")};
  const Weighed weighed = weigh(about, name, part.seed, *tools, cache);
  out[Figure::steps] = weighed.steps;
  out[Figure::memory] = weighed.memory;
  out[Figure::loads] = weighed.loads;
  out[Figure::stores] = weighed.stores;
  return out;
}

// The value and the line of each.
Json to_json(const Figures& figures) {
  Json out = Json::object();
  for (const auto& [figure, one] : figures)
    out[std::to_string(static_cast<int>(figure))] = {one.value, one.line};
  return out;
}

// The same of a kernel that is no learner's: computed once for a text.
Json known_figures(const Exercise& exercise, Part part, const Entry* entry,
                   const isa::Toolchain* tools, const DiskCache& cache) {
  part.seed = kCountedSeed;
  const described::Description about =
      description_of(exercise, kCountedSeed, part.seed,
                     entry == nullptr ? std::vector<Entry>{} : std::vector<Entry>{*entry});
  std::string key = "course 4\n" + about.kernels.front().source.flatten() +
                    about.kernels.front().options.text + about.bench_shapes.front().str();
  if (tools != nullptr) key += tools->clang_line + tools->libclc;
  if (const auto found = cache.load(key)) {
    const Json known = Json::parse(*found, nullptr, false);
    if (known.is_object()) return known;
  }
  Json out = to_json(figures_of(exercise, part, entry, tools, cache));
  cache.store(key, out.dump());
  return out;
}

void check_shape(const Exercise& exercise, const Part& part, const Entry& entry, Report& report) {
  const bool counts = std::any_of(exercise.limits.begin(), exercise.limits.end(),
                                  [](const Limit& one) { return one.figure != Figure::reach; });
  isa::Toolchain tools;
  if (counts) tools = isa::find_toolchain();
  const isa::Toolchain* with = counts ? &tools : nullptr;
  const DiskCache cache = isa::isa_cache();
  const Entry start = start_entry(exercise);
  Json all;
  report.say("at", "its figures");
  all["yours"] = to_json(figures_of(exercise, part, &entry, with, cache));
  report.say("at", "the start's figures");
  all["start"] = known_figures(exercise, part, &start, with, cache);
  report.say("at", "the recipe's figures");
  all["recipe"] = known_figures(exercise, part, nullptr, with, cache);
  report.say("figures", all);
  report.say("done", "");
}

// ---- Time ---------------------------------------------------------------------------------------

void check_time(const Exercise& exercise, const Part& part, const Entry& entry, Report& report) {
  PickOptions pick;
  pick.profiling = true;
  EventTimer timer;
  pick.runtime.on_launch = timer.observer();
  const Runtime runtime = Runtime::pick(part.device, pick);
  if (!runtime.info().gpu) {
    report.say("unavailable", runtime.info().name + " is no GPU");
    return;
  }
  const Shared about =
      share(description_of(exercise, part.seed, part.seed, {entry, start_entry(exercise)}));
  const Recipe recipe = described::recipe_of(about);
  Random random(part.seed);
  const Params shape = exercise.problem(random, std::uint64_t{1} << 22);
  const std::unique_ptr<Case> problem = recipe.make(runtime, shape, part.seed);
  const std::vector<std::string> names = {"yours", "start", "recipe"};
  std::map<std::string, std::vector<double>> samples;
  cl::Event last = problem->upload({});
  constexpr int kRuns = 20;
  for (int run = -3; run < kRuns; ++run) {
    for (const std::string& name : names) {
      report.say("at", name);
      problem->prepare(name, {});
      const EventTimer::Time time = timer.time([&] { return last = problem->run({last}); });
      if (run >= 0) samples[name].push_back(time.sum);
    }
  }
  problem->prepare("yours", {});
  problem->poison();
  const Diff diff = problem->check({problem->run({problem->upload({})})});
  if (!diff.ok()) {
    report.say("wrong", fmt::format("with {}: {}", shape.str(), diff.first()));
    return;
  }
  Json all;
  for (const std::string& name : names) all[name] = median(samples[name]);
  report.say("figures", all);
  report.say("done", runtime.info().name);
}

}  // namespace

const char* to_string(Figure figure) {
  switch (figure) {
    case Figure::steps:
      return "steps";
    case Figure::memory:
      return "accesses of global memory";
    case Figure::registers:
      return "registers of a work-item";
    case Figure::stores:
      return "bytes between what neighbours store";
    case Figure::loads:
      return "bytes between what neighbours load";
    case Figure::reach:
      return "pixels that the first 24 groups read for each that they write";
  }
  return "";
}

void run_part(const Exercise& exercise, const Part& part) {
  Report report(part);
  try {
    const Entry entry = entry_of(exercise, "yours", part.file, read_text_file(part.file));
    if (part.name == "right" || part.name == "clean") {
      check_right(exercise, part, entry, part.name == "clean", report);
    } else if (part.name == "shape") {
      check_shape(exercise, part, entry, report);
    } else if (part.name == "time") {
      check_time(exercise, part, entry, report);
    } else {
      fail(Errc::invalid_argument, "clcook course", "there is no part '" + part.name + "'");
    }
  } catch (const Error& error) {
    if (error.code == Errc::build_failed) {
      report.say("unbuilt", complaint(error));
    } else if (error.code == Errc::unsupported) {
      report.say("unavailable", first_line(error.what()));
    } else {
      report.say("wrong", first_line(error.what()));
    }
  } catch (const std::exception& error) {
    report.say("unavailable", first_line(error.what()));
  }
}

}  // namespace clcook::tool::course
