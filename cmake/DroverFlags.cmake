# Compiler and linker flags of every target: language, warnings, hardening, sanitizers.
set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()
# -g1 keeps backtraces readable without making the binary and the link ten times larger.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1")

set(DROVER_SANITIZE "" CACHE STRING "Sanitizers to build with: empty, address;undefined or thread")

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # libstdc++ 12's stable_sort uses what libstdc++ itself deprecates; our own such uses GCC still reports.
  add_compile_options(-Wno-deprecated-declarations)
endif()
add_compile_options(-fstack-protector-strong -fno-omit-frame-pointer)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  add_compile_options(-fcf-protection)
endif()
# Bounds checks of the standard library stay on in production, as ENSURE does.
add_compile_definitions(_GLIBCXX_ASSERTIONS)
if(DROVER_SANITIZE)
  string(REPLACE ";" "," DROVER_SANITIZE_LIST "${DROVER_SANITIZE}")
  add_compile_options(-fsanitize=${DROVER_SANITIZE_LIST} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${DROVER_SANITIZE_LIST})
  # A third less time to compile than -O2, and the sanitizers see as much.
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1")
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # False alarms in code that GCC has instrumented (std::regex); the release build keeps the warning.
    add_compile_options(-Wno-maybe-uninitialized)
  endif()
elseif(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
  add_compile_definitions(_FORTIFY_SOURCE=2)
endif()
option(DROVER_FUZZ "Instrument for libFuzzer and build tests/fuzz (clang only)" OFF)
if(DROVER_FUZZ)
  # Every library reports its coverage to the fuzzer; only the programs of tests/fuzz link its main().
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
add_link_options(-pie -Wl,-z,relro,-z,now)
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
endif()
