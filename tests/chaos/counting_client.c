// SPDX-License-Identifier: Apache-2.0
//
// ZooKeeper's C client as a guest among the clients of chaos: numbered writes, one after the other, each
// reported with what its caller may believe about it.
//
//   counting_client HOSTS
//
// Creates /c and /c/counter and says "opened". Then writes 0, 1, 2, …: even numbers create /c/nN, odd ones
// set /c/counter to N; says "N ok", or "N unknown" when no answer came. Ends when its standard input does.
#define THREADED  // the calls that wait for their answer
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zookeeper/zookeeper.h>

enum { SESSION_MS = 15000, PACE_MS = 5 };

static const char *hosts;
static zhandle_t *client;

static void ignore(zhandle_t *zh, int type, int state, const char *path, void *context) {
  (void)zh, (void)type, (void)state, (void)path, (void)context;
}

static void connect_anew(void) {
  if (client) zookeeper_close(client);
  client = zookeeper_init(hosts, ignore, SESSION_MS, NULL, NULL, 0);
  if (!client) {
    perror("zookeeper_init");
    exit(1);
  }
}

// Waits; false when the parent has closed our input.
static int is_wanted(int wait_ms) {
  struct pollfd input = {STDIN_FILENO, POLLIN, 0};
  char byte;
  return poll(&input, 1, wait_ms) == 0 || read(STDIN_FILENO, &byte, 1) > 0;
}

static int is_over(int status) {
  return status == ZSESSIONEXPIRED || status == ZINVALIDSTATE || status == ZAUTHFAILED || status == ZCLOSING;
}

static int create(const char *path, const char *data) {
  return zoo_create(client, path, data, (int)strlen(data), &ZOO_OPEN_ACL_UNSAFE, 0, NULL, 0);
}

// True if the node exists now.
static int create_once(const char *path, const char *data) {
  int status = create(path, data);
  while (status != ZOK && status != ZNODEEXISTS) {
    if (!is_wanted(PACE_MS)) return 0;
    if (is_over(status)) connect_anew();
    status = create(path, data);
  }
  return 1;
}

static int write_number(int number) {
  char path[32], data[16];
  snprintf(data, sizeof data, "%d", number);
  snprintf(path, sizeof path, "/c/n%d", number);
  if (number % 2 == 0) return create(path, data);
  return zoo_set(client, "/c/counter", data, (int)strlen(data), -1);
}

int main(int count, char **arguments) {
  if (count != 2) return 2;
  hosts = arguments[1];
  zoo_set_debug_level(0);
  setvbuf(stdout, NULL, _IOLBF, 0);
  connect_anew();
  if (!create_once("/c", "") || !create_once("/c/counter", "-1")) return 0;
  puts("opened");
  for (int number = 0; is_wanted(PACE_MS); ++number) {
    const int status = write_number(number);
    printf("%d %s\n", number, status == ZOK ? "ok" : "unknown");
    // No other client writes this node, so an error in a reply is a fault.
    if (status == ZNODEEXISTS || status == ZNONODE || status == ZBADVERSION) {
      fprintf(stderr, "write %d: %s\n", number, zerror(status));
      return 1;
    }
    if (is_over(status)) connect_anew();
  }
  zookeeper_close(client);
  return 0;
}
