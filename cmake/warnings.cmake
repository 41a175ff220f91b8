# Warnings for our own programs. Never part of clcook::clcook: users choose theirs.

add_library(clcook_warnings INTERFACE)
if(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
  target_compile_options(
    clcook_warnings
    INTERFACE -Wall
              -Wextra
              -Wpedantic
              -Wshadow
              -Wconversion
              -Wsign-conversion
              -Wcast-align
              -Wnon-virtual-dtor
              -Woverloaded-virtual
              -Wdouble-promotion
              $<$<BOOL:${CLCOOK_WERROR}>:-Werror>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(clcook_warnings INTERFACE -Wduplicated-cond -Wlogical-op)
  endif()
endif()
