// SPDX-License-Identifier: Apache-2.0
//
// ZooKeeper's C client against a server: what its synchronous calls return, in codes, bytes and events.
//
// Usage: c_client_test HOST:PORT. Each case prints one line. Before the last case the program prints
// "restart" and waits for a line on stdin: c_client_test.py restarts the server in between.
#define THREADED
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zookeeper/zookeeper.h>

enum { kPatienceSeconds = 30, kEventsMax = 64 };

static const char* address;
static int checks_failed;

#define CHECK(condition)                                                 \
  do {                                                                   \
    if (!(condition)) {                                                  \
      ++checks_failed;                                                   \
      printf("c_client: line %d: not true: %s\n", __LINE__, #condition); \
    }                                                                    \
  } while (0)

#define CHECK_CODE(call, expected)                                                              \
  do {                                                                                          \
    int code = (call);                                                                          \
    if (code != (expected)) {                                                                   \
      ++checks_failed;                                                                          \
      printf("c_client: line %d: %s: expected %s, got %s\n", __LINE__, #call, zerror(expected), \
             zerror(code));                                                                     \
    }                                                                                           \
  } while (0)

// The events of watchers, in order. One for each client.
struct Journal {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  int connected;
  int expired;
  int count;
  int types[kEventsMax];
  char paths[kEventsMax][64];
};

static void note(zhandle_t* client, int type, int state, const char* path, void* context) {
  struct Journal* journal = context;
  (void)client;
  pthread_mutex_lock(&journal->mutex);
  if (type == ZOO_SESSION_EVENT) {
    journal->connected = state == ZOO_CONNECTED_STATE;
    if (state == ZOO_EXPIRED_SESSION_STATE) journal->expired = 1;
  } else if (journal->count < kEventsMax) {
    journal->types[journal->count] = type;
    snprintf(journal->paths[journal->count], sizeof journal->paths[0], "%s", path);
    ++journal->count;
  }
  pthread_cond_broadcast(&journal->changed);
  pthread_mutex_unlock(&journal->mutex);
}

static int wait_for(struct Journal* journal, const int* value, int at_least) {
  struct timespec deadline;
  clock_gettime(CLOCK_REALTIME, &deadline);
  deadline.tv_sec += kPatienceSeconds;
  int ok = 1;
  pthread_mutex_lock(&journal->mutex);
  while (*value < at_least && ok)
    ok = pthread_cond_timedwait(&journal->changed, &journal->mutex, &deadline) == 0;
  pthread_mutex_unlock(&journal->mutex);
  return ok;
}

static int saw(struct Journal* journal, int index, int type, const char* path) {
  return wait_for(journal, &journal->count, index + 1) && journal->types[index] == type &&
         strcmp(journal->paths[index], path) == 0;
}

static struct Journal* new_journal(void) {
  struct Journal* journal = calloc(1, sizeof *journal);
  pthread_mutex_init(&journal->mutex, NULL);
  pthread_cond_init(&journal->changed, NULL);
  return journal;
}

static zhandle_t* connect_as(const clientid_t* id, struct Journal* journal) {
  zhandle_t* client = zookeeper_init(address, note, 20000, id, journal, 0);
  CHECK(client != NULL);
  CHECK(wait_for(journal, &journal->connected, 1));
  return client;
}

// A client that has just come back may lose its connection once more.
static int exists_patiently(zhandle_t* client, struct Journal* session, const char* path, struct Stat* stat) {
  int code = ZCONNECTIONLOSS;
  for (int attempt = 0; attempt < 100 && code == ZCONNECTIONLOSS; ++attempt) {
    wait_for(session, &session->connected, 1);
    code = zoo_exists(client, path, 0, stat);
  }
  return code;
}

static void nodes_are_created_read_changed_and_deleted(void) {
  struct Journal* journal = new_journal();
  zhandle_t* client = connect_as(NULL, journal);
  char path[64], data[64];
  struct Stat stat;
  CHECK_CODE(zoo_create(client, "/c", "hello", 5, &ZOO_OPEN_ACL_UNSAFE, 0, path, sizeof path), ZOK);
  CHECK(strcmp(path, "/c") == 0);
  CHECK_CODE(zoo_create(client, "/c", "", 0, &ZOO_OPEN_ACL_UNSAFE, 0, path, sizeof path), ZNODEEXISTS);
  CHECK_CODE(zoo_create2(client, "/c/n", NULL, -1, &ZOO_OPEN_ACL_UNSAFE, 0, path, sizeof path, &stat), ZOK);
  CHECK(stat.czxid == stat.mzxid && stat.version == 0);
  int length = sizeof data;
  CHECK_CODE(zoo_get(client, "/c/n", 0, data, &length, &stat), ZOK);
  CHECK(length == -1 && stat.dataLength == 0);
  length = sizeof data;
  CHECK_CODE(zoo_get(client, "/c", 0, data, &length, &stat), ZOK);
  CHECK(length == 5 && memcmp(data, "hello", 5) == 0 && stat.numChildren == 1 && stat.cversion == 1);
  CHECK_CODE(zoo_set(client, "/c", "x", 1, 7), ZBADVERSION);
  CHECK_CODE(zoo_set2(client, "/c", "bye", 3, 0, &stat), ZOK);
  CHECK(stat.version == 1 && stat.dataLength == 3);
  CHECK_CODE(zoo_exists(client, "/nosuch", 0, &stat), ZNONODE);
  CHECK_CODE(zoo_delete(client, "/c", -1), ZNOTEMPTY);
  CHECK_CODE(zoo_delete(client, "/c/n", -1), ZOK);
  CHECK_CODE(zoo_delete(client, "/c", 1), ZOK);
  CHECK_CODE(zookeeper_close(client), ZOK);
}

static void every_create_mode_works(void) {
  struct Journal* journal = new_journal();
  zhandle_t* client = connect_as(NULL, journal);
  char path[64];
  struct Stat stat;
  struct String_vector children;
  CHECK_CODE(zoo_create(client, "/m", NULL, -1, &ZOO_OPEN_ACL_UNSAFE, 0, path, sizeof path), ZOK);
  CHECK_CODE(
      zoo_create(client, "/m/s", "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT_SEQUENTIAL, path, sizeof path),
      ZOK);
  CHECK(strcmp(path, "/m/s0000000000") == 0);
  CHECK_CODE(
      zoo_create(client, "/m/e", "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL_SEQUENTIAL, path, sizeof path),
      ZOK);
  CHECK(strcmp(path, "/m/e0000000001") == 0);
  CHECK_CODE(zoo_exists(client, path, 0, &stat), ZOK);
  CHECK(stat.ephemeralOwner == zoo_client_id(client)->client_id);
  CHECK_CODE(zoo_create(client, "/m/e0000000001/k", "", 0, &ZOO_OPEN_ACL_UNSAFE, 0, path, sizeof path),
             ZNOCHILDRENFOREPHEMERALS);
  CHECK_CODE(zoo_create(client, "/m/c", "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_CONTAINER, path, sizeof path), ZOK);
  CHECK_CODE(zoo_create_ttl(client, "/m/t", "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT_WITH_TTL, 100000,
                            path, sizeof path),
             ZOK);
  CHECK_CODE(zoo_create2_ttl(client, "/m/u", "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT_SEQUENTIAL_WITH_TTL,
                             100000, path, sizeof path, &stat),
             ZOK);
  CHECK(stat.ephemeralOwner == 0);
  CHECK_CODE(zoo_get_children2(client, "/m", 0, &children, &stat), ZOK);
  CHECK(children.count == 5 && stat.numChildren == 5);
  deallocate_String_vector(&children);
  CHECK_CODE(zookeeper_close(client), ZOK);
}

static void a_multi_succeeds_or_fails_as_a_whole(void) {
  struct Journal* journal = new_journal();
  zhandle_t* client = connect_as(NULL, journal);
  char paths[2][64];
  struct Stat stat;
  zoo_op_t good[5];
  zoo_op_result_t results[5];
  zoo_create_op_init(&good[0], "/x", "1", 1, &ZOO_OPEN_ACL_UNSAFE, 0, paths[0], sizeof paths[0]);
  zoo_create_op_init(&good[1], "/x/s", "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_SEQUENCE, paths[1], sizeof paths[1]);
  zoo_set_op_init(&good[2], "/x", "22", 2, 0, &stat);
  zoo_check_op_init(&good[3], "/x", 1);
  zoo_delete_op_init(&good[4], "/x/s0000000000", -1);
  CHECK_CODE(zoo_multi(client, 5, good, results), ZOK);
  CHECK(strcmp(paths[1], "/x/s0000000000") == 0 && stat.version == 1 && stat.dataLength == 2);
  zoo_op_t bad[3];
  zoo_create_op_init(&bad[0], "/x/y", "", 0, &ZOO_OPEN_ACL_UNSAFE, 0, paths[0], sizeof paths[0]);
  zoo_check_op_init(&bad[1], "/x", 99);
  zoo_delete_op_init(&bad[2], "/x", -1);
  CHECK_CODE(zoo_multi(client, 3, bad, results), ZBADVERSION);
  CHECK(results[0].err == ZOK && results[1].err == ZBADVERSION && results[2].err == ZRUNTIMEINCONSISTENCY);
  CHECK_CODE(zoo_exists(client, "/x/y", 0, &stat), ZNONODE);
  CHECK_CODE(zookeeper_close(client), ZOK);
}

static void authenticated(int code, const void* data) {
  struct Journal* journal = (struct Journal*)data;
  pthread_mutex_lock(&journal->mutex);
  journal->types[0] = code;
  journal->count = 1;
  pthread_cond_broadcast(&journal->changed);
  pthread_mutex_unlock(&journal->mutex);
}

static void acls_and_auth_decide_who_may_do_what(void) {
  struct Journal* journal = new_journal();
  struct Journal* auth = new_journal();
  zhandle_t* owner = connect_as(NULL, journal);
  zhandle_t* stranger = connect_as(NULL, new_journal());
  char path[64], data[64];
  int length = sizeof data;
  struct Stat stat;
  struct ACL_vector acl;
  CHECK_CODE(zoo_create(owner, "/acl", "s", 1, &ZOO_CREATOR_ALL_ACL, 0, path, sizeof path), ZINVALIDACL);
  CHECK_CODE(zoo_add_auth(owner, "digest", "ann:apple", 9, authenticated, auth), ZOK);
  CHECK(wait_for(auth, &auth->count, 1) && auth->types[0] == ZOK);
  CHECK_CODE(zoo_create(owner, "/acl", "s", 1, &ZOO_CREATOR_ALL_ACL, 0, path, sizeof path), ZOK);
  CHECK_CODE(zoo_get(stranger, "/acl", 0, data, &length, &stat), ZNOAUTH);
  CHECK_CODE(zoo_get_acl(owner, "/acl", &acl, &stat), ZOK);
  CHECK(acl.count == 1 && strcmp(acl.data[0].id.scheme, "digest") == 0 &&
        strcmp(acl.data[0].id.id, "ann:6q+u+bEVJTdGGyG40XXuyaDlxCA=") == 0);
  deallocate_ACL_vector(&acl);
  CHECK_CODE(zoo_set_acl(owner, "/acl", 0, &ZOO_READ_ACL_UNSAFE), ZOK);
  length = sizeof data;
  CHECK_CODE(zoo_get(stranger, "/acl", 0, data, &length, &stat), ZOK);
  CHECK(length == 1 && stat.aversion == 1);
  CHECK_CODE(zoo_set(stranger, "/acl", "t", 1, -1), ZNOAUTH);
  CHECK_CODE(zookeeper_close(stranger), ZOK);
  CHECK_CODE(zookeeper_close(owner), ZOK);
}

static void watches_fire_once_and_can_be_removed(void) {
  struct Journal* session = new_journal();
  struct Journal* journal = new_journal();
  zhandle_t* client = connect_as(NULL, session);
  zhandle_t* other = connect_as(NULL, new_journal());
  char path[64], data[8];
  int length = sizeof data;
  struct Stat stat;
  struct String_vector children;
  CHECK_CODE(zoo_wexists(client, "/w", note, journal, &stat), ZNONODE);
  CHECK_CODE(zoo_create(other, "/w", "", 0, &ZOO_OPEN_ACL_UNSAFE, 0, path, sizeof path), ZOK);
  CHECK(saw(journal, 0, ZOO_CREATED_EVENT, "/w"));
  CHECK_CODE(zoo_wget(client, "/w", note, journal, data, &length, &stat), ZOK);
  CHECK_CODE(zoo_set(other, "/w", "1", 1, -1), ZOK);
  CHECK(saw(journal, 1, ZOO_CHANGED_EVENT, "/w"));
  CHECK_CODE(zoo_wget_children(client, "/w", note, journal, &children), ZOK);
  deallocate_String_vector(&children);
  CHECK_CODE(zoo_create(other, "/w/k", "", 0, &ZOO_OPEN_ACL_UNSAFE, 0, path, sizeof path), ZOK);
  CHECK(saw(journal, 2, ZOO_CHILD_EVENT, "/w"));
  CHECK_CODE(zoo_wexists(client, "/w/k", note, journal, &stat), ZOK);
  CHECK_CODE(zoo_delete(other, "/w/k", -1), ZOK);
  CHECK(saw(journal, 3, ZOO_DELETED_EVENT, "/w/k"));
  CHECK_CODE(zoo_wget(client, "/w", note, journal, data, &length, &stat), ZOK);
  CHECK_CODE(zoo_remove_watches(client, "/w", ZWATCHTYPE_DATA, note, journal, 0), ZOK);
  CHECK_CODE(zoo_remove_watches(client, "/w", ZWATCHTYPE_DATA, note, journal, 0), ZNOWATCHER);
  CHECK_CODE(zoo_set(other, "/w", "2", 1, -1), ZOK);
  CHECK_CODE(zoo_exists(client, "/w", 0, &stat), ZOK);
  CHECK(journal->count == 4);
  CHECK_CODE(zookeeper_close(other), ZOK);
  CHECK_CODE(zookeeper_close(client), ZOK);
}

static void a_session_goes_on_with_its_client_id(void) {
  zhandle_t* first = connect_as(NULL, new_journal());
  char path[64];
  struct Stat stat;
  CHECK_CODE(zoo_create(first, "/id", "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL, path, sizeof path), ZOK);
  clientid_t id = *zoo_client_id(first);
  CHECK_CODE(zoo_set_servers(first, "127.0.0.1:1"), ZOK);  // No server there: it must not fight for the session.
  struct Journal* session = new_journal();
  zhandle_t* second = connect_as(&id, session);
  CHECK(zoo_client_id(second)->client_id == id.client_id);
  CHECK_CODE(exists_patiently(second, session, "/id", &stat), ZOK);
  CHECK(stat.ephemeralOwner == id.client_id);
  CHECK_CODE(zookeeper_close(second), ZOK);
  zookeeper_close(first);  // Its session is gone, so the code may be an error.
  id.passwd[0] ^= 1;
  struct Journal* journal = new_journal();
  zhandle_t* thief = zookeeper_init(address, note, 20000, &id, journal, 0);
  CHECK(wait_for(journal, &journal->expired, 1));
  zookeeper_close(thief);
}

static void sessions_and_watches_survive_a_restart(void) {
  struct Journal* session = new_journal();
  struct Journal* journal = new_journal();
  zhandle_t* client = connect_as(NULL, session);
  char path[64], data[8], line[16];
  int length = sizeof data;
  struct Stat stat;
  CHECK_CODE(zoo_create(client, "/r", "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL, path, sizeof path), ZOK);
  CHECK_CODE(zoo_wget(client, "/r", note, journal, data, &length, &stat), ZOK);
  int64_t id = zoo_client_id(client)->client_id;
  printf("restart\n");
  CHECK(fgets(line, sizeof line, stdin) != NULL);
  CHECK(wait_for(session, &session->connected, 1));
  CHECK_CODE(exists_patiently(client, session, "/r", &stat), ZOK);
  CHECK(zoo_client_id(client)->client_id == id && stat.ephemeralOwner == id);
  CHECK_CODE(zoo_set(client, "/r", "after", 5, -1), ZOK);
  CHECK(saw(journal, 0, ZOO_CHANGED_EVENT, "/r"));
  CHECK_CODE(zookeeper_close(client), ZOK);
}

static int run(const char* name, void (*test)(void)) {
  int before = checks_failed;
  test();
  if (checks_failed != before) printf("c_client: FAILED: %s\n", name);
  return checks_failed == before;
}

int main(int count, char** arguments) {
  if (count != 2) return 2;
  address = arguments[1];
  setvbuf(stdout, NULL, _IOLBF, 0);
  zoo_set_log_stream(fopen("/dev/null", "w"));  // Lost connections are part of the test.
  int passed = 0, total = 0;
#define RUN(test) (++total, passed += run(#test, test))
  RUN(nodes_are_created_read_changed_and_deleted);
  RUN(every_create_mode_works);
  RUN(a_multi_succeeds_or_fails_as_a_whole);
  RUN(acls_and_auth_decide_who_may_do_what);
  RUN(watches_fire_once_and_can_be_removed);
  RUN(a_session_goes_on_with_its_client_id);
  RUN(sessions_and_watches_survive_a_restart);
  printf("c_client: %d passed, %d failed\n", passed, total - passed);
  return passed == total ? 0 : 1;
}
