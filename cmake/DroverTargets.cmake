# drover_library(name [CORE_ROOMS folder...] [ROOMS folder...] [DEPENDS folder...] [TEST_DEPENDS folder...]
#                [LIBRARIES target...] [THREADS])
#
# Makes `drover_<name>` from src/<name>/*.cc and, when src/<name>/*_test.cc exist, the test program
# `<name>_test` with one ctest entry. DEPENDS are other folders of src/, TEST_DEPENDS those
# that only its tests use, LIBRARIES come from outside.
# ROOMS are the folders in src/<name>/ whose files belong to the library, too. A room uses only rooms that are named
# before it (tests/layering). CORE_ROOMS come before ROOMS and are a library of their own, `drover_<name>_core`: a folder
# that DEPENDS on <name>_core does not wait until the others are compiled.
# THREADS marks tests that run several threads: they get the ctest label `threads`, and the target
# `thread_tests` builds only them, for the thread sanitizer.
add_custom_target(thread_tests)
# All programs that ctest runs, without examples and what only scripts use.
add_custom_target(unit_tests)

# Most of the time goes into headers, so several files of a folder are compiled as one. Files of a folder may then not
# use one name for two things. Presets without it find what a file forgot to include, and compile one changed file faster.
# CMake's own UNITY_BUILD writes absolute paths into the files that it makes, so the compiler's cache would know none of
# them in another checkout.
option(DROVER_UNITY "Compile several files of a folder as one" OFF)
set(DROVER_UNITY_FILES 10 CACHE STRING "How many files that are")

function(drover_library name)
  cmake_parse_arguments(arg "THREADS" "" "CORE_ROOMS;ROOMS;DEPENDS;TEST_DEPENDS;LIBRARIES" ${ARGN})
  set(depends ${arg_DEPENDS})
  if(arg_CORE_ROOMS)
    drover_sources(sources core_tests ${name} ${arg_CORE_ROOMS})
    drover_part(${name}_core SOURCES ${sources} DEPENDS ${depends} LIBRARIES ${arg_LIBRARIES})
    list(PREPEND depends ${name}_core)
  endif()
  drover_sources(sources tests ${name} . ${arg_ROOMS})
  drover_part(${name} SOURCES ${sources} DEPENDS ${depends} LIBRARIES ${arg_LIBRARIES})
  list(APPEND tests ${core_tests})
  if(tests)
    list(TRANSFORM arg_TEST_DEPENDS PREPEND drover_)
    drover_test(${name}_test SOURCES ${tests} LIBRARIES drover_${name} ${arg_TEST_DEPENDS})
    if(arg_THREADS)
      set_property(TEST ${name}_test APPEND PROPERTY LABELS threads)
      add_dependencies(thread_tests ${name}_test)
    endif()
  endif()
endfunction()

# drover_sources(sources tests name room...): the files of some rooms of src/<name>/; `.` is the folder itself.
function(drover_sources sources tests name)
  list(TRANSFORM ARGN PREPEND "${PROJECT_SOURCE_DIR}/src/${name}/" OUTPUT_VARIABLE patterns)
  list(TRANSFORM patterns APPEND "/*.cc")
  list(TRANSFORM patterns REPLACE "/\\./" "/")
  file(GLOB files CONFIGURE_DEPENDS ${patterns})
  set(test_files ${files})
  list(FILTER files EXCLUDE REGEX "_test\\.cc$")
  list(FILTER test_files INCLUDE REGEX "_test\\.cc$")
  set(${sources} ${files} PARENT_SCOPE)
  set(${tests} ${test_files} PARENT_SCOPE)
endfunction()

# drover_part(name SOURCES file... DEPENDS part... LIBRARIES target...): the library drover_<name>.
function(drover_part name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS;LIBRARIES" ${ARGN})
  if(DROVER_UNITY)
    drover_batches(arg_SOURCES ${name} ${arg_SOURCES})
  endif()
  add_library(drover_${name} STATIC ${arg_SOURCES})
  if(DROVER_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC takes the files for headers, where an anonymous namespace would be a mistake.
    target_compile_options(drover_${name} PRIVATE -Wno-subobject-linkage)
  endif()
  target_include_directories(drover_${name} PUBLIC "${PROJECT_SOURCE_DIR}/src"
                             "${PROJECT_SOURCE_DIR}/include")
  foreach(part IN LISTS arg_DEPENDS)
    target_link_libraries(drover_${name} PUBLIC drover_${part})
  endforeach()
  target_link_libraries(drover_${name} PUBLIC ${arg_LIBRARIES})
  set_property(GLOBAL PROPERTY DROVER_DEPENDS_OF_${name} "${arg_DEPENDS}")
  set_property(GLOBAL APPEND PROPERTY DROVER_LIBRARIES drover_${name})
endfunction()

# drover_batches(result name file...): files that include DROVER_UNITY_FILES of the files each, by their path in src/.
function(drover_batches result name)
  set(batches "")
  while(ARGN)
    list(LENGTH batches number)
    list(SUBLIST ARGN 0 ${DROVER_UNITY_FILES} files)
    list(REMOVE_ITEM ARGN ${files})
    list(TRANSFORM files REPLACE "^${PROJECT_SOURCE_DIR}/src/(.*)$" "#include \"\\1\"\n")
    string(JOIN "" text ${files})
    set(batch "${CMAKE_CURRENT_BINARY_DIR}/batches/${name}_${number}.cc")
    file(CONFIGURE OUTPUT "${batch}" CONTENT "${text}" @ONLY)
    list(APPEND batches "${batch}")
  endwhile()
  set(${result} ${batches} PARENT_SCOPE)
endfunction()

# drover_parts(result part...): the libraries of the folders and of all folders that they use.
function(drover_parts result)
  set(parts "")
  set(open ${ARGN})
  while(open)
    list(POP_FRONT open folder)
    if(NOT folder IN_LIST parts)
      list(APPEND parts ${folder})
      get_property(depends GLOBAL PROPERTY DROVER_DEPENDS_OF_${folder})
      list(APPEND open ${depends})
    endif()
  endwhile()
  set(${result} ${parts} PARENT_SCOPE)
endfunction()

# drover_test(name SOURCES file... LIBRARIES target...): a GoogleTest program run by ctest.
function(drover_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} GTest::gtest_main GTest::gmock)
  add_test(NAME ${name} COMMAND ${name})
  add_dependencies(unit_tests ${name})
  set_tests_properties(${name} PROPERTIES LABELS unit)
endfunction()
