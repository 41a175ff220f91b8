# cmake --build build --target single_header: everything that clcook.hpp includes as one file,
# build/single_header/clcook.hpp, for projects without CMake, and its SHA-256 beside it, for
# `sha256sum -c`. A release publishes these two files.

file(GLOB_RECURSE clcook_all_headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/lib/*.hpp")
set(path "${PROJECT_BINARY_DIR}/single_header/clcook.hpp")
add_custom_command(
  OUTPUT "${path}" "${path}.sha256"
  COMMAND
    "${CMAKE_COMMAND}" "-DROOTS=${PROJECT_SOURCE_DIR}/lib|${CLCOOK_GENERATED_DIR}"
    "-DVERSION=${PROJECT_VERSION}" "-DLICENSE=${PROJECT_SOURCE_DIR}/LICENSE" "-DOUTPUT=${path}" -P
    "${PROJECT_SOURCE_DIR}/cmake/single_header_script.cmake"
  DEPENDS ${clcook_all_headers} ${clcook_embedded} "${CLCOOK_GENERATED_DIR}/clcook/clcook.hpp"
          "${CLCOOK_GENERATED_DIR}/clcook/version.hpp"
          "${PROJECT_SOURCE_DIR}/cmake/single_header_script.cmake"
  COMMENT "Writing single_header/clcook.hpp"
  VERBATIM)
add_custom_target(single_header DEPENDS "${path}" "${path}.sha256")
