#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Compares the HTTP commands of Java's and our servers in one ensemble.

import json
import re
import sys
import time

from http_servers import SUPER, ask, free_port, http_settings, wait_for_http
from ensemble import DROVER, JAVA, Ensemble
from harness import wait_until
import protocol
from suite import check, check_equal, run

LEADERS_OWN = "learner|synced|proposal_size|pending_syncs|leader_uptime"

ensemble = Ensemble([JAVA, DROVER, DROVER])
for member in ensemble:
    member.http_port = free_port()
    config, properties = http_settings(member.http_port)
    member.config.update(config)
    member.properties.update(properties)


def fields(member, command):
    return json.loads(ask(member.http_port, f"/commands/{command}").text)


def ours():
    return [member for member in ensemble.running if member.kind == DROVER]


def theirs():
    return next(member for member in ensemble if member.kind == JAVA)


def the_probes_know_the_leader():
    leader = ensemble.leader()
    for member in ours():
        check_equal(ask(member.http_port, "/ready").status, 200, f"{member} is ready")
        check_equal(ask(member.http_port, "/leader").status, 200 if member is leader else 503, f"{member} leads")


def every_server_reports_the_same_leader_and_voters():
    java = theirs()
    for member in ours():
        mine, other = fields(member, "leader"), fields(java, "leader")
        check_equal(list(mine), list(other))
        check_equal((mine["leader_id"], mine["leader_ip"]), (other["leader_id"], other["leader_ip"]))
        check_equal(mine["is_leader"], member is ensemble.leader())
        check_equal(voters(member), voters(java))


def voters(member):
    """Each server knows the client ports of a static file only of itself."""
    view = fields(member, "voting_view")["current_config"]
    check_equal(view[str(member.sid)].pop("client_address"), f"127.0.0.1:{member.port}")
    return {sid: {key: value for key, value in server.items() if key != "client_address"}
            for sid, server in view.items()}


def the_configuration_has_javas_keys():
    for member in ours():
        check_equal(list(fields(member, "conf")), list(fields(theirs(), "conf")))


def the_metrics_show_elections_and_leadership():
    with ensemble[2].client() as session:
        session.call(protocol.CREATE, protocol.create_body("/counted"))
    leader = ensemble.leader()
    for member in ours():
        metrics = dict(line.rsplit(" ", 1) for line in ask(member.http_port, "/metrics").text.splitlines()
                       if not line.startswith("#"))
        check(int(metrics["looking_count"]) >= 1 and int(metrics["election_time_count"]) >= 1, metrics)
        check(int(metrics["unavailable_time_count"]) >= 1, metrics)
        if member is leader:
            check(int(metrics["proposal_count"]) >= 2 and int(metrics["commit_count"]) >= 2, metrics)
            check(int(metrics["diff_count"]) + int(metrics["snap_count"]) >= 2, metrics)
            check(int(metrics["last_proposal_size"]) > 0 and int(metrics["leader_uptime"]) > 0, metrics)
            check_equal(metrics["synced_followers"], "2")
            check(int(metrics["quorum_ack_latency_count"]) > 0, metrics)
        else:
            check(int(metrics["learner_commit_received_count"]) > 0, metrics)
            check(int(metrics["commit_propagation_latency_count"]) > 0, metrics)
            check(int(metrics["follower_sync_time_count"]) >= 1, metrics)
        check(int(metrics["propagation_latency_count"]) > 0 and int(metrics["request_commit_queued"]) > 0, metrics)


def no_metric_of_java_is_missing():
    """Metrics that only a leader has can only be compared with a leader."""
    java = theirs()
    alike = [member for member in ours() if (member is ensemble.leader()) == (java is ensemble.leader())]
    left_out = re.compile("_per_namespace$" if alike else "_per_namespace$|" + LEADERS_OWN)
    for member in alike or ours():
        missing = set(fields(java, "monitor")) - set(fields(member, "monitor"))
        missing = sorted(name for name in missing if not left_out.search(name))
        check(not missing, f"{member} lacks {missing}")


def a_single_member_cannot_be_restored():
    for member in ours():
        answer = ask(member.http_port, "/commands/restore", method="POST", body="x",
                     headers={"Authorization": "digest super:admin"})
        check_equal(answer.status, 503)


def the_zab_state_is_reported_as_in_java():
    for member in ours():
        mine, other = fields(member, "zabstate"), fields(theirs(), "zabstate")
        check_equal(list(mine), list(other))
        for key in ("quorum_address", "election_address"):
            check_equal(set(mine[key]), set(other[key]), key)
        check_equal(mine["quorum_address"]["one"], f"127.0.0.1:{member.quorum_port}")
        check_equal((mine["voting"], mine["zabstate"]), (other["voting"], other["zabstate"]))
        check_equal((mine["myid"], mine["is_leader"]), (member.sid, member is ensemble.leader()))


def with_an_observer(voter, observer):
    """The report of a leader of that kind about its one observer, and the leader's last zxid."""
    with Ensemble([voter, voter, observer], observers=(3,)) as other:
        for member in other:
            member.http_port = free_port()
            config, properties = http_settings(member.http_port)
            member.config.update(config)
            member.properties.update(properties)
        other.start()
        leader = other.leader()
        wait_for_http(leader.http_port)
        with other[3].client() as session:
            session.call(protocol.CREATE, protocol.create_body("/through-the-observer"))
            told = fields(leader, "observers")
            last = int(fields(leader, "srvr")["server_stats"]["last_processed_zxid"])
        check_equal(ask(leader.http_port, "/commands/orst", headers=SUPER).status, 200)
        after = fields(leader, "observers")["observers"][0]
        check(told["observers"][0]["requests"] > 0 and after["requests"] == 0, f"{told}, after orst {after}")
        return told, last


def an_observer_is_reported_as_in_java():
    theirs_said, _ = with_an_observer(JAVA, DROVER)
    for observer in (DROVER, JAVA):
        said, last = with_an_observer(DROVER, observer)
        check_equal(list(said), list(theirs_said))
        check_equal(said["synced_observers"], theirs_said["synced_observers"])
        mine, other = said["observers"][0], theirs_said["observers"][0]
        check_equal(list(mine), list(other))
        check_equal({key: type(value) for key, value in mine.items()},
                    {key: type(value) for key, value in other.items()})
        check(mine["remote_socket_address"].startswith("/127.0.0.1:"), mine)
        check_equal((mine["sid"], mine["last_zxid"], mine["requests"]), (3, last, other["requests"]))
        check(mine["packets_sent"] > 3 and mine["packets_received"] > 3, mine)
        check(abs(mine["established"] / 1000 - time.time()) < 60, mine)


def a_server_without_a_quorum_reports_it():
    survivor, *rest = sorted(ours(), key=lambda member: member is ensemble.leader())
    for member in ensemble:
        if member is not survivor:
            member.kill()
    wait_until(lambda: ask(survivor.http_port, "/ready").status == 503, "the last server is not ready")
    check_equal(ask(survivor.http_port, "/live").status, 200)
    check_equal(ask(survivor.http_port, "/leader").status, 503)
    answer = ask(survivor.http_port, "/commands/stat")
    check_equal((answer.status, json.loads(answer.text)),
                (200, {"command": "stat", "error": "This ZooKeeper instance is not currently serving requests"}))
    check_equal(fields(survivor, "env")["error"], None)
    check("quorum_size 3\n" in ask(survivor.http_port, "/metrics").text, "metrics")


CASES = [the_probes_know_the_leader, every_server_reports_the_same_leader_and_voters,
         the_configuration_has_javas_keys, a_single_member_cannot_be_restored,
         the_metrics_show_elections_and_leadership, no_metric_of_java_is_missing, the_zab_state_is_reported_as_in_java,
         an_observer_is_reported_as_in_java, a_server_without_a_quorum_reports_it]


def main():
    ensemble.start()
    for member in ensemble:
        wait_for_http(member.http_port)
    return run("http ensemble", CASES, sys.argv[1] if len(sys.argv) > 1 else None)


if __name__ == "__main__":
    sys.exit(main())
