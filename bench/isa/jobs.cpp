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

// The source without the bodies of other kernels, which nothing else names: a compiler has no code to
// make for these.
std::string with_one_kernel(std::string source, const std::string& kernel) {
  const std::string whole = source;
  const std::vector<Token> tokens = tokens_of(whole);
  for (const Function& function : functions_of(tokens)) {
    const auto is_its_name = [&](const Token& one) { return one.text == function.name; };
    if (!function.is_kernel || function.name == kernel ||
        std::count_if(tokens.begin(), tokens.end(), is_its_name) > 1)
      continue;
    int depth = 0;
    for (std::size_t i = function.body; i < tokens.size(); ++i) {
      const std::string_view text = tokens[i].text;
      depth += text == "{" ? 1 : text == "}" ? -1 : 0;
      // Marks of file and line stay.
      const bool is_mark = tokens[i].directive && text.size() > 2 && detail::is_digit(text[2]);
      const auto at = static_cast<std::size_t>(text.data() - whole.data());
      if (!is_mark) source.replace(at, text.size(), text.size(), ' ');
      if (i == function.body) source[at] = ';';
      if (depth == 0) break;
    }
  }
  return source;
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
  const auto attempt = [&](const Job& job) {
    const Compiled whole = compile(job, tools, cache);
    std::string problem = whole.problem;
    if (whole.lacks_code || !whole.ptxas_problem.empty()) {
      // Perhaps that of another kernel of the program.
      Job alone = job;
      alone.source =
          with_one_kernel(without_language_header(preprocess(job, tools, cache, true)), job.kernel);
      const Compiled its = compile(alone, tools, cache);
      if (its.problem.empty()) return alone;
      problem = its.problem;
    }
    if (whole.problem.empty()) return job;
    fail(Errc::build_failed, job.name(), problem);
  };
  for (Job& job : jobs) {
    const auto as = [&](const std::string& level) {
      Job out = job;
      const std::string option = "-cl-std=" + job.language();
      if (!job.own_language)
        out.options.replace(out.options.find(option), option.size(), "-cl-std=" + level);
      return out;
    };
    const std::string level = job.own_language ? job.language() : language;
    try {
      job = at_highest(level, [&](const std::string& one) { return attempt(as(one)); });
    } catch (const Error& error) {
      if (error.code != Errc::build_failed) throw;
      job = as(level.empty() ? languages().back() : level);
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
  for (const std::string& one : file.definitions) source.define(one);
  Job plain;
  plain.recipe = file.path;
  plain.target = target;
  plain.source = source.self_contained();
  plain.kernel = "any";
  const auto read = [&](const std::string& language) {
    Job job = plain;
    job.options = "-cl-std=" + language;
    for (const std::string& one : file.definitions) job.arguments.push_back("-D" + one);
    job.source = without_language_header(preprocess(job, tools, cache, true));
    job.arguments.clear();
    return job;
  };
  bool lacks_code = false;  // the text is OpenCL C, and the compiler makes no code of it
  bool refused = false;     // or ptxas does not
  const auto compiled = [&](const Job& job) {
    const Compiled one = compile(job, tools, cache);
    refused = !one.ptxas_problem.empty();
    if (one.problem.empty()) return job;
    lacks_code = lacks_code || one.lacks_code;
    fail(Errc::build_failed, file.path,
         "does not compile for " + target.name + " as " + job.language(), CL_SUCCESS,
         one.lacks_code ? one.problem : one.log);
  };
  Job base;
  std::optional<Error> problem;
  try {
    base =
        at_highest(file.language, [&](const auto& language) { return compiled(read(language)); });
  } catch (const Error& error) {
    if (!lacks_code || error.code != Errc::build_failed) throw;
    problem = error;
    base = at_highest(file.language, read);
  }
  const bool is_refused = refused;
  bool some_compile = false;
  std::vector<Job> out;
  std::string known;
  for (const Function& function : functions_of(tokens_of(base.source))) {
    if (!function.is_kernel) continue;
    const std::string kernel(function.name);
    known += " " + kernel;
    if (!file.kernel.empty() && kernel != file.kernel) continue;
    const auto alone = [&](Job job) {
      job.variant = job.kernel = kernel;
      job.group = function.group;
      if (problem || is_refused) job.source = with_one_kernel(job.source, kernel);
      return job;
    };
    out.push_back(alone(base));
    if (!problem) continue;
    try {
      out.back() = at_highest(
          file.language, [&](const auto& language) { return compiled(alone(read(language))); });
      some_compile = true;
    } catch (const Error& error) {
      if (error.code != Errc::build_failed) throw;
    }
  }
  if (known.empty()) fail(Errc::invalid_argument, file.path, "the file has no kernel");
  if (out.empty()) {
    fail(Errc::invalid_argument, file.path,
         "there is no kernel '" + file.kernel + "'; known are" + known);
  }
  if (problem && !some_compile) throw Error(*problem);
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
