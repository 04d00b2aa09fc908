# SPDX-License-Identifier: Apache-2.0
#
# fish: put this file into ~/.config/fish/completions/ or /usr/share/fish/vendor_completions.d/.

set -l programs server ensemble cli inspect locks leaders queues members top bench version help
set -l inspections log snapshot diff verify history at repair
set -l commands addWatch addauth close config connect cp create delete deleteall delquota edit export find get getAcl \
    getAllChildrenNumber getEphemerals help history import listquota ls mv printwatches quit reconfig redo \
    removewatches set setAcl setquota stat sync version watch whoami

complete -c drover -n "not __fish_seen_subcommand_from $programs" -f -a "$programs"
complete -c drover -n "__fish_seen_subcommand_from cli; and not __fish_seen_subcommand_from $commands" -f -a "$commands"
complete -c drover -n "__fish_seen_subcommand_from cli" -o server -x -d "where"
complete -c drover -n "__fish_seen_subcommand_from cli" -o timeout -x -d "of the session, in milliseconds"
complete -c drover -n "__fish_seen_subcommand_from cli" -o r -d "a server without a quorum will do"
complete -c drover -n "__fish_seen_subcommand_from cli" -o waitforconnection -d "do nothing before there is a connection"
complete -c drover -n "__fish_seen_subcommand_from cli" -o client-configuration -r -d "properties"
complete -c drover -n "__fish_seen_subcommand_from cli" -l json -d "answers as JSON"
complete -c drover -n "__fish_seen_subcommand_from cli" -l quiet -d "say nothing of the connection"
complete -c drover -n "__fish_seen_subcommand_from inspect; and not __fish_seen_subcommand_from $inspections" -f -a "$inspections"
complete -c drover -l help -d "tell more"
