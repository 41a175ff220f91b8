// A recorded call: the launches of one call of an operation with all that they are made of, in a
// folder, so that something that is no OpenCL can run them again.
#pragma once

#include <array>
#include <clcook/core/launch.hpp>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "results.hpp"

namespace clcook::counters {

// A new empty folder, which goes with this object. It lies in that of temporary files (TMPDIR).
class Folder {
 public:
  Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder();

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
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

// What a buffer holds, as files of the folder.
struct Content {
  std::size_t buffer = 0;
  std::string before;  // the launch
  std::string after;   // the same name: it is the same
};

struct RecordedLaunch {
  std::string kernel;
  std::string program;  // file of the folder: the program's binary as the driver gives it
  Launch launch;
  std::vector<Argument> arguments;
  std::vector<Content> contents;  // of the buffers among the arguments, each once
};

struct Recording {
  std::string device;                // its PCI address, "0000:1b:00.0"; empty: not known
  std::vector<std::size_t> buffers;  // bytes of each
  std::vector<RecordedLaunch> launches;
};

// FOLDER/recording.json. Reading throws Error(io) that names the file.
void write_recording(const Recording& recording, const std::filesystem::path& folder);
Recording read_recording(const std::filesystem::path& folder);

// A whole file. Throws Error(io).
std::vector<unsigned char> read_bytes(const std::filesystem::path& path);

// Records the launches of this thread while it lives. It waits for each of them, so a launch must
// not wait for something that comes later. Throws Error(unsupported) for what cannot be recorded:
// images, samplers, and contents of more than `most_bytes` in all.
class Recorder : public clcook::detail::LaunchWatch {
 public:
  Recorder(const std::filesystem::path& folder, std::uint64_t most_bytes);

  void before(const Runtime& runtime, const Kernel& kernel, const Launch& launch,
              const std::vector<clcook::detail::LaunchArgument>& arguments) override;
  void after(const cl::Event& event) override;

  const Recording& recording() const { return recording_; }

 private:
  // What a buffer was last seen to hold.
  struct Seen {
    cl::Buffer buffer;  // keeps the handle from being another buffer's
    std::vector<unsigned char> bytes;
    std::string file;
  };

  // Which buffer of the recording it is, or is a part of.
  Argument argument_of(cl_mem buffer);
  // The name of the file with what the buffer holds.
  std::string save(std::size_t buffer);

  std::filesystem::path folder_;
  std::uint64_t most_bytes_;
  std::uint64_t written_ = 0;
  std::size_t files_ = 0;
  cl_command_queue queue_ = nullptr;
  std::vector<Seen> seen_;
  std::map<cl_program, std::string> programs_;
  std::vector<cl::Program> kept_;
  Recording recording_;
};

// The PCI address of an NVIDIA GPU, empty for any other device.
std::string pci_address(const Runtime& runtime);

}  // namespace clcook::counters
