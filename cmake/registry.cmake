# Recipes are found, never listed: every card lib/clcook/cookbook/<recipe>.hpp is a recipe, and
# must have its partner file in each of the other rooms. Writes registry/all.hpp and clcook.hpp.

file(GLOB clcook_cards CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/lib/clcook/cookbook"
     "${PROJECT_SOURCE_DIR}/lib/clcook/cookbook/*.hpp")
set(CLCOOK_RECIPES "")
foreach(card IN LISTS clcook_cards)
  string(REGEX REPLACE "\\.hpp$" "" recipe "${card}")
  list(APPEND CLCOOK_RECIPES "${recipe}")
endforeach()
list(SORT CLCOOK_RECIPES)

set(clcook_missing "")
foreach(recipe IN LISTS CLCOOK_RECIPES)
  if(NOT recipe MATCHES "^[a-z][a-z0-9]*(_[a-z0-9]+)*$")
    message(FATAL_ERROR "recipe name '${recipe}' must be lower case words joined by '_'")
  endif()
  set(partners "lib/clcook/${recipe}.hpp" "lib/clcook/reference/${recipe}.hpp"
               "examples/${recipe}.cpp" "docs/${recipe}.md")
  if(IS_DIRECTORY "${PROJECT_SOURCE_DIR}/tests")  # not in a source distribution of Python's
    list(APPEND partners "tests/${recipe}.cpp" "tests/planted/${recipe}.txt")
  endif()
  foreach(partner IN LISTS partners)
    if(NOT EXISTS "${PROJECT_SOURCE_DIR}/${partner}")
      string(APPEND clcook_missing "\n  ${partner}")
    endif()
  endforeach()
  # Kernels broken on purpose, which the check must find: without them nothing shows that it can.
  if(EXISTS "${PROJECT_SOURCE_DIR}/tests/planted/${recipe}.txt")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
                                           "${PROJECT_SOURCE_DIR}/tests/planted/${recipe}.txt")
    file(STRINGS "${PROJECT_SOURCE_DIR}/tests/planted/${recipe}.txt" bugs REGEX "^bug [a-z]")
    if(NOT bugs)
      string(APPEND clcook_missing "\n  a planted bug in tests/planted/${recipe}.txt")
    endif()
  endif()
  if(NOT EXISTS "${PROJECT_SOURCE_DIR}/kernels/${recipe}.cl"
     AND NOT IS_DIRECTORY "${PROJECT_SOURCE_DIR}/kernels/${recipe}")
    string(APPEND clcook_missing "\n  kernels/${recipe}.cl")
  endif()
endforeach()
if(clcook_missing)
  message(FATAL_ERROR "a recipe has the same name in every room; missing:${clcook_missing}")
endif()

# A kernel that no card speaks of would be installed and never tested.
file(GLOB clcook_kernel_files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/kernels/*.cl")
foreach(file IN LISTS clcook_kernel_files)
  cmake_path(GET file STEM stem)
  if(NOT stem IN_LIST CLCOOK_RECIPES)
    if(CLCOOK_WERROR)
      message(FATAL_ERROR "kernels/${stem}.cl has no card lib/clcook/cookbook/${stem}.hpp")
    endif()
    message(WARNING "kernels/${stem}.cl has no card lib/clcook/cookbook/${stem}.hpp")
  endif()
endforeach()

set(text "// Generated from lib/clcook/cookbook/. Do not edit.\n#pragma once\n\n")
string(APPEND text "#include <clcook/registry/recipe.hpp>\n#include <vector>\n")
foreach(recipe IN LISTS CLCOOK_RECIPES)
  string(APPEND text "#include <clcook/cookbook/${recipe}.hpp>\n")
endforeach()
string(APPEND text "\nnamespace clcook::cookbook {\n\n"
       "/// Every recipe of the cookbook, sorted by name.\n" "inline std::vector<Recipe> all() {\n"
       "  std::vector<Recipe> recipes;\n")
foreach(recipe IN LISTS CLCOOK_RECIPES)
  string(APPEND text "  recipes.push_back(${recipe}());\n")
endforeach()
string(APPEND text "  return recipes;\n}\n\n}  // namespace clcook::cookbook\n")
file(CONFIGURE OUTPUT "${CLCOOK_GENERATED_DIR}/clcook/registry/all.hpp" CONTENT "${text}" @ONLY)

# The umbrella: the core and every operation.
file(GLOB clcook_umbrella CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/lib"
     "${PROJECT_SOURCE_DIR}/lib/clcook/*.hpp" "${PROJECT_SOURCE_DIR}/lib/clcook/core/*.hpp")
list(SORT clcook_umbrella)
set(text "// Generated from lib/clcook/. Do not edit.\n#pragma once\n\n")
foreach(header IN LISTS clcook_umbrella)
  string(APPEND text "#include <${header}>\n")
endforeach()
file(CONFIGURE OUTPUT "${CLCOOK_GENERATED_DIR}/clcook/clcook.hpp" CONTENT "${text}" @ONLY)
