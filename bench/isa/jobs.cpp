// clcook isa, clcook occupancy: what to compile, and asking a live driver.

#include "isa/jobs.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <clcook/core/program.hpp>
#include <clcook/core/quirks.hpp>
#include <clcook/core/source.hpp>

#include "isa/tokens.hpp"

namespace clcook::isa {

DiskCache isa_cache() {
  const DiskCache standard = DiskCache::standard();
  return standard.enabled() ? DiskCache(standard.folder() + "/isa") : DiskCache();
}

const Params& shape_of(const Recipe& recipe) {
  const auto& shapes = recipe.bench_shapes.empty() ? recipe.test_shapes : recipe.bench_shapes;
  if (shapes.empty())
    fail(Errc::invalid_argument, recipe.name, "the recipe declares no shape to compile for");
  return shapes.front();
}

// tests/stub_units.cpp holds what follows from it against plans on such devices.
DeviceInfo device_of(const Target& target) {
  DeviceInfo out;
  out.cpu = target.vendor == Vendor::x86;
  out.gpu = !out.cpu;
  // As their implementations say.
  out.max_group = target.vendor == Vendor::amd ? 256 : out.cpu ? 4096 : 1024;
  out.local_mem = cl_ulong{target.vendor == Vendor::amd ? 64U : out.cpu ? 512U : 48U} << 10;
  if (target.vendor == Vendor::nvidia) {
    out.platform = "NVIDIA CUDA";
    out.local_mem -= quirks::own_local_bytes(out);
    out.nvidia_capability = detail::to_unsigned(target.name.substr(target.name.find('_') + 1));
  }
  return out;
}

std::vector<Job> jobs_of(const Recipe& recipe, const VariantInfo& variant, const Params& tune,
                         bool name_tune, const DeviceInfo& device, const Target& target) {
  std::vector<Job> out;
  const std::vector<CompileUnit> units = recipe.units(variant.name, tune, shape_of(recipe), device);
  for (const CompileUnit& unit : units) {
    Job job;
    job.recipe = recipe.name;
    job.variant = variant.name;
    job.tune = name_tune ? tune.str() : "";
    job.needs = variant.needs;
    job.unit = out.size();
    job.units = units.size();
    job.label = unit.label;
    job.kernel = unit.kernel;
    job.source = unit.source.flatten();
    job.options = Runtime::build_options(device, unit.defines, unit.options);
    job.own_language = unit.options.find("-cl-std=") != std::string::npos;
    job.group = static_cast<unsigned>(unit.group[0] * unit.group[1] * unit.group[2]);
    job.local_bytes = unit.local_bytes;
    job.target = target;
    out.push_back(std::move(job));
  }
  return out;
}

bool is_file(const std::string& name) {
  return name.find('/') != std::string::npos || std::filesystem::path(name).has_extension();
}

const std::vector<std::string>& languages() {
  static const std::vector<std::string> all = {"CL1.0", "CL1.1", "CL1.2", "CL2.0", "CL3.0"};
  return all;
}

namespace {

// clang's preprocessor puts its header of types and enums first, and so does its compiler again.
std::string without_language_header(std::string_view text) {
  std::string out;
  bool inside = false;
  while (!text.empty()) {
    std::string_view line = detail::take_line(text);
    if (line.substr(0, 2) == "# ") {
      inside = line.find("/opencl-c-base.h\"") != std::string_view::npos;
      line = line.substr(0, line.rfind('"') + 1);  // without entering and leaving files
    }
    if (inside) continue;
    out.append(line);
    out += '\n';
  }
  return out;
}

// attempt("CL2.0") at the level of the language, or at the highest where that is empty and
// `attempt` throws no Error(build_failed). Throws that of the highest where all do.
template <class Attempt>
Job at_highest(const std::string& language, const Attempt& attempt) {
  if (!language.empty()) return attempt(language);
  std::optional<Error> first;
  for (const char* one : {"CL3.0", "CL2.0", "CL1.2"}) {
    try {
      return attempt(one);
    } catch (const Error& error) {
      if (error.code != Errc::build_failed) throw;
      if (!first) first = error;
    }
  }
  throw *first;
}

}  // namespace

void set_language(std::vector<Job>& jobs, const std::string& language, const Toolchain& tools,
                  const DiskCache& cache) {
  for (Job& job : jobs) {
    if (job.own_language) continue;
    const auto as = [&](const std::string& level) {
      Job out = job;
      const std::string option = "-cl-std=" + job.language();
      out.options.replace(out.options.find(option), option.size(), "-cl-std=" + level);
      return out;
    };
    try {
      job = at_highest(language, [&](const std::string& level) {
        Job out = as(level);
        const Compiled compiled = compile(out, tools, cache);
        if (compiled.problem.empty()) return out;
        fail(Errc::build_failed, job.name(), compiled.problem);
      });
    } catch (const Error& error) {
      if (error.code != Errc::build_failed) throw;
      job = as(language.empty() ? languages().back() : language);
    }
  }
}

std::vector<Job> jobs_of(const KernelFile& file, const Target& target, const Toolchain& tools,
                         const DiskCache& cache) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file.path, error))
    fail(Errc::io, "clcook isa", "there is no file '" + file.path + "'");
  Source source = Source::load(file.path);
  for (const std::string& one : file.includes) source.folder(one);
  Job plain;
  plain.recipe = file.path;
  plain.target = target;
  plain.source = source.flatten();
  plain.kernel = "any";
  const Job base = at_highest(file.language, [&](const std::string& language) {
    Job job = plain;
    job.options = "-cl-std=" + language;
    for (const std::string& one : file.definitions) job.arguments.push_back("-D" + one);
    // For headers that a macro of -D names.
    for (const std::string& one : file.includes) job.arguments.push_back("-I" + one);
    // Not from the cache: such a header may have changed.
    job.source = without_language_header(preprocess(job, tools, DiskCache(), true));
    job.arguments.clear();
    const Compiled compiled = compile(job, tools, cache);
    if (compiled.problem.empty()) return job;
    fail(Errc::build_failed, file.path, "does not compile for " + target.name + " as " + language,
         CL_SUCCESS, compiled.log);
  });
  std::vector<Job> out;
  std::string known;
  for (const Function& function : functions_of(tokens_of(base.source))) {
    if (!function.is_kernel) continue;
    const std::string kernel(function.name);
    known += " " + kernel;
    if (!file.kernel.empty() && kernel != file.kernel) continue;
    out.push_back(base);
    out.back().variant = out.back().kernel = kernel;
    out.back().group = function.group;
  }
  if (known.empty()) fail(Errc::invalid_argument, file.path, "the file has no kernel");
  if (out.empty()) {
    fail(Errc::invalid_argument, file.path,
         "there is no kernel '" + file.kernel + "'; known are" + known);
  }
  return out;
}

std::optional<LiveDevice> ask_driver(const std::string& device, bool required,
                                     const std::string& who, const JobsFor& jobs_for) {
  const char* variable = std::getenv("CLCOOK_DEVICE");
  std::string spec = device.empty() && variable != nullptr ? variable : device;
  if (spec.empty() && !required) return std::nullopt;
  if (spec.empty()) spec = "nvidia";
  // A program from the driver's own cache has no log. Read when the driver is loaded, so set
  // before.
  setenv("CUDA_CACHE_DISABLE", "1", 1);
  if (!required) {
    // Not worth an error: the device may be there for other commands.
    const std::vector<DeviceCandidate> found = find_devices(spec, false);
    const auto nvidia = [](const DeviceCandidate& one) {
      return one.verdict == "chosen" && one.info.gpu &&
             clcook::detail::lower(one.info.vendor).find("nvidia") != std::string::npos;
    };
    if (std::none_of(found.begin(), found.end(), nvidia)) return std::nullopt;
  }
  PickOptions options;
  options.runtime.disk_cache = DiskCache();  // nor has one from ours
  const Runtime runtime = Runtime::pick(spec, options);
  LiveDevice out;
  out.info = runtime.info();
  if (!out.info.gpu || clcook::detail::lower(out.info.vendor).find("nvidia") == std::string::npos) {
    fail(Errc::unsupported, who,
         "only NVIDIA's OpenCL reports registers in its build log; chosen is " + out.info.name);
  }
  if (out.info.nvidia_capability != 0) out.arch = text("sm_", out.info.nvidia_capability);
  for (const Job& job : jobs_for(out.info)) {
    Live row;
    row.job = job;
    try {
      const cl::Program program = runtime.build(Source(job.recipe + ".cl", job.source), Defines(),
                                                job.name(), job.options + " -cl-nv-verbose");
      const std::string log = build_log(program, runtime.device());
      const auto said = read_ptxas_log(log);
      const auto found = said.find(job.kernel);
      if (found == said.end()) {
        row.problem = "the build log does not speak of " + job.kernel;
      } else {
        row.resources = found->second;
      }
    } catch (const Error& error) {
      row.problem = std::string(error.what()).substr(0, std::string(error.what()).find('\n'));
    }
    out.rows.push_back(std::move(row));
  }
  return out;
}

}  // namespace clcook::isa
