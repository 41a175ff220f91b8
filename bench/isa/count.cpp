// clcook isa: counting how often the regions of kernels run.

#include "isa/count.hpp"

#include <CL/cl_icd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <clcook/core/source.hpp>

namespace clcook::isa {

namespace {

constexpr int kCountsFormat = 2;
constexpr unsigned kWaves[] = {1, 32, 64};

// What kernels with counters see: where the counters of this launch are.
struct Shared {
  std::uint32_t* counters = nullptr;
};

std::string hex(const std::string& text) { return fmt::format("{:x}", fnv1a(text)); }

std::vector<std::string> definitions(const std::string& options) {
  std::vector<std::string> out;
  std::istringstream in(options);
  for (std::string word; in >> word;) {
    if (word.rfind("-D", 0) == 0) out.push_back(word);
  }
  return out;
}

std::string upper(std::string name) {
  for (char& c : name) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return name;
}

// One program text of a variant with its counters.
struct Counted {
  std::string source;  // as the host gives it
  std::vector<std::string> definitions;
  Regions regions;
  std::map<unsigned, std::vector<double>> by_wave;
};

// Stands between the host and one context of an OpenCL implementation: objects of such a context
// begin with a pointer to the table of the implementation's functions, and ours gets a copy with
// four functions of our own. One at a time.
class Counter {
 public:
  Counter(const Runtime& runtime, std::vector<Counted>& texts, const std::vector<Job>& jobs)
      : texts_(texts) {
    for (const Job& job : jobs) jobs_.insert(job.kernel);
    context_ = runtime.context()();
    queue_ = runtime.queue()();
    original_ = table_of(context_);
    table_ = *original_;
    table_.clCreateProgramWithSource = &create_program;
    table_.clBuildProgram = &build_program;
    table_.clCreateKernel = &create_kernel;
    table_.clEnqueueNDRangeKernel = &enqueue;
    set_table(context_, &table_);
    set_table(queue_, &table_);
    current_ = this;
  }
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;
  ~Counter() {
    set_table(context_, original_);
    set_table(queue_, original_);
    for (const auto& [program, replacement] : programs_) {
      if (replacement.program != nullptr) original_->clReleaseProgram(replacement.program);
    }
    current_ = nullptr;
  }

  // The first thing that went wrong; empty: nothing.
  const std::string& problem() const { return problem_; }
  // Definitions of jobs that no program has.
  std::set<std::string> lacking() const {
    std::set<std::string> out;
    std::set_difference(lacking_.begin(), lacking_.end(), given_.begin(), given_.end(),
                        std::inserter(out, out.end()));
    return out;
  }

 private:
  struct Replacement {
    std::string source;
    cl_program program = nullptr;
    Counted* text = nullptr;
  };

  template <class Object>
  static cl_icd_dispatch* table_of(Object object) {
    cl_icd_dispatch* table = nullptr;
    std::memcpy(&table, static_cast<const void*>(object), sizeof table);
    return table;
  }
  template <class Object>
  static void set_table(Object object, cl_icd_dispatch* table) {
    std::memcpy(static_cast<void*>(object), &table, sizeof table);
  }

  static cl_program CL_API_CALL create_program(cl_context context, cl_uint count,
                                               const char** strings, const std::size_t* lengths,
                                               cl_int* status) {
    Counter& self = *current_;
    const cl_program program =
        self.original_->clCreateProgramWithSource(context, count, strings, lengths, status);
    if (program == nullptr) return program;
    std::string source;
    for (cl_uint i = 0; i < count; ++i) {
      source += lengths == nullptr || lengths[i] == 0 ? std::string(strings[i])
                                                      : std::string(strings[i], lengths[i]);
    }
    self.programs_[program].source = std::move(source);
    set_table(program, &self.table_);
    return program;
  }

  static cl_int CL_API_CALL build_program(cl_program program, cl_uint count,
                                          const cl_device_id* devices, const char* options,
                                          void(CL_CALLBACK* notify)(cl_program, void*),
                                          void* data) {
    Counter& self = *current_;
    const cl_int status =
        self.original_->clBuildProgram(program, count, devices, options, notify, data);
    Replacement& mine = self.programs_[program];
    if (status != CL_SUCCESS || mine.program != nullptr) return status;
    const std::vector<std::string> given = definitions(options == nullptr ? "" : options);
    self.given_.insert(given.begin(), given.end());
    std::set<std::string> lacking;
    for (Counted& text : self.texts_) {
      if (text.source != mine.source) continue;
      for (const std::string& one : text.definitions) {
        if (std::find(given.begin(), given.end(), one) == given.end()) lacking.insert(one);
      }
      const bool fits = std::all_of(
          text.definitions.begin(), text.definitions.end(), [&](const std::string& one) {
            return std::find(given.begin(), given.end(), one) != given.end();
          });
      if (!fits) continue;
      if (mine.text == nullptr || text.definitions.size() > mine.text->definitions.size())
        mine.text = &text;
    }
    // A program that is no job's, such as one that all variants share.
    if (mine.text == nullptr) {
      self.lacking_.insert(lacking.begin(), lacking.end());
      return status;
    }
    const std::string counted =
        prelude(self.shared_, mine.text->regions.all.size()) + mine.text->regions.counted + "\n";
    const char* text = counted.c_str();
    cl_int created = CL_SUCCESS;
    mine.program =
        self.original_->clCreateProgramWithSource(self.context_, 1, &text, nullptr, &created);
    if (mine.program == nullptr ||
        self.original_->clBuildProgram(mine.program, count, devices, options, nullptr, nullptr) !=
            CL_SUCCESS) {
      std::string log(20000, '\0');
      if (mine.program != nullptr && count > 0) {
        self.original_->clGetProgramBuildInfo(mine.program, devices[0], CL_PROGRAM_BUILD_LOG,
                                              log.size(), log.data(), nullptr);
      }
      self.fail_with("the text with counters does not build: " +
                     std::string(log.c_str()).substr(0, 300));
    }
    return status;
  }

  static cl_kernel CL_API_CALL create_kernel(cl_program program, const char* name, cl_int* status) {
    Counter& self = *current_;
    const auto found = self.programs_.find(program);
    const bool replaced = found != self.programs_.end() && found->second.program != nullptr;
    const cl_kernel kernel =
        self.original_->clCreateKernel(replaced ? found->second.program : program, name, status);
    if (kernel != nullptr) {
      self.kernels_.erase(kernel);
      self.uncounted_[kernel] = name;
    }
    if (kernel != nullptr && replaced) self.kernels_[kernel] = found->second.text;
    return kernel;
  }

  static cl_int CL_API_CALL enqueue(cl_command_queue queue, cl_kernel kernel, cl_uint dims,
                                    const std::size_t* offset, const std::size_t* global,
                                    const std::size_t* local, cl_uint waits, const cl_event* wait,
                                    cl_event* event) {
    Counter& self = *current_;
    const auto found = self.kernels_.find(kernel);
    if (found == self.kernels_.end() || local == nullptr) {
      const auto other = self.uncounted_.find(kernel);
      if (other == self.uncounted_.end() || self.jobs_.count(other->second) > 0)
        self.fail_with("on this device the host builds it with other definitions");
      return self.original_->clEnqueueNDRangeKernel(queue, kernel, dims, offset, global, local,
                                                    waits, wait, event);
    }
    std::size_t items = 1;
    std::size_t group = 1;
    for (cl_uint d = 0; d < dims; ++d) {
      items *= global[d];
      group *= local[d];
    }
    Counted& text = *found->second;
    const std::size_t regions = text.regions.all.size();
    self.original_->clFinish(queue);
    std::vector<std::uint32_t> counters(items * regions, 0);
    self.shared_.counters = counters.data();
    const cl_int status = self.original_->clEnqueueNDRangeKernel(queue, kernel, dims, offset,
                                                                 global, local, waits, wait, event);
    self.original_->clFinish(queue);
    self.shared_.counters = nullptr;
    if (status != CL_SUCCESS) return status;
    for (const unsigned wave : kWaves) {
      std::vector<double>& sums = text.by_wave[wave];
      sums.resize(regions, 0.0);
      for (std::size_t first = 0; first < items; first += group) {
        for (std::size_t lane = 0; lane < group; lane += wave) {
          const std::size_t end = std::min<std::size_t>(group, lane + wave);
          for (std::size_t r = 0; r < regions; ++r) {
            std::uint32_t most = 0;
            for (std::size_t i = lane; i < end; ++i)
              most = std::max(most, counters[(first + i) * regions + r]);
            sums[r] += most;
          }
        }
      }
    }
    return status;
  }

  static std::string prelude(const Shared& shared, std::size_t regions) {
    return text(
        "void clcook_count(uint region) {\n"
        "  size_t group = get_group_id(0) + get_num_groups(0) * (get_group_id(1) + "
        "get_num_groups(1) * get_group_id(2));\n"
        "  size_t item = get_local_id(0) + get_local_size(0) * (get_local_id(1) + "
        "get_local_size(1) * get_local_id(2));\n"
        "  size_t size = get_local_size(0) * get_local_size(1) * get_local_size(2);\n"
        "  __global uint* counters = *(__global uint* __global*)",
        reinterpret_cast<std::uintptr_t>(std::addressof(shared)),
        "UL;\n"
        "  counters[(group * size + item) * ",
        regions,
        "UL + region] += 1;\n"
        "}\n"
        "#define CLCOOK_COUNT(region) clcook_count(region)\n");
  }

  void fail_with(const std::string& why) {
    if (problem_.empty()) problem_ = why;
  }

  static inline Counter* current_ = nullptr;
  std::vector<Counted>& texts_;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  cl_icd_dispatch* original_ = nullptr;
  cl_icd_dispatch table_{};
  Shared shared_;
  std::map<cl_program, Replacement> programs_;
  std::set<std::string> lacking_;  // definitions that programs lack to be a job's
  std::set<std::string> given_;    // definitions that any program has
  std::set<std::string> jobs_;     // the kernels that are asked about
  std::map<cl_kernel, Counted*> kernels_;
  std::map<cl_kernel, std::string> uncounted_;  // all, by name
  std::string problem_;
};

// A bench shape, made so small that a CPU counts it in seconds. Trip counts and data are those of
// the large one.
Params small_shape(Params shape) {
  struct Most {
    const char* name;
    std::int64_t value;
  };
  for (const Most& one : {Most{"width", 512},
                          {"height", 256},
                          {"pixels", 1 << 17},
                          {"count", 1 << 16},
                          {"texels", 1 << 16},
                          {"items", 1 << 16},
                          {"patches", 1 << 13},
                          {"vertices", 4096},
                          {"instances", 16},
                          {"islands", 32}}) {
    if (shape.integer(one.name, 0) > one.value) shape.set(one.name, one.value);
  }
  return shape;
}

// What a shape's sizes come to: the same for all variants of a recipe.
double outputs_of(const Recipe& recipe, const Params& shape) {
  const auto product = [&](std::initializer_list<const char*> names) -> double {
    double out = 1;
    for (const char* name : names) {
      const std::int64_t value = shape.integer(name, 0);
      if (value <= 0) return 0.0;
      out *= static_cast<double>(value);
    }
    return out;
  };
  for (const std::initializer_list<const char*> names :
       {std::initializer_list<const char*>{"width", "height"},
        {"pixels", "height"},
        {"pixels"},
        {"count"},
        {"texels"},
        {"items"},
        {"patches"},
        {"vertices", "instances"},
        {"islands"}}) {
    if (const double value = product(names); value > 0) return value;
  }
  fail(Errc::invalid_argument, recipe.name, "the shape names no size: " + shape.str());
}

}  // namespace

std::string write_counts(const CountsFile& counts) {
  using nlohmann::json;
  std::string out = text("{\n \"format\": ", kCountsFormat, ",\n \"kernels\": {");
  bool first = true;
  for (const auto& [name, one] : counts.kernels) {
    out += std::string(first ? "" : ",") + "\n  " + json(name).dump() + ": {\"source\": \"" +
           one.source + "\", \"signature\": \"" + one.signature +
           text("\", \"outputs\": ", static_cast<long long>(one.outputs));
    for (const auto& [wave, values] : one.by_wave) {
      out += text(",\n   \"", wave, "\": [");
      for (std::size_t i = 0; i < values.size(); ++i)
        out += text(i == 0 ? "" : ",", static_cast<long long>(values[i]));
      out += "]";
    }
    out += "}";
    first = false;
  }
  return out + "\n },\n \"shapes\": " + json(counts.shapes).dump(2) +
         ",\n \"uncounted\": " + json(counts.uncounted).dump(2) + "\n}\n";
}

CountsFile read_counts(const std::string& content, const std::string& path) {
  using nlohmann::json;
  const std::string advice = "; record it again with: clcook isa --count";
  try {
    const json all = json::parse(content);
    if (all.at("format").get<int>() != kCountsFormat) {
      fail(Errc::io, path,
           text("the counts have format ", all.at("format").dump(), ", this program reads ",
                kCountsFormat, advice));
    }
    CountsFile out;
    for (const auto& [name, fields] : all.at("kernels").items()) {
      KernelCounts& one = out.kernels[name];
      one.source = fields.at("source").get<std::string>();
      one.signature = fields.at("signature").get<std::string>();
      one.outputs = fields.at("outputs").get<double>();
      for (const unsigned wave : kWaves)
        one.by_wave[wave] = fields.at(std::to_string(wave)).get<std::vector<double>>();
    }
    out.shapes = all.at("shapes").get<std::map<std::string, std::string>>();
    out.uncounted = all.at("uncounted").get<std::map<std::string, std::string>>();
    return out;
  } catch (const json::exception& error) {
    fail(Errc::io, path, std::string("not a file of counts (") + error.what() + ")" + advice);
  }
}

Regions regions_of_job(const Job& job, const Toolchain& tools, const DiskCache& cache) {
  return regions_of(preprocess(job, tools, cache));
}

std::string source_hash(const Regions& regions) { return hex(regions.plain); }
std::string signature_hash(const Regions& regions) { return hex(regions.signature()); }

Runtime counting_runtime(const std::string& device) {
  PickOptions options;
  options.runtime.disk_cache = DiskCache();  // nothing of this is anyone else's
  const Runtime runtime = Runtime::pick(device.empty() ? "pocl" : device, options);
  if (runtime.info().gpu || runtime.info().platform.find("Portable") == std::string::npos) {
    fail(Errc::unsupported, "clcook isa --count",
         "kernels are counted on PoCL, which runs them in this process; chosen is " +
             runtime.info().name);
  }
  return runtime;
}

namespace {

// The jobs are the variant's for `large`.
void count_jobs(const std::string& device, const Recipe& recipe, const VariantInfo& variant,
                const std::vector<Job>& jobs, const Params& large, const Toolchain& tools,
                const DiskCache& cache, CountsFile& out) {
  Params tune = combinations(variant.tunes).front();
  const Params shape = small_shape(large);
  std::vector<Counted> texts;
  std::vector<std::size_t> text_of;
  for (bool again = false;; again = true) {
    texts.clear();
    text_of.clear();
    std::string why;
    try {
      for (const Job& job : jobs) {
        const std::vector<std::string> own = definitions(job.options);
        const auto same = std::find_if(texts.begin(), texts.end(), [&](const Counted& one) {
          return one.source == job.source && one.definitions == own;
        });
        text_of.push_back(static_cast<std::size_t>(same - texts.begin()));
        if (same == texts.end())
          texts.push_back({job.source, own, regions_of_job(job, tools, cache), {}});
      }
      // A runtime remembers programs, and would not build those of another call again.
      const Runtime runtime = counting_runtime(device);
      const Counter counter(runtime, texts, jobs);
      const std::unique_ptr<Case> problem = recipe.make(runtime, shape, 1);
      problem->prepare(variant.name, tune);
      const cl::Event uploaded = problem->upload({});
      problem->run({uploaded}).wait();
      why = counter.problem();
      // A default that hangs on the device: asked for by name, it is that of the others.
      const std::string prefix = "-DCLCOOK_" + upper(recipe.name) + "_";
      for (const std::string& one : counter.lacking()) {
        const std::size_t equals = one.find('=');
        if (one.rfind(prefix, 0) != 0 || equals == std::string::npos) continue;
        const std::string name = one.substr(prefix.size(), equals - prefix.size());
        const std::string axis = clcook::detail::lower(name);
        Params asked = tune;
        asked.set(axis, *Params::parse("v" + one.substr(equals)).find("v"));
        try {
          recipe.units(variant.name, asked, shape, DeviceInfo{});
        } catch (const Error&) {
          continue;  // no axis of a tune
        }
        tune = asked;
      }
    } catch (const Error& error) {
      if (error.code == Errc::io) throw;
      why = error.what();
    }
    if (why.empty()) break;
    if (again || tune == combinations(variant.tunes).front()) {
      for (const Job& job : jobs) {
        out.kernels.erase(job.name());
        out.uncounted[job.name()] = why.substr(0, why.find('\n'));
      }
      return;
    }
  }
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const Counted& text = texts[text_of[i]];
    const std::string name = jobs[i].name();
    out.kernels.erase(name);
    out.uncounted.erase(name);
    KernelCounts& one = out.kernels[name];
    one = {source_hash(text.regions), signature_hash(text.regions), outputs_of(recipe, shape),
           text.by_wave};
    // A kernel that this problem does without.
    for (const unsigned wave : kWaves) one.by_wave[wave].resize(text.regions.all.size(), 0.0);
  }
}

// The first bench shape that is a problem of the variant's; the first of all where none is.
const Params& served_shape(const Runtime& runtime, const Recipe& recipe,
                           const VariantInfo& variant) {
  for (const Params& shape : recipe.bench_shapes) {
    const Offer offer = recipe.offer(runtime, variant.name, {}, small_shape(shape));
    if (offer.can() || offer.lacks != Lacks::problem) return shape;
  }
  return recipe.bench_shapes.empty() ? recipe.quick_shape : recipe.bench_shapes.front();
}

}  // namespace

void count_variant(const std::string& device, const Recipe& recipe, const VariantInfo& variant,
                   const Toolchain& tools, const DiskCache& cache, CountsFile& out) {
  const Target target = parse_target("x86-64", tools);
  const auto count = [&](const VariantInfo& one, const std::vector<Job>& jobs,
                         const Params& shape) {
    count_jobs(device, recipe, one, jobs, shape, tools, cache, out);
  };
  const std::string name = recipe.name + "/" + variant.name;
  const std::vector<Job> plain =
      jobs_of(recipe, variant, combinations(variant.tunes).front(), false, target);
  const Params& shape = served_shape(counting_runtime(device), recipe, variant);
  out.shapes.erase(name);
  if (recipe.bench_shapes.empty() || shape == recipe.bench_shapes.front())
    return count(variant, plain, shape);
  out.shapes[name] = shape.str();
  for (const Job& job : plain) {
    out.kernels.erase(job.name());
    out.uncounted[job.name()] = "the recipe's first bench shape is none that it serves";
  }
  for (const VariantInfo* one : {&recipe.baseline(), &variant})
    count(*one, jobs_of(recipe, *one, shape, target), shape);
}

std::vector<Job> jobs_elsewhere(const Recipe& recipe, const VariantInfo& variant,
                                const std::string& of, const CountsFile& counts,
                                const Target& target) {
  const auto found = counts.shapes.find(recipe.name + "/" + of);
  if (found == counts.shapes.end()) return {};
  for (const Params& shape : recipe.bench_shapes) {
    if (shape.str() == found->second) return jobs_of(recipe, variant, shape, target);
  }
  return {};
}

bool is_stale(const Job& job, const CountsFile& counts, const Toolchain& tools,
              const DiskCache& cache) {
  const auto found = counts.kernels.find(job.name());
  if (found == counts.kernels.end()) return false;
  Job generic = job;
  generic.target = parse_target("x86-64", tools);
  generic.options = job.counted_options;
  return source_hash(regions_of_job(generic, tools, cache)) != found->second.source;
}

Weighing weigh_job(const Job& job, const Measured& measured, const CountsFile& counts,
                   const Toolchain& tools, const DiskCache& cache) {
  Weighing out;
  const auto found = counts.kernels.find(job.name());
  if (found == counts.kernels.end()) {
    const auto reason = counts.uncounted.find(job.name());
    out.why = reason == counts.uncounted.end() ? "it was not counted" : reason->second;
    return out;
  }
  try {
    if (is_stale(job, counts, tools, cache)) {
      out.why = "the kernel has changed since it was counted";
      return out;
    }
    const Regions regions = regions_of_job(job, tools, cache);
    if (signature_hash(regions) != found->second.signature) {
      out.why = "its code for this target has other branches than what was counted";
      return out;
    }
    Job plain = job;
    plain.source = regions.plain;
    plain.remarks = true;
    const Compiled compiled = compile(plain, tools, cache);
    if (!compiled.problem.empty()) {
      out.why = "without macros it does not compile: " + compiled.problem;
      return out;
    }
    const std::string& assembly =
        measured.dialect == Dialect::sass ? compiled.sass : compiled.assembly;
    const Listing listing = read_listing(measured.dialect, assembly, job.kernel);
    RegionCounts often;
    often.wave = job.target.vendor == Vendor::x86 ? 1 : wave_size(job.target);
    often.of = found->second.by_wave.at(static_cast<unsigned>(often.wave));
    often.outputs = found->second.outputs;
    out.weighted = weigh(measured.dialect, listing, regions, often, read_loop_remarks(compiled.log),
                         job.kernel);
  } catch (const std::runtime_error& error) {
    out.why = error.what();
  }
  return out;
}

}  // namespace clcook::isa
