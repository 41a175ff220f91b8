// The compilers behind `clcook isa`: finding them, running them, and remembering what they said.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <clcook/core/cache.hpp>
#include <clcook/registry/recipe.hpp>

#include "isa/listing.hpp"
#include "isa/resources.hpp"
#include "isa/targets.hpp"

namespace clcook::isa {

// What is installed. The environment may name others: CLCOOK_CLANG, CLCOOK_LIBCLC (a folder),
// CLCOOK_PTXAS, CLCOOK_NVDISASM.
struct Toolchain {
  std::string clang;
  std::string clang_line;     // first line of --version
  std::string clang_version;  // "19.1.7"
  std::string libclc;         // folder
  std::string ptxas;          // empty: not found
  std::string ptxas_version;
  std::string nvdisasm;
  std::string nvdisasm_version;
};

// Throws Error(unsupported) that says what to install.
Toolchain find_toolchain();

// Throws Error(invalid_argument) that lists the targets.
Target parse_target(const std::string& name, const Toolchain& tools);

// One kernel for one machine.
struct Job {
  std::string recipe;
  std::string variant;
  std::string tune;       // "group=256", empty for the default
  std::string needs;      // of the variant
  std::size_t unit = 0;   // position among the variant's kernels
  std::size_t units = 1;  // how many kernels the variant has
  std::string label;
  std::string kernel;
  std::string source;                  // flattened
  std::string options;                 // as the host passes them to the OpenCL compiler
  std::vector<std::string> arguments;  // of the preprocessor alone: definitions
  unsigned group = 0;                  // the group's size that the kernel requires; 0: any
  std::size_t local_bytes = 0;         // of its __local arguments, where they are known
  bool own_language = false;           // the kernel's own options have a -cl-std
  Target target;

  // "line_blur/naive", "line_blur/naive group=64", "line_blur/naive#2"
  std::string name() const;
  // "CL1.2"
  std::string language() const;
};

// A hash of all that decides the gate's figures: source, options, target, compiler and library.
// `library` is the hash of the libclc that counts, "" for that of library_of().
std::string job_key(const Job& job, const Toolchain& tools, const std::string& library = "");
std::string library_of(const Target& target, const Toolchain& tools);

struct Compiled {
  std::string problem;      // the compiler's first complaint; empty: it compiled
  bool lacks_code = false;  // which is that it has no code for what the kernel does
  std::string log;          // all it said
  std::string assembly;     // AMD, x86 or PTX text
  std::string sass;         // NVIDIA machine code as text, where nvdisasm is installed
  std::string ptxas_log;
  std::string ptxas_problem;
  long bytes = -1;  // x86 and NVIDIA: from the object file
  bool cached = false;
};

// The first error in a compiler's messages.
std::string first_error(const std::string& log);

// Compiles, or takes the result of an equal compilation from the cache. Safe from several threads.
Compiled compile(const Job& job, const Toolchain& tools, const DiskCache& cache);

// The job's source without macros and conditional parts, for its target. Throws Error(build_failed).
// Remembered like compilations, and as safe.
// `places`: with marks that tell file and line.
std::string preprocess(const Job& job, const Toolchain& tools, const DiskCache& cache,
                       bool places = false);

// The figures of one job.
struct Measured {
  Job job;
  std::string problem;
  Dialect dialect = Dialect::amdgcn;  // of the counts below; ptx: not yet machine code
  Counts counts;
  Counts ptx;  // NVIDIA: the PTX counts, also where there are others
  Resources resources;
  std::vector<std::string> notes;
  bool cached = false;
};

Measured measure(const Job& job, const Toolchain& tools, const DiskCache& cache);

// All jobs in order, as many at a time as the machine has cores. The first exception is thrown when all
// threads have stopped. From when `stop` says so no job begins, and the result has those that were
// done; the cache has them too.
std::vector<Measured> measure_all(const std::vector<Job>& jobs, const Toolchain& tools,
                                  const DiskCache& cache, const std::function<bool()>& stop);

}  // namespace clcook::isa
