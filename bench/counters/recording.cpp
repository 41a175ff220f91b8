#include "counters/recording.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <clcook/core/program.hpp>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace clcook::counters {

namespace fs = std::filesystem;
using tool::Json;

namespace {

constexpr const char* kFill = "fill ";

std::string hex(const std::vector<unsigned char>& bytes) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string out;
  for (const unsigned char one : bytes) {
    out += kDigits[one >> 4];
    out += kDigits[one & 15];
  }
  return out;
}

void write_bytes(const fs::path& path, const void* bytes, std::size_t count) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(count));
  out.close();
  if (!out)
    fail(Errc::io, "write " + path.string(),
         "cannot write the file (is the disk full? TMPDIR may name another place)");
}

Json to_json(const Argument& argument) {
  switch (argument.kind) {
    case Argument::Kind::buffer:
      return {{"buffer", argument.buffer}, {"offset", argument.offset}, {"bytes", argument.bytes}};
    case Argument::Kind::local:
      return {{"local", argument.local}};
    case Argument::Kind::value:
      break;
  }
  return {{"value", hex(argument.value)}};
}

[[noreturn]] void refuse_image() {
  unsupported(Lacks::problem, "the replay under CUDA", "takes buffers and values, no images");
}

}  // namespace

Mapped::Mapped(const fs::path& path) {
  const auto refuse = [&] { fail(Errc::io, "read " + path.string(), std::strerror(errno)); };
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) refuse();
  struct stat about {};
  const bool known = fstat(file, &about) == 0;
  size_ = known ? static_cast<std::size_t>(about.st_size) : 0;
  void* const memory =
      size_ == 0 ? nullptr : mmap(nullptr, size_, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
  const int error = errno;
  close(file);
  errno = error;
  if (!known || memory == MAP_FAILED) refuse();
  data_ = static_cast<unsigned char*>(memory);
}

Mapped::~Mapped() {
  if (data_ != nullptr) munmap(data_, size_);
}

void write_recording(const Recording& recording, const fs::path& folder, const std::string& name) {
  Json buffers = Json::array();
  for (const RecordedBuffer& one : recording.buffers)
    buffers.push_back({{"bytes", one.bytes}, {"before", one.before}, {"after", one.after}});
  Json launches = Json::array();
  for (const RecordedLaunch& one : recording.launches) {
    Json arguments = Json::array();
    for (const Argument& argument : one.arguments) arguments.push_back(to_json(argument));
    launches.push_back({{"kernel", one.kernel},
                        {"program", one.program},
                        {"dims", one.launch.dims},
                        {"global", one.launch.global},
                        {"local", one.launch.local},
                        {"arguments", arguments}});
  }
  const Json all = {{"device", recording.device}, {"buffers", buffers}, {"launches", launches}};
  const std::string text = all.dump(1) + "\n";
  write_bytes(folder / (name + ".json"), text.data(), text.size());
}

Store::Store(fs::path folder, std::uint64_t most_bytes)
    : folder_(std::move(folder)), most_bytes_(most_bytes) {}

std::string Store::content(cl_command_queue queue, cl_mem buffer, std::size_t bytes) {
  if (kept_bytes_ + bytes > most_bytes_) {
    unsupported(Lacks::problem, "counters",
                clcook::text("its buffers hold more than ", most_bytes_ >> 20,
                             " MiB; --shape names a smaller problem"));
  }
  if (read_.size() < bytes) read_.resize(bytes);
  check(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, bytes, read_.data(), 0, nullptr, nullptr),
        "clEnqueueReadBuffer");
  if (std::memcmp(read_.data(), read_.data() + 1, bytes - 1) == 0)
    return clcook::text(kFill, static_cast<unsigned>(read_[0]));
  for (const auto& [known, other] : contents_) {
    if (other->size() == bytes && std::memcmp(other->data(), read_.data(), bytes) == 0)
      return known;
  }
  const std::string name = clcook::text("content", contents_.size());
  write_bytes(folder_ / name, read_.data(), bytes);
  kept_bytes_ += bytes;
  contents_.emplace_back(name, std::make_unique<Mapped>(folder_ / name));
  return name;
}

std::string Store::text(const std::string& content) {
  std::string& name = texts_[content];
  if (name.empty()) {
    name = clcook::text("text", texts_.size());
    write_bytes(folder_ / name, content.data(), content.size());
  }
  return name;
}

Argument Recorder::Running::argument_of(cl_mem buffer) {
  const auto info = [](cl_mem object, cl_mem_info what, auto& value) {
    check(clGetMemObjectInfo(object, what, sizeof value, &value, nullptr), "clGetMemObjectInfo");
  };
  cl_mem_object_type type = 0;
  info(buffer, CL_MEM_TYPE, type);
  if (type != CL_MEM_OBJECT_BUFFER) refuse_image();
  Argument out;
  out.kind = Argument::Kind::buffer;
  info(buffer, CL_MEM_SIZE, out.bytes);
  cl_mem root = nullptr;
  info(buffer, CL_MEM_ASSOCIATED_MEMOBJECT, root);
  if (root != nullptr) {
    info(buffer, CL_MEM_OFFSET, out.offset);
  } else {
    root = buffer;
  }
  while (out.buffer < buffers.size() && buffers[out.buffer]() != root) ++out.buffer;
  if (out.buffer == buffers.size()) {
    std::size_t bytes = 0;
    info(root, CL_MEM_SIZE, bytes);
    check(clFinish(queue), "clFinish");
    recording.buffers.push_back({bytes, store.content(queue, root, bytes), {}});
    buffers.emplace_back(root, true);
  }
  return out;
}

void Recorder::Running::add(const Kernel& kernel, const Launch& launch,
                            const LaunchArgument* arguments, std::size_t count) {
  using Given = LaunchArgument;
  const Runtime& runtime = kernel.runtime();
  if (launch.group_size() == 0) {
    unsupported(Lacks::problem, kernel.name(),
                "the device chooses the size of its groups, so that the launch cannot be repeated "
                "elsewhere; give the kernel a 'local'");
  }
  queue = runtime.queue()();
  if (recording.launches.empty()) recording.device = pci_address(runtime);
  RecordedLaunch one;
  one.kernel = kernel.name();
  one.launch = launch;
  for (std::size_t i = 0; i < count; ++i) {
    const Given& given = arguments[i];
    Argument& argument = one.arguments.emplace_back();
    const auto* const bytes = static_cast<const unsigned char*>(given.value);
    switch (given.kind) {
      case Given::Kind::value:
        argument.value.assign(bytes, bytes + given.bytes);
        break;
      case Given::Kind::local:
        argument.kind = Argument::Kind::local;
        argument.local = given.bytes;
        break;
      case Given::Kind::sampler:
        refuse_image();
      case Given::Kind::memory: {
        cl_mem buffer = nullptr;
        std::memcpy(&buffer, given.value, sizeof buffer);
        argument = argument_of(buffer);
        break;
      }
    }
  }
  cl_program program = nullptr;
  check(clGetKernelInfo(kernel.handle()(), CL_KERNEL_PROGRAM, sizeof program, &program, nullptr),
        "clGetKernelInfo");
  std::size_t i = 0;
  while (i < programs.size() && programs[i]() != program) ++i;
  if (i == programs.size()) {
    programs.emplace_back(program, true);
    program_files.push_back(store.text(program_binary(programs.back(), runtime.device())));
  }
  one.program = program_files[i];
  recording.launches.push_back(std::move(one));
}

void Recorder::before(const Kernel& kernel, const Launch& launch, const LaunchArgument* arguments,
                      std::size_t count) {
  if (running_ != nullptr) running_->add(kernel, launch, arguments, count);
}

Recording Recorder::record(Store& store, const std::function<void()>& call) {
  Running now{store, nullptr, {}, {}, {}, {}};
  running_ = &now;
  try {
    call();
  } catch (...) {
    running_ = nullptr;
    throw;
  }
  running_ = nullptr;
  if (now.queue != nullptr) check(clFinish(now.queue), "clFinish");
  for (std::size_t i = 0; i < now.buffers.size(); ++i) {
    RecordedBuffer& one = now.recording.buffers[i];
    one.after = store.content(now.queue, now.buffers[i](), one.bytes);
  }
  return std::move(now.recording);
}

std::string pci_address(const Runtime& runtime) {
  // Of the extension cl_nv_device_attribute_query.
  constexpr cl_device_info kBus = 0x4008;
  constexpr cl_device_info kSlot = 0x4009;
  constexpr cl_device_info kDomain = 0x400A;
  cl_uint bus = 0;
  cl_uint slot = 0;
  cl_uint domain = 0;
  if (runtime.info().platform.find("NVIDIA") == std::string::npos ||
      clGetDeviceInfo(runtime.device()(), kBus, sizeof bus, &bus, nullptr) != CL_SUCCESS ||
      clGetDeviceInfo(runtime.device()(), kSlot, sizeof slot, &slot, nullptr) != CL_SUCCESS)
    return {};
  clGetDeviceInfo(runtime.device()(), kDomain, sizeof domain, &domain, nullptr);
  char out[32];
  std::snprintf(out, sizeof out, "%04x:%02x:%02x.%x", domain, bus, slot >> 3, slot & 7);
  return out;
}

}  // namespace clcook::counters
