// SPDX-License-Identifier: Apache-2.0
//
// The output of the AdminServer's commands: the fields of each, between the braces.
#pragma once

#include "http/admin_commands.h"

namespace drover::server {

void print_configuration(const CommandFacts& facts, PrettyJson& json);
void print_connections(const CommandFacts& facts, PrettyJson& json);
void print_dirs(const CommandFacts& facts, PrettyJson& json);
void print_dump(const CommandFacts& facts, PrettyJson& json);
void print_environment(const CommandFacts& facts, PrettyJson& json);
void print_trace_mask(const CommandFacts& facts, PrettyJson& json);
void print_digests(const CommandFacts& facts, PrettyJson& json);
void print_initial_configuration(const CommandFacts& facts, PrettyJson& json);
void print_read_only(const CommandFacts& facts, PrettyJson& json);
void print_last_snapshot(const CommandFacts& facts, PrettyJson& json);
void print_leader(const CommandFacts& facts, PrettyJson& json);
void print_monitor(const CommandFacts& facts, PrettyJson& json);
void print_observers(const CommandFacts& facts, PrettyJson& json);
void print_server_stats(const CommandFacts& facts, PrettyJson& json);
void print_stats(const CommandFacts& facts, PrettyJson& json);
void print_system_properties(const CommandFacts& facts, PrettyJson& json);
void print_voting_view(const CommandFacts& facts, PrettyJson& json);
void print_watch_summary(const CommandFacts& facts, PrettyJson& json);
void print_watches(const CommandFacts& facts, PrettyJson& json);
void print_watches_by_path(const CommandFacts& facts, PrettyJson& json);
void print_zab_state(const CommandFacts& facts, PrettyJson& json);

}  // namespace drover::server
