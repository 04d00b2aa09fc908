// SPDX-License-Identifier: Apache-2.0
#include "http/hosts.h"

#include <gtest/gtest.h>

namespace drover::server {
namespace {

TEST(HttpHosts, AreAddressesAndConfiguredNames) {
  ServerConfig config;
  config.client = Endpoint{"Client.example.net", 2181};
  config.admin.address = "admin.example.net";
  config.admin.dashboard_hosts = {"proxy.example.net"};
  config.ensemble.members.add({.id = ServerId{1}, .addresses = {{.host = "zk1.example.net"}}});
  for (const char* ours :
       {"", "localhost", "127.0.0.1:8080", "[::1]:8080", "client.example.net", "ADMIN.example.net:8080",
        "proxy.example.net:80", "zk1.example.net:8080", "zk1.example.net"})
    EXPECT_TRUE(is_our_host(ours, config)) << ours;
  for (const char* foreign : {"evil.example.com", "example.net", "zk1.example.net.evil.com:8080", ":8080",
                              "localhost.evil.com", "1.2.3.4.evil.com"})
    EXPECT_FALSE(is_our_host(foreign, config)) << foreign;
}

}  // namespace
}  // namespace drover::server
