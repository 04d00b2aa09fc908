# `cmake --install` installs, for programs outside this tree: include/drover, one library with everything that
# the client and the recipes need, one for logins with SASL, one for tests, and the two ways to find them
# (find_package(drover COMPONENTS sasl testing); pkg-config drover, drover-sasl).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# drover_archive(target name PARTS folder... LIBRARIES target...): one archive of several folders, so that users
# link one library and the folders behind it are not visible to users. It is exported as drover::<name>.
function(drover_archive target name)
  cmake_parse_arguments(arg "" "" "PARTS;LIBRARIES" ${ARGN})
  add_library(${target} STATIC)
  foreach(part IN LISTS arg_PARTS)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:drover_${part}>)
  endforeach()
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} LINKER_LANGUAGE CXX
                        ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/package")
  target_include_directories(${target} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${target} INTERFACE cxx_std_23)
  target_link_libraries(${target} INTERFACE ${arg_LIBRARIES})
endfunction()

drover_parts(client_parts recipes)
drover_archive(drover_package drover PARTS ${client_parts}
               LIBRARIES OpenSSL::SSL OpenSSL::Crypto Threads::Threads)
set_target_properties(drover_package PROPERTIES OUTPUT_NAME drover)
# drover/sasl.h. Not a part of the first one: it needs Cyrus SASL and Kerberos, which have no CMake packages.
drover_parts(sasl_parts login)
list(REMOVE_ITEM sasl_parts ${client_parts})
drover_archive(drover_sasl_package sasl PARTS ${sasl_parts} LIBRARIES drover_package sasl2 gssapi_krb5)
set_target_properties(drover_sasl_package PROPERTIES OUTPUT_NAME drover_sasl)
# Servers for users' tests, which need more than a client does.
drover_parts(testing_parts testing)
list(REMOVE_ITEM testing_parts ${client_parts} ${sasl_parts})
drover_archive(drover_testing_package testing PARTS ${testing_parts}
               LIBRARIES drover_sasl_package drover_package spdlog::spdlog fmt::fmt ZLIB::ZLIB Snappy::snappy)
set_target_properties(drover_testing_package PROPERTIES OUTPUT_NAME drover_testing)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/drover")
install(TARGETS drover RUNTIME COMPONENT server)
install(PROGRAMS "${PROJECT_SOURCE_DIR}/bin/zkServer.sh" "${PROJECT_SOURCE_DIR}/bin/zkCli.sh"
        "${PROJECT_SOURCE_DIR}/bin/zkEnv.sh"
        DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT server)
install(FILES docs/man/drover.1 docs/man/drover-cli.1 DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT server)
install(FILES completions/drover.bash DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" RENAME drover
        COMPONENT server)
install(FILES completions/_drover DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions" COMPONENT server)
install(FILES completions/drover.fish DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d"
        COMPONENT server)
install(TARGETS drover_package EXPORT drover ARCHIVE COMPONENT library)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/drover" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        COMPONENT library)
install(EXPORT drover NAMESPACE drover:: DESTINATION "${package_dir}" FILE drover-targets.cmake
        COMPONENT library)
install(TARGETS drover_sasl_package EXPORT drover-sasl ARCHIVE COMPONENT library)
install(EXPORT drover-sasl NAMESPACE drover:: DESTINATION "${package_dir}" FILE drover-sasl-targets.cmake
        COMPONENT library)
install(TARGETS drover_testing_package EXPORT drover-testing ARCHIVE COMPONENT library)
install(EXPORT drover-testing NAMESPACE drover:: DESTINATION "${package_dir}" FILE drover-testing-targets.cmake
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
configure_file(cmake/drover-sasl.pc.in "${CMAKE_BINARY_DIR}/drover-sasl.pc" @ONLY)
install(FILES "${CMAKE_BINARY_DIR}/drover.pc" "${CMAKE_BINARY_DIR}/drover-sasl.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT library)
