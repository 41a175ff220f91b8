# Our programs: bench/*.cpp is the clcook command, each examples/*.cpp and each tests/*.cpp is a
# program of its own. None is listed here.

add_library(clcook_program INTERFACE)
target_link_libraries(clcook_program INTERFACE clcook::clcook clcook_warnings clcook_sanitize
                                               clcook_portable)
# They spend their time in kernels, and -O1 compiles a quarter faster than -O3.
target_compile_options(clcook_program INTERFACE "$<$<CONFIG:Release>:-O1>")
target_compile_definitions(clcook_program
                           INTERFACE "CLCOOK_SOURCE_DIR=\"${PROJECT_SOURCE_DIR}\"")

# clcook_place(<target> <file name> <folder>): where the program lies and where it finds libraries.
function(clcook_place target name folder)
  set_target_properties(
    ${target} PROPERTIES OUTPUT_NAME "${name}" RUNTIME_OUTPUT_DIRECTORY
                                               "${PROJECT_BINARY_DIR}/${folder}" CXX_EXTENSIONS OFF)
  if(CLCOOK_PORTABLE)
    set_target_properties(${target} PROPERTIES BUILD_RPATH "$ORIGIN;$ORIGIN/.."
                                               SKIP_BUILD_RPATH OFF)
  endif()
endfunction()

# The examples' support code; the report reads pictures with it.
if(CLCOOK_BUILD_EXAMPLES OR CLCOOK_BUILD_TOOLS)
  add_library(clcook_example_support INTERFACE)
  target_include_directories(clcook_example_support INTERFACE "${PROJECT_SOURCE_DIR}/examples")
  target_link_libraries(
    clcook_example_support INTERFACE clcook_program clcook_commit clcook_pictures CLI11::CLI11
                                     fmt::fmt-header-only nlohmann_json::nlohmann_json)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/support/*.cpp")
  if(sources)
    add_library(clcook_example_objects STATIC ${sources})
    target_link_libraries(clcook_example_objects PUBLIC clcook_example_support)
  endif()
endif()

if(CLCOOK_BUILD_TOOLS)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/bench/*.cpp")
  if(sources)
    add_executable(clcook_tool ${sources})
    target_include_directories(clcook_tool PRIVATE "${PROJECT_SOURCE_DIR}/bench")
    target_link_libraries(
      clcook_tool PRIVATE clcook_program clcook_commit CLI11::CLI11 fmt::fmt-header-only
                          nlohmann_json::nlohmann_json clcook_example_objects)
    if(TARGET benchmark::benchmark)
      target_link_libraries(clcook_tool PRIVATE benchmark::benchmark)
      target_compile_definitions(clcook_tool PRIVATE CLCOOK_HAVE_BENCHMARK=1)
    endif()
    # These headers are most of what a file of the tool compiles.
    target_precompile_headers(clcook_tool PRIVATE <CLI/CLI.hpp> <clcook/core/opencl.hpp>
                              <fmt/format.h> <nlohmann/json.hpp>)
    clcook_place(clcook_tool clcook bin)
  endif()
endif()

if(CLCOOK_BUILD_EXAMPLES)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/*.cpp")
  set(CLCOOK_EXAMPLES "")
  foreach(source IN LISTS sources)
    cmake_path(GET source STEM name)
    list(APPEND CLCOOK_EXAMPLES "${name}")
    add_executable(example_${name} "${source}")
    if(TARGET clcook_example_objects)
      target_link_libraries(example_${name} PRIVATE clcook_example_objects)
    endif()
    target_link_libraries(example_${name} PRIVATE clcook_example_support)
    clcook_place(example_${name} "${name}" bin)
  endforeach()
endif()

# What runs beside the peers: bench/peers/<recipe>.py talks to clcook_peers_<recipe>.
if(CLCOOK_BUILD_PEERS)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/bench/peers/*.cpp")
  foreach(source IN LISTS sources)
    cmake_path(GET source STEM name)
    add_executable(clcook_peers_${name} "${source}")
    target_include_directories(clcook_peers_${name} PRIVATE "${PROJECT_SOURCE_DIR}/examples")
    target_link_libraries(clcook_peers_${name} PRIVATE clcook_program)
    clcook_place(clcook_peers_${name} "clcook_peers_${name}" bin)
  endforeach()
endif()

if(CLCOOK_BUILD_TESTS)
  add_library(clcook_test_support INTERFACE)
  # Real inputs beside the checkout; tests that want them skip visibly without.
  target_compile_definitions(
    clcook_test_support INTERFACE "CLCOOK_SHARED_DIR=\"${PROJECT_SOURCE_DIR}/../shared\"")
  # NVIDIA's own occupancy calculator, which the model is compared with.
  find_file(CLCOOK_CUDA_OCCUPANCY_HEADER cuda_occupancy.h PATHS /usr/local/cuda/include)
  mark_as_advanced(CLCOOK_CUDA_OCCUPANCY_HEADER)
  if(CLCOOK_CUDA_OCCUPANCY_HEADER)
    target_compile_definitions(
      clcook_test_support INTERFACE "CLCOOK_CUDA_OCCUPANCY=\"${CLCOOK_CUDA_OCCUPANCY_HEADER}\"")
  endif()
  target_include_directories(clcook_test_support INTERFACE "${PROJECT_SOURCE_DIR}/tests"
                                                           "${PROJECT_SOURCE_DIR}")
  target_link_libraries(clcook_test_support INTERFACE clcook_program doctest::doctest
                                                      fmt::fmt-header-only
                                                      nlohmann_json::nlohmann_json)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/support/*.cpp")
  add_library(clcook_test_objects OBJECT ${sources})
  target_link_libraries(clcook_test_objects PUBLIC clcook_test_support)
  set_target_properties(clcook_test_objects PROPERTIES CXX_EXTENSIONS OFF)
  # The tests share a precompiled header: it halves the time to build them.
  target_precompile_headers(
    clcook_test_objects PRIVATE <clcook/core/opencl.hpp> <doctest/doctest.h> <map> <sstream> <string>
    <vector>)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/*.cpp")
  set(CLCOOK_TESTS "")
  foreach(source IN LISTS sources)
    cmake_path(GET source STEM name)
    list(APPEND CLCOOK_TESTS "${name}")
    add_executable(test_${name} "${source}")
    target_link_libraries(test_${name} PRIVATE clcook_test_objects)
    target_precompile_headers(test_${name} REUSE_FROM clcook_test_objects)
    clcook_place(test_${name} "${name}" bin/tests)
  endforeach()
  # For builds that want the tests and nothing else.
  add_custom_target(clcook_tests)
  if(CLCOOK_TESTS)
    list(TRANSFORM CLCOOK_TESTS PREPEND "test_" OUTPUT_VARIABLE targets)
    add_dependencies(clcook_tests ${targets})
  endif()
endif()
