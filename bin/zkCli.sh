#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# ZooKeeper's shell, with the arguments and variables of Apache's script of this name.
#
#   zkCli.sh [-server HOST:PORT,…] [-timeout MS] [-r] [-waitforconnection] [-client-configuration FILE] [COMMAND …]
#
# Variables: ZOOCFGDIR (its zookeeper-env.sh and java.env are read), CLIENT_JVMFLAGS and JVMFLAGS (of these only
# -D… is used: zookeeper.client.secure, zookeeper.ssl.*, java.security.auth.login.config, zookeeper.sasl.*), and of
# our own: DROVER (the binary).

# shellcheck source=bin/zkEnv.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/zkEnv.sh"

locate_binary
read_environment
collect_properties "$CLIENT_JVMFLAGS $JVMFLAGS"
exec "$DROVER" cli "${properties[@]}" "$@"
