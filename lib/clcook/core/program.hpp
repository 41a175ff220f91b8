// Building programs, and remembering them in memory and on disk.
#pragma once

#include <array>
#include <atomic>
#include <clcook/core/cache.hpp>
#include <clcook/core/device.hpp>
#include <clcook/core/error.hpp>
#include <clcook/core/file.hpp>
#include <clcook/core/inline.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace clcook {

// The compiler's text for a program, also after a successful build.
CLCOOK_INLINE std::string build_log(const cl::Program& program, const cl::Device& device);

// The device's binary of a built program, empty when the implementation gives none.
CLCOOK_INLINE std::string program_binary(const cl::Program& program, const cl::Device& device);

// The programs of one context. One build per key: threads that ask for the same program while it is
// being built wait for it. Safe from several threads.
//
// A program that was built from source goes to the disk. PoCL makes the machine code of a work-group at
// its first launch, and keeps a program's first answer to CL_PROGRAM_BINARIES. So there the program is
// built once more when its kernels have run, from PoCL's own cache, and takes the place of the first:
// before one of them is launched with a work-group again, in store_ended(), or with the cache, if all
// its launches have ended by then.
class ProgramCache {
  struct Unstored;

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
  // Stores what has run since. Not in a fork of the process that made the cache, and not where a
  // static object's end brings it about: the driver's own may be gone then.
  ~ProgramCache();

  // Returns the built program of a self-contained source text. `what` names it in errors.
  // Throws Error(build_failed) with the compiler's log.
  cl::Program get(const cl::Device& device, const DeviceInfo& info, const std::string& source,
                  const std::string& options, const std::string& what);

  // The same anew, for a text with includes that only the compiler follows: what they bring may be
  // another text next time.
  cl::Program build(const cl::Device& device, const DeviceInfo& info, const std::string& source,
                    const std::string& options, const std::string& what);

  Stats stats() const;

  // A launch of Kernel: made before the enqueueing, told the event behind it. While a program is to be
  // stored again, launches wait for each other; else one costs the load of a flag. Never throws.
  class Launching {
   public:
    Launching(const ProgramCache& cache, const cl::Kernel& kernel, const std::string& name,
              const std::array<std::size_t, 3>& group) {
      if (cache.has_unstored_.load(std::memory_order_relaxed)) begin(cache, kernel, name, group);
    }
    void launched(const cl::Event& event) {
      if (of_ != nullptr) end(event);
    }

   private:
    void begin(const ProgramCache& cache, const cl::Kernel& kernel, const std::string& name,
               const std::array<std::size_t, 3>& group);
    void end(const cl::Event& event);

    std::unique_lock<std::mutex> lock_;
    Unstored* of_ = nullptr;
  };
  // Stores again the programs whose launches have ended: for who has waited for them and may not live
  // to see the cache go. Never throws.
  void store_ended() const;

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

  // A program that is to be stored again when it has run.
  struct Unstored {
    cl::Program program;
    cl::Device device;
    std::string source;
    std::string options;
    std::string key;
    std::vector<std::pair<std::string, std::array<std::size_t, 3>>> launched;  // kernel and group
    std::deque<cl::Event> running;  // of its launches, but for those that have ended

    bool have_ended();
  };

  void store(const Unstored& one) const;
  // Whether this thread has used a cache and goes on. A thread that ends the process has its
  // thread_local objects destroyed before any static one.
  static bool& thread_goes_on();
  static void mark_thread();

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
  unsigned long process_ = detail::process_id();
  mutable std::atomic<bool> has_unstored_{false};
  mutable std::mutex unstored_mutex_;
  mutable std::vector<Unstored> unstored_;
};

}  // namespace clcook

#if CLCOOK_DEFINITIONS
#include <clcook/core/impl/program.hpp>
#endif
