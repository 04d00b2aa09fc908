# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Sourced by zkServer.sh and zkCli.sh: finds the configuration and the binary, and collects the JVM flags.

bin_dir="$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)"
prefix="$(dirname "$bin_dir")"

# Sets ZOOCFGDIR unless it is set, and reads the variables that are kept there.
read_environment() {
  if [ -z "$ZOOCFGDIR" ]; then
    if [ -e "$prefix/conf" ]; then
      ZOOCFGDIR="$prefix/conf"
    elif [ "$prefix" = /usr ]; then
      ZOOCFGDIR=/etc/drover # where the Debian package has it
    else
      ZOOCFGDIR="$prefix/etc/zookeeper"
    fi
  fi
  local environment
  for environment in "$ZOOCFGDIR/zookeeper-env.sh" "$ZOOCFGDIR/java.env"; do
    # shellcheck disable=SC1090
    if [ -f "$environment" ]; then . "$environment"; fi
  done
}

locate_binary() {
  local candidate
  for candidate in "$DROVER" "$prefix/build/release/bin/drover" "$prefix/sbin/drover" "$bin_dir/drover" \
    "$(type -P drover)"; do
    if [ -n "$candidate" ] && [ -x "$candidate" ] && [ ! -d "$candidate" ]; then
      DROVER="$candidate"
      return
    fi
  done
  echo "Error: the drover binary was not found: build it, put it into PATH, or name it in DROVER." >&2
  exit 1
}

# collect_properties FLAGS: the -D words of JVM flags; the other words speak to a JVM.
collect_properties() {
  local word
  properties=()
  set -f # a * in a flag is not a file name
  for word in $1; do
    case "$word" in -D?*) properties+=("$word") ;; esac
  done
  set +f
}
