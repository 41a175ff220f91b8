# The library: clcook::header_only is headers, generated headers, OpenCL; nothing else reaches a user.
# clcook::clcook is the same with the definitions compiled, see compiled.cmake.

add_library(clcook_header_only INTERFACE)
add_library(clcook::header_only ALIAS clcook_header_only)
set_target_properties(clcook_header_only PROPERTIES EXPORT_NAME header_only)
target_compile_features(clcook_header_only INTERFACE cxx_std_17)
configure_file("${PROJECT_SOURCE_DIR}/cmake/version.hpp.in"
               "${CLCOOK_GENERATED_DIR}/clcook/version.hpp" @ONLY)
include(GNUInstallDirs)
# In an application's build they are system headers: its warnings are not ours.
set(system "")
if(NOT PROJECT_IS_TOP_LEVEL)
  set(system SYSTEM)
endif()
target_include_directories(
  clcook_header_only ${system} INTERFACE "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/lib>"
                               "$<BUILD_INTERFACE:${CLCOOK_GENERATED_DIR}>"
                               "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
target_link_libraries(clcook_header_only INTERFACE OpenCL::OpenCL Threads::Threads)
if(NOT "${CLCOOK_CLHPP_DIR}" STREQUAL "/usr/include" AND NOT "${CLCOOK_CLHPP_DIR}" IN_LIST
                                                         OpenCL_INCLUDE_DIRS)
  target_include_directories(clcook_header_only SYSTEM INTERFACE "$<BUILD_INTERFACE:${CLCOOK_CLHPP_DIR}>")
endif()
