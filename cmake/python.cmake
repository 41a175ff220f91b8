# The Python module, by `pip install .` (pyproject.toml) or -DCLCOOK_BUILD_PYTHON=ON. An operation is
# bound by lib/python/operations/<operation>.cpp, which is found, never listed, and built where there is
# lib/clcook/<operation>.hpp.

# From Python 3.12 on one wheel serves every later version: SKBUILD_SABI_COMPONENT is what pip adds.
find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module ${SKBUILD_SABI_COMPONENT})
execute_process(
  COMMAND "${Python_EXECUTABLE}" -m nanobind --cmake_dir
  OUTPUT_VARIABLE nanobind_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
find_package(nanobind CONFIG QUIET)
if(NOT nanobind_FOUND)
  message(FATAL_ERROR "CLCOOK_BUILD_PYTHON needs nanobind: pip install nanobind")
endif()

file(GLOB clcook_bound CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/lib/python/operations/*.cpp")
set(declarations "")
set(calls "")
foreach(source IN LISTS clcook_bound)
  cmake_path(GET source STEM name)
  if(NOT EXISTS "${PROJECT_SOURCE_DIR}/lib/clcook/${name}.hpp")
    message(STATUS "lib/python/operations/${name}.cpp: there is no lib/clcook/${name}.hpp, so it is left out")
    list(REMOVE_ITEM clcook_bound "${source}")
    continue()
  endif()
  string(APPEND declarations "void bind_${name}(nb::module_& m);\n")
  string(APPEND calls "  bind_${name}(m);\n")
endforeach()
string(CONCAT text "// Generated from lib/python/operations/. Do not edit.\n"
              "#include \"${PROJECT_SOURCE_DIR}/lib/python/bind.hpp\"\n\n"
              "namespace clcook::python {\n\n" "${declarations}"
              "void bind_operations(nb::module_& m);\n"
              "void bind_operations(nb::module_& m) {\n" "${calls}" "}\n\n}  // namespace clcook::python\n")
set(clcook_operations "${PROJECT_BINARY_DIR}/generated_python/operations.cpp")
file(CONFIGURE OUTPUT "${clcook_operations}" CONTENT "${text}" @ONLY)

if(CLCOOK_COMPILED)
  set_target_properties(clcook PROPERTIES CXX_VISIBILITY_PRESET hidden UNITY_BUILD ON)
endif()

nanobind_add_module(
  clcook_python NB_STATIC STABLE_ABI "${PROJECT_SOURCE_DIR}/lib/python/module.cpp"
  "${PROJECT_SOURCE_DIR}/lib/python/memory.cpp" "${PROJECT_SOURCE_DIR}/lib/python/ndimage.cpp" ${clcook_bound} "${clcook_operations}")
target_link_libraries(clcook_python PRIVATE clcook::clcook clcook_warnings)
# Their headers are not ours to warn of.
target_include_directories(clcook_python SYSTEM PRIVATE "${NB_DIR}/include" ${Python_INCLUDE_DIRS})
# Each file alone would spend most of its time in nanobind's templates.
set_target_properties(clcook_python PROPERTIES OUTPUT_NAME _clcook CXX_EXTENSIONS OFF UNITY_BUILD ON
                                               UNITY_BUILD_BATCH_SIZE 10)
# Loops over all pixels, where nanobind asks for small code.
set_source_files_properties("${PROJECT_SOURCE_DIR}/lib/python/operations/gaussian_blur.cpp"
                            PROPERTIES COMPILE_OPTIONS "$<$<CONFIG:Release>:-O3>")
nanobind_add_stub(
  clcook_python_stub MODULE _clcook OUTPUT "${PROJECT_BINARY_DIR}/generated_python/_clcook.pyi"
  PYTHON_PATH "$<TARGET_FILE_DIR:clcook_python>" DEPENDS clcook_python)

# What a wheel holds beside the files of lib/python/clcook.
install(TARGETS clcook_python LIBRARY DESTINATION clcook COMPONENT python)
install(FILES "${PROJECT_BINARY_DIR}/generated_python/_clcook.pyi" DESTINATION clcook COMPONENT python)
install(FILES ${clcook_device_headers} DESTINATION clcook/include/clcook COMPONENT python)
# Type checkers look for the stubs of an editable installation beside the sources.
if(SKBUILD_STATE STREQUAL "editable")
  install(FILES "${PROJECT_BINARY_DIR}/generated_python/_clcook.pyi"
          DESTINATION "${PROJECT_SOURCE_DIR}/lib/python/clcook" COMPONENT python)
endif()
