// clcook occupancy: resident work-groups from registers, local memory and group size.

#include <fmt/format.h>

#include <algorithm>
#include <clcook/model/occupancy.hpp>
#include <optional>

#include "isa/jobs.hpp"
#include "isa/residency.hpp"
#include "tool/command.hpp"

namespace clcook::tool {

namespace {

using model::GpuArch;
using model::KernelNeeds;
using model::Limiter;
using model::Occupancy;
using model::OccupancyStep;

struct OccupancyArguments {
  std::string arch;
  std::optional<int> registers;
  std::optional<int> scalars;
  std::optional<std::int64_t> local;
  std::optional<int> group;
  int wave = 0;
  bool cu_mode = false;
  std::string recipe;
  std::string variant;
  isa::KernelFile file;
  std::string device;
  bool json = false;
};

// One kernel on one architecture, and where its figures come from.
struct Question {
  std::string name;  // empty: figures from the command line
  std::string source;
  const GpuArch* arch = nullptr;
  KernelNeeds needs;
  std::vector<std::string> notes;
  std::string problem;  // why nothing is known of the kernel
};

std::string plural(std::int64_t count, const std::string& what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

double percent(const Occupancy& now) { return 100 * now.occupancy(); }

// What a group of that size with so many registers reaches, without the others' needs changed.
Occupancy at(const Question& question, int group, int registers) {
  KernelNeeds needs = question.needs;
  needs.group_size = group;
  needs.registers = registers;
  return model::occupancy(*question.arch, needs);
}

std::vector<int> chart_groups(const Question& question) {
  const GpuArch arch =
      model::configured(*question.arch, question.needs.wave_size, question.needs.cu_mode);
  std::vector<int> out = {arch.wave_size, question.needs.group_size};
  for (const int group : {64, 128, 192, 256, 384, 512, 768, 1024}) {
    if (group > arch.wave_size && group <= arch.max_group_size) out.push_back(group);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

// The registers at which a wave less fits, from few to many: nothing changes between them.
std::vector<int> chart_registers(const Question& question) {
  const GpuArch arch =
      model::configured(*question.arch, question.needs.wave_size, question.needs.cu_mode);
  std::vector<int> out;
  int last = 0;
  for (int registers = arch.max_registers; registers >= 1; --registers) {
    const int allocated =
        (registers + arch.register_granule - 1) / arch.register_granule * arch.register_granule;
    const int waves = std::min(arch.waves_per_simd, arch.registers_per_simd / allocated);
    if (waves != last) out.push_back(registers);
    last = waves;
  }
  std::reverse(out.begin(), out.end());
  return out;
}

// The column of the chart that the kernel's registers belong to.
int column_of(const std::vector<int>& columns, int registers) {
  return *std::lower_bound(columns.begin(), columns.end(), registers);
}

std::string chart(const Question& question) {
  const std::vector<int> columns = chart_registers(question);
  const int own = column_of(columns, question.needs.registers);
  std::string out = fmt::format(
      "\noccupancy in % by group size and registers (at most), {} of local memory per group\n"
      "{:>7}",
      plural(question.needs.local_bytes, "byte"), "");
  for (const int registers : columns) {
    out += registers == own ? fmt::format(" {:>5}", fmt::format("[{}]", registers))
                            : fmt::format(" {:>4} ", registers);
  }
  out += "\n";
  for (const int group : chart_groups(question)) {
    const bool here = group == question.needs.group_size;
    out += here ? fmt::format("{:>7}", fmt::format("[{}]", group)) : fmt::format("{:>6} ", group);
    for (const int registers : columns) {
      const int value = static_cast<int>(percent(at(question, group, registers)) + 0.5);
      const std::string cell = value == 0 ? "-" : std::to_string(value);
      out += here && registers == own ? fmt::format(" {:>5}", "[" + cell + "]")
                                      : fmt::format(" {:>4} ", cell);
    }
    const double now = at(question, group, question.needs.registers).occupancy();
    out += fmt::format(" {:<20}\n", std::string(static_cast<std::size_t>(20 * now + 0.5), '#'));
    while (out.size() > 1 && out[out.size() - 2] == ' ') out.erase(out.size() - 2, 1);
  }
  return out + fmt::format("bars: at {}\n", plural(question.needs.registers, "register"));
}

std::string render(const Question& question) {
  const GpuArch arch =
      model::configured(*question.arch, question.needs.wave_size, question.needs.cu_mode);
  const KernelNeeds& needs = question.needs;
  const Occupancy now = model::occupancy(*question.arch, needs);
  std::string out;
  if (!question.name.empty()) out += fmt::format("{}: {}\n", question.name, question.source);
  out += fmt::format(
      "{} ({}), waves of {}: {}{}, {} of local memory, groups of {}\n", arch.name, arch.label,
      arch.wave_size, plural(needs.registers, "register"),
      needs.scalar_registers > 0 ? ", " + plural(needs.scalar_registers, "scalar register") : "",
      plural(needs.local_bytes, "byte"), needs.group_size);
  if (now.groups == 0) {
    out += fmt::format("  no group fits into a {}\n", arch.unit);
  } else {
    out += fmt::format("  {} of {} per {}: {} of {} waves, {:.0f} % occupancy\n",
                       plural(now.groups, "group"), plural(now.waves_per_group, "wave"), arch.unit,
                       now.waves, now.max_waves, percent(now));
  }
  const std::string limits = isa::limits_of(now);
  out += limits.empty() ? "  all places for waves are taken\n"
                        : fmt::format("  limited by {}\n", limits);

  const auto row = [&](Limiter one, const std::string& text) {
    const int groups = now.by[static_cast<int>(one)];
    out += fmt::format("    {:<20}  {:>4} {:<6}  {}\n", to_string(one), groups,
                       groups == 1 ? "group" : "groups", text);
  };
  out += "  each limit alone allows\n";
  row(Limiter::registers,
      fmt::format("{} of {} for a wave, given out in steps of {}", now.allocated_registers,
                  arch.registers_per_simd, arch.register_granule));
  if (arch.scalars_per_simd > 0) {
    row(Limiter::scalar_registers,
        fmt::format("{} of {} for a wave, given out in steps of {}", now.allocated_scalars,
                    arch.scalars_per_simd, arch.scalar_granule));
  }
  row(Limiter::local_memory,
      fmt::format("{} of {} bytes for a group", now.allocated_local, arch.local_bytes));
  row(Limiter::waves, fmt::format("{} of {} for a group", now.waves_per_group, now.max_waves));
  if (arch.max_groups > 0) {
    row(Limiter::groups, fmt::format("at most {}{}", arch.max_groups,
                                     arch.single_wave_free ? ", but for groups of one wave" : ""));
  }
  const OccupancyStep step = model::next_step(*question.arch, needs);
  const OccupancyStep smaller = model::smaller_group(*question.arch, needs);
  if (step.possible) out += "  next step: " + describe(needs, now, step) + "\n";
  if (smaller.possible) out += "  smaller groups: " + describe(needs, now, smaller) + "\n";
  if (!step.possible && !smaller.possible && now.waves < now.max_waves)
    out += "  no saving lets more in\n";
  for (const std::string& note : question.notes) out += "  note: " + note + "\n";
  return out + chart(question);
}

Json to_json(const KernelNeeds& needs, const Occupancy& now) {
  return {{"registers", needs.registers},
          {"scalar_registers", needs.scalar_registers},
          {"local_bytes", needs.local_bytes},
          {"group_size", needs.group_size},
          {"groups", now.groups},
          {"waves", now.waves},
          {"occupancy", now.occupancy()}};
}

Json to_json(const Question& question) {
  const GpuArch arch =
      model::configured(*question.arch, question.needs.wave_size, question.needs.cu_mode);
  const KernelNeeds& needs = question.needs;
  const Occupancy now = model::occupancy(*question.arch, needs);
  Json out = {{"kernel", question.name},        {"source", question.source},
              {"arch", std::string(arch.name)}, {"family", std::string(arch.label)},
              {"unit", std::string(arch.unit)}, {"wave_size", arch.wave_size},
              {"cu_mode", needs.cu_mode},       {"notes", question.notes}};
  out["needs"] = {{"registers", needs.registers},
                  {"scalar_registers", needs.scalar_registers},
                  {"local_bytes", needs.local_bytes},
                  {"group_size", needs.group_size}};
  out["allocated"] = {{"registers", now.allocated_registers},
                      {"scalar_registers", now.allocated_scalars},
                      {"local_bytes", now.allocated_local}};
  out["groups"] = now.groups;
  out["waves_per_group"] = now.waves_per_group;
  out["waves"] = now.waves;
  out["max_waves"] = now.max_waves;
  out["occupancy"] = now.occupancy();
  out["limiter"] = std::string(to_string(now.limiter));
  Json limits = Json::object();
  for (int i = 0; i < model::kLimiters; ++i)
    limits[std::string(to_string(static_cast<Limiter>(i)))] = now.by[i];
  out["limits"] = limits;
  const OccupancyStep step = model::next_step(*question.arch, needs);
  out["next_step"] = step.possible ? to_json(step.needs, step.after) : Json(nullptr);
  const OccupancyStep smaller = model::smaller_group(*question.arch, needs);
  out["smaller_group"] = smaller.possible ? to_json(smaller.needs, smaller.after) : Json(nullptr);
  Json rows = Json::array();
  const std::vector<int> columns = chart_registers(question);
  for (const int group : chart_groups(question)) {
    Json values = Json::array();
    for (const int registers : columns)
      values.push_back(at(question, group, registers).occupancy());
    rows.push_back({{"group_size", group}, {"occupancy", values}});
  }
  out["chart"] = {{"registers", columns}, {"rows", rows}};
  return out;
}

int narrow(long value) { return value < 0 ? 0 : static_cast<int>(value); }

// Why what clang and ptxas say of a kernel is worth nothing; empty: it is worth something. Registers
// that the user gives need no compiler.
std::string problem_of(const isa::Measured& measured, const isa::Toolchain& tools, bool given) {
  if (!measured.problem.empty() || given) return measured.problem;
  std::string calls;
  for (const std::string& one : measured.counts.calls) calls += " " + one;
  if (!calls.empty())
    return "calls remain, without whose code the registers mean nothing:" + calls +
           "; --vgpr gives the registers";
  if (measured.resources.registers >= 0) return "";
  if (tools.ptxas.empty())
    return "the registers are not known; for sm_* they come from ptxas, which was not found";
  std::string notes;
  for (const std::string& one : measured.notes) notes += "; " + one;
  return "the registers are not known" + notes;
}

// What a compiler says of the kernels of a variant or a file.
class Compilers {
 public:
  explicit Compilers(const OccupancyArguments& arguments)
      : arguments_(arguments), is_foreign_(is_file() || is_described(arguments.recipe)) {
    if (!is_file()) choose(find_recipe(recipes(), arguments.recipe));
    common_.wave_size = arguments.wave;
    common_.cu_mode = arguments.cu_mode;
    common_.group_size = isa::kAnyGroup;
    const std::int64_t group = tune_.integer("group", 0);
    if (arguments.group) {
      common_.group_size = *arguments.group;
    } else if (!is_foreign_ && group > 0) {
      common_.group_size = static_cast<int>(group);
    } else if (!is_foreign_) {
      notes_.push_back("the variant has no tuning 'group'; 256 is assumed, --group says otherwise");
    }
  }

  // That of the driver, where it tells, or else clang.
  std::vector<Question> ask() {
    std::vector<Question> out;
    if (arguments_.arch.empty() && !is_file()) {
      const auto live = isa::ask_driver(
          arguments_.device, !arguments_.device.empty(), "clcook occupancy --device",
          [&](const DeviceInfo& device) { return jobs_for(device, {}); });
      if (live) {
        for (const isa::Live& row : live->rows)
          out.push_back(question(row.job, row.resources, row.problem,
                                 "figures of the driver's compiler, " + live->info.name,
                                 live->arch));
        return out;
      }
    }
    const isa::Toolchain tools = isa::find_toolchain();
    const std::string name = arguments_.arch.empty() ? "gfx1030" : arguments_.arch;
    model::gpu_arch(name);  // the model's own list first
    const isa::Target target = isa::parse_target(name, tools);
    std::vector<isa::Job> jobs =
        is_file() ? isa::jobs_of(arguments_.file, target, tools, isa::isa_cache())
                  : jobs_for(isa::device_of(target), target);
    if (is_described(arguments_.recipe))
      isa::set_language(jobs, arguments_.file.language, tools, isa::isa_cache());
    std::string source = "figures of clang " + tools.clang_version;
    if (target.vendor == isa::Vendor::nvidia) source += " and ptxas " + tools.ptxas_version;
    for (const isa::Job& job : jobs) {
      const isa::Measured measured = isa::measure(job, tools, isa::isa_cache());
      out.push_back(question(job, measured.resources,
                             problem_of(measured, tools, arguments_.registers.has_value()),
                             source + ", " + job.language(), name));
    }
    return out;
  }

 private:
  bool is_file() const { return !arguments_.file.path.empty(); }

  // Of a description all variants, of a recipe the baseline, unless one is named.
  void choose(const Recipe& recipe) {
    recipe_ = &recipe;
    const std::string& wanted = arguments_.variant;
    if (!wanted.empty()) recipe.variant(wanted);  // names the known ones
    for (const VariantInfo& variant : recipe.variants) {
      if (wanted.empty() ? !is_foreign_ && !variant.is_baseline : variant.name != wanted) continue;
      tune_ = combinations(variant.axes).front();
      variants_.push_back(&variant);
    }
  }

  std::vector<isa::Job> jobs_for(const DeviceInfo& device, const isa::Target& target) const {
    std::vector<isa::Job> out;
    for (const VariantInfo* variant : variants_) {
      for (isa::Job& job : isa::jobs_of(*recipe_, *variant, combinations(variant->axes).front(),
                                        false, device, target))
        out.push_back(std::move(job));
    }
    return out;
  }

  Question question(const isa::Job& job, const isa::Resources& said, const std::string& problem,
                    const std::string& source, const std::string& arch) const {
    Question one;
    one.name = job.name();
    one.problem = problem;
    if (problem.empty() && said.registers < 0 && !arguments_.registers)
      one.problem = "the registers are not known";
    if (!one.problem.empty()) return one;
    one.source = source;
    one.arch = &model::gpu_arch(arch);
    one.needs = common_;
    one.notes = notes_;
    if (is_foreign_ && !arguments_.group) {
      if (job.group > 0) {
        one.needs.group_size = static_cast<int>(job.group);
      } else {
        one.notes.push_back(
            "the kernel requires no group size; 256 is assumed, --group says otherwise");
      }
    }
    one.needs.registers = arguments_.registers.value_or(narrow(said.registers));
    // The driver's compiler counts scalar registers nowhere but on AMD.
    one.needs.scalar_registers = arguments_.scalars.value_or(
        one.arch->vendor == model::GpuVendor::amd ? narrow(said.scalar_registers) : 0);
    const auto known = static_cast<std::int64_t>(job.local_bytes);
    one.needs.local_bytes =
        arguments_.local.value_or(known + (said.local_bytes < 0 ? 0 : said.local_bytes));
    if (!arguments_.local && !is_described(arguments_.recipe))
      one.notes.push_back(
          "local memory that is passed as an argument is not counted; --lds gives the sum");
    if (said.spills > 0)
      one.notes.push_back("the compiler spilled; fewer registers would spill more");
    return one;
  }

  const OccupancyArguments& arguments_;
  bool is_foreign_;
  const Recipe* recipe_ = nullptr;
  std::vector<const VariantInfo*> variants_;
  Params tune_;
  KernelNeeds common_;
  std::vector<std::string> notes_;
};

// FILE.toml is a recipe whose variants are its kernels.
void take_description(OccupancyArguments& arguments) {
  isa::KernelFile& file = arguments.file;
  if (!is_description(file.path)) return;
  const std::string who = "clcook occupancy";
  if (!arguments.recipe.empty() || !file.definitions.empty() || !file.includes.empty())
    fail(Errc::invalid_argument, who,
         "'" + file.path +
             "' is a description, which says its options and folders itself; --recipe, -D and -I "
             "do not go with it");
  if (!arguments.variant.empty() && !file.kernel.empty())
    fail(Errc::invalid_argument, who, "--kernel and --variant name the same thing");
  arguments.recipe = add_description(file.path);
  if (arguments.variant.empty()) arguments.variant = file.kernel;
  file.path.clear();
}

int occupancy_command(const OccupancyArguments& arguments) {
  const std::string who = "clcook occupancy";
  std::vector<Question> questions;
  if (!arguments.file.language.empty() && arguments.file.path.empty() &&
      !is_described(arguments.recipe))
    fail(Errc::invalid_argument, who, "--cl-std is for a file or a description");
  if (!arguments.file.path.empty()) {
    if (!arguments.recipe.empty() || !arguments.variant.empty() || !arguments.device.empty())
      fail(Errc::invalid_argument, who,
           "'" + arguments.file.path +
               "' is a file; --recipe, --variant and --device are for recipes");
    questions = Compilers(arguments).ask();
  } else if (!arguments.recipe.empty()) {
    questions = Compilers(arguments).ask();
  } else {
    if (!arguments.variant.empty() || !arguments.device.empty())
      fail(Errc::invalid_argument, who, "--variant and --device need --recipe");
    if (arguments.arch.empty()) {
      fail(Errc::invalid_argument, who,
           "--arch, --recipe or a file is needed; known architectures are" +
               model::detail::known_archs());
    }
    Question one;
    one.arch = &model::gpu_arch(arguments.arch);
    if (!arguments.registers) fail(Errc::invalid_argument, who, "--vgpr (--registers) is needed");
    if (!arguments.group) fail(Errc::invalid_argument, who, "--group is needed");
    one.needs.registers = *arguments.registers;
    one.needs.scalar_registers = arguments.scalars.value_or(0);
    one.needs.local_bytes = arguments.local.value_or(0);
    one.needs.group_size = *arguments.group;
    one.needs.wave_size = arguments.wave;
    one.needs.cu_mode = arguments.cu_mode;
    questions.push_back(std::move(one));
  }
  std::string out;
  std::string problems;
  Json kernels = Json::array();
  Json missing = Json::array();
  for (const Question& question : questions) {
    if (!question.problem.empty()) {
      problems += question.name + ": " + question.problem + "\n";
      missing.push_back({{"kernel", question.name}, {"problem", question.problem}});
    } else if (arguments.json) {
      kernels.push_back(to_json(question));
    } else {
      out += (out.empty() ? "" : "\n") + render(question);
    }
  }
  if (!problems.empty() && missing.size() == questions.size()) {
    problems.pop_back();
    fail(Errc::unsupported, who, problems);
  }
  if (!problems.empty()) out += "\n" + problems;
  if (arguments.json) {
    Json all = {{"format", kFormat}, {"kind", "occupancy"}, {"kernels", kernels}};
    if (!missing.empty()) all["missing"] = missing;
    out = all.dump(1) + "\n";
  }
  deliver("", out);
  return problems.empty() ? 0 : 1;
}

}  // namespace

const Command add_occupancy(10, [](CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "occupancy",
      "How many work-groups are resident at once, what limits them, and the next step: from "
      "figures, or from a compiled kernel");
  auto arguments = std::make_shared<OccupancyArguments>();
  command->add_option(
      "FILE", arguments->file.path,
      "Take the figures from the kernels of this file, or FILE.toml: see clcook try");
  command->add_option("-D", arguments->file.definitions, "For FILE: define NAME or NAME=VALUE")
      ->allow_extra_args(false);
  command->add_option("-I", arguments->file.includes, "For FILE: a folder of headers")
      ->allow_extra_args(false);
  command->add_option("--kernel", arguments->file.kernel, "For FILE: this kernel alone");
  command
      ->add_option("--cl-std", arguments->file.language,
                   "Language of FILE, such as CL2.0; default the highest at which it compiles")
      ->check(CLI::IsMember(isa::languages()));
  command->add_option(
      "--arch", arguments->arch,
      "Architecture: gfx900, sm_90, xe_hpg, ...; with --recipe or FILE default gfx1030");
  command->add_option("--vgpr,--registers", arguments->registers,
                      "Vector registers per work-item; Intel: per thread");
  command->add_option("--sgpr", arguments->scalars, "Scalar registers (AMD)");
  command->add_option("--lds,--local", arguments->local, "Bytes of local memory per group");
  command->add_option("--group", arguments->group, "Work-items per group");
  command->add_option("--wave", arguments->wave,
                      "Work-items per wave: RDNA 32 or 64, Intel 8, 16 or 32");
  command->add_flag("--cu-mode", arguments->cu_mode,
                    "RDNA: groups stay in one of the two compute units of a work-group processor");
  command->add_option("--recipe", arguments->recipe, "Take the figures from this recipe's kernels");
  command->add_option("--variant", arguments->variant, "Of this variant; default the baseline");
  command->add_option("--device", arguments->device,
                      "With --recipe and no --arch: an NVIDIA GPU whose driver compiles; default "
                      "CLCOOK_DEVICE, else clang for gfx1030");
  command->add_flag("--json", arguments->json, "Write JSON");
  command->callback([arguments, &exit_code] {
    take_description(*arguments);
    exit_code = occupancy_command(*arguments);
  });
});

}  // namespace clcook::tool
