# SPDX-License-Identifier: Apache-2.0
#
# bash: source this file, or put it into /usr/share/bash-completion/completions/drover.

_drover_programs="server ensemble cli inspect locks leaders queues members reconfig top bench version help"
_drover_inspections="log snapshot diff verify history at repair members"
_drover_reconfigurations="show add remove replace promote demote"
_drover_reconfig_options="--dry-run --yes --force --wait --json -server -timeout --auth -client-configuration
  --sasl-user --sasl-password-file --kerberos --keytab --principal --help"
_drover_lookers="locks leaders queues members"
_drover_shell_options="-server -timeout -r -waitforconnection -client-configuration --json --quiet --help
  --sasl-user --sasl-password-file --kerberos --keytab --principal"
_drover_shell_commands="addWatch addauth close config connect cp create delete deleteall delquota edit export find get
  getAcl getAllChildrenNumber getEphemerals help history import listquota ls mv printwatches quit reconfig redo
  removewatches set setAcl setquota stat sync version watch whoami"

# The flags of the shell's command $1.
_drover_shell_flags() {
  case $1 in
    addWatch) printf '%s ' -m ;;
    config) printf '%s ' -c -w -s ;;
    cp) printf '%s ' -r ;;
    create) printf '%s ' -s -e -c -t ;;
    delete) printf '%s ' -v ;;
    deleteall) printf '%s ' -b ;;
    delquota | setquota) printf '%s ' -n -b -N -B ;;
    find) printf '%s ' -name -data -ephemeral -empty -leaf ;;
    get) printf '%s ' -s -w -b -x ;;
    getAcl) printf '%s ' -s ;;
    import) printf '%s ' -f ;;
    ls) printf '%s ' -s -w -R --tree ;;
    reconfig) printf '%s ' -s -v -file -members -add -remove ;;
    removewatches) printf '%s ' -c -d -a -l -p -r ;;
    set) printf '%s ' -s -v -b ;;
    setAcl) printf '%s ' -s -v -R ;;
    stat) printf '%s ' -w ;;
    watch) printf '%s ' -n ;;
  esac
}

# The options of `drover inspect $1`.
_drover_inspect_options() {
  case $1 in
    log) printf '%s ' --from --to --path --session --type --stats --data ;;
    snapshot) printf '%s ' --stats --nodes --sessions --acls --path --data ;;
    diff) printf '%s ' --log-dir --path --ignore-stat --summary ;;
    verify) printf '%s ' --log-dir ;;
    history) printf '%s ' --log-dir --whole-data ;;
    at) printf '%s ' --log-dir --data --write ;;
    repair) printf '%s ' --log-dir --backup --yes --accept-loss ;;
    members) printf '%s ' --log-dir --force --backup --yes ;;
  esac
}

# The paths that begin like $1, asked of the servers that the line so far names.
_drover_paths() {
  local -a where=()
  local parent=${1%/*}
  # Reads the whole line, because bash splits HOST:PORT into three words.
  [[ ! $COMP_LINE =~ [[:space:]]-server[[:space:]]+([^[:space:]]+) ]] || where=(-server "${BASH_REMATCH[1]}")
  "${COMP_WORDS[0]}" cli --quiet -timeout 1000 "${where[@]}" ls "${parent:-/}" 2>/dev/null |
    tr -d '[]' | tr ',' '\n' | sed -e 's/^ *//' -e '/^$/d' -e "s|^|${parent}/|"
}

_drover() {
  local word=${COMP_WORDS[COMP_CWORD]} i command=
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W "$_drover_programs" -- "$word")
    return
  fi
  if [[ ${COMP_WORDS[1]} == inspect && $COMP_CWORD == 2 ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$_drover_inspections --help" -- "$word")
    return
  fi
  if [[ ${COMP_WORDS[1]} == reconfig && $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$_drover_reconfig_options" -- "$word")
    return
  fi
  if [[ ${COMP_WORDS[1]} == reconfig ]]; then
    ((COMP_CWORD > 2)) || mapfile -t COMPREPLY < <(compgen -W "$_drover_reconfigurations" -- "$word")
    return
  fi
  if [[ " $_drover_lookers " == *" ${COMP_WORDS[1]} "* && $word == /* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_drover_paths "$word")" -- "$word")
    return
  fi
  if [[ ${COMP_WORDS[1]} == inspect && $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_drover_inspect_options "${COMP_WORDS[2]}") --json --help" -- "$word")
    return
  fi
  if [[ ${COMP_WORDS[1]} != cli ]]; then
    mapfile -t COMPREPLY < <(compgen -f -W "--help" -- "$word")
    return
  fi
  for ((i = 2; i < COMP_CWORD; ++i)); do
    case ${COMP_WORDS[i]} in
      -server | -timeout | -client-configuration | --sasl-user | --sasl-password-file | --keytab | --principal | : | =) ((++i)) ;;
      -*) ;;
      *) command=${command:-${COMP_WORDS[i]}} ;;
    esac
  done
  if [[ -n $command && $word == /* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_drover_paths "$word")" -- "$word")
  elif [[ -n $command && $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_drover_shell_flags "$command") --json" -- "$word")
  elif [[ -n $command ]]; then
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  elif [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$_drover_shell_options" -- "$word")
  else
    mapfile -t COMPREPLY < <(compgen -W "$_drover_shell_commands" -- "$word")
  fi
}
complete -F _drover drover
