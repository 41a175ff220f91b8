// bug: makes zeros of two values that are rounded together before a loop and chosen from in it
// workaround: kernels/halo_tile.cl, OUTSIDE
// options: -cl-std=CL1.2
// items: 16
// arguments: out 3 4
// expect: 7
// fails: PoCL 6.0
// One by one they are right, and so are four.
__kernel void reproduce(__global int* out, int a, int b) {
  const int x = (int)get_global_id(0);
  const uchar2 pair = convert_uchar2_sat_rte((float2)(a, b));
  uchar2 most = (uchar2)(0);
  for (int i = 0; i < 3; ++i) most = max(x + i < 30 ? pair : (uchar2)((uchar)x), most);
  out[x] = most.x + most.y;
}
