# Debian's libsasl2-dev has no CMake package: CyrusSasl::CyrusSasl. The mechanisms are plug-ins that the library loads
# when it runs (libsasl2-modules, libsasl2-modules-gssapi-mit); nothing is linked with them.
find_path(CyrusSasl_INCLUDE_DIR sasl/sasl.h)
find_library(CyrusSasl_LIBRARY sasl2)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CyrusSasl REQUIRED_VARS CyrusSasl_LIBRARY CyrusSasl_INCLUDE_DIR)
if(CyrusSasl_FOUND AND NOT TARGET CyrusSasl::CyrusSasl)
  add_library(CyrusSasl::CyrusSasl UNKNOWN IMPORTED)
  set_target_properties(CyrusSasl::CyrusSasl PROPERTIES IMPORTED_LOCATION "${CyrusSasl_LIBRARY}"
                        INTERFACE_INCLUDE_DIRECTORIES "${CyrusSasl_INCLUDE_DIR}")
endif()
mark_as_advanced(CyrusSasl_INCLUDE_DIR CyrusSasl_LIBRARY)
