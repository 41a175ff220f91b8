# Files inside the program: writes clcook/embedded/<recipe>.hpp for each kernels/<recipe>.cl and folder
# kernels/<recipe>/, of which there may be both, clcook/embedded/headers.hpp for all
# kernels/clcook/*.clh, and clcook/embedded/tuning.hpp for lib/clcook/tuning/*.txt, at build time, so
# that an edited file is embedded again. embed_script.cmake does the writing.

set(clcook_embedded "")

# clcook_embed(<output header> <name of the table, or ""> <root of the names> <files...>)
function(clcook_embed output table root)
  list(JOIN ARGN "|" files)
  set(path "${CLCOOK_GENERATED_DIR}/clcook/embedded/${output}.hpp")
  # The file list is a dependency too: a removed file must leave the table.
  set(stamp "${PROJECT_BINARY_DIR}/CMakeFiles/embed_${output}.list")
  file(CONFIGURE OUTPUT "${stamp}" CONTENT "${files}\n" @ONLY)
  add_custom_command(
    OUTPUT "${path}"
    COMMAND "${CMAKE_COMMAND}" "-DROOT=${root}" "-DOUTPUT=${path}"
            "-DTABLE=${table}" "-DFILES=${files}" -P "${PROJECT_SOURCE_DIR}/cmake/embed_script.cmake"
    DEPENDS ${ARGN} "${stamp}" "${PROJECT_SOURCE_DIR}/cmake/embed_script.cmake"
    COMMENT "Embedding ${output}"
    VERBATIM)
  set(clcook_embedded ${clcook_embedded} "${path}" PARENT_SCOPE)
endfunction()

foreach(recipe IN LISTS CLCOOK_RECIPES)
  file(GLOB files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/kernels/${recipe}.cl"
       "${PROJECT_SOURCE_DIR}/kernels/${recipe}/*.cl")
  if(NOT files)
    message(FATAL_ERROR "kernels/${recipe}/ holds no .cl file")
  endif()
  list(SORT files)
  clcook_embed("${recipe}" "" "${PROJECT_SOURCE_DIR}/kernels" ${files})
endforeach()
file(GLOB clcook_device_headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/kernels/clcook/*.clh")
list(SORT clcook_device_headers)
clcook_embed(headers headers "${PROJECT_SOURCE_DIR}/kernels" ${clcook_device_headers})
file(GLOB clcook_tuning_files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/lib/clcook/tuning/*.txt")
list(SORT clcook_tuning_files)
clcook_embed(tuning tuning "${PROJECT_SOURCE_DIR}/lib/clcook/tuning" ${clcook_tuning_files})

# ALL: the library has no other step of building, and install() takes these files.
add_custom_target(clcook_embedded ALL DEPENDS ${clcook_embedded})
add_dependencies(clcook_header_only clcook_embedded)
add_dependencies(clcook clcook_embedded)
