# What `cmake --install` gives to programs outside this tree: include/drover, one library with everything that
# the client and the recipes need, and the two ways to find it (find_package(drover), pkg-config drover).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# One archive, so that users link one thing and the folders behind it stay our affair.
set(package_parts base wire net client recipes)
add_library(drover_package STATIC)
foreach(part IN LISTS package_parts)
  target_sources(drover_package PRIVATE $<TARGET_OBJECTS:drover_${part}>)
endforeach()
set_target_properties(drover_package PROPERTIES OUTPUT_NAME drover EXPORT_NAME drover LINKER_LANGUAGE CXX)
target_include_directories(drover_package INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(drover_package INTERFACE cxx_std_23)
target_link_libraries(drover_package INTERFACE OpenSSL::SSL OpenSSL::Crypto Threads::Threads)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/drover")
install(TARGETS drover RUNTIME COMPONENT server)
install(PROGRAMS "${PROJECT_SOURCE_DIR}/bin/zkServer.sh" DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT server)
install(TARGETS drover_package EXPORT drover ARCHIVE COMPONENT library)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/drover" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        COMPONENT library)
install(EXPORT drover NAMESPACE drover:: DESTINATION "${package_dir}" FILE drover-targets.cmake
        COMPONENT library)

configure_package_config_file(cmake/drover-config.cmake.in "${CMAKE_BINARY_DIR}/drover-config.cmake"
                              INSTALL_DESTINATION "${package_dir}")
# Before 1.0 a new minor version may change the interface.
write_basic_package_version_file("${CMAKE_BINARY_DIR}/drover-config-version.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/drover-config.cmake" "${CMAKE_BINARY_DIR}/drover-config-version.cmake"
        DESTINATION "${package_dir}" COMPONENT library)
file(RELATIVE_PATH DROVER_PREFIX_FROM_PKGCONFIG "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file(cmake/drover.pc.in "${CMAKE_BINARY_DIR}/drover.pc" @ONLY)
install(FILES "${CMAKE_BINARY_DIR}/drover.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT library)
