// What a CUDA peer is called with: make() takes the problem, run() times a call between two events,
// fetch() gives the result. A file that includes this one defines prepare() and call().
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <string>
#include <vector>

static int which;                         // of several peers in one file
static std::vector<void*> in;             // on the device
static std::vector<std::size_t> in_bytes;
static std::vector<const void*> in_host;
static std::vector<void*> out;            // on the device
static std::vector<std::size_t> out_bytes;
static const double* shape;
static std::string wrong;

// Allocations and tables, once per case; wrong = "not this case" where the peer has nothing to do.
static void prepare();
// What is timed.
static void call();

static void check(cudaError_t status) {
  if (status != cudaSuccess && wrong.empty()) wrong = cudaGetErrorString(status);
}

static std::vector<void*>& owned() {
  static std::vector<void*> all;
  return all;
}

// Device memory until the next case.
static void* allocate(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes == 0 ? 1 : bytes));
  owned().push_back(memory);
  return memory;
}

extern "C" const char* make(int number, int inputs, const void* const* input,
                            const std::size_t* input_bytes, int outputs,
                            const std::size_t* output_bytes, const double* numbers) {
  for (void* one : owned()) cudaFree(one);
  owned().clear();
  wrong.clear();
  in.clear();
  out.clear();
  which = number;
  shape = numbers;
  in_host.assign(input, input + inputs);
  in_bytes.assign(input_bytes, input_bytes + inputs);
  out_bytes.assign(output_bytes, output_bytes + outputs);
  for (int i = 0; i < inputs; ++i) {
    in.push_back(allocate(in_bytes[i]));
    check(cudaMemcpy(in[i], input[i], in_bytes[i], cudaMemcpyHostToDevice));
  }
  for (int i = 0; i < outputs; ++i) {
    out.push_back(allocate(out_bytes[i]));
    check(cudaMemset(out[i], 0xCD, out_bytes[i]));  // as clcook's results are before
  }
  if (wrong.empty()) prepare();
  check(cudaDeviceSynchronize());
  return wrong.empty() ? nullptr : wrong.c_str();
}

extern "C" double run() {
  static cudaEvent_t begin = nullptr, end = nullptr;
  if (begin == nullptr) {
    check(cudaEventCreate(&begin));
    check(cudaEventCreate(&end));
  }
  check(cudaEventRecord(begin));
  call();
  check(cudaEventRecord(end));
  check(cudaEventSynchronize(end));
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, begin, end));
  return wrong.empty() ? milliseconds : -1.0;
}

extern "C" const char* fetch(void* const* output) {
  for (std::size_t i = 0; i < out.size(); ++i)
    check(cudaMemcpy(output[i], out[i], out_bytes[i], cudaMemcpyDeviceToHost));
  return wrong.empty() ? nullptr : wrong.c_str();
}
