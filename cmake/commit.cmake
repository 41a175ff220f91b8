# clcook/core/commit.hpp: which commit a measurement was made from. Looked at
# in every build, written only when it changed, and included only by programs (link them to
# clcook_commit), so that a commit does not rebuild the rest.

set(CLCOOK_COMMIT "" CACHE STRING "The commit to record where the sources are no git checkout")
set(clcook_commit_header "${PROJECT_BINARY_DIR}/generated_commit/clcook/core/commit.hpp")
set(clcook_commit_command
    "${CMAKE_COMMAND}" "-DROOT=${PROJECT_SOURCE_DIR}" "-DOUTPUT=${clcook_commit_header}"
    "-DCOMMIT=${CLCOOK_COMMIT}" -P
    "${PROJECT_SOURCE_DIR}/cmake/commit_script.cmake")
add_custom_target(
  clcook_commit_update
  COMMAND ${clcook_commit_command}
  BYPRODUCTS "${clcook_commit_header}"
  COMMENT "Asking git for the commit"
  VERBATIM)
add_library(clcook_commit INTERFACE)
target_include_directories(clcook_commit INTERFACE "${PROJECT_BINARY_DIR}/generated_commit")
add_dependencies(clcook_commit clcook_commit_update)
