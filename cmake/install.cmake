# find_package(clcook): headers, generated headers, kernels, and a package file. Under version 1.0 a
# minor version may break, so 0.x is compatible with the same 0.x only.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(DIRECTORY "${PROJECT_SOURCE_DIR}/lib/clcook" "${CLCOOK_GENERATED_DIR}/clcook"
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.hpp")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/kernels" DESTINATION "${CMAKE_INSTALL_DATADIR}/clcook"
        FILES_MATCHING PATTERN "*.cl" PATTERN "*.clh")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DATADIR}/clcook")
install(TARGETS clcook EXPORT clcookTargets)
set(clcook_package_dir "${CMAKE_INSTALL_DATADIR}/cmake/clcook")
install(EXPORT clcookTargets NAMESPACE clcook:: DESTINATION "${clcook_package_dir}")

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
  "${PROJECT_BINARY_DIR}/clcookConfigVersion.cmake" COMPATIBILITY ${compatibility} ARCH_INDEPENDENT)
install(FILES "${PROJECT_BINARY_DIR}/clcookConfig.cmake"
              "${PROJECT_BINARY_DIR}/clcookConfigVersion.cmake" DESTINATION "${clcook_package_dir}")
