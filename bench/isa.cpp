// clcook isa: the machine code of every variant, counted, without a GPU.

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include <fmt/format.h>

#include <clcook/core/commit.hpp>

#include "isa/gate.hpp"
#include "isa/jobs.hpp"
#include "isa/residency.hpp"
#include "isa/show.hpp"
#include "isa/tools.hpp"
#include "measure/fingerprint.hpp"
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
  std::string device;
  bool all_tunes = false;
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
std::vector<Job> select_jobs(const IsaArguments& arguments, const DeviceInfo& device,
                             const Target& target, const Toolchain& tools, const DiskCache& cache) {
  std::vector<Job> out;
  for (const Recipe* recipe : select_recipes(arguments)) {
    if (!arguments.variant.empty()) recipe->variant(arguments.variant);  // names the known ones
    std::vector<const VariantInfo*> variants = {&recipe->baseline()};
    for (const VariantInfo& one : recipe->variants) {
      if (!one.is_baseline && (arguments.variant.empty() || one.name == arguments.variant))
        variants.push_back(&one);
    }
    for (const VariantInfo* variant : variants) {
      std::vector<Params> tunes = combinations(variant->axes);
      if (!arguments.all_tunes) tunes.resize(1);
      for (std::size_t i = 0; i < tunes.size(); ++i) {
        std::vector<Job> jobs = jobs_of(*recipe, *variant, tunes[i], i > 0, device, target);
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
  std::vector<Job> jobs = jobs_of(recipe, variant, combinations(variant.axes).front(), false,
                                  isa::device_of(target), target);
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
  const std::vector<Job> jobs = jobs_of(recipe, variant, combinations(variant.axes).front(), false,
                                        isa::device_of(target), target);
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

// A line for a kernel in which calls remain.
std::string calls_of(const isa::Counts& counts) {
  std::string names;
  for (const std::string& call : counts.calls) names += " " + call;
  return names.empty() ? "" : fmt::format("      CALLS, the numbers mean nothing:{}\n", names);
}

std::string render(const std::string& title, const Target& target, const Toolchain& tools,
                   const std::vector<const Measured*>& rows) {
  std::size_t width = 18;
  std::string languages;
  for (const Measured* one : rows) {
    width = std::max(width, one->job.name().size() - title.size() - 1);
    const std::string language = one->job.language();
    if (languages.find(language) == std::string::npos)
      languages += (languages.empty() ? "" : ", ") + language;
  }
  std::string out = fmt::format("\n{}  {}  {}, {}: {}\n", title, target.name, target.label,
                                languages, counted(target, tools, rows.front()->dialect));
  out += fmt::format(
      "  {:<{}} {:>6} {:>5} {:>5} {:>5} {:>5} {:>5} {:>5} {:>5} {:>5} {:>5} {:>7} {:>5} {:>5} "
      "{:>6} {:>6} {:>7} {:>4}\n",
      "", width, "instr", "vALU", "sALU", "bran", "vmem", "smem", "lmem", "wait", "other", "loops",
      "bytes", "vreg", "sreg", "local", "spills", "scratch", "occ");
  for (const Measured* one : rows) {
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
        x86 ? "-" : number(of(isa::Kind::local_memory)), of(isa::Kind::wait), of(isa::Kind::other),
        c.loops, number(r.bytes), number(r.registers), number(r.scalar_registers),
        number(r.local_bytes), number(r.spills), number(r.scratch), number(r.occupancy));
    out += calls_of(c);
    for (const std::string& note : one->notes) out += "      " + note + "\n";
    if (is_file(one->job.recipe)) out += isa::residency(*one);
  }
  return out;
}

// What differs between two kernels, a line for each count.
std::string differences(const Measured& from, const Measured& to) {
  std::string out;
  for (const Measured* one : {&from, &to}) out += calls_of(one->counts);
  if (!out.empty()) return out;
  const auto line = [&](const char* name, long one, long other) {
    if (one != other && one >= 0 && other >= 0)
      out += fmt::format("  {:<18} {:>7} -> {}\n", name, one, other);
  };
  static constexpr std::pair<isa::Kind, const char*> kKinds[] = {
      {isa::Kind::vector_alu, "vector ALU"},
      {isa::Kind::scalar_alu, "scalar ALU"},
      {isa::Kind::branch, "branches"},
      {isa::Kind::vector_memory, "vector memory"},
      {isa::Kind::scalar_memory, "scalar memory"},
      {isa::Kind::local_memory, "local memory"},
      {isa::Kind::wait, "waits"},
      {isa::Kind::other, "other"}};
  line("instructions", from.counts.total, to.counts.total);
  for (const auto& [kind, name] : kKinds) line(name, from.counts.of(kind), to.counts.of(kind));
  line("loops", from.counts.loops, to.counts.loops);
  const isa::Resources& r = from.resources;
  const isa::Resources& s = to.resources;
  line("code bytes", r.bytes, s.bytes);
  line("registers", r.registers, s.registers);
  line("scalar registers", r.scalar_registers, s.scalar_registers);
  line("local bytes", r.local_bytes, s.local_bytes);
  line("spills", r.spills, s.spills);
  line("scratch", r.scratch, s.scratch);
  line("occupancy", r.occupancy, s.occupancy);
  return out.empty() ? "no count differs\n" : "what differs, as counts and no times:\n" + out;
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
isa::Gate gate_of(const std::vector<Measured>& all, const Toolchain& tools,
                  const std::map<std::string, std::string>& libraries) {
  isa::Gate gate;
  gate.clang = tools.clang_version;
  gate.ptxas = tools.ptxas_version;
  gate.libraries = libraries;
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
    std::string& library = gate.libraries[one.job.target.name];
    if (library.empty()) library = isa::library_of(one.job.target, tools);
    row.key = isa::job_key(one.job, tools, library);
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
  // What the committed figures were taken from need not be compiled again to know them.
  std::vector<Job> changed;
  std::vector<Job> unchanged;
  for (const Job& job : jobs) {
    const isa::GateRow* row = find_row(gate, job);
    const auto library = gate.libraries.find(job.target.name);
    const std::string recorded = library == gate.libraries.end() ? "" : library->second;
    const bool same =
        row != nullptr && !row->key.empty() && row->key == isa::job_key(job, tools, recorded);
    (same ? unchanged : changed).push_back(job);
  }
  const std::vector<Measured> all = isa::measure_all(changed, tools, cache, Interrupt::asked);
  if (Interrupt::asked()) return ended_early(all.size(), changed.size());
  isa::Gate now = gate_of(all, tools, gate.libraries);
  for (const Job& job : unchanged) now.rows[job.name()][job.target.name] = *find_row(gate, job);
  isa::GateResult result = isa::compare_gate(gate, now, whole);
  for (const Measured& one : all) {
    if (one.problem.empty()) continue;
    const bool was = find_row(gate, one.job) != nullptr;
    const std::string line =
        one.job.name() + " " + one.job.target.name + ": does not compile: " + one.problem;
    (was || one.job.needs.empty() ? result.failures : result.notes).push_back(line);
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
  isa::Gate now = gate_of(all, tools, whole ? isa::Gate().libraries : old.libraries);
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
    old.libraries = now.libraries;
    now = old;
  }
  write_file(path, isa::write_gate(now));
  deliver("", fmt::format("wrote {}: {} kernels, clang {}, ptxas {}\n", path.string(),
                          now.rows.size(), now.clang, now.ptxas.empty() ? "absent" : now.ptxas));
  return 0;
}

// --show and --diff.
int show_command(const IsaArguments& arguments, const std::vector<Target>& targets,
                 const Toolchain& tools, const DiskCache& cache) {
  std::string out;
  std::string missing;
  std::optional<Error> problem;
  for (const std::string& kernel : arguments.show) {
    const bool has_target = kernel.find('@') != std::string::npos;
    for (std::size_t i = 0; i < (has_target ? 1 : targets.size()); ++i) {
      try {
        out += isa::show(parse_kernel(kernel, {targets[i]}, arguments, tools, cache), tools, cache);
      } catch (const Error& error) {
        if (error.code != Errc::build_failed) throw;
        missing += std::string(error.what()) + "\n";
        if (!problem) problem = error;
      }
    }
  }
  if (problem && out.empty()) throw Error(*problem);
  out += missing;
  if (!arguments.diff.empty()) {
    const Job from = parse_kernel(arguments.diff[0], targets, arguments, tools, cache);
    const Job to = parse_kernel(arguments.diff[1], targets, arguments, tools, cache);
    out += isa::diff(from, to, tools, cache, terminal_width());
    const Measured before = isa::measure(from, tools, cache);
    const Measured after = isa::measure(to, tools, cache);
    if (before.problem.empty() && after.problem.empty()) out += differences(before, after);
  }
  deliver("", out);
  return problem ? 1 : 0;
}

// The kernels of files for all targets, one target after the other. What is missing for some of
// these is a row of `missing`; a file that compiles for none is an error.
std::vector<std::vector<Job>> jobs_of_files(const IsaArguments& arguments,
                                            const std::vector<std::string>& files,
                                            const std::vector<Target>& targets,
                                            const Toolchain& tools, const DiskCache& cache,
                                            std::vector<Measured>& missing) {
  std::vector<std::vector<Job>> out(targets.size());
  for (const std::string& path : files) {
    std::optional<Error> problem;
    std::map<std::string, Job> kernels;
    std::vector<std::pair<Target, std::string>> lost;
    for (std::size_t i = 0; i < targets.size(); ++i) {
      try {
        for (Job& job : jobs_of(file_of(arguments, path), targets[i], tools, cache)) {
          kernels.emplace(job.kernel, job);
          out[i].push_back(std::move(job));
        }
      } catch (const Error& error) {
        if (error.code != Errc::build_failed) throw;
        lost.emplace_back(targets[i], isa::first_error(error.build_log));
        if (!problem) problem = error;
      }
    }
    if (problem && kernels.empty()) throw Error(*problem);
    for (const auto& [target, why] : lost) {
      for (const auto& [name, job] : kernels) {
        missing.emplace_back();
        missing.back().job = job;
        missing.back().job.target = target;
        missing.back().problem = why;
      }
    }
  }
  return out;
}

// Options that do not go together.
void check_options(const IsaArguments& arguments, const std::vector<std::string>& files,
                   bool gating) {
  const std::string who = "clcook isa";
  if (!arguments.language.empty() && files.empty() &&
      std::none_of(arguments.recipes.begin(), arguments.recipes.end(), is_described)) {
    fail(Errc::invalid_argument, who,
         "--cl-std is for files and descriptions; recipes say their own");
  }
  if (files.empty() &&
      !(arguments.definitions.empty() && arguments.includes.empty() && arguments.kernel.empty())) {
    fail(Errc::invalid_argument, who,
         "-D, -I and --kernel are for files; recipes and descriptions take --variant");
  }
  if (!files.empty() && (gating || arguments.all_tunes || !arguments.variant.empty() ||
                         files.size() < arguments.recipes.size())) {
    fail(Errc::invalid_argument, who,
         "'" + files.front() +
             "' is a file; recipes next to it, --variant, --all-tunes and the gate are for recipes "
             "alone");
  }
}

// Kernel by kernel, each for all targets.
std::vector<Job> in_turn(const std::vector<std::vector<Job>>& by_target) {
  std::vector<Job> jobs;
  std::size_t most = 0;
  for (const std::vector<Job>& one : by_target) most = std::max(most, one.size());
  for (std::size_t i = 0; i < most; ++i) {
    for (const std::vector<Job>& one : by_target) {
      if (i < one.size()) jobs.push_back(one[i]);
    }
  }
  return jobs;
}

IsaRow row_of(const Measured& one) {
  const Job& job = one.job;
  IsaRow row{job.recipe,      job.variant, job.tune,     job.kernel, job.label,
             job.target.name, job.options, one.problem,  {},         to_string(one.dialect),
             one.counts,      {},          one.resources};
  if (!is_file(job.recipe))
    row.ran =
        fingerprint_of_isa(find_recipe(recipes(), job.recipe), row.variant, row.tune, row.target);
  if (job.target.vendor == isa::Vendor::nvidia) row.ptx = one.ptx;
  return row;
}

// What the command tells of all that it measured.
struct Findings {
  std::string text;
  IsaResult result;
  std::size_t cached = 0;
  bool broken = false;
  std::map<std::string, std::map<std::string, unsigned>> unknown;  // by target and mnemonic

  void add(const Measured& one) {
    cached += one.cached ? 1 : 0;
    broken = broken || (!one.problem.empty() && one.job.needs.empty());
    for (const auto& [name, times] : one.counts.unclassified)
      unknown[one.job.target.name][name] += times;
    result.kernels.push_back(row_of(one));
  }
};

Findings findings_of(const std::vector<Measured>& all, const std::vector<std::string>& files,
                     const std::vector<Target>& targets, const Toolchain& tools) {
  Findings out;
  for (const Target& target : targets) out.result.targets.push_back({target.name, target.label});
  std::vector<std::string> titles = files;
  for (const Recipe& recipe : recipes()) titles.push_back(recipe.name);
  for (const std::string& title : titles) {
    for (const Target& target : targets) {
      std::vector<const Measured*> rows;
      for (const Measured& one : all) {
        if (one.job.recipe == title && one.job.target.name == target.name) rows.push_back(&one);
      }
      if (rows.empty()) continue;
      out.text += render(title, target, tools, rows);
      for (const Measured* one : rows) out.add(*one);
    }
  }
  return out;
}

std::string unknown_text(const Findings& findings) {
  std::string out;
  for (const auto& [target, names] : findings.unknown) {
    out += "not classified, counted as other on " + target + ":";
    for (const auto& [name, times] : names)
      out += fmt::format(" {}{}", name, times > 1 ? fmt::format(" ({} times)", times) : "");
    out += "\n";
  }
  return out;
}

std::string text_of(const isa::LiveDevice& live) {
  std::string out = fmt::format(
      "\n{}, driver {}: what its own compiler reports (-cl-nv-verbose)\n  {:<34} {:>9} {:>12} "
      "{:>8} {:>11}\n",
      live.info.name, live.info.driver, "", "registers", "spill bytes", "scratch", "local bytes");
  for (const isa::Live& row : live.rows) {
    const isa::Resources& r = row.resources;
    const std::string name = row.job.name();
    out += row.problem.empty()
               ? fmt::format("  {:<34} {:>9} {:>12} {:>8} {:>11}\n", name, number(r.registers),
                             number(r.spills), number(r.scratch), number(r.local_bytes))
               : fmt::format("  {:<34} {}\n", name, row.problem);
  }
  return out;
}

Json json_of(const isa::LiveDevice& live) {
  Json out = {{"device", tool::to_json(live.info)}, {"kernels", Json::array()}};
  for (const isa::Live& row : live.rows)
    out["kernels"].push_back({{"name", row.job.name()},
                              {"problem", row.problem},
                              {"resources", tool::to_json(row.resources)}});
  return out;
}

// The kernels of files, or else of recipes, and what they come to: the text, the JSON, or the gate.
int compile_all(const IsaArguments& arguments, const std::vector<Target>& targets,
                const Toolchain& tools, const DiskCache& cache, bool gating) {
  const auto start = std::chrono::steady_clock::now();
  const Interrupt interrupt("the kernels that are being compiled");
  std::vector<std::string> files;
  for (const std::string& name : arguments.recipes) {
    if (is_file(name)) files.push_back(name);
  }
  check_options(arguments, files, gating);
  std::vector<Measured> missing;
  std::vector<std::vector<Job>> by_target =
      jobs_of_files(arguments, files, targets, tools, cache, missing);
  for (std::size_t i = 0; files.empty() && i < targets.size(); ++i)
    by_target[i] = select_jobs(arguments, isa::device_of(targets[i]), targets[i], tools, cache);
  const std::vector<Job> jobs = in_turn(by_target);
  const bool whole =
      arguments.recipes.empty() && arguments.variant.empty() && arguments.targets.empty();
  if (!arguments.gate.empty() && arguments.update_gate.empty())
    return run_gate(arguments, jobs, tools, cache, whole);
  std::vector<Measured> all = isa::measure_all(jobs, tools, cache, Interrupt::asked);
  all.insert(all.end(), missing.begin(), missing.end());
  if (!arguments.update_gate.empty())
    return Interrupt::asked() ? ended_early(all.size(), jobs.size())
                              : update_gate(arguments, all, tools, whole);
  std::optional<isa::LiveDevice> live;
  if (files.empty() && !jobs.empty()) {
    live = isa::ask_driver(
        arguments.device, !arguments.device.empty(), "clcook isa --device",
        [&](const DeviceInfo& device) { return select_jobs(arguments, device, {}, tools, cache); });
  }

  const Findings found = findings_of(all, files, targets, tools);
  std::string out = fmt::format("clcook isa: {}, libclc in {}\n", tools.clang_line, tools.libclc) +
                    found.text + (live ? text_of(*live) : "") + unknown_text(found);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  out += fmt::format("\n{} kernels, {} from the cache, {:.1f} s\n", all.size(), found.cached,
                     spent.count());
  if (jobs.empty()) out += "there is no recipe to compile\n";
  if (!arguments.json.empty()) {
    Json result = result_head("isa", DeviceInfo());
    result.erase("device");
    result["tools"] = tools_json(tools);
    result.update(to_json(found.result));
    result["driver"] = live ? json_of(*live) : Json(nullptr);
    deliver(arguments.json == "-" ? "" : arguments.json, result.dump(1) + "\n");
  }
  if (arguments.json != "-") deliver("", out);
  if (Interrupt::asked()) return ended_early(all.size(), jobs.size());
  return found.broken ? 1 : 0;
}

int isa_command(const IsaArguments& arguments) {
  const bool gating = !arguments.gate.empty() || !arguments.update_gate.empty();
  if (gating && arguments.all_tunes)
    fail(Errc::invalid_argument, "clcook isa",
         "the gate holds the default tuning; leave out --all-tunes");
  const Toolchain tools = isa::find_toolchain();
  const DiskCache cache = isa::isa_cache();
  const bool shows = !arguments.show.empty() || !arguments.diff.empty();
  std::vector<std::string> names = arguments.targets;
  if (names.empty()) names = shows ? std::vector<std::string>{"gfx1030"} : isa::default_targets();
  std::vector<Target> targets;
  for (const std::string& name : names) targets.push_back(isa::parse_target(name, tools));
  return shows ? show_command(arguments, targets, tools, cache)
               : compile_all(arguments, targets, tools, cache, gating);
}

}  // namespace

const Command add_isa(9, [](CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "isa",
      "Compile every variant, or kernels of your own, to machine code, without a "
      "GPU: instructions, registers, spills, and what a change brings");
  auto arguments = std::make_shared<IsaArguments>();
  command->add_option("RECIPE|FILE", arguments->recipes,
                      "Only these recipes, or FILE.toml (see clcook try); or kernel files");
  command->add_option("--variant", arguments->variant, "Only this variant, and the baseline");
  command->add_option("-D", arguments->definitions, "For files: define NAME or NAME=VALUE")
      ->allow_extra_args(false);
  command->add_option("-I", arguments->includes, "For files: a folder of headers")
      ->allow_extra_args(false);
  command->add_option("--kernel", arguments->kernel, "For files: this kernel alone");
  command
      ->add_option("--cl-std", arguments->language,
                   "Language of files and descriptions, such as CL2.0; default the highest "
                   "at which they compile")
      ->check(CLI::IsMember(isa::languages()));
  command
      ->add_option("--target", arguments->targets,
                   "Targets, separated by commas; default "
                   "gfx900,gfx942,gfx1030,gfx1100,gfx1201,sm_80,sm_90,x86-64")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_flag("--all-tunes", arguments->all_tunes,
                    "Every tuning of a variant, not only the default");
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
          "the counts that differ")
      ->expected(2)
      ->allow_extra_args(false);
  command->add_flag(
      "--gate", arguments->gate,
      "Compare with the committed counts; exit code 1 when a kernel got worse, 77 when they are of "
      "another compiler; --gate=FILE for another file");
  command->add_flag("--update-gate", arguments->update_gate,
                    "Record the present counts; --update-gate=FILE for another file");
  command->add_option("--device", arguments->device,
                      "Also ask the driver's compiler of this NVIDIA GPU; default CLCOOK_DEVICE");
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
});

}  // namespace clcook::tool
