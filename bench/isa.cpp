// clcook isa: the machine code of every variant, counted, without a GPU.

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <random>
#include <set>

#include <fmt/format.h>

#include <clcook/core/commit.hpp>

#include "isa/count.hpp"
#include "isa/gate.hpp"
#include "isa/jobs.hpp"
#include "isa/residency.hpp"
#include "isa/show.hpp"
#include "isa/tools.hpp"
#include "isa/verdict.hpp"
#include "tool/chatter.hpp"
#include "tool/command.hpp"
#include "tool/interrupt.hpp"

namespace clcook::tool {

namespace {

using isa::is_file;
using isa::Job;
using isa::jobs_of;
using isa::Measured;
using isa::Target;
using isa::Toolchain;

constexpr int kSkipped = 77;  // what ctest and automake show as skipped

struct IsaArguments {
  std::vector<std::string> recipes;
  std::string variant;
  std::vector<std::string> definitions;
  std::vector<std::string> includes;
  std::string kernel;
  std::string language;
  std::vector<std::string> targets;
  std::string json;
  std::vector<std::string> show;
  std::vector<std::string> diff;
  std::string gate;
  std::string update_gate;
  std::string counts = "bench/isa_counts.json";
  bool count = false;
  std::string device;
  bool all_tunes = false;
  bool live = false;
  unsigned jobs = 2;
  unsigned sample = 100;
  std::uint32_t seed = 1;
};

isa::KernelFile file_of(const IsaArguments& arguments, const std::string& path) {
  return {path, arguments.definitions, arguments.includes, arguments.kernel, arguments.language};
}

std::vector<const Recipe*> select_recipes(const IsaArguments& arguments) {
  std::vector<const Recipe*> chosen;
  for (const std::string& name : arguments.recipes) {
    if (!is_file(name)) chosen.push_back(&find_recipe(recipes(), name));
  }
  if (arguments.recipes.empty()) {
    for (const Recipe& recipe : recipes()) {
      // A variant alone chooses the recipes that have it.
      const auto has = [&](const VariantInfo& one) { return one.name == arguments.variant; };
      if (arguments.variant.empty() ||
          std::any_of(recipe.variants.begin(), recipe.variants.end(), has))
        chosen.push_back(&recipe);
    }
    if (chosen.empty() && !recipes().empty()) {
      fail(Errc::invalid_argument, "clcook isa",
           "no recipe has a variant '" + arguments.variant + "'; clcook list names them");
    }
  }
  return chosen;
}

// Baseline first, then the variants in their order. Recipes, then files.
std::vector<Job> select_jobs(const IsaArguments& arguments, const Target& target,
                             const Toolchain& tools, const DiskCache& cache) {
  std::vector<Job> out;
  for (const Recipe* recipe : select_recipes(arguments)) {
    if (!arguments.variant.empty()) recipe->variant(arguments.variant);  // names the known ones
    std::vector<const VariantInfo*> variants = {&recipe->baseline()};
    for (const VariantInfo& one : recipe->variants) {
      if (!one.baseline && (arguments.variant.empty() || one.name == arguments.variant))
        variants.push_back(&one);
    }
    for (const VariantInfo* variant : variants) {
      std::vector<Params> tunes = combinations(variant->tunes);
      if (!arguments.all_tunes) tunes.resize(1);
      for (std::size_t i = 0; i < tunes.size(); ++i) {
        std::vector<Job> jobs = jobs_of(*recipe, *variant, tunes[i], i > 0, target);
        if (is_described(recipe->name) && !target.name.empty())
          isa::set_language(jobs, arguments.language, tools, cache);
        out.insert(out.end(), jobs.begin(), jobs.end());
      }
    }
  }
  return out;
}

Job described_kernel(const std::string& path, const std::string& kernel, const Target& target,
                     const IsaArguments& arguments, const Toolchain& tools,
                     const DiskCache& cache) {
  const Recipe& recipe = find_recipe(recipes(), add_description(path));
  if (kernel.empty() && recipe.variants.size() > 1) {
    std::string known;
    for (const VariantInfo& one : recipe.variants) known += " " + one.name;
    fail(Errc::invalid_argument, "clcook isa",
         "'" + path + "' has several kernels, so that one has to be named as " + path +
             ":KERNEL; there are" + known);
  }
  const VariantInfo& variant = kernel.empty() ? recipe.baseline() : recipe.variant(kernel);
  std::vector<Job> jobs =
      jobs_of(recipe, variant, combinations(variant.tunes).front(), false, target);
  isa::set_language(jobs, arguments.language, tools, cache);
  return jobs.front();
}

// "line_blur/naive", "line_blur/naive#2", "mine.cl", "mine.cl:kernel", "mine.toml:kernel", each with
// "@gfx900".
Job parse_kernel(const std::string& spec, const std::vector<Target>& targets,
                 const IsaArguments& arguments, const Toolchain& tools, const DiskCache& cache) {
  const std::size_t mark = spec.rfind('@');
  const Target target =
      mark == std::string::npos ? targets.front() : isa::parse_target(spec.substr(mark + 1), tools);
  std::string name = spec.substr(0, mark);
  const std::size_t named = name.rfind(':');
  if (is_description(name.substr(0, named)))
    return described_kernel(name.substr(0, named),
                            named == std::string::npos ? "" : name.substr(named + 1), target,
                            arguments, tools, cache);
  if (std::filesystem::path(name).has_extension()) {
    isa::KernelFile file = file_of(arguments, spec.substr(0, mark));
    if (const std::size_t colon = file.path.rfind(':'); colon != std::string::npos) {
      file.kernel = file.path.substr(colon + 1);
      file.path.resize(colon);
    }
    const std::vector<Job> jobs = jobs_of(file, target, tools, cache);
    if (jobs.size() > 1) {
      std::string known;
      for (const Job& job : jobs) known += " " + job.kernel;
      fail(Errc::invalid_argument, "clcook isa",
           "'" + file.path + "' has several kernels, so that one has to be named as " + file.path +
               ":KERNEL; there are" + known);
    }
    return jobs.front();
  }
  const std::size_t slash = spec.find('/');
  if (slash == std::string::npos) {
    fail(Errc::invalid_argument, "clcook isa",
         "a kernel is RECIPE/VARIANT, RECIPE/VARIANT#2 for the second kernel of a variant, or "
         "FILE.cl:KERNEL, with @TARGET for another target; got '" +
             spec + "'");
  }
  const std::string path = spec.substr(0, mark);
  const std::size_t hash = path.find('#');
  const Recipe& recipe = find_recipe(recipes(), path.substr(0, slash));
  const VariantInfo& variant =
      recipe.variant(path.substr(slash + 1, hash == std::string::npos ? hash : hash - slash - 1));
  const std::vector<Job> jobs =
      jobs_of(recipe, variant, combinations(variant.tunes).front(), false, target);
  const unsigned number =
      hash == std::string::npos ? 1 : isa::detail::to_unsigned(path.substr(hash + 1));
  if (number < 1 || number > jobs.size()) {
    fail(Errc::invalid_argument, "clcook isa",
         text("'", spec, "': the variant has ", jobs.size(), " kernels"));
  }
  return jobs[number - 1];
}

std::size_t terminal_width() {
  if (const char* columns = std::getenv("COLUMNS")) {
    if (const unsigned value = isa::detail::to_unsigned(columns); value > 0) return value;
  }
  winsize size{};
  if (isatty(STDOUT_FILENO) != 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return size.ws_col;
  return 160;
}

std::string number(long value) { return value < 0 ? "-" : std::to_string(value); }

// The baseline and a variant on the shape on which the variant was counted, which is not the first.
struct Elsewhere {
  std::string shape;
  std::vector<Measured> baseline;
  std::vector<Measured> variant;
  std::map<const Measured*, isa::Weighing> weighed;
};

// By "recipe/variant@target".
using Elsewheres = std::map<std::string, Elsewhere>;

std::vector<const Measured*> pointers(const std::vector<Measured>& all) {
  std::vector<const Measured*> out;
  for (const Measured& one : all) out.push_back(&one);
  return out;
}

// Kernels of one recipe on one target, grouped by variant and tuning.
struct Group {
  std::vector<const Measured*> kernels;
  isa::Verdict verdict;
  std::optional<std::string> shape;  // of the verdict, where it is not the recipe's first
  bool baseline = false;
  bool judged = true;  // false: a kernel of a file, which has no baseline
  bool broken = false;
};

// What the kernels of a variant do together.
isa::Shape shape_of(const std::vector<const Measured*>& kernels,
                    const std::map<const Measured*, isa::Weighing>& weighed) {
  std::vector<isa::Shape> parts;
  const auto idle = [&](const Measured* one) {
    const auto found = weighed.find(one);
    return found != weighed.end() && found->second.why.empty() && found->second.weighted.total <= 0;
  };
  const bool all_idle = std::all_of(kernels.begin(), kernels.end(), idle);
  for (const Measured* one : kernels) {
    // The problem does without it.
    if (!all_idle && idle(one)) continue;
    parts.push_back(isa::shape_of(one->counts, one->resources, one->dialect == isa::Dialect::ptx));
    if (const auto found = weighed.find(one); found != weighed.end()) {
      parts.back().issued = found->second.weighted;
      parts.back().unknown = found->second.why;
    }
  }
  return isa::total(parts);
}

std::vector<Group> group_by_variant(const std::vector<const Measured*>& rows,
                                    const std::map<const Measured*, isa::Weighing>& weighed,
                                    const Elsewheres& elsewhere) {
  std::vector<Group> groups;
  for (const Measured* row : rows) {
    if (groups.empty() || groups.back().kernels.front()->job.variant != row->job.variant ||
        groups.back().kernels.front()->job.tune != row->job.tune) {
      groups.emplace_back();
    }
    groups.back().kernels.push_back(row);
    groups.back().broken = groups.back().broken || !row->problem.empty();
  }
  if (groups.empty()) return groups;
  if (!rows.front()->job.counted_options.empty()) groups.front().baseline = true;
  for (Group& group : groups) {
    if (!groups.front().baseline) group.judged = false;
    if (group.baseline || !group.judged) continue;
    const Job& job = group.kernels.front()->job;
    const auto other = elsewhere.find(job.recipe + "/" + job.variant + "@" + job.target.name);
    const bool x86 = rows.front()->dialect == isa::Dialect::x86;
    if (other != elsewhere.end() && job.tune.empty()) {
      const Elsewhere& there = other->second;
      group.shape = there.shape;
      group.verdict = isa::compare(shape_of(pointers(there.baseline), there.weighed),
                                   shape_of(pointers(there.variant), there.weighed), x86);
    } else if (group.broken || groups.front().broken) {
      group.verdict.text = group.broken ? "cannot tell: it does not compile"
                                        : "cannot tell: the baseline does not compile";
    } else {
      group.verdict = isa::compare(shape_of(groups.front().kernels, weighed),
                                   shape_of(group.kernels, weighed), x86);
    }
  }
  return groups;
}

std::string counted(const Target& target, const Toolchain& tools, isa::Dialect dialect) {
  if (target.vendor == isa::Vendor::x86)
    return "one work-item, before an OpenCL implementation vectorises";
  if (target.vendor == isa::Vendor::amd) return "machine code";
  const std::string ptxas = tools.ptxas.empty()
                                ? "no ptxas here: no registers, spills or bytes"
                                : "registers, spills and bytes from ptxas " + tools.ptxas_version;
  if (dialect == isa::Dialect::sass) return "machine code; " + ptxas;
  return "PTX counts, not yet machine code (nvdisasm is not here); " + ptxas;
}

std::string render(const std::string& title, const Target& target, const Toolchain& tools,
                   const std::vector<Group>& groups) {
  std::size_t width = 18;
  for (const Group& group : groups) {
    for (const Measured* one : group.kernels)
      width = std::max(width, one->job.name().size() - title.size() - 1);
  }
  const Measured& sample = *groups.front().kernels.front();
  std::string languages;
  for (const Group& group : groups) {
    for (const Measured* one : group.kernels) {
      const std::string language = one->job.language();
      if (languages.find(language) == std::string::npos)
        languages += (languages.empty() ? "" : ", ") + language;
    }
  }
  std::string out = fmt::format("\n{}  {}  {}, {}: {}\n", title, target.name, target.label,
                                languages, counted(target, tools, sample.dialect));
  out += fmt::format(
      "  {:<{}} {:>6} {:>5} {:>5} {:>5} {:>5} {:>5} {:>5} {:>5} {:>5} {:>5} {:>7} {:>5} {:>5} "
      "{:>6} {:>6} {:>7} {:>4}\n",
      "", width, "instr", "vALU", "sALU", "bran", "vmem", "smem", "lmem", "wait", "other", "loops",
      "bytes", "vreg", "sreg", "local", "spills", "scratch", "occ");
  for (const Group& group : groups) {
    for (const Measured* one : group.kernels) {
      const std::string name = one->job.name().substr(title.size() + 1);
      if (!one->problem.empty()) {
        out += fmt::format("  {:<{}} does not compile{}: {}\n", name, width,
                           one->job.needs.empty() ? "" : " (it needs " + one->job.needs + ")",
                           one->problem);
        continue;
      }
      const isa::Counts& c = one->counts;
      const auto of = [&](isa::Kind kind) { return static_cast<long>(c.of(kind)); };
      const bool ptx = one->dialect == isa::Dialect::ptx;
      const bool x86 = one->dialect == isa::Dialect::x86;
      const isa::Resources& r = one->resources;
      out += fmt::format(
          "  {:<{}} {:>6} {:>5} {:>5} {:>5} {:>5} {:>5} {:>5} {:>5} {:>5} {:>5} {:>7} {:>5} {:>5} "
          "{:>6} {:>6} {:>7} {:>4}\n",
          name, width, c.total, of(isa::Kind::vector_alu),
          ptx ? "-" : number(of(isa::Kind::scalar_alu)), of(isa::Kind::branch),
          of(isa::Kind::vector_memory), of(isa::Kind::scalar_memory),
          x86 ? "-" : number(of(isa::Kind::local_memory)), of(isa::Kind::wait),
          of(isa::Kind::other), c.loops, number(r.bytes), number(r.registers),
          number(r.scalar_registers), number(r.local_bytes), number(r.spills), number(r.scratch),
          number(r.occupancy));
      if (!c.calls.empty()) {
        std::string names;
        for (const std::string& call : c.calls) names += " " + call;
        out += fmt::format("      CALLS, the numbers mean nothing:{}\n", names);
      }
      for (const std::string& note : one->notes) out += "      " + note + "\n";
      if (!group.judged) out += isa::residency(*one);
    }
    if (!group.judged) continue;
    out += group.baseline ? "      baseline\n" : "      " + group.verdict.text + "\n";
    if (group.shape) out += "      at " + *group.shape + "\n";
  }
  return out;
}

const char* to_string(isa::Dialect dialect) {
  switch (dialect) {
    case isa::Dialect::amdgcn:
      return "amdgcn";
    case isa::Dialect::ptx:
      return "ptx";
    case isa::Dialect::sass:
      return "sass";
    case isa::Dialect::x86:
      return "x86";
  }
  return "";
}

Json tools_json(const Toolchain& tools) {
  const auto optional = [](const std::string& version) {
    return version.empty() ? Json(nullptr) : Json(version);
  };
  return {{"clang", tools.clang_line},
          {"ptxas", optional(tools.ptxas_version)},
          {"nvdisasm", optional(tools.nvdisasm_version)}};
}

// The gate's figures of what was measured. On NVIDIA always the PTX counts: they do not depend on a
// disassembler.
isa::Gate gate_of(const std::vector<Measured>& all, const Toolchain& tools) {
  isa::Gate gate;
  gate.clang = tools.clang_version;
  gate.ptxas = tools.ptxas_version;
  for (const Measured& one : all) {
    if (!one.problem.empty()) continue;
    const isa::Counts& counts = one.job.target.vendor == isa::Vendor::nvidia ? one.ptx : one.counts;
    isa::GateRow& row = gate.rows[one.job.name()][one.job.target.name];
    row.instructions = counts.total;
    row.branches = counts.branches();
    row.registers = one.resources.registers;
    row.scalar_registers = one.resources.scalar_registers;
    row.spills = one.resources.spills;
    row.scratch = one.resources.scratch;
    row.bytes = one.resources.bytes;
    row.key = isa::job_key(one.job, tools);
  }
  return gate;
}

// bench/isa_gate.json below the current folder, where no file is given.
std::filesystem::path gate_path(const std::string& given) {
  return given == "true" ? "bench/isa_gate.json" : given;
}

// What the gate has for a job; nullptr: nothing.
const isa::GateRow* find_row(const isa::Gate& gate, const Job& job) {
  const auto kernel = gate.rows.find(job.name());
  if (kernel == gate.rows.end()) return nullptr;
  const auto row = kernel->second.find(job.target.name);
  return row == kernel->second.end() ? nullptr : &row->second;
}

// bench/isa_counts.json below the current folder, where no file is given.
isa::CountsFile load_counts(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return {};
  return isa::read_counts(read_text_file(path), path);
}

// How often the instructions of each kernel run, two at a time like the compilations.
std::map<const Measured*, isa::Weighing> weigh_all(const std::vector<Measured>& all,
                                                   const Toolchain& tools, const DiskCache& cache,
                                                   const IsaArguments& arguments) {
  const isa::CountsFile counts = load_counts(arguments.counts);
  std::map<const Measured*, isa::Weighing> out;
  std::vector<const Measured*> todo;
  for (const Measured& one : all) {
    // Files have no counts.
    if (!one.problem.empty() || one.job.counted_options.empty()) continue;
    todo.push_back(&one);
    out[&one];
  }
  isa::in_parallel(todo.size(), arguments.jobs, Interrupt::asked, [&](std::size_t i) {
    const Measured& one = *todo[i];
    if (!one.job.tune.empty()) {
      out.at(&one).why = "only the default tuning is counted";
    } else {
      out.at(&one) = isa::weigh_job(one.job, one, counts, tools, cache);
    }
  });
  return out;
}

// What was counted on another shape than the recipe's first is compiled for that one too.
Elsewheres measure_elsewhere(const std::vector<Measured>& all, const Toolchain& tools,
                             const DiskCache& cache, const IsaArguments& arguments) {
  const isa::CountsFile counts = load_counts(arguments.counts);
  Elsewheres out;
  for (const Measured& one : all) {
    const std::string variant = one.job.recipe + "/" + one.job.variant;
    const auto found = counts.shapes.find(variant);
    const std::string key = variant + "@" + one.job.target.name;
    if (one.job.counted_options.empty() || found == counts.shapes.end() || out.count(key) > 0)
      continue;
    const Recipe& recipe = find_recipe(recipes(), one.job.recipe);
    const auto measured = [&](const VariantInfo& which) {
      return isa::measure_all(
          jobs_elsewhere(recipe, which, one.job.variant, counts, one.job.target), tools, cache,
          arguments.jobs, Interrupt::asked);
    };
    Elsewhere there{
        found->second, measured(recipe.baseline()), measured(recipe.variant(one.job.variant)), {}};
    const auto compiled = [](const std::vector<Measured>& kernels) {
      return !kernels.empty() && std::all_of(kernels.begin(), kernels.end(),
                                             [](const Measured& k) { return k.problem.empty(); });
    };
    if (!compiled(there.baseline) || !compiled(there.variant)) continue;
    Elsewhere& kept = out[key] = std::move(there);
    for (const std::vector<Measured>* kernels : {&kept.baseline, &kept.variant}) {
      for (const Measured& kernel : *kernels)
        kept.weighed[&kernel] = isa::weigh_job(kernel.job, kernel, counts, tools, cache);
    }
  }
  return out;
}

int count_command(const IsaArguments& arguments, const Toolchain& tools, const DiskCache& cache) {
  const Interrupt interrupt("the kernels that are being counted");
  const bool whole = arguments.recipes.empty() && arguments.variant.empty();
  isa::CountsFile counts = whole ? isa::CountsFile{} : load_counts(arguments.counts);
  std::optional<Chatter> chatter(std::in_place);
  std::size_t kernels = 0;
  for (const Recipe* recipe : select_recipes(arguments)) {
    for (const VariantInfo& variant : recipe->variants) {
      if (!arguments.variant.empty() && variant.name != arguments.variant) continue;
      if (Interrupt::asked()) break;
      isa::count_variant(arguments.device, *recipe, variant, tools, cache, counts);
      ++kernels;
    }
  }
  chatter.reset();
  if (Interrupt::asked()) return kInterrupted;
  write_file(arguments.counts, isa::write_counts(counts));
  std::string out = fmt::format("wrote {}: {} variants run, {} kernels counted\n", arguments.counts,
                                kernels, counts.kernels.size());
  for (const auto& [name, why] : counts.uncounted)
    out += fmt::format("not counted: {}: {}\n", name, why);
  deliver("", out);
  return 0;
}

constexpr const char* kRecord = "record it with: clcook isa --update-gate";

// Says what Ctrl-C left.
int ended_early(std::size_t done, std::size_t jobs) {
  fmt::print(stderr,
             "clcook: ended early after {} of {} kernels; the cache has them, so that the same "
             "command goes on\n",
             done, jobs);
  return kInterrupted;
}

int run_gate(const IsaArguments& arguments, const std::vector<Job>& jobs, const Toolchain& tools,
             const DiskCache& cache, bool whole) {
  const std::filesystem::path path = gate_path(arguments.gate);
  const std::string shown = path.string();
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    fail(Errc::io, "read " + shown, std::string("there is no gate file; ") + kRecord);
  const isa::Gate gate = isa::read_gate(read_text_file(path), shown);
  if (gate.clang != tools.clang_version) {
    deliver("", fmt::format("SKIPPED: {} was recorded with clang {}, this is clang {}; counts of "
                            "two compilers are not compared. "
                            "With the new compiler {}\n",
                            shown, gate.clang, tools.clang_version, kRecord));
    return kSkipped;
  }
  // What the committed figures were taken from need not be compiled again to know them; a sample
  // is, so that figures nobody measured are noticed.
  std::vector<Job> changed;
  std::vector<Job> unchanged;
  std::mt19937 random(arguments.seed);
  for (const Job& job : jobs) {
    const isa::GateRow* row = find_row(gate, job);
    const bool same = row != nullptr && !row->key.empty() && row->key == isa::job_key(job, tools);
    const bool sampled = std::uniform_int_distribution<unsigned>(0, 99)(random) < arguments.sample;
    (same && !sampled ? unchanged : changed).push_back(job);
  }
  const std::vector<Measured> all =
      isa::measure_all(changed, tools, cache, arguments.jobs, Interrupt::asked);
  if (Interrupt::asked()) return ended_early(all.size(), changed.size());
  isa::Gate now = gate_of(all, tools);
  for (const Job& job : unchanged) now.rows[job.name()][job.target.name] = *find_row(gate, job);
  isa::GateResult result = isa::compare_gate(gate, now, whole);
  for (const Measured& one : all) {
    if (one.problem.empty()) continue;
    const bool was = find_row(gate, one.job) != nullptr;
    const std::string line =
        one.job.name() + " " + one.job.target.name + ": does not compile: " + one.problem;
    (was || one.job.needs.empty() ? result.failures : result.notes).push_back(line);
  }
  // Weights of another text would say nothing.
  const isa::CountsFile counts = load_counts(arguments.counts);
  for (const Job& job : jobs) {
    if (job.target.vendor != isa::Vendor::x86) continue;
    std::vector<Job> texts{job};
    if (job.unit == 0 && job.tune.empty()) {
      const Recipe& recipe = find_recipe(recipes(), job.recipe);
      for (const VariantInfo* one : {&recipe.baseline(), &recipe.variant(job.variant)}) {
        for (Job& there : jobs_elsewhere(recipe, *one, job.variant, counts, job.target))
          texts.push_back(std::move(there));
      }
    }
    if (std::any_of(texts.begin(), texts.end(),
                    [&](const Job& text) { return isa::is_stale(text, counts, tools, cache); })) {
      result.notes.push_back(job.name() + ": the kernel has changed since it was counted; " +
                             "clcook isa --count " + job.recipe + " counts it again");
    }
  }
  std::string out;
  for (const std::string& one : result.failures) out += "WORSE  " + one + "\n";
  for (const std::string& one : result.notes) out += "note   " + one + "\n";
  if (result.failures.empty()) {
    out += fmt::format("isa gate: {} kernels hold against {}; {} compiled, {} are unchanged\n",
                       jobs.size(), shown, changed.size(), unchanged.size());
    if (!result.notes.empty()) out += std::string("to keep what is noted, ") + kRecord + "\n";
  } else {
    out += fmt::format(
        "isa gate: {} of {} kernels are new or gained registers, branches, spills or bytes against "
        "{}.\n"
        "Look with: clcook isa --show RECIPE/VARIANT --target TARGET. If the change is meant, {}\n",
        result.failures.size(), jobs.size(), shown, kRecord);
  }
  deliver("", out);
  return result.failures.empty() ? 0 : 1;
}

int update_gate(const IsaArguments& arguments, const std::vector<Measured>& all,
                const Toolchain& tools, bool whole) {
  const std::filesystem::path path = gate_path(arguments.update_gate);
  isa::Gate now = gate_of(all, tools);
  for (const Measured& one : all) {
    if (!one.problem.empty() && one.job.needs.empty()) {
      fail(Errc::build_failed, one.job.name() + " for " + one.job.target.name,
           "does not compile, so the gate is left alone: " + one.problem);
    }
  }
  std::error_code error;
  isa::Gate old;
  const bool exists = std::filesystem::exists(path, error);
  if (exists) old = isa::read_gate(read_text_file(path), path.string());
  if (exists && now.ptxas.empty() && old.clang == now.clang) {
    // No ptxas here: its figures stay where the PTX did not change, the others are unknown.
    now.ptxas = old.ptxas;
    for (auto& [kernel, targets] : now.rows) {
      for (auto& [target, row] : targets) {
        if (target.substr(0, 3) != "sm_" || old.rows.count(kernel) == 0) continue;
        const auto known = old.rows[kernel].find(target);
        if (known == old.rows[kernel].end()) continue;
        isa::GateRow before = known->second;
        before.key = row.key;
        if (before.instructions == row.instructions && before.branches == row.branches)
          row = before;
      }
    }
  }
  if (exists && !whole) {
    if (old.clang != now.clang || old.ptxas != now.ptxas) {
      fail(Errc::invalid_argument, "clcook isa --update-gate",
           "the gate was recorded with other tools (clang " + old.clang + ", ptxas " +
               (old.ptxas.empty() ? "absent" : old.ptxas) +
               "); record all of it: no recipe, no --variant, no --target");
    }
    for (const auto& [kernel, targets] : now.rows) {
      for (const auto& [target, row] : targets) old.rows[kernel][target] = row;
    }
    now = old;
  }
  write_file(path, isa::write_gate(now));
  deliver("", fmt::format("wrote {}: {} kernels, clang {}, ptxas {}\n", path.string(),
                          now.rows.size(), now.clang, now.ptxas.empty() ? "absent" : now.ptxas));
  return 0;
}

int isa_command(const IsaArguments& arguments) {
  const auto start = std::chrono::steady_clock::now();
  const bool gating = !arguments.gate.empty() || !arguments.update_gate.empty();
  if (gating && arguments.all_tunes)
    fail(Errc::invalid_argument, "clcook isa",
         "the gate holds the default tuning; leave out --all-tunes");
  Toolchain tools;
  bool compile = true;
  try {
    tools = isa::find_toolchain();
  } catch (const Error& error) {
    // The driver has a compiler of its own.
    if (!arguments.live || gating || error.code != Errc::unsupported) throw;
    fmt::print(stderr, "{}\n", error.what());
    compile = false;
  }
  const DiskCache cache = isa::isa_cache();
  if (arguments.count) return count_command(arguments, tools, cache);
  std::vector<Target> targets;
  for (const std::string& name :
       arguments.targets.empty() ? isa::default_targets() : arguments.targets) {
    if (!compile) break;
    targets.push_back(isa::parse_target(name, tools));
  }

  if (compile && (!arguments.show.empty() || !arguments.diff.empty())) {
    std::vector<Target> one = {isa::parse_target("gfx1030", tools)};
    if (!arguments.targets.empty()) one = targets;
    std::string out;
    for (const std::string& kernel : arguments.show) {
      if (kernel.find('@') != std::string::npos) {
        out += isa::show(parse_kernel(kernel, one, arguments, tools, cache), tools, cache);
        continue;
      }
      for (const Target& target : one)
        out += isa::show(parse_kernel(kernel, {target}, arguments, tools, cache), tools, cache);
    }
    if (!arguments.diff.empty()) {
      const Job from = parse_kernel(arguments.diff[0], one, arguments, tools, cache);
      const Job to = parse_kernel(arguments.diff[1], one, arguments, tools, cache);
      out += isa::diff(from, to, tools, cache, terminal_width());
      const auto shape = [&](const Job& job) {
        const Measured measured = isa::measure(job, tools, cache);
        isa::Shape made = isa::shape_of(measured.counts, measured.resources,
                                        measured.dialect == isa::Dialect::ptx);
        if (!job.counted_options.empty()) {
          const isa::Weighing weighed =
              isa::weigh_job(job, measured, load_counts(arguments.counts), tools, cache);
          made.issued = weighed.weighted;
          made.unknown = weighed.why;
        }
        return made;
      };
      out +=
          isa::compare(shape(from), shape(to), from.target.vendor == isa::Vendor::x86).text + "\n";
    }
    deliver("", out);
    return 0;
  }

  const Interrupt interrupt("the kernels that are being compiled");
  std::vector<std::string> files;
  for (const std::string& name : arguments.recipes) {
    if (is_file(name)) files.push_back(name);
  }
  if (!arguments.language.empty() && files.empty() &&
      std::none_of(arguments.recipes.begin(), arguments.recipes.end(), is_described)) {
    fail(Errc::invalid_argument, "clcook isa",
         "--cl-std is for files and descriptions; recipes say their own");
  }
  if (files.empty() &&
      !(arguments.definitions.empty() && arguments.includes.empty() && arguments.kernel.empty())) {
    fail(Errc::invalid_argument, "clcook isa",
         "-D, -I and --kernel are for files; recipes and descriptions take --variant");
  }
  if (!files.empty() && (gating || arguments.all_tunes || arguments.live ||
                         !arguments.variant.empty() || files.size() < arguments.recipes.size())) {
    fail(Errc::invalid_argument, "clcook isa",
         "'" + files.front() +
             "' is a file; recipes beside it, --variant, --all-tunes, --live and the gate are for "
             "recipes alone");
  }
  if (!files.empty() && !compile) files.clear();
  // Kernel by kernel, each for all targets.
  const std::vector<Job> plain =
      files.empty() ? select_jobs(arguments, {}, tools, cache) : std::vector<Job>();
  std::vector<std::vector<Job>> by_target;
  for (const Target& target : targets) {
    by_target.push_back(files.empty() ? select_jobs(arguments, target, tools, cache)
                                      : std::vector<Job>());
    for (const std::string& path : files) {
      for (Job& job : jobs_of(file_of(arguments, path), target, tools, cache))
        by_target.back().push_back(std::move(job));
    }
  }
  std::vector<Job> jobs;
  for (std::size_t i = 0; !by_target.empty() && i < by_target.front().size(); ++i) {
    // A kernel that is there for some targets only: all of the first, then the rest.
    for (const std::vector<Job>& one : by_target) {
      if (i < one.size()) jobs.push_back(one[i]);
    }
  }
  const bool whole =
      arguments.recipes.empty() && arguments.variant.empty() && arguments.targets.empty();
  if (!arguments.gate.empty() && arguments.update_gate.empty())
    return run_gate(arguments, jobs, tools, cache, whole);
  const std::vector<Measured> all =
      isa::measure_all(jobs, tools, cache, arguments.jobs, Interrupt::asked);
  if (Interrupt::asked() && !arguments.update_gate.empty())
    return ended_early(all.size(), jobs.size());
  if (!arguments.update_gate.empty()) return update_gate(arguments, all, tools, whole);
  const std::map<const Measured*, isa::Weighing> weighed = weigh_all(all, tools, cache, arguments);
  const Elsewheres elsewhere = measure_elsewhere(all, tools, cache, arguments);
  const std::optional<isa::LiveDevice> live =
      plain.empty() ? std::nullopt
                    : isa::ask_driver(arguments.device, arguments.live, "clcook isa --live", plain);

  std::string out;
  if (compile) {
    out = fmt::format("clcook isa: {}, libclc in {}\n", tools.clang_line, tools.libclc);
  }
  IsaResult found;
  for (const Target& target : targets) found.targets.push_back({target.name, target.label});
  std::map<std::string, std::map<std::string, unsigned>> unknown;
  std::size_t cached = 0;
  bool broken = false;
  std::vector<std::string> titles = files;
  for (const Recipe& recipe : recipes()) titles.push_back(recipe.name);
  for (const std::string& title : titles) {
    for (const Target& target : targets) {
      std::vector<const Measured*> rows;
      for (const Measured& one : all) {
        if (one.job.recipe == title && one.job.target.name == target.name) rows.push_back(&one);
      }
      if (rows.empty()) continue;
      const std::vector<Group> groups = group_by_variant(rows, weighed, elsewhere);
      out += render(title, target, tools, groups);
      for (const Group& group : groups) {
        if (!group.baseline && group.judged) {
          found.verdicts.push_back({title,
                                    group.kernels.front()->job.variant,
                                    group.kernels.front()->job.tune,
                                    target.name,
                                    groups.front().kernels.front()->job.variant,
                                    isa::to_string(group.verdict.finding),
                                    group.verdict.text,
                                    group.shape,
                                    {},
                                    {},
                                    {}});
          if (group.verdict.slots > 0) {
            IsaVerdict& said = found.verdicts.back();
            const isa::Verdict& v = group.verdict;
            said.slots = v.slots;
            said.from = {v.from[0], v.from[1]};
            said.to = {v.to[0], v.to[1]};
          }
        }
      }
      for (const Measured* one : rows) {
        cached += one->cached ? 1 : 0;
        broken = broken || (!one->problem.empty() && one->job.needs.empty());
        for (const auto& [name, times] : one->counts.unclassified)
          unknown[target.name][name] += times;
        IsaRow row{
            title,       one->job.variant, one->job.tune, one->job.kernel,         one->job.label,
            target.name, one->job.options, one->problem,  to_string(one->dialect), one->counts,
            {},          one->resources};
        if (target.vendor == isa::Vendor::nvidia) row.ptx = one->ptx;
        found.kernels.push_back(std::move(row));
      }
    }
  }
  Json driver = nullptr;
  if (live) {
    out += fmt::format(
        "\n{}, driver {}: what its own compiler reports (-cl-nv-verbose)\n  {:<34} {:>9} {:>12} "
        "{:>8} {:>11}\n",
        live->info.name, live->info.driver, "", "registers", "spill bytes", "scratch",
        "local bytes");
    driver = {{"device", tool::to_json(live->info)}, {"kernels", Json::array()}};
    for (const isa::Live& row : live->rows) {
      const isa::Resources& r = row.resources;
      out += row.problem.empty() ? fmt::format("  {:<34} {:>9} {:>12} {:>8} {:>11}\n", row.name,
                                               number(r.registers), number(r.spills),
                                               number(r.scratch), number(r.local_bytes))
                                 : fmt::format("  {:<34} {}\n", row.name, row.problem);
      driver["kernels"].push_back(
          {{"name", row.name}, {"problem", row.problem}, {"resources", tool::to_json(r)}});
    }
  }
  for (const auto& [target, names] : unknown) {
    out += "not classified, counted as other on " + target + ":";
    for (const auto& [name, times] : names)
      out += fmt::format(" {}{}", name, times > 1 ? fmt::format(" ({} times)", times) : "");
    out += "\n";
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  out += fmt::format("\n{} kernels, {} from the cache, {:.1f} s\n", all.size(), cached, seconds);
  if (jobs.empty() && plain.empty()) out += "there is no recipe to compile\n";

  if (!arguments.json.empty()) {
    Json result = result_head("isa", DeviceInfo());
    result.erase("device");
    result["tools"] = tools_json(tools);
    result.update(to_json(found));
    result["driver"] = std::move(driver);
    deliver(arguments.json == "-" ? "" : arguments.json, result.dump(1) + "\n");
  }
  if (arguments.json != "-") deliver("", out);
  if (Interrupt::asked()) return ended_early(all.size(), jobs.size());
  return broken ? 1 : 0;
}

}  // namespace

void add_isa(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "isa",
      "Compile every variant, or kernels of your own, to machine code, without a "
      "GPU: instructions, registers, spills, and what a change brings");
  auto arguments = std::make_shared<IsaArguments>();
  command->add_option("RECIPE|FILE", arguments->recipes,
                      "Only these recipes, or FILE.toml (see clcook try); or kernel files");
  command->add_option("--variant", arguments->variant, "Only this variant, beside the baseline");
  command->add_option("-D", arguments->definitions, "Of files: define NAME or NAME=VALUE")
      ->allow_extra_args(false);
  command->add_option("-I", arguments->includes, "Of files: a folder of headers")
      ->allow_extra_args(false);
  command->add_option("--kernel", arguments->kernel, "Of files: this kernel alone");
  command
      ->add_option("--cl-std", arguments->language,
                   "Of files and descriptions: the language, such as CL2.0; default the highest "
                   "at which they compile")
      ->check(CLI::IsMember(isa::languages()));
  command
      ->add_option("--target", arguments->targets,
                   "Targets, separated by commas; default "
                   "gfx900,gfx942,gfx1030,gfx1100,gfx1201,sm_80,sm_90,x86-64")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_flag("--all-tunes", arguments->all_tunes,
                    "Every tuning of a variant, not the default alone");
  command->add_option("--json", arguments->json,
                      "Also write JSON to this file; - prints JSON alone");
  command
      ->add_option("--show", arguments->show,
                   "Print the annotated assembly of the kernel RECIPE/VARIANT, FILE.cl[:KERNEL] or "
                   "FILE.toml[:KERNEL]; default target gfx1030; again for each other kernel")
      ->allow_extra_args(false);
  command
      ->add_option(
          "--diff", arguments->diff,
          "Print two kernels RECIPE/VARIANT[@TARGET] or FILE[:KERNEL][@TARGET] side by side, and "
          "the verdict")
      ->expected(2)
      ->allow_extra_args(false);
  command->add_flag(
      "--gate", arguments->gate,
      "Compare with the committed counts; exit code 1 when a kernel got worse, 77 when they are of "
      "another compiler; --gate=FILE for another file");
  command->add_flag("--count", arguments->count,
                    "Run every variant on PoCL and record how often its loops and branches run: "
                    "what the verdict weighs instructions with");
  command->add_option("--counts", arguments->counts, "The file of these counts")
      ->capture_default_str();
  command->add_flag("--update-gate", arguments->update_gate,
                    "Record the counts of now; --update-gate=FILE for another file");
  command
      ->add_option(
          "--sample", arguments->sample,
          "Percent of the kernels unchanged since the gate was recorded that --gate compiles "
          "nevertheless")
      ->capture_default_str()
      ->check(CLI::Range(0U, 100U));
  command->add_option("--seed", arguments->seed, "Another one is another sample")
      ->capture_default_str();
  command->add_option("--device", arguments->device,
                      "An NVIDIA GPU whose own compiler is asked too; default CLCOOK_DEVICE");
  command->add_flag("--live", arguments->live, "It is an error when there is no such GPU");
  command->add_option("--jobs", arguments->jobs, "Compilers that run at the same time")
      ->capture_default_str()
      ->check(CLI::Range(1U, 64U));
  command->callback([arguments, &exit_code] {
    for (std::string& name : arguments->recipes) {
      if (is_description(name)) {
        name = add_description(name);
      } else if (!(arguments->show.empty() && arguments->diff.empty())) {
        fail(Errc::invalid_argument, name,
             "--show and --diff name their kernels themselves; give --show again for another one");
      }
    }
    exit_code = isa_command(*arguments);
  });
}

}  // namespace clcook::tool
