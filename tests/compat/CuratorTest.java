// SPDX-License-Identifier: Apache-2.0
//
// Curator's recipes against a server: the way most Java programs use ZooKeeper. Curator leans on the corners
// of the protocol: container parents, TTL nodes, persistent recursive watches (CuratorCache), protected
// ephemeral sequential nodes, transactions, and sessions that come back after a restart.
//
// Usage: CuratorTest HOST:PORT. Before the last case the program prints "restart" and waits for a line on
// stdin: curator_test.py restarts the server in between.

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Scanner;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.api.transaction.CuratorTransactionResult;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicLong;
import org.apache.curator.framework.recipes.barriers.DistributedBarrier;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;
import org.apache.curator.framework.recipes.cache.CuratorCache;
import org.apache.curator.framework.recipes.cache.CuratorCacheListener;
import org.apache.curator.framework.recipes.cache.PathChildrenCache;
import org.apache.curator.framework.recipes.cache.PathChildrenCacheEvent;
import org.apache.curator.framework.recipes.cache.TreeCache;
import org.apache.curator.framework.recipes.cache.TreeCacheEvent;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.framework.recipes.nodes.PersistentNode;
import org.apache.curator.framework.recipes.queue.DistributedQueue;
import org.apache.curator.framework.recipes.queue.QueueBuilder;
import org.apache.curator.framework.recipes.queue.QueueConsumer;
import org.apache.curator.framework.recipes.queue.QueueSerializer;
import org.apache.curator.framework.recipes.shared.SharedCount;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.RetryNTimes;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.data.Stat;

public final class CuratorTest {
  private static final int PATIENCE_SECONDS = 30;
  private static final ExecutorService threads = Executors.newCachedThreadPool();
  private static String address;

  interface Case {
    void run(CuratorFramework one, CuratorFramework two) throws Exception;
  }

  private static CuratorFramework client() throws Exception {
    CuratorFramework client = CuratorFrameworkFactory.builder()
                                  .connectString(address)
                                  .sessionTimeoutMs(20000)
                                  .connectionTimeoutMs(10000)
                                  .retryPolicy(new RetryNTimes(200, 50))
                                  .build();
    client.start();
    check(client.blockUntilConnected(PATIENCE_SECONDS, TimeUnit.SECONDS), "no connection");
    return client;
  }

  private static void check(boolean condition, String what) {
    if (!condition)
      throw new AssertionError(what);
  }

  private static void equal(Object actual, Object expected, String what) {
    check(expected.equals(actual), what + ": expected " + expected + ", got " + actual);
  }

  private static void await(CountDownLatch latch, String what) throws Exception {
    check(latch.await(PATIENCE_SECONDS, TimeUnit.SECONDS), what);
  }

  private static <T> T next(BlockingQueue<T> queue, String what) throws Exception {
    T item = queue.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
    check(item != null, what + " did not come");
    return item;
  }

  private static byte[] bytes(String text) {
    return text.getBytes(java.nio.charset.StandardCharsets.UTF_8);
  }

  static void createSetGetDeleteWithStats(CuratorFramework one, CuratorFramework two) throws Exception {
    Stat stat = new Stat();
    equal(one.create().creatingParentsIfNeeded().forPath("/basic/a/b", bytes("x")), "/basic/a/b", "path");
    one.setData().withVersion(0).forPath("/basic/a/b", bytes("xyz"));
    equal(new String(two.getData().storingStatIn(stat).forPath("/basic/a/b")), "xyz", "data");
    equal(stat.getVersion(), 1, "version");
    equal(two.getChildren().forPath("/basic"), List.of("a"), "children");
    try {
      one.setData().withVersion(0).forPath("/basic/a/b", bytes("late"));
      check(false, "a stale version was accepted");
    } catch (KeeperException.BadVersionException expected) {
      // As it should be.
    }
    one.delete().deletingChildrenIfNeeded().forPath("/basic");
    check(two.checkExists().forPath("/basic") == null, "still there");
  }

  static void everyCreateModeIncludingContainerAndTtl(CuratorFramework one, CuratorFramework two)
      throws Exception {
    one.create().withMode(CreateMode.CONTAINER).forPath("/modes");
    String protectedPath =
        one.create().withProtection().withMode(CreateMode.EPHEMERAL_SEQUENTIAL).forPath("/modes/p-");
    check(protectedPath.matches("/modes/_c_[-0-9a-f]+-p-0000000000"), protectedPath);
    Stat stat = new Stat();
    one.create()
        .withTtl(100000)
        .storingStatIn(stat)
        .withMode(CreateMode.PERSISTENT_WITH_TTL)
        .forPath("/modes/ttl");
    equal(stat.getEphemeralOwner(), 0L, "owner of a TTL node");
    equal(
        one.create().withTtl(100000).withMode(CreateMode.PERSISTENT_SEQUENTIAL_WITH_TTL).forPath("/modes/s-"),
        "/modes/s-0000000002", "sequence");
    // creatingParentContainersIfNeeded: the parents go by themselves once they are empty.
    one.create().creatingParentContainersIfNeeded().forPath("/gone/soon/leaf");
    one.delete().forPath("/gone/soon/leaf");
    BlockingQueue<String> deleted = new LinkedBlockingQueue<>();
    Stat there =
        two.checkExists().usingWatcher((Watcher) event -> deleted.add(event.getPath())).forPath("/gone");
    if (there != null)
      equal(next(deleted, "the container's end"), "/gone", "deleted container");
    one.create().withTtl(50).withMode(CreateMode.PERSISTENT_WITH_TTL).forPath("/shortlived");
    there = two.checkExists()
                .usingWatcher((Watcher) event -> deleted.add(event.getPath()))
                .forPath("/shortlived");
    if (there != null)
      equal(next(deleted, "the TTL node's end"), "/shortlived", "expired TTL node");
  }

  static void transactionsAreAtomic(CuratorFramework one, CuratorFramework two) throws Exception {
    List<CuratorTransactionResult> results =
        one.transaction().forOperations(one.transactionOp().create().forPath("/txn", bytes("1")),
            one.transactionOp().create().withMode(CreateMode.PERSISTENT_SEQUENTIAL).forPath("/txn/s-"),
            one.transactionOp().setData().withVersion(0).forPath("/txn", bytes("2")),
            one.transactionOp().check().withVersion(1).forPath("/txn"));
    equal(results.get(1).getResultPath(), "/txn/s-0000000000", "created");
    equal(results.get(2).getResultStat().getVersion(), 1, "version");
    try {
      one.transaction().forOperations(one.transactionOp().create().forPath("/txn/never"),
          one.transactionOp().check().withVersion(77).forPath("/txn"));
      check(false, "the transaction should fail");
    } catch (KeeperException.BadVersionException expected) {
      equal(expected.getResults().size(), 2, "results");
    }
    check(two.checkExists().forPath("/txn/never") == null, "half a transaction was applied");
  }

  static void aMutexHasOneHolder(CuratorFramework one, CuratorFramework two) throws Exception {
    AtomicInteger inside = new AtomicInteger();
    List<Future<?>> workers = new ArrayList<>();
    for (CuratorFramework client : Arrays.asList(one, two, one, two)) {
      InterProcessMutex mutex = new InterProcessMutex(client, "/mutex");
      workers.add(threads.submit(() -> {
        for (int n = 0; n < 5; ++n) {
          check(mutex.acquire(PATIENCE_SECONDS, TimeUnit.SECONDS), "lock");
          check(inside.incrementAndGet() == 1, "two holders");
          inside.decrementAndGet();
          mutex.release();
        }
        return null;
      }));
    }
    for (Future<?> worker : workers) worker.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
  }

  static void readersShareAndAWriterIsAlone(CuratorFramework one, CuratorFramework two) throws Exception {
    InterProcessReadWriteLock first = new InterProcessReadWriteLock(one, "/rw");
    InterProcessReadWriteLock second = new InterProcessReadWriteLock(two, "/rw");
    first.readLock().acquire();
    check(second.readLock().acquire(PATIENCE_SECONDS, TimeUnit.SECONDS), "two readers");
    second.readLock().release();
    check(!second.writeLock().acquire(100, TimeUnit.MILLISECONDS), "a writer beside a reader");
    first.readLock().release();
    check(second.writeLock().acquire(PATIENCE_SECONDS, TimeUnit.SECONDS), "a writer alone");
    check(!first.readLock().acquire(100, TimeUnit.MILLISECONDS), "a reader beside a writer");
    second.writeLock().release();
  }

  static void aSemaphoreLimitsLeases(CuratorFramework one, CuratorFramework two) throws Exception {
    InterProcessSemaphoreV2 first = new InterProcessSemaphoreV2(one, "/semaphore", 2);
    InterProcessSemaphoreV2 second = new InterProcessSemaphoreV2(two, "/semaphore", 2);
    Lease a = first.acquire();
    Lease b = second.acquire();
    check(second.acquire(100, TimeUnit.MILLISECONDS) == null, "a third lease");
    first.returnLease(a);
    Lease c = second.acquire(PATIENCE_SECONDS, TimeUnit.SECONDS);
    check(c != null, "the returned lease");
    second.returnAll(List.of(b, c));
  }

  static void leadershipPassesOn(CuratorFramework one, CuratorFramework two) throws Exception {
    LeaderLatch first = new LeaderLatch(one, "/latch", "first");
    LeaderLatch second = new LeaderLatch(two, "/latch", "second");
    first.start();
    check(first.await(PATIENCE_SECONDS, TimeUnit.SECONDS), "the first leads");
    second.start();
    equal(second.getLeader().getId(), "first", "leader");
    check(!second.hasLeadership(), "two leaders");
    first.close();
    check(second.await(PATIENCE_SECONDS, TimeUnit.SECONDS), "the second takes over");
    second.close();
  }

  static void cachesMirrorTheTree(CuratorFramework one, CuratorFramework two) throws Exception {
    one.create().forPath("/cache");
    BlockingQueue<String> seen = new LinkedBlockingQueue<>();
    CuratorCache cache = CuratorCache.build(two, "/cache"); // Uses a persistent recursive watch.
    CountDownLatch ready = new CountDownLatch(1);
    cache.listenable().addListener(CuratorCacheListener.builder()
            .forInitialized(ready::countDown)
            .forCreates(node -> seen.add("created " + node.getPath()))
            .forChanges((before, after) -> seen.add("changed " + after.getPath()))
            .forDeletes(node -> seen.add("deleted " + node.getPath()))
            .build());
    cache.start();
    await(ready, "cache initialised");
    equal(next(seen, "root"), "created /cache", "event");
    one.create().forPath("/cache/a", bytes("1"));
    equal(next(seen, "create"), "created /cache/a", "event");
    one.create().forPath("/cache/a/deep", bytes("2"));
    equal(next(seen, "create"), "created /cache/a/deep", "event");
    one.setData().forPath("/cache/a/deep", bytes("3"));
    equal(next(seen, "change"), "changed /cache/a/deep", "event");
    one.delete().forPath("/cache/a/deep");
    equal(next(seen, "delete"), "deleted /cache/a/deep", "event");
    equal(cache.size(), 2, "cached nodes");
    cache.close();
  }

  @SuppressWarnings("deprecation")
  static void olderCachesWorkToo(CuratorFramework one, CuratorFramework two) throws Exception {
    one.create().forPath("/old");
    BlockingQueue<String> seen = new LinkedBlockingQueue<>();
    PathChildrenCache children = new PathChildrenCache(two, "/old", true);
    children.getListenable().addListener((client, event) -> {
      if (event.getData() != null)
        seen.add(event.getType() + " " + event.getData().getPath());
    });
    children.start(PathChildrenCache.StartMode.BUILD_INITIAL_CACHE);
    BlockingQueue<TreeCacheEvent.Type> tree = new LinkedBlockingQueue<>();
    TreeCache whole = new TreeCache(two, "/old");
    whole.getListenable().addListener((client, event) -> tree.add(event.getType()));
    whole.start();
    equal(next(tree, "root"), TreeCacheEvent.Type.NODE_ADDED, "tree event");
    equal(next(tree, "start"), TreeCacheEvent.Type.INITIALIZED, "tree event");
    one.create().forPath("/old/kid", bytes("1"));
    equal(next(seen, "add"), PathChildrenCacheEvent.Type.CHILD_ADDED + " /old/kid", "event");
    equal(next(tree, "add"), TreeCacheEvent.Type.NODE_ADDED, "tree event");
    one.setData().forPath("/old/kid", bytes("2"));
    equal(next(seen, "update"), PathChildrenCacheEvent.Type.CHILD_UPDATED + " /old/kid", "event");
    equal(next(tree, "update"), TreeCacheEvent.Type.NODE_UPDATED, "tree event");
    one.delete().forPath("/old/kid");
    equal(next(seen, "remove"), PathChildrenCacheEvent.Type.CHILD_REMOVED + " /old/kid", "event");
    equal(next(tree, "remove"), TreeCacheEvent.Type.NODE_REMOVED, "tree event");
    children.close();
    whole.close();
  }

  static void aPersistentNodeComesBackWhenDeleted(CuratorFramework one, CuratorFramework two)
      throws Exception {
    PersistentNode node = new PersistentNode(one, CreateMode.EPHEMERAL, false, "/keeper/node", bytes("k"));
    node.start();
    check(node.waitForInitialCreate(PATIENCE_SECONDS, TimeUnit.SECONDS), "created");
    CountDownLatch again = new CountDownLatch(1);
    two.delete().forPath("/keeper/node");
    Stat stat = two.checkExists().usingWatcher((Watcher) event -> again.countDown()).forPath("/keeper/node");
    if (stat == null)
      await(again, "the node was not created again");
    equal(new String(two.getData().forPath("/keeper/node")), "k", "data");
    node.close();
  }

  static void barriersOpenForAll(CuratorFramework one, CuratorFramework two) throws Exception {
    DistributedBarrier barrier = new DistributedBarrier(one, "/barrier");
    barrier.setBarrier();
    Future<Boolean> waiting = threads.submit(
        () -> new DistributedBarrier(two, "/barrier").waitOnBarrier(PATIENCE_SECONDS, TimeUnit.SECONDS));
    barrier.removeBarrier();
    check(waiting.get(PATIENCE_SECONDS, TimeUnit.SECONDS), "the barrier stayed");
    List<Future<Boolean>> meeting = new ArrayList<>();
    for (CuratorFramework client : List.of(one, two)) {
      DistributedDoubleBarrier both = new DistributedDoubleBarrier(client, "/double", 2);
      meeting.add(threads.submit(()
                                     -> both.enter(PATIENCE_SECONDS, TimeUnit.SECONDS)
              && both.leave(PATIENCE_SECONDS, TimeUnit.SECONDS)));
    }
    for (Future<Boolean> member : meeting)
      check(member.get(PATIENCE_SECONDS, TimeUnit.SECONDS), "double barrier");
  }

  static void countersLoseNothing(CuratorFramework one, CuratorFramework two) throws Exception {
    SharedCount first = new SharedCount(one, "/shared", 0);
    SharedCount second = new SharedCount(two, "/shared", 0);
    first.start();
    second.start();
    check(first.trySetCount(first.getVersionedValue(), 5), "set");
    second.setCount(6);
    check(!first.trySetCount(first.getVersionedValue(), 7) || first.getCount() == 7, "compare and set");
    first.close();
    second.close();
    List<Future<?>> workers = new ArrayList<>();
    for (CuratorFramework client : List.of(one, two)) {
      DistributedAtomicLong value = new DistributedAtomicLong(client, "/atomic", new RetryNTimes(1000, 1));
      workers.add(threads.submit(() -> {
        for (int n = 0; n < 20; ++n) check(value.increment().succeeded(), "increment");
        return null;
      }));
    }
    for (Future<?> worker : workers) worker.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    equal(new DistributedAtomicLong(one, "/atomic", new RetryNTimes(1, 1)).get().postValue(), 40L, "sum");
  }

  static void aQueueDeliversInOrder(CuratorFramework one, CuratorFramework two) throws Exception {
    BlockingQueue<String> received = new LinkedBlockingQueue<>();
    QueueSerializer<String> serializer = new QueueSerializer<>() {
      @Override
      public byte[] serialize(String item) {
        return bytes(item);
      }

      @Override
      public String deserialize(byte[] data) {
        return new String(data);
      }
    };
    QueueConsumer<String> consumer = new QueueConsumer<>() {
      @Override
      public void consumeMessage(String message) {
        received.add(message);
      }

      @Override
      public void stateChanged(CuratorFramework client, ConnectionState state) {}
    };
    DistributedQueue<String> sink = QueueBuilder.builder(two, consumer, serializer, "/queue").buildQueue();
    DistributedQueue<String> source = QueueBuilder.builder(one, null, serializer, "/queue").buildQueue();
    sink.start();
    source.start();
    for (int n = 0; n < 10; ++n) source.put("item " + n);
    for (int n = 0; n < 10; ++n) equal(next(received, "item"), "item " + n, "order");
    source.close();
    sink.close();
  }

  static void locksAndCachesSurviveARestart(CuratorFramework one, CuratorFramework two) throws Exception {
    InterProcessMutex held = new InterProcessMutex(one, "/survivor");
    held.acquire();
    one.create().forPath("/watched", bytes("before"));
    BlockingQueue<String> seen = new LinkedBlockingQueue<>();
    CuratorCache cache = CuratorCache.build(two, "/watched");
    CountDownLatch ready = new CountDownLatch(1);
    cache.listenable().addListener(CuratorCacheListener.builder()
            .forInitialized(ready::countDown)
            .forChanges((before, after) -> seen.add(new String(after.getData())))
            .build());
    cache.start();
    await(ready, "cache initialised");
    long session = one.getZookeeperClient().getZooKeeper().getSessionId();
    System.out.println("restart");
    new Scanner(System.in).nextLine();
    one.setData().forPath("/watched", bytes("after"));
    equal(next(seen, "the change after the restart"), "after", "cached data");
    equal(one.getZookeeperClient().getZooKeeper().getSessionId(), session, "session");
    check(!new InterProcessMutex(two, "/survivor").acquire(100, TimeUnit.MILLISECONDS), "the lock was lost");
    held.release();
    check(new InterProcessMutex(two, "/survivor").acquire(PATIENCE_SECONDS, TimeUnit.SECONDS),
        "the lock is free");
    cache.close();
  }

  private static int passed;
  private static int failed;

  private static void run(String name, Case test) throws Exception {
    try (CuratorFramework one = client(); CuratorFramework two = client()) {
      test.run(one, two);
      ++passed;
    } catch (Throwable problem) {
      ++failed;
      System.out.println("curator: FAILED: " + name + ": " + problem);
      problem.printStackTrace(System.out);
    }
  }

  public static void main(String[] arguments) throws Exception {
    address = arguments[0];
    run("create, set, get, delete with stats", CuratorTest::createSetGetDeleteWithStats);
    run("every create mode including container and TTL",
        CuratorTest::everyCreateModeIncludingContainerAndTtl);
    run("transactions are atomic", CuratorTest::transactionsAreAtomic);
    run("a mutex has one holder", CuratorTest::aMutexHasOneHolder);
    run("readers share and a writer is alone", CuratorTest::readersShareAndAWriterIsAlone);
    run("a semaphore limits leases", CuratorTest::aSemaphoreLimitsLeases);
    run("leadership passes on", CuratorTest::leadershipPassesOn);
    run("caches mirror the tree", CuratorTest::cachesMirrorTheTree);
    run("older caches work too", CuratorTest::olderCachesWorkToo);
    run("a persistent node comes back when deleted", CuratorTest::aPersistentNodeComesBackWhenDeleted);
    run("barriers open for all", CuratorTest::barriersOpenForAll);
    run("counters lose nothing", CuratorTest::countersLoseNothing);
    run("a queue delivers in order", CuratorTest::aQueueDeliversInOrder);
    run("locks and caches survive a restart", CuratorTest::locksAndCachesSurviveARestart);
    System.out.println("curator: " + passed + " passed, " + failed + " failed");
    threads.shutdownNow();
    System.exit(failed == 0 ? 0 : 1);
  }
}
