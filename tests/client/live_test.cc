// SPDX-License-Identifier: Apache-2.0
//
// The client library against a real server. SERVER holds its address (run.sh starts one of each kind).
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <future>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "drover/client.h"

namespace drover {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::string server() {
  const char* address = std::getenv("SERVER");
  return address == nullptr ? "127.0.0.1:2181" : address;
}

Wait soon() { return Wait::within(seconds(10)); }

Client connect(Options options = {}) {
  if (options.servers.empty()) options.servers = server();
  return unwrap(sync_wait(Client::connect(std::move(options), soon())));
}

template <class T>
T get(Task<Result<T>> task) {
  return unwrap(sync_wait(std::move(task)));
}
template <class T>
Errc code_of(Task<Result<T>> task) {
  const Result<T> result = sync_wait(std::move(task));
  return result ? Errc{} : result.error().code;
}

// Each test has its own directory.
class Live : public ::testing::TestWithParam<Callbacks> {
 protected:
  Live() : client(connect({.servers = {}, .callbacks = GetParam()})) {
    static int tests = 0;
    root = get(client.create("/live-", {}, {.mode = CreateMode::kPersistentSequential})).path + "-" +
           std::to_string(++tests);
    get(client.create(root));
  }

  Client client;
  std::string root;
};

TEST_P(Live, NodesAreCreatedReadChangedAndRemoved) {
  const Created made = get(client.create(root + "/a", "one"));
  EXPECT_EQ(made.path, root + "/a");
  NodeData node = get(client.get(root + "/a"));
  EXPECT_EQ(node.data, "one");
  EXPECT_EQ(node.stat.czxid, made.stat.czxid);
  const Stat changed = get(client.set(root + "/a", "two", node.stat.version));
  EXPECT_EQ(changed.version, Version{1});
  EXPECT_EQ(code_of(client.set(root + "/a", "three", node.stat.version)), Errc::kBadVersion);
  EXPECT_EQ(get(client.children(root)).names, std::vector<std::string>{"a"});
  EXPECT_EQ(code_of(client.remove(root)), Errc::kNotEmpty);
  get(client.remove(root + "/a", Version{1}));
  EXPECT_EQ(get(client.exists(root + "/a")), std::nullopt);
  EXPECT_EQ(code_of(client.get(root + "/a")), Errc::kNoNode);
}

TEST_P(Live, EveryCreateModeWorks) {
  const std::string path = root + "/n-";
  const auto create = [&](CreateMode mode, milliseconds ttl = milliseconds(0)) {
    return get(client.create(path, "x", {.mode = mode, .ttl = ttl}));
  };
  EXPECT_TRUE(create(CreateMode::kEphemeralSequential).path.ends_with("n-0000000000"));
  EXPECT_TRUE(create(CreateMode::kPersistentSequential).path.ends_with("n-0000000001"));
  EXPECT_TRUE(create(CreateMode::kPersistentSequentialTtl, seconds(100)).path.ends_with("n-0000000002"));
  EXPECT_EQ(create(CreateMode::kEphemeral).stat.ephemeral_owner, client.session());
  get(client.create(root + "/c", {}, {.mode = CreateMode::kContainer}));
  get(client.create(root + "/t", {}, {.mode = CreateMode::kPersistentTtl, .ttl = seconds(100)}));
  get(client.create(root + "/p/q/r", {}, {.parents = true}));
  EXPECT_EQ(get(client.count_descendants(root)), 9);
  EXPECT_EQ(get(client.ephemerals(root)).size(), 2u);
}

TEST_P(Live, TransactionsAreAllOrNothing) {
  std::vector<Op> good;
  good.push_back(Op::create(root + "/a", "1"));
  good.push_back(Op::set(root + "/a", "2"));
  good.push_back(Op::check(root + "/a", Version{1}));
  const auto results = get(client.multi(good));
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(results[0].path, root + "/a");
  EXPECT_EQ(results[1].stat->version, Version{1});
  std::vector<Op> bad;
  bad.push_back(Op::set(root + "/a", "3"));
  bad.push_back(Op::remove(root + "/b"));
  const auto failed = sync_wait(client.multi(bad));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Errc::kNoNode);
  EXPECT_EQ(failed.error().op_index, 1);
  EXPECT_EQ(failed.error().path, root + "/b");
  const auto read =
      get(client.multi_read({ReadOp::get(root + "/a"), ReadOp::children(root), ReadOp::get(root + "/b")}));
  EXPECT_EQ(read[0]->node.data, "2");
  EXPECT_EQ(read[1]->names, std::vector<std::string>{"a"});
  EXPECT_EQ(read[2].error().code, Errc::kNoNode);
  get(client.sync(root));
  get(client.barrier_read_point());
}

TEST_P(Live, AnAclGrantsAccessOnlyAfterAuthentication) {
  get(client.add_auth({"digest", "me:secret"}));
  get(client.create(root + "/mine", "x", {.acl = creator_all_acl()}));
  const auto who = get(client.who_am_i());
  EXPECT_TRUE(std::any_of(who.begin(), who.end(), [](const Identity& i) { return i.id == "me"; }));
  Client other = connect();
  EXPECT_EQ(code_of(other.get(root + "/mine")), Errc::kNoAuth);
  AclData acl = get(client.acl(root + "/mine"));
  ASSERT_EQ(acl.acl.size(), 1u);
  EXPECT_EQ(acl.acl[0].scheme, "digest");
  get(client.set_acl(root + "/mine", open_acl(), acl.stat.aversion));
  EXPECT_EQ(get(other.get(root + "/mine")).data, "x");
  EXPECT_EQ(code_of(other.add_auth({"no such scheme", "x"})), Errc::kAuthFailed);
}

TEST_P(Live, ReconfigIsRefusedUnlessEnabled) {
  EXPECT_EQ(code_of(client.reconfig({.leaving = "2"})), Errc::kReconfigDisabled);
  EXPECT_TRUE(sync_wait(client.exists("/")));
}

TEST_P(Live, CoroutinesCanAwaitWatches) {
  const Client writer = connect();
  get(client.create(root + "/a", "0"));
  const auto until = [](Client c, std::string path, std::string wanted) -> Task<Result<int>> {
    Signal changed(c.scheduler());
    const Watch watch = changed.watch();
    for (int looks = 1;; ++looks) {
      auto reading = c.get(path, watch, soon());
      const Result<NodeData> node = co_await std::move(reading);
      if (!node) co_return std::unexpected(node.error());
      if (node->data == wanted) co_return looks;
      auto waiting = changed.wait(soon());
      const Result<void> woken = co_await std::move(waiting);
      if (!woken) co_return std::unexpected(woken.error());
    }
  };
  auto seen = std::async(std::launch::async, [&] { return get(until(client, root + "/a", "5")); });
  for (int i = 1; i <= 5; ++i) get(writer.set(root + "/a", std::to_string(i)));
  const int looks = seen.get();
  EXPECT_GE(looks, 1);
  EXPECT_LE(looks, 6);
}

TEST_P(Live, CallbacksRunInOrderOneAtATime) {
  constexpr int kCalls = 2000;
  std::vector<int> order;
  std::promise<void> done;
  get(client.create(root + "/n", "0"));
  for (int i = 0; i < kCalls; ++i) {
    start(client.set(root + "/n", std::to_string(i)), [&, i](Result<Stat> stat) {
      EXPECT_TRUE(stat) << stat.error().to_text();
      order.push_back(i);
      if (i + 1 == kCalls) done.set_value();
    });
  }
  done.get_future().wait();
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  EXPECT_EQ(order.size(), static_cast<std::size_t>(kCalls));
}

TEST_P(Live, ManyThreadsShareAClient) {
  std::vector<std::jthread> threads;
  std::atomic<int> failures{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this, t, &failures] {
      const std::string path = root + "/t" + std::to_string(t);
      get(client.create(path, "0"));
      for (int i = 1; i <= 100; ++i) {
        get(client.set(path, std::to_string(i)));
        if (get(client.get(path)).data != std::to_string(i)) ++failures;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(failures, 0);
}

TEST_P(Live, StopTokensFromOtherThreadsEndWaits) {
  Signal never(client.scheduler());
  for (int i = 0; i < 50; ++i) {
    std::stop_source stop;
    std::jthread stopper([&] { stop.request_stop(); });
    EXPECT_EQ(code_of(never.wait(Wait::forever(stop.get_token()))), Errc::kStopped);
  }
  EXPECT_EQ(client.state(), ConnectionState::kConnected);
}

TEST_P(Live, ASessionSurvivesAMoveToAnotherServer) {
  get(client.create(root + "/e", "x", {.mode = CreateMode::kEphemeral}));
  const SessionId session = client.session();
  Stream<StateEvent> states = client.states();
  EXPECT_EQ(get(states.next(soon())).state, ConnectionState::kConnected);
  client.move_on();
  EXPECT_EQ(get(states.next(soon())).state, ConnectionState::kSuspended);
  EXPECT_EQ(get(states.next(soon())).state, ConnectionState::kConnected);
  EXPECT_EQ(client.session(), session);
  EXPECT_TRUE(get(client.exists(root + "/e")));
}

TEST_P(Live, AClosedSessionLosesItsEphemerals) {
  Client other = connect({.servers = {}, .callbacks = GetParam()});
  get(other.create(root + "/e1", "x", {.mode = CreateMode::kEphemeral}));
  get(other.close(soon()));
  EXPECT_FALSE(get(client.exists(root + "/e1")));
  EXPECT_EQ(code_of(other.get(root)), Errc::kClosed);

  // Dropping the last handle closes the session in the background.
  std::promise<EventType> gone;
  const Watch watch([&](const WatchEvent& event) { gone.set_value(event.type); });
  {
    const Client brief = connect({.servers = {}, .callbacks = GetParam()});
    get(brief.create(root + "/e2", "x", {.mode = CreateMode::kEphemeral}));
    get(client.get(root + "/e2", watch));
  }
  EXPECT_EQ(gone.get_future().get(), EventType::kNodeDeleted);
}

TEST_P(Live, AChrootAndANamespaceLookLikeTheWholeTree) {
  const Client inside = connect({.servers = server() + root, .name_space = "/ns", .callbacks = GetParam()});
  get(inside.create("/x/a-", "in", {.mode = CreateMode::kPersistentSequential, .parents = true}));
  EXPECT_EQ(get(client.get(root + "/ns/x/a-0000000000")).data, "in");
  EXPECT_EQ(get(inside.children("/x")).names, std::vector<std::string>{"a-0000000000"});
  std::promise<std::string> told;
  const Watch watch([&](const WatchEvent& event) { told.set_value(event.path); });
  get(inside.add_watch("/", WatchMode::kPersistentRecursive, watch));
  get(client.set(root + "/ns/x/a-0000000000", "out"));
  EXPECT_EQ(told.get_future().get(), "/x/a-0000000000");
}

TEST_P(Live, ALargeNodeArrivesComplete) {
  const std::string data(900'000, 'x');
  get(client.create(root + "/big", data));
  EXPECT_EQ(get(client.get(root + "/big")).data, data);
}

INSTANTIATE_TEST_SUITE_P(Executors, Live, ::testing::Values(Callbacks::kOwnThread, Callbacks::kIoThread),
                         [](const auto& chosen) {
                           return chosen.param == Callbacks::kOwnThread ? "OwnThread" : "IoThread";
                         });

TEST(LiveOptions, AUsersExecutorRunsCallbacksOneAtATime) {
  // Uses one thread per callback, so that only the strand keeps order.
  struct Pool : Executor {
    void post(std::move_only_function<void()> work) override {
      const std::lock_guard lock(mutex);
      threads.emplace_back(std::move(work));
    }
    std::mutex mutex;
    std::vector<std::jthread> threads;
  };
  const auto pool = std::make_shared<Pool>();
  {
    const Client client = connect({.servers = {}, .callbacks = Callbacks::kExecutor, .executor = pool});
    int calls = 0;  // no lock: callbacks run one at a time
    std::promise<void> done;
    for (int i = 0; i < 200; ++i) {
      start(client.exists("/"), [&](Result<std::optional<Stat>>) {
        if (++calls == 200) done.set_value();
      });
    }
    done.get_future().wait();
    EXPECT_EQ(calls, 200);
    get(client.close(soon()));
  }
  while (pool.use_count() > 1) std::this_thread::yield();  // It must not end on one of its own threads.
}

TEST(LiveOptions, InvalidOptionsAreReportedImmediately) {
  EXPECT_EQ(Client::open({.servers = "a:b"}).error().code, Errc::kBadConfig);
  EXPECT_EQ(Client::open({.servers = "a", .name_space = "x"}).error().code, Errc::kBadConfig);
  EXPECT_EQ(Client::open({.servers = "a", .tls = TlsOptions{.trust_store = "/nowhere.pem"}}).error().code,
            Errc::kBadConfig);
}

TEST(LiveOptions, ConnectingToNoServerEndsAtTheDeadline) {
  EXPECT_EQ(code_of(Client::connect({.servers = "127.0.0.1:1"}, Wait::within(milliseconds(200)))),
            Errc::kDeadline);
}

// --- other kinds of servers: run.py runs each of these suites separately ---

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Stores of alice in TLS_FILES, one of each type; the server requires a client certificate.
class Tls : public ::testing::TestWithParam<std::string> {
 protected:
  static TlsOptions options(const std::string& extension) {
    const std::string files = variable("TLS_FILES");
    const std::string password = variable("TLS_PASSWORD");
    return {.trust_store = files + "/trusted" + extension,
            .trust_store_password = password,
            .key_store = files + "/alice" + extension,
            .key_store_password = password};
  }
};

TEST_P(Tls, AClientIsIdentifiedByItsCertificate) {
  const Client client = connect({.servers = {}, .tls = options(GetParam())});
  const auto who = get(client.who_am_i());
  EXPECT_TRUE(std::any_of(who.begin(), who.end(), [](const Identity& identity) {
    return identity.scheme == "x509" && identity.id.starts_with("CN=alice");
  }));
  const std::string path =
      get(client.create("/tls-", "x", {.mode = CreateMode::kEphemeralSequential, .acl = creator_all_acl()}))
          .path;
  EXPECT_EQ(get(client.get(path)).data, "x");
}

TEST_P(Tls, ALargeReplyArrivesComplete) {
  const Client client = connect({.servers = {}, .tls = options(GetParam())});
  const std::string large(800'000, 'x');
  const std::string path =
      get(client.create("/tls-large-", large, {.mode = CreateMode::kEphemeralSequential})).path;
  EXPECT_EQ(get(client.get(path)).data, large);
}

TEST_P(Tls, AnUntrustedServerIsRefused) {
  TlsOptions strange = options(GetParam());
  strange.trust_store = variable("TLS_FILES") + "/strange.pem";
  const auto client =
      sync_wait(Client::connect({.servers = server(), .tls = strange}, Wait::within(milliseconds(1500))));
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error(), Errc::kDeadline);
}

TEST_P(Tls, AStoreThatCannotBeOpenedIsReportedImmediately) {
  TlsOptions wrong = options(GetParam());
  wrong.key_store_password = "not this one";
  if (GetParam() == ".pem") wrong.key_store = variable("TLS_FILES") + "/there-is-no-such-file.pem";
  const auto client = sync_wait(Client::connect({.servers = server(), .tls = wrong}, soon()));
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error(), Errc::kBadConfig) << client.error().to_text();
}

INSTANTIATE_TEST_SUITE_P(Stores, Tls, ::testing::Values(".pem", ".p12", ".jks"),
                         [](const auto& kind) { return kind.param.substr(1); });

// The server has no quorum.
TEST(ReadOnly, AClientThatAllowsItCanReadButNotWrite) {
  const Client client = connect({.servers = {}, .read_only_ok = true});
  EXPECT_EQ(client.state(), ConnectionState::kReadOnly);
  EXPECT_FALSE(get(client.children("/")).names.empty());
  EXPECT_EQ(code_of(client.create("/never", "", {}, soon())), Errc::kNotReadOnly);
}

TEST(ReadOnly, AnyOtherClientGetsNoSession) {
  const auto client = sync_wait(Client::connect({.servers = server()}, Wait::within(milliseconds(1500))));
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error(), Errc::kDeadline);
}

}  // namespace
}  // namespace drover
