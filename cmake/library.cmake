# The library: headers, the generated headers, OpenCL. Nothing else reaches a user.

add_library(clcook INTERFACE)
add_library(clcook::clcook ALIAS clcook)
target_compile_features(clcook INTERFACE cxx_std_17)
configure_file("${PROJECT_SOURCE_DIR}/cmake/version.hpp.in"
               "${CLCOOK_GENERATED_DIR}/clcook/version.hpp" @ONLY)
include(GNUInstallDirs)
target_include_directories(
  clcook INTERFACE "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/lib>"
                   "$<BUILD_INTERFACE:${CLCOOK_GENERATED_DIR}>" "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
target_link_libraries(clcook INTERFACE OpenCL::OpenCL Threads::Threads)
if(NOT "${CLCOOK_CLHPP_DIR}" STREQUAL "/usr/include" AND NOT "${CLCOOK_CLHPP_DIR}" IN_LIST
                                                         OpenCL_INCLUDE_DIRS)
  target_include_directories(clcook SYSTEM INTERFACE "$<BUILD_INTERFACE:${CLCOOK_CLHPP_DIR}>")
endif()
