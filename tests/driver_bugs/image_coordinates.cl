// bug: takes values for uninitialised that were read from an image at variable coordinates
// workaround: cmake/lanes/oclgrind.sh: no search for uninitialised values in image
// oclgrind: --uninitialized --build-options -cl-opt-disable
// needs: images
// arguments: out image
// expect: 7
// fails: Oclgrind 21.10
// It looks for the state of the image behind its argument, where that of the undefined vector is
// that the coordinates are inserted into.
__constant sampler_t at = CLK_FILTER_NEAREST | CLK_ADDRESS_CLAMP_TO_EDGE;
__kernel void reproduce(__global int* out, __read_only image2d_t picture) {
  int x = 0;
  if (read_imagef(picture, at, (int2)(x, 0)).x > 0) out[0] = 7;
}
