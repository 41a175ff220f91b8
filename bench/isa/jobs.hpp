// What to compile for `clcook isa` and `clcook occupancy`, and asking a live driver.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <clcook/core/cache.hpp>
#include <clcook/core/runtime.hpp>
#include <clcook/registry/recipe.hpp>

#include "isa/tools.hpp"

namespace clcook::isa {

// Where compilations are remembered.
DiskCache isa_cache();

// The recipe's first bench shape, else its first test shape: what its kernels are compiled for.
const Params& shape_of(const Recipe& recipe);

// A device of the target, as far as plans ask.
DeviceInfo device_of(const Target& target);

// The kernels of one variant with one tuning, for the recipe's shape_of(), as the host
// compiles them for such a device; `target` is empty for a live one.
std::vector<Job> jobs_of(const Recipe& recipe, const VariantInfo& variant, const Params& tune,
                         bool name_tune, const DeviceInfo& device, const Target& target);

// A file that is no recipe's.
struct KernelFile {
  std::string path;
  std::vector<std::string> definitions;  // NAME or NAME=VALUE
  std::vector<std::string> includes;     // folders
  std::string kernel;                    // this kernel alone; empty: all
  std::string language;                  // "CL2.0"; empty: the highest at which it compiles
};

// What -cl-std may say: "CL1.0" to "CL3.0".
const std::vector<std::string>& languages();

// Whether what a user names is a file and no recipe.
bool is_file(const std::string& name);

// The kernels of a file, preprocessed for the target. Headers are found as by Source::load(). Where the
// compiler has no code for some kernel, each is alone in its program. Throws Error(io) without such a
// file, Error(build_failed) with the compiler's words where it is not OpenCL C or no kernel compiles,
// Error(invalid_argument) for a kernel that it lacks.
std::vector<Job> jobs_of(const KernelFile& file, const Target& target, const Toolchain& tools,
                         const DiskCache& cache);

// Puts the kernels of a description at a level of the language: `language`, or where that is empty
// the highest at which they compile; the highest of all where they do not. Those whose own options
// have one keep it. A kernel is alone in its program where the compiler has no code for another.
void set_language(std::vector<Job>& jobs, const std::string& language, const Toolchain& tools,
                  const DiskCache& cache);

// What the driver's compiler says about a kernel.
struct Live {
  Job job;
  std::string problem;
  Resources resources;
};

struct LiveDevice {
  DeviceInfo info;
  std::string arch;  // "sm_90"
  std::vector<Live> rows;
};

// The kernels `jobs_for` it as the driver of an NVIDIA GPU builds them: of the device `spec`, or of
// the one that CLCOOK_DEVICE names. No value when that is no such GPU; where it is `required`, an
// Error on behalf of `who`.
using JobsFor = std::function<std::vector<Job>(const DeviceInfo&)>;
std::optional<LiveDevice> ask_driver(const std::string& spec, bool required, const std::string& who,
                                     const JobsFor& jobs_for);

}  // namespace clcook::isa
