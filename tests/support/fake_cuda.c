/* A libcuda.so.1 for tests: memory of the host, and kernels that are known by their names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long Pointer;

static char constants[65536];
static int shown;       /* launches between cuProfilerStart and cuProfilerStop */
static int profiling;

int fake_cuda_shown(void) { return shown; }

int cuInit(unsigned flags) { return flags == 0 ? 0 : 1; }
int cuGetErrorName(int result, const char** name) {
  *name = result == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : result == 218 ? "CUDA_ERROR_INVALID_PTX" : "CUDA_ERROR_INVALID_VALUE";
  return 0;
}
int cuDeviceGet(int* device, int ordinal) { *device = ordinal; return 0; }
int cuDeviceGetByPCIBusId(int* device, const char* address) {
  *device = 0;
  return strcmp(address, "0000:1b:00.0") == 0 ? 0 : 101;
}
int cuDeviceGetCount(int* count) {
  const char* two = getenv("FAKE_CUDA_DEVICES");
  *count = two == NULL ? 1 : atoi(two);
  return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int device) { *context = &shown; return device; }
int cuCtxSetCurrent(void* context) { return context == &shown ? 0 : 201; }
static int ended;
int cuCtxSynchronize(void) { return ended; }
int cuModuleLoadDataEx(void** module, const void* text, unsigned count, int* options, void** values) {
  if (strstr(text, "%envreg") != NULL || strstr(text, ".version") == NULL) {
    unsigned i;
    for (i = 0; i < count; ++i) if (options[i] == 5) strcpy(values[i], "ptxas fatal");
    return 218;
  }
  *module = strdup(text);
  return 0;
}
int cuModuleUnload(void* module) { free(module); return 0; }
int cuModuleGetFunction(void** function, void* module, const char* name) {
  *function = strdup(name);
  return strstr(module, name) != NULL ? 0 : 500;
}
int cuModuleGetGlobal_v2(Pointer* pointer, size_t* bytes, void* module, const char* name) {
  *pointer = (Pointer)(size_t)constants;
  *bytes = sizeof constants;
  return strcmp(name, "clcook_constants") == 0 && module != NULL ? 0 : 500;
}
int cuFuncSetAttribute(void* function, int what, int value) { return function != NULL && what == 8 && value > 0 ? 0 : 1; }
int cuMemAlloc_v2(Pointer* pointer, size_t bytes) {
  *pointer = (Pointer)(size_t)malloc(bytes);
  return 0;
}
int cuMemcpyHtoD_v2(Pointer to, const void* from, size_t bytes) { memcpy((void*)(size_t)to, from, bytes); return 0; }
int cuMemcpyDtoH_v2(void* to, Pointer from, size_t bytes) { memcpy(to, (const void*)(size_t)from, bytes); return 0; }
int cuMemsetD8_v2(Pointer to, unsigned char value, size_t bytes) { memset((void*)(size_t)to, value, bytes); return 0; }
int cuProfilerStart(void) { profiling = 1; return 0; }
int cuProfilerStop(void) { profiling = 0; return 0; }

/* add(out, in, constant, local, four, byte): out[i] = in[i] + constant[0] + four.z + byte */
int cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void* stream, void** parameters, void** extra) {
  unsigned i;
  const unsigned items = gx * gy * gz * bx * by * bz;
  if (stream != NULL || extra != NULL) return 1;
  shown += profiling;
  if (strcmp(function, "add") == 0) {
    float* out = *(float**)parameters[0];
    const float* in = *(float**)parameters[1];
    const float* four = (const float*)parameters[4];
    if (shared < bx * 4) return 1;
    for (i = 0; i < items; ++i)
      out[i] = in[i] + ((float*)constants)[0] + four[2] + *(unsigned char*)parameters[5];
    return 0;
  }
  ended = 700;
  return 0;
}
