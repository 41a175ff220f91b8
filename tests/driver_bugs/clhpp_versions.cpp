// bug: does not compile: CLHPP with a target of 3.0 and a minimum of 1.2
// workaround: lib/clcook/core/opencl.hpp: the minimum is 1.1
// fails: CLHPP 2023.02.06
#define CL_HPP_TARGET_OPENCL_VERSION 300
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#include <CL/opencl.hpp>
