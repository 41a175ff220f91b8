// Recorded calls: the launches of a call of an operation with all that they are made of, in a
// folder, so that something that is no OpenCL can run them again.
#pragma once

#include <array>
#include <clcook/core/launch.hpp>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "results.hpp"

namespace clcook::counters {

// A file as memory to read. Throws Error(io) that names the file.
class Mapped {
 public:
  explicit Mapped(const std::filesystem::path& path);
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  ~Mapped();

  unsigned char* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  unsigned char* data_ = nullptr;
  std::size_t size_ = 0;
};

struct Argument {
  enum class Kind { value, buffer, local };
  Kind kind = Kind::value;
  std::vector<unsigned char> value;  // of a value, its bytes
  std::size_t buffer = 0;            // of a buffer: which of Recording::buffers,
  std::size_t offset = 0;            // the byte of it that is the argument's first,
  std::size_t bytes = 0;             // and how many are its own
  std::size_t local = 0;             // bytes of local memory
};

// Contents are named: "fill 205" is that byte all over, anything else a file of the folder.
struct RecordedBuffer {
  std::size_t bytes = 0;
  std::string before;  // the first launch that has it
  std::string after;   // the last launch of the call
};

struct RecordedLaunch {
  std::string kernel;
  std::string program;  // file of the folder: the program's binary as the driver gives it
  Launch launch;
  std::vector<Argument> arguments;
};

// One call.
struct Recording {
  std::string device;  // its PCI address, "0000:1b:00.0"; empty: not known
  std::vector<RecordedBuffer> buffers;
  std::vector<RecordedLaunch> launches;
};

// Writes FOLDER/NAME.json, which cuda.py reads.
void write_recording(const Recording& recording, const std::filesystem::path& folder,
                     const std::string& name);

// The files that the recordings of a folder share: equal contents are kept once.
class Store {
 public:
  // Takes at most `most_bytes` of contents.
  Store(std::filesystem::path folder, std::uint64_t most_bytes);

  const std::filesystem::path& folder() const { return folder_; }

  // The name of what a buffer holds. Throws Error(unsupported) where that is too much.
  std::string content(cl_command_queue queue, cl_mem buffer, std::size_t bytes);
  // The name of a file with this text.
  std::string text(const std::string& content);

 private:
  std::filesystem::path folder_;
  std::uint64_t most_bytes_;
  std::uint64_t kept_bytes_ = 0;
  std::vector<unsigned char> read_;  // from a buffer last; it only grows
  std::vector<std::pair<std::string, std::unique_ptr<Mapped>>> contents_;
  std::map<std::string, std::string> texts_;  // names by text
};

// Records calls of what is made with a runtime whose hook it is, one thread's at a time.
class Recorder : public LaunchHook {
 public:
  // The launches of `call`, and what their buffers hold when they are done. Throws
  // Error(unsupported) for what cannot be recorded: images, samplers, groups whose size the device
  // chooses, and contents that are too large.
  Recording record(Store& store, const std::function<void()>& call);

  void before(const Kernel& kernel, const Launch& launch, const LaunchArgument* arguments,
              std::size_t count) override;
  void after(const std::string&, const cl::Event&) override {}

 private:
  // What is being recorded.
  struct Running {
    Store& store;
    cl_command_queue queue = nullptr;
    std::vector<cl::Buffer> buffers;
    std::vector<cl::Program> programs;
    std::vector<std::string> program_files;
    Recording recording;

    Argument argument_of(cl_mem buffer);
    void add(const Kernel& kernel, const Launch& launch, const LaunchArgument* arguments,
             std::size_t count);
  };
  Running* running_ = nullptr;  // null between calls
};

// The PCI address of an NVIDIA GPU, empty for any other device.
std::string pci_address(const Runtime& runtime);

}  // namespace clcook::counters
