// SPDX-License-Identifier: Apache-2.0
//
// Sends connections to other servers through a proxy: an LD_PRELOAD library that replaces the ports of connect() on
// loopback. All servers can then have the same configuration, as a reconfiguration needs it, and the proxy still
// knows who connects, because each server has its own ports there.
//
//   DROVER_ROUTES   PORT:PORT,...: who connects to the first port is connected to the second one
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { ROUTES_MAX = 64, LOOPBACK_NET = 127 };

static struct {
  uint16_t from, to;
} routes[ROUTES_MAX];
static int routes_count;
static int (*real_connect)(int, const struct sockaddr *, socklen_t);

__attribute__((constructor)) static void read_routes(void) {
  real_connect = (int (*)(int, const struct sockaddr *, socklen_t))dlsym(RTLD_NEXT, "connect");
  const char *at = getenv("DROVER_ROUTES");
  while (at && *at && routes_count < ROUTES_MAX) {
    char *end;
    routes[routes_count].from = (uint16_t)strtol(at, &end, 10);
    routes[routes_count].to = (uint16_t)strtol(end + 1, &end, 10);
    ++routes_count;
    at = *end ? end + 1 : end;
  }
}

int connect(int socket, const struct sockaddr *address, socklen_t size) {
  struct sockaddr_in changed;
  if (!address || address->sa_family != AF_INET || size < (socklen_t)sizeof changed)
    return real_connect(socket, address, size);
  memcpy(&changed, address, sizeof changed);
  const int is_local = ntohl(changed.sin_addr.s_addr) >> 24 == LOOPBACK_NET;
  for (int i = 0; is_local && i < routes_count; ++i) {
    if (ntohs(changed.sin_port) != routes[i].from) continue;
    changed.sin_port = htons(routes[i].to);
    break;
  }
  return real_connect(socket, (const struct sockaddr *)&changed, sizeof changed);
}
