#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Starts, stops and asks a drover server, with the verbs, arguments, variables and words of Apache
# ZooKeeper's script of this name, so that unit files and test harnesses work unchanged.
#
#   zkServer.sh [--config DIR] {start|start-foreground|stop|version|restart|status|print-cmd} [CONFIG]
#
# Better than the model in three places: `start` returns when the server answers or has died, `stop` when
# the process is gone, and a process id that now belongs to another program counts as "not running".
#
# Variables: ZOOCFGDIR ZOOCFG ZOOPIDFILE ZOO_LOG_DIR ZOO_LOG_FILE ZOO_DATADIR_AUTOCREATE_DISABLE ZOO_NOEXEC
# JVMFLAGS SERVER_JVMFLAGS CLIENT_JVMFLAGS (of these only -D… is used), and of our own: DROVER (the binary),
# ZOO_START_TIMEOUT and ZOO_STOP_TIMEOUT (seconds).

# shellcheck source=bin/zkEnv.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/zkEnv.sh"

usage() {
  echo "Usage: $0 [--config <conf-dir>] {start|start-foreground|stop|version|restart|status|print-cmd}" >&2
}

# --- where things are -------------------------------------------------------------------------------------

locate_config() {
  read_environment
  # A bare name is looked up in the configuration directory, a path is taken as it is.
  local name="${1:-${ZOOCFG:-zoo.cfg}}"
  case "$name" in
    */*) ZOOCFG="$name" ;;
    *) ZOOCFG="$ZOOCFGDIR/$name" ;;
  esac
  echo "Using config: $ZOOCFG" >&2
}

# The value of key $1: from the flags, which win, else its last occurrence in file $2.
config_value() {
  local word value=""
  for word in "${properties[@]}"; do
    case "$word" in
      "-D$1="* | "-Dzookeeper.$1="*) value="${word#*=}" ;;
    esac
  done
  if [ -z "$value" ] && [ -f "$2" ]; then
    value="$(sed -n -e "s/^[[:space:]]*${1//./\\.}[[:space:]]*[=:[:space:]][[:space:]]*//p" "$2" | tail -n 1 |
      sed -e 's/[[:space:]]*$//')"
  fi
  printf '%s' "$value"
}

locate_files() {
  data_dir="$(config_value dataDir "$ZOOCFG")"
  data_log_dir="$(config_value dataLogDir "$ZOOCFG")"
  if [ -z "$ZOOPIDFILE" ]; then
    if [ -z "$data_dir" ]; then
      echo "Error: no dataDir in $ZOOCFG, and ZOOPIDFILE is not set." >&2
      exit 1
    fi
    ZOOPIDFILE="$data_dir/zookeeper_server.pid"
  fi
  ZOO_LOG_DIR="${ZOO_LOG_DIR:-$prefix/logs}"
  local name
  name="zookeeper-${USER:-$(id -un)}-server-${HOSTNAME:-$(uname -n)}"
  ZOO_LOG_FILE="${ZOO_LOG_FILE:-$name.log}"
  daemon_out="$ZOO_LOG_DIR/$name.out"
}

refuse_missing_directories() {
  [ -n "$ZOO_DATADIR_AUTOCREATE_DISABLE" ] || return 0
  if [ ! -d "$data_dir/version-2" ]; then
    echo "ZooKeeper data directory is missing at $data_dir fix the path or run initialize"
    exit 1
  fi
  if [ -n "$data_log_dir" ] && [ ! -d "$data_log_dir/version-2" ]; then
    echo "ZooKeeper txnlog directory is missing at $data_log_dir fix the path or run initialize"
    exit 1
  fi
  properties=("-Dzookeeper.datadir.autocreate=false" "${properties[@]}")
}

# --- the process ------------------------------------------------------------------------------------------

is_alive() {
  kill -0 "$1" 2>/dev/null || return 1
  # A container without an init keeps the dead as zombies.
  ! grep -q '^State:[[:space:]]*Z' "/proc/$1/status" 2>/dev/null
}

# The pid file's process, if it is a server of ours: numbers are given out again after a reboot.
running_pid() {
  local pid name
  pid="$(cat "$ZOOPIDFILE" 2>/dev/null)"
  [[ "$pid" =~ ^[0-9]+$ ]] && is_alive "$pid" || return 1
  if [ -r "/proc/$pid/comm" ]; then
    name="$(basename "$DROVER")"
    [ "$(cat "/proc/$pid/comm")" = "${name:0:15}" ] || return 1
  fi
  printf '%s' "$pid"
}

# wait_until SECONDS command…: asks again and again until the command succeeds.
wait_until() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    [ "$SECONDS" -lt "$end" ] || return 1
    sleep 0.05
  done
}

# --- the client port --------------------------------------------------------------------------------------

# Sends word $3 to host $1, port $2 and prints the answer.
four_letter_word() {
  (
    exec 3<>"/dev/tcp/$1/$2" || exit 1
    printf '%s' "$3" >&3
    while IFS= read -r -t 5 line <&3 || [ -n "$line" ]; do
      printf '%s\n' "$line"
      line=""
    done
  ) 2>/dev/null
}

# The same inside TLS, with the PEM files that CLIENT_JVMFLAGS names, if any.
four_letter_word_tls() {
  local word option=() flags="$CLIENT_JVMFLAGS $JVMFLAGS"
  set -f
  for word in $flags; do
    case "$word" in
      -Dzookeeper.ssl.trustStore.location=*) option+=(-CAfile "${word#*=}" -verify_return_error) ;;
      -Dzookeeper.ssl.keyStore.location=*) option+=(-cert "${word#*=}" -key "${word#*=}") ;;
    esac
  done
  set +f
  printf '%s' "$3" | timeout 10 openssl s_client -quiet -connect "$1:$2" "${option[@]}" 2>/dev/null
}

# Finds where the server listens: sets client_address, client_port and is_ssl. Fails when there is no port.
locate_client_port() {
  is_ssl=false
  client_address="$(config_value clientPortAddress "$ZOOCFG")"
  client_port="$(config_value clientPort "$ZOOCFG")"
  if ! [[ "$client_port" =~ ^[0-9]+$ ]]; then client_port_from_server_line; fi
  if [ -z "$client_port" ]; then
    client_port="$(config_value secureClientPort "$ZOOCFG")"
    client_address="$(config_value secureClientPortAddress "$ZOOCFG")"
    is_ssl=true
  fi
  client_address="${client_address:-localhost}"
  [ -n "$client_port" ]
}

# server.N=…;[host:]port of this server, in the configuration or in the dynamic file.
client_port_from_server_line() {
  local my_id file spec
  client_port=""
  my_id="$(head -n 1 "$data_dir/myid" 2>/dev/null)"
  [[ "$my_id" =~ ^[0-9]+$ ]] || return 0
  for file in "$ZOOCFG" "$(config_value dynamicConfigFile "$ZOOCFG")"; do
    spec="$(config_value "server.$my_id" "$file")"
    case "$spec" in *";"*) ;; *) continue ;; esac
    spec="${spec#*;}"
    spec="${spec%%;*}"
    client_port="${spec##*:}"
    case "$spec" in
      *:*)
        client_address="${spec%:*}"
        client_address="${client_address#[}"
        client_address="${client_address%]}"
        ;;
    esac
    return 0
  done
}

server_answers() { [ -n "$(four_letter_word "$client_address" "$client_port" srvr)" ]; }
port_is_open() { (exec 3<>"/dev/tcp/$client_address/$client_port") 2>/dev/null; }
is_dead() { ! is_alive "$1"; }

# Done waiting for process $1: it answers, or it is gone.
answers_or_dead() {
  is_dead "$1" && return 0
  if [ "$is_ssl" = true ]; then port_is_open; else server_answers; fi
}

# --- the verbs --------------------------------------------------------------------------------------------

start() {
  refuse_missing_directories
  echo -n "Starting zookeeper ... "
  local pid
  if pid="$(running_pid)"; then
    echo "already running as process $pid."
    exit 1
  fi
  local port_known=true
  locate_client_port && [ "$client_port" != 0 ] || port_known=false
  # Otherwise a stranger's answer would be taken for that of the new server.
  if $port_known && port_is_open; then
    echo "FAILED TO START"
    echo "Error: something listens on $client_address:$client_port already." >&2
    exit 1
  fi
  if ! mkdir -p "$ZOO_LOG_DIR" "$(dirname "$ZOOPIDFILE")" || ! : >"$daemon_out"; then
    echo "SERVER DID NOT START"
    exit 1
  fi
  nohup "$DROVER" server "$ZOOCFG" "-Dzookeeper.log.dir=$ZOO_LOG_DIR" "-Dzookeeper.log.file=$ZOO_LOG_FILE" \
    "${properties[@]}" >"$daemon_out" 2>&1 </dev/null &
  pid=$!
  if ! echo -n "$pid" >"$ZOOPIDFILE"; then
    kill "$pid"
    echo "FAILED TO WRITE PID"
    exit 1
  fi
  # A server with much to recover may take longer than the timeout: alive is then good enough.
  if $port_known; then wait_until "${ZOO_START_TIMEOUT:-60}" answers_or_dead "$pid"; fi
  if is_dead "$pid"; then
    rm -f "$ZOOPIDFILE"
    echo "FAILED TO START"
    tail -n 5 "$daemon_out" >&2
    echo "Logs: $daemon_out $ZOO_LOG_DIR/$ZOO_LOG_FILE" >&2
    exit 1
  fi
  echo STARTED
}

start_foreground() {
  refuse_missing_directories
  local command=("$DROVER" server "$ZOOCFG" "${properties[@]}")
  if [ -n "$ZOO_NOEXEC" ]; then
    "${command[@]}"
  else
    exec "${command[@]}"
  fi
}

print_cmd() {
  printf '"%s" server "%s" "-Dzookeeper.log.dir=%s" "-Dzookeeper.log.file=%s"' "$DROVER" "$ZOOCFG" "$ZOO_LOG_DIR" \
    "$ZOO_LOG_FILE"
  if [ ${#properties[@]} -gt 0 ]; then printf ' "%s"' "${properties[@]}"; fi
  printf ' > "%s" 2>&1 < /dev/null\n' "$daemon_out"
}

stop() {
  echo -n "Stopping zookeeper ... "
  if [ ! -f "$ZOOPIDFILE" ]; then
    echo "no zookeeper to stop (could not find file $ZOOPIDFILE)"
    return 0
  fi
  local pid
  if pid="$(running_pid)"; then
    kill "$pid"
    if ! wait_until "${ZOO_STOP_TIMEOUT:-60}" is_dead "$pid"; then
      echo "FAILED TO STOP"
      echo "Error: process $pid still runs." >&2
      exit 1
    fi
  fi
  rm -f "$ZOOPIDFILE"
  echo STOPPED
}

status() {
  if ! locate_client_port; then
    echo "Unable to find either secure or unsecure client port in any configs. Terminating."
    exit 1
  fi
  echo "Client port found: $client_port. Client address: $client_address. Client SSL: $is_ssl."
  local ask=four_letter_word mode
  if [ "$is_ssl" = true ]; then ask=four_letter_word_tls; fi
  mode="$("$ask" "$client_address" "$client_port" srvr | grep '^Mode')"
  if [ -z "$mode" ]; then
    if [ "$is_ssl" = true ]; then
      echo "Note: the server was asked on its secureClientPort. Name PEM files to ask with in CLIENT_JVMFLAGS:"
      echo "  -Dzookeeper.ssl.trustStore.location=ca.pem -Dzookeeper.ssl.keyStore.location=client.pem"
    fi
    echo "Error contacting service. It is probably not running."
    exit 1
  fi
  echo "$mode"
}

# --- main -------------------------------------------------------------------------------------------------

if [ "$1" = "--config" ] && [ $# -gt 1 ]; then
  ZOOCFGDIR="$2"
  shift 2
fi
verb="$1"
case "$verb" in
  start | start-foreground | stop | version | restart | status | print-cmd) ;;
  *)
    usage
    exit 1
    ;;
esac

locate_binary
if [ "$verb" = version ]; then
  exec "$DROVER" --version
fi
locate_config "$2"
collect_properties "$SERVER_JVMFLAGS $JVMFLAGS"
locate_files

case "$verb" in
  start) start ;;
  start-foreground) start_foreground ;;
  print-cmd) print_cmd ;;
  stop) stop ;;
  restart)
    stop
    start
    ;;
  status) status ;;
esac
