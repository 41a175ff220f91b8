# clcook::compiled: the same headers, which then only declare what a library file defines. For programs
# with many files that include clcook; see docs/versions.md.

if(CLCOOK_BUILD_COMPILED)
  add_library(clcook_compiled STATIC "${PROJECT_SOURCE_DIR}/lib/clcook/compiled.cpp")
  add_library(clcook::compiled ALIAS clcook_compiled)
  target_link_libraries(clcook_compiled PUBLIC clcook)
  target_compile_definitions(clcook_compiled PUBLIC CLCOOK_COMPILED)
  set_target_properties(clcook_compiled PROPERTIES EXPORT_NAME compiled CXX_EXTENSIONS OFF
                                                   POSITION_INDEPENDENT_CODE ON)
endif()
