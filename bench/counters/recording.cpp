#include "counters/recording.hpp"

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

constexpr const char* kFile = "recording.json";

std::string hex(const std::vector<unsigned char>& bytes) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string out;
  for (const unsigned char one : bytes) {
    out += kDigits[one >> 4];
    out += kDigits[one & 15];
  }
  return out;
}

std::vector<unsigned char> bytes_of(const std::string& hex) {
  std::vector<unsigned char> out;
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    out.push_back(static_cast<unsigned char>(digit(hex[i]) * 16 + digit(hex[i + 1])));
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

Argument argument_of(const Json& json) {
  Argument out;
  if (json.contains("buffer")) {
    out.kind = Argument::Kind::buffer;
    out.buffer = json.at("buffer").get<std::size_t>();
    out.offset = json.at("offset").get<std::size_t>();
    out.bytes = json.at("bytes").get<std::size_t>();
  } else if (json.contains("local")) {
    out.kind = Argument::Kind::local;
    out.local = json.at("local").get<std::size_t>();
  } else {
    out.value = bytes_of(json.at("value").get<std::string>());
  }
  return out;
}

}  // namespace

Folder::Folder() {
  std::error_code error;
  const fs::path base = fs::temp_directory_path(error);
  std::string pattern = ((error ? fs::path("/tmp") : base) / "clcook-counters-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) {
    fail(Errc::io, "create a folder like " + pattern,
         std::string(std::strerror(errno)) + "; TMPDIR may name another place");
  }
  path_ = pattern;
}

Folder::~Folder() {
  std::error_code error;
  fs::remove_all(path_, error);
}

void write_recording(const Recording& recording, const fs::path& folder) {
  Json launches = Json::array();
  for (const RecordedLaunch& one : recording.launches) {
    Json arguments = Json::array();
    for (const Argument& argument : one.arguments) arguments.push_back(to_json(argument));
    Json contents = Json::array();
    for (const Content& content : one.contents) {
      contents.push_back(
          {{"buffer", content.buffer}, {"before", content.before}, {"after", content.after}});
    }
    launches.push_back({{"kernel", one.kernel},
                        {"program", one.program},
                        {"dims", one.launch.dims},
                        {"global", one.launch.global},
                        {"local", one.launch.local},
                        {"arguments", arguments},
                        {"contents", contents}});
  }
  const Json all = {
      {"device", recording.device}, {"buffers", recording.buffers}, {"launches", launches}};
  const std::string text = all.dump(1) + "\n";
  write_bytes(folder / kFile, text.data(), text.size());
}

Recording read_recording(const fs::path& folder) {
  const fs::path path = folder / kFile;
  const std::vector<unsigned char> text = read_bytes(path);
  try {
    const Json all = Json::parse(text);
    Recording out;
    out.device = all.at("device").get<std::string>();
    out.buffers = all.at("buffers").get<std::vector<std::size_t>>();
    for (const Json& one : all.at("launches")) {
      RecordedLaunch& launch = out.launches.emplace_back();
      launch.kernel = one.at("kernel").get<std::string>();
      launch.program = one.at("program").get<std::string>();
      launch.launch.dims = one.at("dims").get<cl_uint>();
      launch.launch.global = one.at("global").get<Launch::Sizes>();
      launch.launch.local = one.at("local").get<Launch::Sizes>();
      for (const Json& argument : one.at("arguments"))
        launch.arguments.push_back(argument_of(argument));
      for (const Json& content : one.at("contents")) {
        launch.contents.push_back({content.at("buffer").get<std::size_t>(),
                                   content.at("before").get<std::string>(),
                                   content.at("after").get<std::string>()});
      }
    }
    for (const RecordedLaunch& launch : out.launches) {
      bool known = launch.launch.dims >= 1 && launch.launch.dims <= 3;
      for (const std::size_t size : launch.launch.local) known = known && size > 0;
      for (const Content& one : launch.contents) known = known && one.buffer < out.buffers.size();
      for (const Argument& one : launch.arguments) {
        if (one.kind == Argument::Kind::buffer)
          known = known && one.buffer < out.buffers.size() &&
                  one.offset <= out.buffers[one.buffer] &&
                  one.bytes <= out.buffers[one.buffer] - one.offset;
      }
      if (!known)
        fail(Errc::io, path.string(), "a launch of " + launch.kernel + " is not what is recorded");
    }
    return out;
  } catch (const Json::exception& error) {
    fail(Errc::io, path.string(), std::string("not a recording: ") + error.what());
  }
}

std::vector<unsigned char> read_bytes(const fs::path& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) fail(Errc::io, "read " + path.string(), "cannot open the file");
  std::vector<unsigned char> out(static_cast<std::size_t>(in.tellg()));
  in.seekg(0);
  in.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(out.size()));
  if (!in) fail(Errc::io, "read " + path.string(), "cannot read all of it");
  return out;
}

Recorder::Recorder(const fs::path& folder, std::uint64_t most_bytes)
    : folder_(folder), most_bytes_(most_bytes) {}

Argument Recorder::argument_of(cl_mem buffer) {
  const auto info = [](cl_mem object, cl_mem_info what, auto& value) {
    check(clGetMemObjectInfo(object, what, sizeof value, &value, nullptr), "clGetMemObjectInfo");
  };
  cl_mem_object_type type = 0;
  info(buffer, CL_MEM_TYPE, type);
  if (type != CL_MEM_OBJECT_BUFFER)
    unsupported(Lacks::problem, "counters", "images are not counted");
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
  while (out.buffer < seen_.size() && seen_[out.buffer].buffer() != root) ++out.buffer;
  if (out.buffer == seen_.size()) {
    std::size_t bytes = 0;
    info(root, CL_MEM_SIZE, bytes);
    seen_.push_back({cl::Buffer(root, true), {}, {}});
    recording_.buffers.push_back(bytes);
  }
  return out;
}

std::string Recorder::save(std::size_t buffer) {
  Seen& seen = seen_[buffer];
  const std::size_t count = recording_.buffers[buffer];
  if (written_ + count > most_bytes_) {
    unsupported(Lacks::problem, "counters",
                text("its buffers hold more than ", most_bytes_ >> 20,
                     " MiB; --shape names a smaller problem"));
  }
  std::vector<unsigned char> bytes(count);
  check(clEnqueueReadBuffer(queue_, seen.buffer(), CL_TRUE, 0, count, bytes.data(), 0, nullptr,
                            nullptr),
        "clEnqueueReadBuffer");
  if (seen.file.empty() || bytes != seen.bytes) {
    seen.file = text("content", files_++);
    seen.bytes = std::move(bytes);
    write_bytes(folder_ / seen.file, seen.bytes.data(), count);
    written_ += count;
  }
  return seen.file;
}

void Recorder::before(const Runtime& runtime, const Kernel& kernel, const Launch& launch,
                      const std::vector<clcook::detail::LaunchArgument>& arguments) {
  using Given = clcook::detail::LaunchArgument;
  queue_ = runtime.queue()();
  if (recording_.device.empty()) recording_.device = pci_address(runtime);
  check(clFinish(queue_), "clFinish");
  RecordedLaunch one;
  one.kernel = kernel.name();
  one.launch = launch;
  for (const Given& given : arguments) {
    Argument argument;
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
        unsupported(Lacks::problem, "counters", "images are not counted");
      case Given::Kind::memory: {
        cl_mem buffer = nullptr;
        std::memcpy(&buffer, given.value, sizeof buffer);
        argument = argument_of(buffer);
        bool known = false;
        for (const Content& content : one.contents) known |= content.buffer == argument.buffer;
        if (!known) one.contents.push_back({argument.buffer, save(argument.buffer), {}});
        break;
      }
    }
    one.arguments.push_back(std::move(argument));
  }
  cl_program program = nullptr;
  check(clGetKernelInfo(kernel.handle()(), CL_KERNEL_PROGRAM, sizeof program, &program, nullptr),
        "clGetKernelInfo");
  std::string& file = programs_[program];
  if (file.empty()) {
    kept_.emplace_back(program, true);
    const std::string binary = program_binary(kept_.back(), runtime.device());
    file = text("program", programs_.size());
    write_bytes(folder_ / file, binary.data(), binary.size());
  }
  one.program = file;
  recording_.launches.push_back(std::move(one));
}

void Recorder::after(const cl::Event& event) {
  const cl_event handle = event();
  check(clWaitForEvents(1, &handle), "clWaitForEvents");
  for (Content& content : recording_.launches.back().contents) content.after = save(content.buffer);
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
