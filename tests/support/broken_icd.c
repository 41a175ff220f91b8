// An OpenCL implementation with one GPU, for tests. Making a context ends the process, by abort()
// where the variable BROKEN_ICD is "crash", by exit() where it is "exit"; else it fails in order.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <CL/cl_icd.h>
#include <stdlib.h>
#include <string.h>

struct object {
  cl_icd_dispatch* dispatch;
};
static cl_icd_dispatch dispatch;
static struct object platform = {&dispatch};
static struct object device = {&dispatch};

static int ends(const char* where) {
  const char* wanted = getenv("BROKEN_ICD");
  return wanted != NULL && strcmp(wanted, where) == 0;
}

static cl_int answer(const void* from, size_t bytes, size_t size, void* value, size_t* needed) {
  if (needed != NULL) *needed = bytes;
  if (value == NULL) return CL_SUCCESS;
  memset(value, 0, size);
  memcpy(value, from, bytes < size ? bytes : size);
  return CL_SUCCESS;
}

static cl_int CL_API_CALL platform_info(cl_platform_id p, cl_platform_info name, size_t size,
                                        void* value, size_t* needed) {
  (void)p;
  const char* text = name == CL_PLATFORM_NAME         ? "Broken"
                     : name == CL_PLATFORM_VERSION    ? "OpenCL 1.2 broken"
                     : name == CL_PLATFORM_EXTENSIONS ? "cl_khr_icd"
                     : name == CL_PLATFORM_PROFILE    ? "FULL_PROFILE"
                                                      : "broken";
  return answer(text, strlen(text) + 1, size, value, needed);
}

static cl_int CL_API_CALL device_ids(cl_platform_id p, cl_device_type type, cl_uint entries,
                                     cl_device_id* devices, cl_uint* count) {
  (void)p;
  (void)type;
  if (count != NULL) *count = 1;
  if (devices != NULL && entries > 0) devices[0] = (cl_device_id)&device;
  return CL_SUCCESS;
}

static cl_int CL_API_CALL device_info(cl_device_id d, cl_device_info name, size_t size, void* value,
                                      size_t* needed) {
  (void)d;
  const cl_ulong number = name == CL_DEVICE_TYPE ? CL_DEVICE_TYPE_GPU : 1;
  const struct object* owner = &platform;
  switch (name) {
    case CL_DEVICE_NAME:
      return answer("Broken GPU", 11, size, value, needed);
    case CL_DEVICE_VERSION:
      return answer("OpenCL 1.2 broken", 18, size, value, needed);
    case CL_DRIVER_VERSION:
      return answer("1", 2, size, value, needed);
    case CL_DEVICE_VENDOR:
    case CL_DEVICE_OPENCL_C_VERSION:
    case CL_DEVICE_EXTENSIONS:
      return answer("", 1, size, value, needed);
    case CL_DEVICE_PLATFORM:
      return answer(&owner, sizeof owner, size, value, needed);
    default:
      return answer(&number, sizeof number, size, value, needed);
  }
}

static cl_int CL_API_CALL count_references(cl_device_id d) {
  (void)d;
  return CL_SUCCESS;
}

static cl_context CL_API_CALL create_context(const cl_context_properties* properties, cl_uint count,
                                             const cl_device_id* devices,
                                             void(CL_CALLBACK* notify)(const char*, const void*,
                                                                       size_t, void*),
                                             void* user, cl_int* status) {
  (void)properties;
  (void)count;
  (void)devices;
  (void)notify;
  (void)user;
  if (ends("crash")) abort();
  if (ends("exit")) exit(8);
  if (status != NULL) *status = CL_OUT_OF_RESOURCES;
  return NULL;
}

cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint entries, cl_platform_id* platforms,
                                          cl_uint* count) {
  dispatch.clGetPlatformInfo = platform_info;
  dispatch.clGetDeviceIDs = device_ids;
  dispatch.clGetDeviceInfo = device_info;
  dispatch.clRetainDevice = count_references;
  dispatch.clReleaseDevice = count_references;
  dispatch.clCreateContext = create_context;
  if (count != NULL) *count = 1;
  if (platforms != NULL && entries > 0) platforms[0] = (cl_platform_id)&platform;
  return CL_SUCCESS;
}

cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id p, cl_platform_info name, size_t size,
                                     void* value, size_t* needed) {
  return platform_info(p, name, size, value, needed);
}

void* CL_API_CALL clGetExtensionFunctionAddress(const char* name) {
  if (strcmp(name, "clIcdGetPlatformIDsKHR") == 0) return (void*)clIcdGetPlatformIDsKHR;
  if (strcmp(name, "clGetPlatformInfo") == 0) return (void*)platform_info;
  return NULL;
}
