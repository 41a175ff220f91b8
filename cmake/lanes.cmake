# What ctest runs. Labels are the lanes of ./cook test, which cmake/lanes.txt lists; cmake/lanes/*.sh
# does the work. A lane that cannot run prints "SKIP: why" and ends with 77, which ctest shows as
# skipped. CLCOOK_TEST_GRID=short in the environment makes a test run its short grid; each decides
# what that is (tests/support/grid.hpp, cmake/lanes/grid.sh).

file(STRINGS "${PROJECT_SOURCE_DIR}/cmake/lanes.txt" lines REGEX "^[a-z]")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/cmake/lanes.txt")
set(clcook_lane_names "")
set(clcook_lanes_by_hand "")
foreach(line IN LISTS lines)
  string(REGEX REPLACE " .*" "" name "${line}")
  list(APPEND clcook_lane_names "${name}")
  if(line MATCHES "^[^|]*\\| *(all|asked) *\\|")
    list(APPEND clcook_lanes_by_hand "${name}")
  endif()
endforeach()
# CONTRIBUTING has a table of what lanes do on the short grid: each of them must exist.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/CONTRIBUTING.md")
file(STRINGS "${PROJECT_SOURCE_DIR}/CONTRIBUTING.md" lines REGEX "^\\| `[a-z_0-9]+`")
foreach(line IN LISTS lines)
  string(REGEX REPLACE "^\\| `([a-z_0-9]+)`.*" "\\1" name "${line}")
  if(NOT name IN_LIST clcook_lane_names)
    message(FATAL_ERROR "CONTRIBUTING.md: cmake/lanes.txt has no lane '${name}'")
  endif()
endforeach()

# What every program of a test sees. OCL_ICD_VENDORS stays the user's. The sanitizers' build shares the
# caches of compiled kernels: they are keyed by source, options and device.
set(CLCOOK_TEST_CACHES "${PROJECT_BINARY_DIR}" CACHE PATH "Where tests cache compiled kernels")
set(clcook_test_environment
    "POCL_CACHE_DIR=${CLCOOK_TEST_CACHES}/pocl-cache"
    "CLCOOK_CACHE_DIR=${CLCOOK_TEST_CACHES}/clcook-cache" "CLCOOK_BIN_DIR=${PROJECT_BINARY_DIR}/bin")
if(CLCOOK_TEST_DATA)
  list(APPEND clcook_test_environment "CLCOOK_TEST_DATA=${CLCOOK_TEST_DATA}")
endif()
file(MAKE_DIRECTORY "${CLCOOK_TEST_CACHES}/pocl-cache" "${CLCOOK_TEST_CACHES}/clcook-cache")

# clcook_lane(<name> <label> <command...>): a test. Only `./cook test` limits its time, see there.
function(clcook_lane name label)
  foreach(one IN LISTS label)
    if(NOT one IN_LIST clcook_lane_names)
      message(FATAL_ERROR "test ${name}: cmake/lanes.txt has no lane '${one}'")
    endif()
    if(one IN_LIST clcook_lanes_by_hand)
      list(APPEND label by_hand)  # what the presets leave out
    endif()
  endforeach()
  list(REMOVE_DUPLICATES label)
  list(GET label 0 lane)
  add_test(NAME "${name}" COMMAND "${PROJECT_SOURCE_DIR}/cmake/lanes/timed.sh"
                                  "${PROJECT_BINARY_DIR}/lane-times/${name}" "${lane}" ${ARGN})
  set_tests_properties(
    "${name}" PROPERTIES LABELS "${label}" SKIP_RETURN_CODE 77
                         ENVIRONMENT "${clcook_test_environment}")
endfunction()
set(clcook_lanes "${PROJECT_SOURCE_DIR}/cmake/lanes")

# These two go through all recipes: a test for each recipe, so that they run side by side.
set(clcook_by_recipe_conformance "every variant of every recipe agrees with its reference")
set(clcook_by_recipe_planted_bugs "unchanged copies pass*")
set(clcook_lane_of_conformance conformance)
set(clcook_lane_of_planted_bugs planted)
foreach(name IN LISTS CLCOOK_TESTS)
  if(name MATCHES "^stub_")
    clcook_lane("${name}" stub $<TARGET_FILE:test_${name}>)
    continue()
  endif()
  if(NOT DEFINED clcook_by_recipe_${name})
    clcook_lane("${name}" unit $<TARGET_FILE:test_${name}>)
    continue()
  endif()
  set(cases "${clcook_by_recipe_${name}}")
  clcook_lane("${name}" unit $<TARGET_FILE:test_${name}> "--test-case-exclude=${cases}")
  foreach(recipe IN LISTS CLCOOK_RECIPES)
    clcook_lane("${name}.${recipe}" ${clcook_lane_of_${name}} $<TARGET_FILE:test_${name}>
                "--test-case=${cases}")
    set_property(TEST "${name}.${recipe}" APPEND PROPERTY ENVIRONMENT "CLCOOK_TEST_RECIPE=${recipe}")
  endforeach()
endforeach()

# The lanes below look at the whole project, once; nested builds have only the test programs.
if(PROJECT_IS_TOP_LEVEL AND NOT CLCOOK_SANITIZE)
  set(number 0)
  foreach(compiler IN ITEMS g++ clang++)
    foreach(standard IN ITEMS 17 20)
      clcook_lane(
        "headers.${compiler}.c++${standard}" headers "${clcook_lanes}/headers.sh" ${compiler}
        c++${standard} ${number} "" "${PROJECT_SOURCE_DIR}/lib" "${CLCOOK_GENERATED_DIR}")
      math(EXPR number "${number} + 1")
    endforeach()
  endforeach()
  clcook_lane(headers.usage headers "${clcook_lanes}/usage.sh" "${PROJECT_SOURCE_DIR}"
              "${CLCOOK_GENERATED_DIR}" "${PROJECT_BINARY_DIR}/usage")
  clcook_lane(windows windows "${clcook_lanes}/windows.sh" "${PROJECT_SOURCE_DIR}"
              "${CLCOOK_GENERATED_DIR}" "${CMAKE_COMMAND}" "${PROJECT_BINARY_DIR}/windows")
  clcook_lane(lint lint "${clcook_lanes}/lint.sh" "${PROJECT_SOURCE_DIR}/kernels"
              "${PROJECT_SOURCE_DIR}/lib/python/clcook")
  clcook_lane(format format "${clcook_lanes}/format.sh" "${PROJECT_SOURCE_DIR}")
  clcook_lane(layers layers "${clcook_lanes}/layers.sh" "${PROJECT_SOURCE_DIR}")
  clcook_lane(links links "${clcook_lanes}/links.sh" "${PROJECT_SOURCE_DIR}"
              "${PROJECT_BINARY_DIR}/lychee" "${PROJECT_BINARY_DIR}/links")
  clcook_lane(spelling spelling "${clcook_lanes}/spelling.sh" "${PROJECT_SOURCE_DIR}"
              "${PROJECT_BINARY_DIR}/spelling")
  set(tool "")
  if(TARGET clcook_tool)
    set(tool $<TARGET_FILE:clcook_tool>)
  endif()
  clcook_lane(python python "${clcook_lanes}/python.sh" "${PROJECT_SOURCE_DIR}"
              $<TARGET_FILE:python_plain> "${tool}" "${PROJECT_BINARY_DIR}/python")
  clcook_lane(shell lint "${clcook_lanes}/shell.sh" "${PROJECT_SOURCE_DIR}")
  # It takes the longest, so it begins first. ctest begins with those that others wait for, then looks at the cost.
  set_tests_properties(python PROPERTIES COST 1000)
  set_tests_properties(shell PROPERTIES DEPENDS python)
  clcook_lane(functions lint "${clcook_lanes}/functions.py" "${PROJECT_SOURCE_DIR}")

  foreach(kind IN ITEMS interrupted full_disk)
    clcook_lane(demo.${kind} demo "${clcook_lanes}/demo.sh" "${PROJECT_SOURCE_DIR}"
                "${PROJECT_BINARY_DIR}/demo-${kind}" ${kind})
  endforeach()

  set(number 0)
  foreach(kind IN ITEMS find_package subdirectory fetch_content single_header two_tu)
    set(label consumer)
    set(turn "${clcook_lanes}/turn.sh" ${number} 5)
    if(kind STREQUAL "two_tu")
      set(label two_tu)
    endif()
    math(EXPR number "${number} + 1")
    if(kind STREQUAL "find_package" AND NOT CLCOOK_INSTALL)
      continue()
    endif()
    clcook_lane(
      "consumer.${kind}" ${label} ${turn} "${clcook_lanes}/consumer.sh" "${CMAKE_COMMAND}" ${kind}
      "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}" "${PROJECT_BINARY_DIR}/consumer/${kind}")
  endforeach()

  if(CLCOOK_INSTALL)
    set(number 0)
    foreach(kind IN ITEMS minimal pkg_config deb tool single_header conan cxx14 typed)
      set(turn "${clcook_lanes}/turn.sh" ${number} 8)
      math(EXPR number "${number} + 1")
      if(kind STREQUAL "tool" AND NOT TARGET clcook_tool)
        continue()
      endif()
      clcook_lane(
        "package.${kind}" packages ${turn} "${clcook_lanes}/package.sh" "${CMAKE_COMMAND}" ${kind}
        "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}" "${PROJECT_BINARY_DIR}/package/${kind}")
    endforeach()
  endif()
  if(TARGET clcook_tool)
    set(library "")
    if(CLCOOK_COMPILED)
      set(library "$<TARGET_FILE:clcook>")
    endif()
    clcook_lane(
      snippets snippets "${clcook_lanes}/snippets.sh" "${PROJECT_SOURCE_DIR}"
      "${CLCOOK_GENERATED_DIR}" $<TARGET_FILE:clcook_tool> "${library}"
      "${PROJECT_BINARY_DIR}/snippets")
    clcook_lane(site site "${clcook_lanes}/site.sh" "${PROJECT_SOURCE_DIR}"
                $<TARGET_FILE:clcook_tool> "${PROJECT_BINARY_DIR}/lychee" "${PROJECT_BINARY_DIR}/site")
  endif()

  set(number 0)
  foreach(name IN LISTS CLCOOK_EXAMPLES)
    clcook_lane(
      "example.${name}" examples "${clcook_lanes}/turn.sh" ${number} 3 "${clcook_lanes}/example.sh"
      $<TARGET_FILE:example_${name}> "${PROJECT_SOURCE_DIR}/examples/${name}.cpp"
      "${PROJECT_BINARY_DIR}/example-out/${name}")
    math(EXPR number "${number} + 1")
  endforeach()

  if(TARGET clcook_tool)
    set(number 0)
    set(apart 4)  # so that a recipe that is slow in both is not slow on one tree
    foreach(recipe IN LISTS CLCOOK_RECIPES)
      foreach(mode IN ITEMS races uninitialized)
        set(turn "${clcook_lanes}/turn.sh" ${number} 8)
        math(EXPR number "${number} + 1")
        clcook_lane(
          "oclgrind.${recipe}.${mode}" oclgrind ${turn} "${clcook_lanes}/oclgrind.sh"
          $<TARGET_FILE:clcook_tool> "${PROJECT_BINARY_DIR}/oclgrind-${recipe}-${mode}.log" ${mode}
          "${recipe}")
      endforeach()
      set(turn "${clcook_lanes}/turn.sh" ${number} 8)
      math(EXPR number "${number} + 1")
      clcook_lane(
        "oclgrind.${recipe}.planted" oclgrind ${turn}
        "${PROJECT_SOURCE_DIR}/tests/planted/oclgrind.sh" $<TARGET_FILE:clcook_tool>
        $<TARGET_FILE:test_planted_bugs> "${PROJECT_BINARY_DIR}/oclgrind-planted-${recipe}")
      set_property(TEST "oclgrind.${recipe}.planted" APPEND
                   PROPERTY ENVIRONMENT "CLCOOK_TEST_RECIPE=${recipe}")
      clcook_lane(
        "order.${recipe}" order "${clcook_lanes}/turn.sh" ${apart} 16 "${clcook_lanes}/order.sh"
        $<TARGET_FILE:clcook_tool> $<TARGET_FILE:test_planted_bugs> "${PROJECT_SOURCE_DIR}"
        "${PROJECT_BINARY_DIR}/order/${recipe}" "${recipe}")
      math(EXPR apart "${apart} + 1")
    endforeach()
    if(TARGET test_mutant_rows)
      clcook_lane(mutants.sample mutants "${clcook_lanes}/mutants.sh" "${PROJECT_SOURCE_DIR}"
                  "${PROJECT_BINARY_DIR}")
    endif()
    clcook_lane(report unit python3 "${PROJECT_SOURCE_DIR}/tests/report/report_test.py"
                $<TARGET_FILE:clcook_tool>)
    clcook_lane(counters_scripts unit python3 "${PROJECT_SOURCE_DIR}/tests/counters/counters_test.py")
    clcook_lane(measure_all unit "${PROJECT_SOURCE_DIR}/bench/measure_all.sh"
                $<TARGET_FILE:clcook_tool> smoke "${PROJECT_BINARY_DIR}/measure_all" argument_swap)
    set_property(TEST measure_all APPEND PROPERTY ENVIRONMENT "BENCH_OPTIONS=--smoke"
                                                  "EXPLORE_OPTIONS=--smoke")
    clcook_lane(isa.gate isa "${clcook_lanes}/isa.sh" $<TARGET_FILE:clcook_tool> ${CLCOOK_RECIPES})
    set_tests_properties(isa.gate PROPERTIES WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}" COST 100)
    # OpenCL that is not this machine's own: only when asked for.
    foreach(one IN ITEMS rusticl pocl6)
      clcook_lane(${one} ${one} "${clcook_lanes}/${one}.sh"
                  $<TARGET_FILE:clcook_tool> "${PROJECT_BINARY_DIR}/roots")
      set_property(TEST ${one} PROPERTY RESOURCE_LOCK clcook_roots)
    endforeach()
    clcook_lane(intel intel "${clcook_lanes}/intel.sh" $<TARGET_FILE:clcook_tool>
                "${PROJECT_BINARY_DIR}/intel")
  endif()

  set(systems debian12 debian13 ubuntu24)
  set(suites bookworm trixie noble)
  foreach(one suite IN ZIP_LISTS systems suites)
    clcook_lane(${one} ${one} "${clcook_lanes}/fresh.sh" "${PROJECT_SOURCE_DIR}"
                "${PROJECT_BINARY_DIR}/fresh" ${suite})
  endforeach()

  clcook_lane(new_recipe new_recipe "${clcook_lanes}/turn.sh" 1 8 "${clcook_lanes}/new_recipe.sh" "${CMAKE_COMMAND}"
              "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}/new_recipe")
  clcook_lane(sanitize sanitize "${clcook_lanes}/sanitize.sh" "${CMAKE_COMMAND}"
              "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}")
  clcook_lane(fuzz fuzz "${clcook_lanes}/fuzz.sh" "${CMAKE_COMMAND}" "${PROJECT_SOURCE_DIR}"
              "${PROJECT_BINARY_DIR}")
  clcook_lane(tsan tsan "${clcook_lanes}/turn.sh" 0 2 "${clcook_lanes}/tsan.sh" "${CMAKE_COMMAND}" "${PROJECT_SOURCE_DIR}"
              "${PROJECT_BINARY_DIR}")
  # After those whose compiled kernels it uses.
  list(TRANSFORM CLCOOK_RECIPES PREPEND "conformance." OUTPUT_VARIABLE conformance)
  set_tests_properties(sanitize PROPERTIES DEPENDS "${CLCOOK_TESTS};${conformance}")
endif()
