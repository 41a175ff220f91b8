# CLCOOK_PORTABLE=ON: programs in build/bin carry what a bare machine with an OpenCL driver lacks.
# The C++ runtime and the picture libraries are linked statically; the shared libraries that remain
# ours to bring (the OpenCL loader, Google Benchmark) are copied next to the programs, which look
# there first.

# clcook_copy_shared(<path of libx.so>): copies it under the name that the programs ask for.
function(clcook_copy_shared path)
  file(REAL_PATH "${path}" real)
  file(GLOB names "${path}*")
  foreach(name IN LISTS names)
    file(REAL_PATH "${name}" target)
    if(target STREQUAL real)
      cmake_path(GET name FILENAME file)
      file(COPY_FILE "${real}" "${PROJECT_BINARY_DIR}/bin/${file}" ONLY_IF_DIFFERENT)
    endif()
  endforeach()
endfunction()

add_library(clcook_portable INTERFACE)
if(CLCOOK_PORTABLE)
  target_link_options(clcook_portable INTERFACE -static-libstdc++ -static-libgcc)
  file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
  clcook_copy_shared("${OpenCL_LIBRARY}")
  if(TARGET benchmark::benchmark)
    get_target_property(location benchmark::benchmark LOCATION)
    if(location MATCHES "\\.so")
      string(REGEX REPLACE "\\.so.*" ".so" location "${location}")
      clcook_copy_shared("${location}")
    endif()
  endif()
endif()

# What lib/pictures links with.
add_library(clcook_picture_packages INTERFACE)
if(CLCOOK_BUILD_EXAMPLES OR CLCOOK_BUILD_TOOLS OR CLCOOK_BUILD_TESTS)
  target_include_directories(clcook_picture_packages SYSTEM INTERFACE "${CLCOOK_TURBOJPEG_DIR}"
                                                                      ${PNG_INCLUDE_DIRS})
  if(CLCOOK_PORTABLE)
    find_library(CLCOOK_STATIC_PNG libpng16.a REQUIRED)
    find_library(CLCOOK_STATIC_ZLIB libz.a REQUIRED)
    find_library(CLCOOK_STATIC_TURBOJPEG libturbojpeg.a REQUIRED)
    mark_as_advanced(CLCOOK_STATIC_PNG CLCOOK_STATIC_ZLIB CLCOOK_STATIC_TURBOJPEG)
    target_link_libraries(
      clcook_picture_packages INTERFACE "${CLCOOK_STATIC_PNG}" "${CLCOOK_STATIC_ZLIB}"
                                        "${CLCOOK_STATIC_TURBOJPEG}" m)
  else()
    target_link_libraries(clcook_picture_packages INTERFACE PNG::PNG "${CLCOOK_TURBOJPEG_LIBRARY}")
  endif()
endif()
