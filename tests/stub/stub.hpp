// A small OpenCL for tests, linked instead of the loader: target clcook_stub_opencl.
//
// It has the calls that clcook makes, on one device that a test describes. Buffers and images are
// host memory; copies, fills, reads, writes, events, user events, wait lists, callbacks and both
// kinds of queue work. Kernels do nothing, unless a test gives a function for their name. A program
// is its text: the preprocessor runs over it, and the number and sizes of a kernel's arguments are
// checked. What no command waits for runs when it is enqueued.
//
//   const clcook::Runtime runtime = clcook::Runtime::pick();     // the stub's device
//   const stub::Counts before = stub::alive();
//   stub::fail_call(3, CL_OUT_OF_HOST_MEMORY);                   // the third call from now
//   CHECK_THROWS_AS(use(runtime), clcook::Error);
//   CHECK(stub::failed_call() == "clCreateKernel");              // which one that was
//   CHECK(stub::alive() == before);                              // nothing leaked
//
//   stub::Device small;
//   small.max_group = 64;
//   stub::set_device(small);                                     // for what is picked from now on
//   stub::on_kernel("twice", [](const stub::Launch& launch) {
//     auto* x = launch.memory<float>(0);
//     for (std::size_t i = 0; i < launch.global[0]; ++i) x[i] *= 2;
//   });
//
// All of it may be called from several threads. The stub takes no lock where nothing waits, so that
// ThreadSanitizer sees the races of the code above it. Handles are checked: null, another kind, and,
// after keep_released(true), released ones are the error that OpenCL says.
//
// A wait without end (for a user event that nobody sets) ends the program after half a minute.
#pragma once

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#include <CL/cl.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace stub {

// What the device reports.
struct Device {
  std::string platform = "Stub Platform";
  std::string platform_version = "OpenCL 3.0 stub";
  std::string name = "Stub Device";
  std::string vendor = "Stub Vendor";
  std::string version = "OpenCL 3.0 stub";  // "OpenCL 1.2 stub": no OpenCL C 3.0 either
  std::string driver = "1.0";
  std::string extensions = "cl_khr_fp16";
  std::string profile = "FULL_PROFILE";
  cl_device_type type = CL_DEVICE_TYPE_GPU;
  cl_uint compute_units = 16;
  cl_uint clock_mhz = 1000;
  std::size_t max_group = 1024;
  std::array<std::size_t, 3> max_items{1024, 1024, 64};
  cl_ulong local_memory = 48 << 10;
  bool local_memory_dedicated = true;
  cl_ulong global_memory = 64 << 20;  // small, so that what measures it is quick
  cl_ulong max_allocation = 32 << 20;
  cl_uint base_alignment = 128;  // bytes
  bool images = true;
  std::size_t image_size = 16384;
  bool out_of_order = true;
  bool compiler = true;
  std::vector<std::size_t> sub_group_sizes;  // none: no sub-groups
  cl_uint compute_capability = 0;            // ten times; of a device of the platform "NVIDIA CUDA"
};

// The usual GPU, and the usual CPU.
inline Device gpu() {
  Device out;
  out.name = "Stub GPU";
  return out;
}
inline Device cpu() {
  Device out;
  out.name = "Stub CPU";
  out.type = CL_DEVICE_TYPE_CPU;
  out.local_memory_dedicated = false;
  return out;
}

// Makes a device and has it listed instead of the one before, whose handle stays valid.
cl_device_id set_device(const Device& device);

// Objects that are not released.
struct Counts {
  long contexts = 0;
  long queues = 0;
  long memories = 0;
  long programs = 0;
  long kernels = 0;
  long events = 0;
  long bytes = 0;  // of buffers and images

  std::string str() const;
};
bool operator==(const Counts& a, const Counts& b);
Counts alive();

// Has a call return `code`, without doing anything else: the n-th from now, 1 being the next. With a
// name the n-th of that function. Retains and releases count with their name only, since what wraps
// them ignores their results, and so do CL_DEVICE_PLATFORM and CL_PLATFORM_VERSION, which CLHPP's
// cl::Device asks for without looking at the result. 0 takes it back.
void fail_call(long n, cl_int code);
void fail_call(const std::string& function, long n, cl_int code);
// The function that failed since the last fail_call(); empty: none.
std::string failed_call();
// Has the n-th command that runs from now on end with `code`, a negative number.
void fail_command(long n, cl_int code);
// Calls so far, as fail_call(n) counts them; and of a function.
long calls();
long calls(const std::string& function);
// Counts calls by function too, which takes a lock: for calls(function).
void count_functions(bool on);

// A launch of a kernel, for a function that stands for it.
struct Launch {
  struct Argument {
    std::vector<unsigned char> value;
    void* memory = nullptr;  // of a buffer
    std::size_t bytes = 0;   // of the buffer, or of local memory
  };
  std::array<std::size_t, 3> global{1, 1, 1};
  std::array<std::size_t, 3> local{1, 1, 1};
  std::vector<Argument> arguments;

  template <class T>
  T* memory(std::size_t argument) const {
    return static_cast<T*>(arguments.at(argument).memory);
  }
  template <class T>
  T value(std::size_t argument) const {
    T out{};
    std::memcpy(&out, arguments.at(argument).value.data(), sizeof out);
    return out;
  }
};
// What launches of a kernel of that name do; an empty function: nothing. clcook_probe, which
// Runtime::pick() runs, has one from the start.
void on_kernel(const std::string& name, std::function<void(const Launch&)> function);

// What kernels of that name report, and launches of them are held to: the largest work-group, and the
// bytes of local memory of their own. The device's limits where none was said; 0 takes it back.
void limit_kernel(const std::string& name, std::size_t max_group, std::size_t local_bytes = 0);

// Whether the memory of released objects stays, so that their handles are known to be bad.
void keep_released(bool on);

}  // namespace stub
