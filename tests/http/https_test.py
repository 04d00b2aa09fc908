#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# HTTPS on the admin port, with the stores that the servers use among themselves, and ports that are taken.

import json
import socket
import ssl
import sys

from http_servers import ask, free_port, wait_for_http, with_http
from servers import DroverServer
from suite import check, check_equal, run
from tls_support import Pki

pki = Pki()


def quorum_stores():
    return {key.replace("ssl.", "ssl.quorum."): value for key, value in pki.stores().items()}


def refused(port, context):
    try:
        ask(port, "/commands/ruok", context=context)
    except (OSError, ssl.SSLError):
        return True
    return False


def forced_https_refuses_plain_http():
    with with_http("drover", {"admin.forceHttps": "true", **quorum_stores()}) as server:
        answer = wait_for_http(server.http_port, context=pki.context())
        check_equal(json.loads(answer.text), {"command": "ruok", "error": None})
        check(refused(server.http_port, None), "plain HTTP")


def one_port_takes_both():
    with with_http("drover", {"admin.portUnification": "true", **quorum_stores()}) as server:
        check_equal(wait_for_http(server.http_port).status, 200)
        check_equal(ask(server.http_port, "/commands/ruok", context=pki.context()).status, 200)
        plain = json.loads(ask(server.http_port, "/commands/monitor", context=pki.context()).text)["insecure_admin_count"]
        check(plain >= 1, "connections without TLS are counted")
        again = json.loads(ask(server.http_port, "/commands/monitor", context=pki.context()).text)["insecure_admin_count"]
        check_equal(again, plain, "connections with TLS are not")


def a_required_client_certificate_is_checked():
    settings = {"admin.forceHttps": "true", "admin.needClientAuth": "true", **quorum_stores()}
    with with_http("drover", settings) as server:
        check_equal(wait_for_http(server.http_port, context=pki.context(pki.bob)).status, 200)
        check(refused(server.http_port, pki.context()), "a client without a certificate")
        check(refused(server.http_port, pki.context(pki.stranger)), "a stranger's certificate")


def prometheus_has_a_port_of_its_own():
    port = free_port()
    provider = "org.apache.zookeeper.metrics.prometheus.PrometheusMetricsProvider"
    settings = {"metricsProvider.className": provider, "metricsProvider.httpPort": port,
                "metricsProvider.httpHost": "127.0.0.1"}
    with DroverServer(settings) as server:
        check("znode_count 5\n" in ask(port, "/metrics").text, "metrics")
        check_equal(ask(port, "/commands").status, 404, "only metrics")
        check(server.process.poll() is None, "it runs")


def a_configured_port_must_be_free():
    taken = socket.create_server(("127.0.0.1", free_port()))
    server = with_http("drover", {"admin.serverPort": taken.getsockname()[1]})
    server.port = free_port()
    server._launch()
    check_equal(server.process.wait(timeout=30), 1, "exit code")
    check("admin.serverPort: cannot listen on" in server.log_tail(), server.log_tail())
    server.remove()


CASES = [forced_https_refuses_plain_http, one_port_takes_both, a_required_client_certificate_is_checked,
         prometheus_has_a_port_of_its_own, a_configured_port_must_be_free]

if __name__ == "__main__":
    sys.exit(run("http https", CASES, sys.argv[1] if len(sys.argv) > 1 else None))
