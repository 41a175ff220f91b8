// bug: has no image functions in OpenCL C 1.2, though the device has images
// workaround: lib/clcook/core/device.hpp, device_info: a device of OpenCL C 3.0 gets CL3.0
// needs: images
// options: -cl-std=CL1.2
// expect: 1
// fails: PoCL 7.1
__constant sampler_t at = CLK_FILTER_NEAREST | CLK_ADDRESS_CLAMP_TO_EDGE;
__kernel void looks(__read_only image2d_t picture, __global float4* out) {
  out[0] = read_imagef(picture, at, (int2)(0, 0));
}
__kernel void reproduce(__global int* out) { out[0] = 1; }
