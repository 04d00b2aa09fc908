# The files of web/ become a table inside the binary (src/dashboard/web_assets.h), made by this very file when it is run
# as a script: cmake -DWEB=folder -DOUTPUT=file -P DroverWeb.cmake
if(CMAKE_SCRIPT_MODE_FILE)
  set(type_html "text/html; charset=utf-8")
  set(type_css "text/css; charset=utf-8")
  set(type_js "text/javascript; charset=utf-8")
  set(type_svg "image/svg+xml")
  file(GLOB files RELATIVE "${WEB}" "${WEB}/*")
  list(SORT files)
  set(arrays "")
  set(rows "")
  foreach(file IN LISTS files)
    string(REGEX REPLACE ".*\\." "" ending "${file}")
    if(NOT DEFINED type_${ending})
      message(FATAL_ERROR "web/${file}: DroverWeb.cmake knows no content type for .${ending}")
    endif()
    string(MAKE_C_IDENTIFIER "${file}" name)
    file(READ "${WEB}/${file}" hex HEX)
    file(SHA256 "${WEB}/${file}" hash)
    string(SUBSTRING "${hash}" 0 32 hash)
    string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
    set(path "/${file}")
    if(file STREQUAL "index.html")
      set(path "/")
    endif()
    string(APPEND arrays "constexpr unsigned char k_${name}[] = {\n${hex}};\n")
    string(APPEND rows "    {\"${path}\", \"${type_${ending}}\", \"\\\"${hash}\\\"\",\n"
           "     {reinterpret_cast<const char*>(k_${name}), sizeof k_${name}}},\n")
  endforeach()
  file(WRITE "${OUTPUT}" "// Made from web/ by cmake/DroverWeb.cmake.\n#include \"dashboard/web_assets.h\"\n\n"
       "namespace drover::server {\nnamespace {\n\n${arrays}\nconst WebAsset kAssets[] = {\n${rows}};\n\n"
       "}  // namespace\n\nstd::span<const WebAsset> web_assets() { return kAssets; }\n\n"
       "}  // namespace drover::server\n")
  return()
endif()

file(GLOB web_files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/web/*")
set(web_assets "${CMAKE_BINARY_DIR}/web_assets.cc")
add_custom_command(
  OUTPUT "${web_assets}"
  COMMAND "${CMAKE_COMMAND}" "-DWEB=${PROJECT_SOURCE_DIR}/web" "-DOUTPUT=${web_assets}" -P "${CMAKE_CURRENT_LIST_FILE}"
  DEPENDS ${web_files} "${CMAKE_CURRENT_LIST_FILE}"
  COMMENT "Embedding web/")
target_sources(drover_dashboard PRIVATE "${web_assets}")
