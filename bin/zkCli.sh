#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# ZooKeeper's shell, with the arguments and variables of Apache's script of this name.
#
#   zkCli.sh [-server HOST:PORT,…] [-timeout MS] [-r] [-waitforconnection] [-client-configuration FILE] [COMMAND …]
#
# Variables: ZOOCFGDIR (its zookeeper-env.sh and java.env are read), CLIENT_JVMFLAGS and JVMFLAGS (of these only
# -D… is used: zookeeper.client.secure and zookeeper.ssl.*), and of our own: DROVER (the binary).

bin_dir="$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)"
prefix="$(dirname "$bin_dir")"

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

read_environment() {
  if [ -z "$ZOOCFGDIR" ]; then
    if [ -e "$prefix/conf" ]; then ZOOCFGDIR="$prefix/conf"; else ZOOCFGDIR="$prefix/etc/zookeeper"; fi
  fi
  local environment
  for environment in "$ZOOCFGDIR/zookeeper-env.sh" "$ZOOCFGDIR/java.env"; do
    # shellcheck disable=SC1090
    if [ -f "$environment" ]; then . "$environment"; fi
  done
}

# The -D words of the JVM flags; the other words speak to a JVM.
collect_properties() {
  local word
  properties=()
  set -f # a * in a flag is not a file name
  for word in $CLIENT_JVMFLAGS $JVMFLAGS; do
    case "$word" in -D?*) properties+=("$word") ;; esac
  done
  set +f
}

locate_binary
read_environment
collect_properties
exec "$DROVER" cli "${properties[@]}" "$@"
