// The one place where clcook includes the OpenCL headers.
//
// An application that includes <CL/opencl.hpp> first keeps its own settings. CLHPP's classes are
// used as carriers of handles only: clcook calls the C API, so it behaves alike with and without
// CL_HPP_ENABLE_EXCEPTIONS.
#pragma once

#include <clcook/version.hpp>

#ifndef CL_HPP_TARGET_OPENCL_VERSION
#define CL_HPP_TARGET_OPENCL_VERSION 300
#endif
#ifndef CL_HPP_MINIMUM_OPENCL_VERSION
#define CL_HPP_MINIMUM_OPENCL_VERSION 110
#endif
#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION CL_HPP_TARGET_OPENCL_VERSION
#endif

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-attributes"
#endif
#include <CL/opencl.hpp>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
// A macro that CL/opencl.hpp leaves behind, and CL/cl.hpp, which has the same include guard, does not.
#ifndef CL_HPP_PARAM_NAME_INFO_1_0_
#error \
    "clcook needs the bindings CL/opencl.hpp, but an older header, such as CL/cl.hpp, was included before it and keeps it out. Include CL/opencl.hpp, or any header of clcook, instead of the older one in this file."
#endif
