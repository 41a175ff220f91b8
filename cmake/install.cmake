# find_package(clcook) and pkg-config: headers, generated headers, kernels, a package file each, and
# the clcook command where it is built. docs/versions.md says what is compatible with what.

include(CMakePackageConfigHelpers)

# The generated headers by name: a missing one, because nothing was built yet, is an error here and
# not in the program of a user.
set(clcook_include_dir "${CMAKE_INSTALL_INCLUDEDIR}/clcook")
install(FILES "${CLCOOK_GENERATED_DIR}/clcook/clcook.hpp" "${CLCOOK_GENERATED_DIR}/clcook/version.hpp"
        DESTINATION "${clcook_include_dir}" COMPONENT dev)
install(FILES "${CLCOOK_GENERATED_DIR}/clcook/registry/all.hpp"
        DESTINATION "${clcook_include_dir}/registry" COMPONENT dev)
install(FILES ${clcook_embedded} DESTINATION "${clcook_include_dir}/embedded" COMPONENT dev)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/lib/clcook" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        COMPONENT dev FILES_MATCHING PATTERN "*.hpp")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/kernels" DESTINATION "${CMAKE_INSTALL_DATADIR}/clcook"
        COMPONENT dev FILES_MATCHING PATTERN "*.cl" PATTERN "*.clh")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DATADIR}/clcook"
        COMPONENT dev)
install(TARGETS clcook_header_only clcook EXPORT clcookTargets
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT dev
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT dev
        RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT dev)
# Headers fit every machine, a library file does not.
if(CLCOOK_COMPILED)
  set(clcook_files_dir "${CMAKE_INSTALL_LIBDIR}")
  set(independent "")
else()
  set(clcook_files_dir "${CMAKE_INSTALL_DATADIR}")
  set(independent ARCH_INDEPENDENT)
endif()
set(clcook_package_dir "${clcook_files_dir}/cmake/clcook")
install(EXPORT clcookTargets NAMESPACE clcook:: DESTINATION "${clcook_package_dir}" COMPONENT dev)

set(clcook_KERNEL_DIR "${CMAKE_INSTALL_DATADIR}/clcook/kernels")
configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/clcookConfig.cmake.in" "${PROJECT_BINARY_DIR}/clcookConfig.cmake"
  INSTALL_DESTINATION "${clcook_package_dir}" PATH_VARS clcook_KERNEL_DIR)
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(compatibility SameMinorVersion)
else()
  set(compatibility SameMajorVersion)
endif()
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/clcookConfigVersion.cmake" COMPATIBILITY ${compatibility} ${independent})
install(FILES "${PROJECT_BINARY_DIR}/clcookConfig.cmake"
              "${PROJECT_BINARY_DIR}/clcookConfigVersion.cmake" DESTINATION "${clcook_package_dir}"
        COMPONENT dev)

# pkg-config --cflags --libs clcook, or clcook-header-only. The prefix is where the file lies, so that a package can move.
set(clcook_pc_dir "${clcook_files_dir}/pkgconfig")
if(IS_ABSOLUTE "${clcook_pc_dir}")
  set(clcook_pc_prefix "${CMAKE_INSTALL_PREFIX}")
else()
  file(RELATIVE_PATH up "/prefix/${clcook_pc_dir}" "/prefix")
  string(REGEX REPLACE "/$" "" up "${up}")
  set(clcook_pc_prefix "\${pcfiledir}/${up}")
endif()
foreach(dir IN ITEMS INCLUDEDIR LIBDIR DATADIR)
  set(clcook_pc_${dir} "\${prefix}")
  cmake_path(APPEND clcook_pc_${dir} "${CMAKE_INSTALL_${dir}}")
endforeach()
set(clcook_pc_defines "")
set(clcook_pc_libs "")
configure_file("${PROJECT_SOURCE_DIR}/cmake/clcook.pc.in" "${PROJECT_BINARY_DIR}/clcook-header-only.pc" @ONLY)
if(CLCOOK_COMPILED)
  set(clcook_pc_defines " -DCLCOOK_COMPILED")
  set(clcook_pc_libs "-L\${libdir} -lclcook ")
endif()
configure_file("${PROJECT_SOURCE_DIR}/cmake/clcook.pc.in" "${PROJECT_BINARY_DIR}/clcook.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/clcook.pc" "${PROJECT_BINARY_DIR}/clcook-header-only.pc"
        DESTINATION "${clcook_pc_dir}" COMPONENT dev)

if(TARGET clcook_tool)
  install(TARGETS clcook_tool RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT tool)
endif()

# cpack -G DEB: libclcook-dev for every architecture, and the package clcook with the command.
set(CPACK_PACKAGE_NAME clcook)
set(CPACK_PACKAGE_VENDOR clcook)
set(CPACK_PACKAGE_CONTACT "clcook <clcook@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_PACKAGING_INSTALL_PREFIX "/usr")
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL dev)
if(TARGET clcook_tool)
  list(APPEND CPACK_COMPONENTS_ALL tool)
endif()
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libclcook-dev)
if(NOT CLCOOK_COMPILED)
  set(CPACK_DEBIAN_DEV_PACKAGE_ARCHITECTURE all)
endif()
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "ocl-icd-opencl-dev | opencl-dev, opencl-clhpp-headers")
set(CPACK_DEBIAN_TOOL_PACKAGE_NAME clcook)
set(CPACK_DEBIAN_TOOL_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_TOOL_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_TOOL_PACKAGE_RECOMMENDS "libclcook-dev, pocl-opencl-icd | opencl-icd")
include(CPack)
