# The files of web/ become a table inside the binary (src/dashboard/web_assets.h). This happens when CMake configures, and
# again when a file of web/ changes. A command of the build would run late, and all of dashboard and server would wait.
file(GLOB web_files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/web/*")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${web_files})

set(type_html "text/html; charset=utf-8")
set(type_css "text/css; charset=utf-8")
set(type_js "text/javascript; charset=utf-8")
set(type_svg "image/svg+xml")
set(arrays "")
set(rows "")
foreach(file IN LISTS web_files)
  get_filename_component(file_name "${file}" NAME)
  string(REGEX REPLACE ".*\\." "" ending "${file_name}")
  if(NOT DEFINED type_${ending})
    message(FATAL_ERROR "web/${file_name}: DroverWeb.cmake knows no content type for .${ending}")
  endif()
  string(MAKE_C_IDENTIFIER "${file_name}" name)
  file(READ "${file}" hex HEX)
  file(SHA256 "${file}" hash)
  string(SUBSTRING "${hash}" 0 32 hash)
  string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
  set(path "/${file_name}")
  if(file_name STREQUAL "index.html")
    set(path "/")
  endif()
  string(APPEND arrays "constexpr unsigned char k_${name}[] = {\n${hex}};\n")
  string(APPEND rows "    {\"${path}\", \"${type_${ending}}\", \"\\\"${hash}\\\"\",\n"
         "     {reinterpret_cast<const char*>(k_${name}), sizeof k_${name}}},\n")
endforeach()
set(web_assets "${CMAKE_BINARY_DIR}/web_assets.cc")
string(CONCAT web_text "// Made from web/ by cmake/DroverWeb.cmake.\n#include \"dashboard/web_assets.h\"\n\n"
       "namespace drover::server {\nnamespace {\n\n${arrays}\nconst WebAsset kAssets[] = {\n${rows}};\n\n"
       "}  // namespace\n\nstd::span<const WebAsset> web_assets() { return kAssets; }\n\n"
       "}  // namespace drover::server\n")
file(CONFIGURE OUTPUT "${web_assets}" CONTENT "${web_text}" @ONLY)  # keeps the file if it does not change
target_sources(drover_dashboard PRIVATE "${web_assets}")
