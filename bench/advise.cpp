// clcook advise: which recipes of the cookbook may help a kernel, and why.

#include <fmt/format.h>

#include <algorithm>

#include "advise/subject.hpp"
#include "tool/command.hpp"

namespace clcook::tool {

namespace {

struct AdviseArguments {
  std::vector<std::string> names;
  std::string variant;
  isa::KernelFile file;
  std::vector<std::string> results;
  std::string json;
};

// The same kernel for the targets of advise::subject_of(), each in its place.
using JobsOfKernel = std::vector<isa::Job>;

std::vector<JobsOfKernel> kernels_of(const AdviseArguments& arguments, const std::string& name,
                                     const isa::Toolchain& tools, const DiskCache& cache) {
  std::vector<std::string> targets = {"sm_90"};
  targets.insert(targets.end(), advise::residency_targets().begin(),
                 advise::residency_targets().end());
  std::vector<JobsOfKernel> out;
  for (const std::string& target_name : targets) {
    const isa::Target target = isa::parse_target(target_name, tools);
    std::vector<isa::Job> jobs;
    if (isa::is_file(name)) {
      isa::KernelFile file = arguments.file;
      file.path = name;
      jobs = isa::jobs_of(file, target, tools, cache);
    } else {
      const Recipe& recipe = find_recipe(recipes(), name);
      if (!arguments.variant.empty()) recipe.variant(arguments.variant);  // names the known ones
      for (const VariantInfo& variant : recipe.variants) {
        if (!arguments.variant.empty() && variant.name != arguments.variant) continue;
        for (isa::Job& job :
             isa::jobs_of(recipe, variant, combinations(variant.tunes).front(), false, target))
          jobs.push_back(std::move(job));
      }
    }
    // A kernel that only some targets have is found by its name.
    for (isa::Job& job : jobs) {
      const auto same = [&](const JobsOfKernel& one) {
        return one.front().name() == job.name() && one.front().kernel == job.kernel;
      };
      const auto found = std::find_if(out.begin(), out.end(), same);
      if (found != out.end()) {
        found->push_back(std::move(job));
      } else if (target_name == targets.front()) {
        out.push_back({std::move(job)});
      }
    }
  }
  return out;
}

std::string join(const std::vector<const char*>& words, const char* before, const char* after) {
  std::string out;
  for (const char* one : words)
    out += (out.empty() ? "" : ", ") + (before + std::string(one)) + after;
  return out;
}

int run(const AdviseArguments& arguments) {
  const isa::Toolchain tools = isa::find_toolchain();
  const DiskCache cache = isa::isa_cache();
  const auto results = advise::read_results(arguments.results);
  std::string out;
  Json kernels = Json::array();
  for (const std::string& name : arguments.names) {
    for (const JobsOfKernel& jobs : kernels_of(arguments, name, tools, cache)) {
      const isa::Job& job = jobs.front();
      Json row = {{"recipe", job.recipe},
                  {"variant", job.variant},
                  {"kernel", job.kernel},
                  {"advice", Json::array()}};
      out += (out.empty() ? "" : "\n") + job.name() + "\n";
      advise::Subject subject;
      try {
        subject = advise::subject_of(jobs, tools, cache);
      } catch (const Error& error) {
        if (job.needs.empty()) throw;
        out += fmt::format("  cannot tell: {}\n", error.what());
        row["problem"] = error.what();
        kernels.push_back(std::move(row));
        continue;
      }
      if (const auto found = results.find({job.recipe, job.variant}); found != results.end()) {
        subject.counters = found->second.counters;
        if (found->second.share >= 0) {
          out += fmt::format("  measured: {:.0f} % of what {} allows\n", 100 * found->second.share,
                             found->second.limit);
        }
      }
      int number = 0;
      for (const advise::Advice& one : advise::advise(subject)) {
        out += fmt::format("  {}. {}\n     because {}\n     see {}\n", ++number, one.rule->advice,
                           one.finding.evidence, join(one.rule->recipes, "docs/", ".md"));
        row["advice"].push_back({{"rule", one.rule->name},
                                 {"recipes", one.rule->recipes},
                                 {"share", one.finding.share},
                                 {"evidence", one.finding.evidence}});
      }
      if (number == 0) out += "  nothing found\n";
      kernels.push_back(std::move(row));
    }
  }
  if (!arguments.json.empty()) {
    Json result = result_head("advise", DeviceInfo());
    result.erase("device");
    result["kernels"] = std::move(kernels);
    deliver(arguments.json == "-" ? "" : arguments.json, result.dump(1) + "\n");
  }
  if (arguments.json != "-") deliver("", out);
  return 0;
}

}  // namespace

void add_advise(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("advise", "Which recipes may help a kernel, and why, without a GPU");
  auto arguments = std::make_shared<AdviseArguments>();
  command
      ->add_option("FILE|RECIPE", arguments->names,
                   "Kernel files, FILE.toml (see clcook try), or recipes")
      ->required();
  command->add_option("--variant", arguments->variant, "Of recipes: this variant alone");
  command->add_option("-D", arguments->file.definitions, "Of files: define NAME or NAME=VALUE")
      ->allow_extra_args(false);
  command->add_option("-I", arguments->file.includes, "Of files: a folder of headers")
      ->allow_extra_args(false);
  command->add_option("--kernel", arguments->file.kernel, "Of files: this kernel alone");
  command
      ->add_option("--results", arguments->results,
                   "What clcook bench --out or clcook counters --out wrote about them; may be "
                   "given again")
      ->allow_extra_args(false);
  command->add_option("--json", arguments->json,
                      "Also write JSON to this file; - prints JSON alone");
  command->footer("docs/advise.md says what is looked for and how far to trust it.");
  command->callback([arguments, &exit_code] {
    add_descriptions(arguments->names);
    exit_code = run(*arguments);
  });
}

}  // namespace clcook::tool
