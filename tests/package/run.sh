#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Can another project use the installed library? Installs it into a new prefix, moves the prefix, builds
# tests/package/consumer against it with CMake and with pkg-config, and runs both against a server. Then tests the
# Debian packages.
#
# BUILD=path/to/build overrides build/release.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=${BUILD:-$here/../../build/release}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0

check() {  # check NAME COMMAND...
  local name=$1
  shift
  if "$@" >"$scratch/log" 2>&1; then
    passed=$((passed + 1))
    echo "package: $name"
  else
    failed=$((failed + 1))
    echo "package: $name FAILED"
    tail -n 20 "$scratch/log"
  fi
}

by_cmake() {
  cmake -S "$here/consumer" -B "$scratch/cmake" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release &&
    cmake --build "$scratch/cmake" && with_server "$scratch/cmake/consumer" && with_server "$scratch/cmake/consumer_login" &&
    "$scratch/cmake/consumer_test"
}

by_pkg_config() {  # by_pkg_config PACKAGE PROGRAM
  local -a flags
  read -ra flags <<<"$(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --cflags --libs "$1")"
  c++ -std=c++23 "$here/consumer/$2.cc" -o "$scratch/$2" "${flags[@]}" && with_server "$scratch/$2"
}

# A program that does not log in needs no library of SASL or Kerberos.
links_without_sasl() {
  ! ldd "$scratch/cmake/consumer" | grep -E 'sasl|gssapi|krb5'
}

# Each header says everything it needs.
by_header() {
  local header
  for header in $(cd "$prefix/include" && find drover -name '*.h'); do
    echo "#include <$header>" >"$scratch/one.cc"
    c++ -std=c++23 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$prefix/include" "$scratch/one.cc" || return
  done
}

# Public headers include no header of other projects, and only drover/ of ours.
names_nobody_else() {
  ! grep -rnE '#include ("|<(boost|openssl|fmt|spdlog|gtest|zlib|base|wire|net|client|recipes)/)' \
    "$prefix/include" | grep -v '#include "drover/'
}

with_server() { python3 "$here/with_server.py" "$build/bin/drover" "$@"; }

cmake --install "$build" --prefix "$scratch/first" >"$scratch/log"
prefix=$scratch/moved
mv "$scratch/first" "$prefix"
# Debian's own place for libraries is chosen when the prefix is /usr; here it is plain lib.
check 'find_package(drover COMPONENTS sasl testing)' by_cmake
check 'pkg-config drover' by_pkg_config drover main
check 'pkg-config drover-sasl' by_pkg_config drover-sasl login
check 'a client without SASL' links_without_sasl
check 'every header by itself' by_header
check 'headers show nothing private' names_nobody_else
check 'the installed server tells its version' "$prefix/bin/drover" --version
check 'Debian packages' python3 "$here/debian_test.py" "$build"

printf '%d passed, %d failed\n' "$passed" "$failed"
((failed == 0))
