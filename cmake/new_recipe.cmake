# cmake -DNAME=x -P cmake/new_recipe.cmake
#
# Writes a small working recipe (y = factor * x, naive and vectorised) of that name into every room,
# from cmake/skeleton/. Never overwrites a file.
cmake_minimum_required(VERSION 3.25)

set(root "${CMAKE_CURRENT_LIST_DIR}/..")
cmake_path(NORMAL_PATH root)
if(NOT DEFINED NAME OR NOT NAME MATCHES "^[a-z][a-z0-9]*(_[a-z0-9]+)*$")
  message(FATAL_ERROR "usage: cmake -DNAME=x -P cmake/new_recipe.cmake\n"
                      "the name is lower case words joined by '_', got '${NAME}'")
endif()
# Names that mean something else where a recipe's name is used: folders and headers of ours,
# programs, keywords of C++ and OpenCL C.
set(reserved
    # Names in namespace clcook, where each operation has a namespace of its own.
    text fail check describe detail quirks unsupported microseconds
    clcook core error version registry reference cookbook embedded headers tuning model io support tests
    conformance
    all case int float double half char long short auto for do if else while switch new delete class
    struct union enum void bool const static inline kernel global local private constant image event
    sampler main test default return this true false register volatile template typename namespace)
if(NAME IN_LIST reserved)
  message(FATAL_ERROR "'${NAME}' has another meaning; choose another name")
endif()

set(pascal "")
string(REPLACE "_" ";" words "${NAME}")
foreach(word IN LISTS words)
  string(SUBSTRING "${word}" 0 1 first)
  string(SUBSTRING "${word}" 1 -1 rest)
  string(TOUPPER "${first}" first)
  string(APPEND pascal "${first}${rest}")
endforeach()
string(TOUPPER "${NAME}" upper)
set(name "${NAME}")

set(partners
    "kernel.cl.in|kernels/${NAME}.cl"
    "operation.hpp.in|lib/clcook/${NAME}.hpp"
    "reference.hpp.in|lib/clcook/reference/${NAME}.hpp"
    "card.hpp.in|lib/clcook/cookbook/${NAME}.hpp"
    "example.cpp.in|examples/${NAME}.cpp"
    "test.cpp.in|tests/${NAME}.cpp"
    "planted.txt.in|tests/planted/${NAME}.txt"
    "page.md.in|docs/${NAME}.md")
foreach(partner IN LISTS partners)
  string(REGEX REPLACE ".*\\|" "" file "${partner}")
  if(EXISTS "${root}/${file}")
    message(FATAL_ERROR "${file} is there already; nothing was written")
  endif()
endforeach()
if(EXISTS "${root}/kernels/${NAME}")
  message(FATAL_ERROR "kernels/${NAME}/ is there already; nothing was written")
endif()

# With clang-format at hand the files are formatted for names of any length.
find_program(formatter clang-format)
foreach(partner IN LISTS partners)
  string(REGEX REPLACE "\\|.*" "" template "${partner}")
  string(REGEX REPLACE ".*\\|" "" file "${partner}")
  configure_file("${CMAKE_CURRENT_LIST_DIR}/skeleton/${template}" "${root}/${file}" @ONLY
                 NEWLINE_STYLE LF)
  if(formatter AND NOT file MATCHES "\\.(md|txt)$")
    execute_process(COMMAND "${formatter}" -i --style=file "${root}/${file}")
  endif()
  message(STATUS "wrote ${file}")
endforeach()
message(STATUS "next: configure and build, then ./build/bin/clcook check ${NAME}")
