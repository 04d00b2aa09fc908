# Debian packages, by `cpack -G DEB` in the build folder: `drover` with the binary, its unit, scripts and pages,
# and `libdrover-dev` with the library.
install(FILES "${PROJECT_SOURCE_DIR}/packaging/drover.service" DESTINATION lib/systemd/system COMPONENT server)
install(FILES "${PROJECT_SOURCE_DIR}/packaging/drover.sysusers" DESTINATION lib/sysusers.d RENAME drover.conf
        COMPONENT server)
install(FILES "${PROJECT_SOURCE_DIR}/packaging/zoo.cfg" DESTINATION share/doc/drover/examples COMPONENT server)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs/" DESTINATION share/doc/drover COMPONENT server
        FILES_MATCHING PATTERN "*.md")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION share/doc/drover RENAME copyright COMPONENT server)
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION share/doc/libdrover-dev RENAME copyright COMPONENT library)
# It lies outside the prefix. Only a package that is being made gets it: `cmake --install` must not touch /etc.
install(CODE "
  if(\"\$ENV{DESTDIR}\" MATCHES \"_CPack_Packages\")
    file(INSTALL \"${PROJECT_SOURCE_DIR}/packaging/zoo.cfg\" DESTINATION /etc/drover
         PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ)
  endif()" COMPONENT server)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_VENDOR "The Drover authors")
set(CPACK_PACKAGE_CONTACT "The Drover authors <drover@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Coordination service that speaks ZooKeeper's protocols")
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL server library)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_COMPONENT_SERVER_DESCRIPTION
    "Znodes, sessions, watches and replication as Apache ZooKeeper has them, in one\nnative binary: a server that ZooKeeper clients use unchanged and that joins its\nensembles, a command line, offline tools and a dashboard.")
set(CPACK_DEBIAN_SERVER_PACKAGE_NAME drover)
set(CPACK_DEBIAN_SERVER_PACKAGE_SHLIBDEPS ON)
# SASL's mechanisms, loaded when a configuration asks for them: DIGEST-MD5, and GSSAPI for Kerberos.
set(CPACK_DEBIAN_SERVER_PACKAGE_RECOMMENDS "libsasl2-modules, libsasl2-modules-gssapi-mit")
set(CPACK_DEBIAN_SERVER_PACKAGE_CONTROL_EXTRA
    "${PROJECT_SOURCE_DIR}/packaging/deb/postinst;${PROJECT_SOURCE_DIR}/packaging/deb/prerm;${PROJECT_SOURCE_DIR}/packaging/deb/postrm;${PROJECT_SOURCE_DIR}/packaging/deb/conffiles")
set(CPACK_DEBIAN_SERVER_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION
    "The C++ client of Drover and ZooKeeper servers, with recipes for locks, elections,\nqueues, barriers, configuration and discovery, and servers for tests.")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libdrover-dev)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS
    "libssl-dev, zlib1g-dev, libsnappy-dev, libspdlog-dev, libfmt-dev")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_RECOMMENDS
    "libsasl2-dev, libkrb5-dev, libsasl2-modules, libsasl2-modules-gssapi-mit")
include(CPack)
