// clcook devices: what is there, which device a specification chooses, and why the others are not
// taken.

#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <clcook/core/sub_group.hpp>
#include <clcook/core/tuning.hpp>

#include "tool/command.hpp"

namespace clcook::tool {

namespace {

// What a usable device has for kernels with the need of sub-groups.
std::string sub_groups_of(const DeviceCandidate& one) {
  try {
    return describe(sub_groups(Runtime::pick(one.spec)));
  } catch (const Error& error) {  // one broken driver must not hide the other devices
    return std::string("not known: ") + error.what();
  }
}

// What a plan for the recipe's headline problem would take.
std::string choice_of(const Recipe& recipe, const Runtime& runtime) {
  try {
    const Candidate choice = recipe.choose(runtime, recipe.bench_shapes.front());
    return choice.text() + ", " + choice.reason;
  } catch (const Error& error) {  // one recipe must not hide the others
    return std::string("nothing: ") + error.what();
  }
}

// All variants with that problem, the one that should take the least time first: what each costs and
// promises, or why it cannot. Before them, what was measured and does not fit.
std::vector<std::string> variants_of(const Recipe& recipe, const Runtime& runtime) {
  const std::unique_ptr<const AnyProblem> problem = recipe.problem(recipe.bench_shapes.front());
  const Question question = question_of(*problem, runtime);
  const Tuning& tuning = runtime.tuning();
  std::vector<std::string> out = measured_candidates(question, runtime.info(), tuning).notes;
  for (const RankedCandidate& one :
       ranked_candidates(question, runtime.info(), tuning, device_rates(runtime.info(), tuning)))
    out.push_back(one.line);
  return out;
}

constexpr const char* kWayToACache =
    ". It, the folders above it and links to it must belong to you or root, and nobody else may "
    "write to them (chmod go-w); or set CLCOOK_CACHE_DIR to a folder of your own\n";

}  // namespace

const Command add_devices(2, [](CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "devices", "List the OpenCL devices, which one is chosen, and why not the others");
  auto json = std::make_shared<bool>(false);
  auto spec = std::make_shared<std::string>();
  command->add_flag("--json", *json, "Write JSON");
  command->add_option("--device", *spec, "Device specification; default CLCOOK_DEVICE, else any");
  auto alone = std::make_shared<std::string>();
  command->add_option("recipe", *alone, "A recipe alone: all variants, and why not the others");
  command->callback([json, spec, alone, &exit_code] {
    if (!alone->empty()) (void)find_recipe(recipes(), *alone);
    std::string wanted = *spec;
    if (const char* variable = std::getenv("CLCOOK_DEVICE"); wanted.empty() && variable != nullptr)
      wanted = variable;
    const std::vector<DeviceCandidate> found = find_devices(wanted);
    bool chosen = false;
    Json rows = Json::array();
    std::string out;
    for (const DeviceCandidate& one : found) {
      chosen = chosen || one.verdict == "chosen";
      Json row = to_json(one.info);
      row["spec"] = one.spec;
      row["verdict"] = one.verdict;
      out += fmt::format(
          "{}  {} ({})\n     {}, {}, driver {}\n     {} compute units, work-groups up to {}, {} "
          "KiB local memory{}, {:.1f} GiB global memory\n"
          "     {}\n",
          one.spec, one.info.name,
          one.info.gpu   ? "gpu"
          : one.info.cpu ? "cpu"
                         : "other",
          one.info.platform, one.info.c_version, one.info.driver, one.info.compute_units,
          one.info.max_group, (one.info.local_mem + 1023) / 1024,
          one.info.local_mem_dedicated ? "" : " (not dedicated)",
          static_cast<double>(one.info.global_mem) / 1073741824.0, one.verdict);
      if (one.usable) {
        const std::string sub_groups = sub_groups_of(one);
        row["sub_groups"] = sub_groups;
        out += fmt::format("     sub-groups: {}\n", sub_groups);
      }
      // What a plan would take for the headline problem of each recipe, and why.
      Json tunings = Json::object();
      if (one.usable) {
        const Runtime runtime = Runtime::pick(one.spec);
        for (const std::string& note : runtime.tuning().notes())
          out += fmt::format("     tuning file {}\n", note);
        for (const Recipe& recipe : recipes()) {
          if (!alone->empty() && recipe.name != *alone) continue;
          const std::string choice = choice_of(recipe, runtime);
          tunings[recipe.name] = choice;
          out += fmt::format("     {}: {}\n", recipe.name, choice);
          if (alone->empty()) continue;
          const std::vector<std::string> variants = variants_of(recipe, runtime);
          for (const std::string& line : variants) out += fmt::format("       {}\n", line);
          row["variants"] = variants;
        }
      }
      row["tuning"] = tunings;
      rows.push_back(row);
    }
    if (found.empty()) out = clcook::detail::why_no_device() + "\n";
    const DiskCache cache = DiskCache::standard();
    const std::string refusal = cache.refusal();
    if (!refusal.empty()) out += cache.note() + kWayToACache;
    deliver("", *json ? Json{{"format", kFormat},
                             {"specification", wanted},
                             {"devices", rows},
                             {"cache", {{"folder", cache.folder()}, {"refusal", refusal}}}}
                                .dump(2) +
                            "\n"
                      : out);
    exit_code = chosen ? 0 : 2;
  });
});

}  // namespace clcook::tool
