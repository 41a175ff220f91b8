// Building programs, and remembering them in memory and on disk.
#pragma once

#include <clcook/core/cache.hpp>
#include <clcook/core/device_info.hpp>
#include <clcook/core/error.hpp>
#include <clcook/core/inline.hpp>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace clcook {

// The compiler's text for a program, also after a successful build.
CLCOOK_INLINE std::string build_log(const cl::Program& program, const cl::Device& device);

// The device's binary of a built program, empty when the implementation gives none.
CLCOOK_INLINE std::string program_binary(const cl::Program& program, const cl::Device& device);

// The programs of one context. One build per key: threads that ask for the same program while it is
// being built wait for it. Safe from several threads.
//
// A program that was built from source goes to the disk.
class ProgramCache {
 public:
  // How requests were answered so far.
  struct Stats {
    std::uint64_t from_memory = 0;
    std::uint64_t from_disk = 0;
    std::uint64_t from_source = 0;
  };

  ProgramCache(cl::Context context, DiskCache disk);
  ProgramCache(const ProgramCache&) = delete;
  ProgramCache& operator=(const ProgramCache&) = delete;

  // Returns the built program of a self-contained source text. `what` names it in errors.
  // Throws Error(build_failed) with the compiler's log.
  cl::Program get(const cl::Device& device, const DeviceInfo& info, const std::string& source,
                  const std::string& options, const std::string& what);

  // The same anew, for a text with includes that only the compiler follows: what they bring may be
  // another text next time.
  cl::Program build(const cl::Device& device, const DeviceInfo& info, const std::string& source,
                    const std::string& options, const std::string& what);

  Stats stats() const;

  const DiskCache& disk() const { return disk_; }
  // Why the disk was not used when the cache was made, as a line for people; empty: it was.
  const std::string& note() const { return note_; }
  const cl::Context& context() const { return context_; }

  // Everything that the binary depends on: the flattened text holds every include, the options
  // every definition.
  static std::string make_key(const DeviceInfo& info, const std::string& source,
                              const std::string& options);

 private:
  // A program, from when its build begins.
  struct Entry {
    std::mutex building;  // locked by the thread that builds it
    cl::Program program;
    std::exception_ptr error;
  };

  cl::Program load_or_build(const cl::Device& device, const DeviceInfo& info,
                            const std::string& source, const std::string& options,
                            const std::string& what);

  std::optional<cl::Program> from_binary(const cl::Device& device, const std::string& binary,
                                         const std::string& options);

  cl::Program from_source(const cl::Device& device, const DeviceInfo& info,
                          const std::string& source, const std::string& options,
                          const std::string& what);

  void count(std::uint64_t Stats::*counter);

  cl::Context context_;
  DiskCache disk_;
  std::string note_;
  mutable std::mutex mutex_;
  // By device, options and text; found by views of them.
  using Views = std::tuple<cl_device_id, std::string_view, std::string_view>;
  struct ByViews {
    using is_transparent = void;
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return Views(a) < Views(b);
    }
  };
  std::map<std::tuple<cl_device_id, std::string, std::string>, std::shared_ptr<Entry>, ByViews>
      programs_;
  Stats stats_;
};

}  // namespace clcook

#if CLCOOK_DEFINITIONS
#include <clcook/core/impl/program.hpp>
#endif
