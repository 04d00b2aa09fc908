# SPDX-License-Identifier: Apache-2.0
#
# fish: put this file into ~/.config/fish/completions/ or /usr/share/fish/vendor_completions.d/.

set -l programs server ensemble cli inspect locks leaders queues members reconfig top bench version help
set -l inspections log snapshot diff verify history at repair members
set -l commands addWatch addauth close config connect cp create delete deleteall delquota edit export find get getAcl \
    getAllChildrenNumber getEphemerals help history import listquota ls mv printwatches quit reconfig redo \
    removewatches set setAcl setquota stat sync version watch whoami

set -l in_shell "__fish_seen_subcommand_from cli; and not __fish_seen_subcommand_from $commands"
set -l in_inspect "__fish_seen_subcommand_from inspect"
# Each with its flags.
set -l with_flags "addWatch m" "config c w s" "cp r" "create s e c t" "delete v" "deleteall b" "delquota n b N B" \
    "find name data ephemeral empty leaf" "get s w b x" "getAcl s" "import f" "ls s w R" \
    "reconfig s v file members add remove" "removewatches c d a l p r" "set s v b" "setAcl s v R" "setquota n b N B" \
    "stat w" "watch n"
set -l with_options "log from to path session type stats data" "snapshot stats nodes sessions acls path data" \
    "diff log-dir path ignore-stat summary" "verify log-dir" "history log-dir whole-data" "at log-dir data write" \
    "repair log-dir backup yes accept-loss" "members log-dir force backup yes"

complete -c drover -n "not __fish_seen_subcommand_from $programs" -f -a "$programs"
complete -c drover -n "$in_shell" -f -a "$commands"
complete -c drover -n "$in_shell" -o server -x -d "where"
complete -c drover -n "$in_shell" -o timeout -x -d "of the session, in milliseconds"
complete -c drover -n "$in_shell" -o r -d "a server without a quorum will do"
complete -c drover -n "$in_shell" -o waitforconnection -d "do nothing before there is a connection"
complete -c drover -n "$in_shell" -o client-configuration -r -d "properties"
for where in "$in_shell" "not __fish_seen_subcommand_from cli; and __fish_seen_subcommand_from reconfig"
    complete -c drover -n "$where" -l sasl-user -x -d "log in with a password"
    complete -c drover -n "$where" -l sasl-password-file -r -d "of that user"
    complete -c drover -n "$where" -l kerberos -d "log in with a ticket"
    complete -c drover -n "$where" -l keytab -r -d "log in with a keytab"
    complete -c drover -n "$where" -l principal -x -d "of the keytab or the ticket"
end
complete -c drover -n "$in_shell" -l quiet -d "say nothing of the connection"
complete -c drover -n "__fish_seen_subcommand_from cli inspect" -l json -d "answers as JSON"
for line in $with_flags
    set -l words (string split " " $line)
    for flag in $words[2..]
        complete -c drover -n "__fish_seen_subcommand_from cli; and __fish_seen_subcommand_from $words[1]" -o $flag
    end
end
complete -c drover -n "__fish_seen_subcommand_from cli; and __fish_seen_subcommand_from ls" -l tree
complete -c drover -n "$in_inspect; and not __fish_seen_subcommand_from $inspections" -f -a "$inspections"
for line in $with_options
    set -l words (string split " " $line)
    for option in $words[2..]
        complete -c drover -n "$in_inspect; and __fish_seen_subcommand_from $words[1]" -l $option
    end
end
set -l in_reconfig "__fish_seen_subcommand_from reconfig; and not __fish_seen_subcommand_from cli"
set -l reconfigurations show add remove replace promote demote
complete -c drover -n "$in_reconfig" -f
complete -c drover -n "$in_reconfig; and not __fish_seen_subcommand_from $reconfigurations" -f -a "$reconfigurations"
for option in dry-run yes force json
    complete -c drover -n "$in_reconfig" -l $option
end
complete -c drover -n "$in_reconfig" -l wait -x -d "for a server to be synced, in seconds"
complete -c drover -n "$in_reconfig" -l auth -x -d "scheme:text"
complete -c drover -n "$in_reconfig" -o server -x -d "where"
complete -c drover -n "$in_reconfig" -o timeout -x -d "of the session, in milliseconds"
complete -c drover -n "$in_reconfig" -o client-configuration -r -d "properties"
complete -c drover -l help -d "show help"
