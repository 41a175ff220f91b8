# cmake -DROOTS=lib|generated -DVERSION= -DLICENSE= -DOUTPUT=clcook.hpp -P single_header_script.cmake
#
# Puts the text of every header of ours in the place where it is first included, and what is
# included for its definitions (see core/inline.hpp) behind everything that declares. Kernels inside raw
# literals are safe: they include .clh files, we look for .hpp only.
cmake_minimum_required(VERSION 3.25)

string(REPLACE "|" ";" roots "${ROOTS}")

# clcook_inline(<header> <variable>): the text of the header, or nothing when it is there already.
function(clcook_inline header result)
  get_property(seen GLOBAL PROPERTY clcook_seen)
  if(header IN_LIST seen)
    set(${result} "" PARENT_SCOPE)
    return()
  endif()
  set_property(GLOBAL APPEND PROPERTY clcook_seen "${header}")
  set(file "")
  foreach(root IN LISTS roots)
    if(EXISTS "${root}/${header}")
      set(file "${root}/${header}")
      break()
    endif()
  endforeach()
  if(NOT file)
    message(FATAL_ERROR "no header <${header}> under ${roots}")
  endif()

  file(READ "${file}" rest)
  set(rest "\n${rest}")
  string(REPLACE "\n#pragma once\n" "\n" rest "${rest}")
  set(text "\n// ---- ${header}")
  if(rest MATCHES "\n#if CLCOOK_DEFINITIONS\n#include <(clcook/[A-Za-z0-9_/]+\\.hpp)>\n#endif\n")
    set_property(GLOBAL APPEND PROPERTY clcook_definitions "${CMAKE_MATCH_1}")
    string(REPLACE "${CMAKE_MATCH_0}" "\n" rest "${rest}")
  endif()
  while(rest MATCHES "\n#include [<\"](clcook/[A-Za-z0-9_/]+\\.hpp)[>\"]")
    set(directive "${CMAKE_MATCH_0}")
    set(inner "${CMAKE_MATCH_1}")
    string(FIND "${rest}" "${directive}" position)
    string(LENGTH "${directive}" length)
    string(SUBSTRING "${rest}" 0 ${position} before)
    math(EXPR position "${position} + ${length}")
    string(SUBSTRING "${rest}" ${position} -1 rest)
    clcook_inline("${inner}" inner_text)
    string(APPEND text "${before}" "${inner_text}")
  endwhile()
  string(APPEND text "${rest}")
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

clcook_inline("clcook/clcook.hpp" text)
string(APPEND text "\n#if CLCOOK_DEFINITIONS\n")
get_property(headers GLOBAL PROPERTY clcook_definitions)
foreach(header IN LISTS headers)
  clcook_inline("${header}" definitions)
  string(APPEND text "${definitions}")
endforeach()
string(APPEND text "\n#endif  // CLCOOK_DEFINITIONS\n")
file(READ "${LICENSE}" license)
string(STRIP "${license}" license)
string(REPLACE "\n" "\n// " license "${license}")
string(REPLACE "// \n" "//\n" license "${license}")
# Nothing but the sources goes in: one commit gives the same bytes everywhere.
file(WRITE "${OUTPUT}" "// clcook ${VERSION} in one file. Generated; needs CL/opencl.hpp and C++17.\n//\n"
     "// Files that define CLCOOK_COMPILED before they include it get declarations; one file of the\n"
     "// program then defines CLCOOK_IMPLEMENTATION instead. Without either, all is inline.\n//\n"
     "// ${license}\n#pragma once\n" "${text}")
file(SHA256 "${OUTPUT}" hash)
cmake_path(GET OUTPUT FILENAME name)
file(WRITE "${OUTPUT}.sha256" "${hash}  ${name}\n")
