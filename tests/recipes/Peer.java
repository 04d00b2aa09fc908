// SPDX-License-Identifier: Apache-2.0
//
// One process that uses Curator's recipes on command; peer.cc describes the commands.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.atomic.AtomicValue;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicLong;
import org.apache.curator.framework.recipes.barriers.DistributedBarrier;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.framework.recipes.nodes.GroupMember;
import org.apache.curator.framework.recipes.queue.DistributedDelayQueue;
import org.apache.curator.framework.recipes.queue.DistributedIdQueue;
import org.apache.curator.framework.recipes.queue.DistributedPriorityQueue;
import org.apache.curator.framework.recipes.queue.DistributedQueue;
import org.apache.curator.framework.recipes.queue.QueueBase;
import org.apache.curator.framework.recipes.queue.QueueBuilder;
import org.apache.curator.framework.recipes.queue.QueueConsumer;
import org.apache.curator.framework.recipes.queue.QueueSerializer;
import org.apache.curator.framework.recipes.queue.SimpleDistributedQueue;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.RetryNTimes;

public final class Peer {
  private static final int PATIENCE_SECONDS = 60;
  private static CuratorFramework client;
  // Curator's mutexes belong to the thread that took them, so each path has a thread.
  private static final Map<String, ExecutorService> threads = new ConcurrentHashMap<>();
  private static final Map<String, InterProcessLock> locks = new ConcurrentHashMap<>();
  private static final Map<String, Lease> leases = new ConcurrentHashMap<>();
  private static final Map<String, LeaderLatch> latches = new ConcurrentHashMap<>();
  private static final Map<String, DistributedDoubleBarrier> barriers = new ConcurrentHashMap<>();
  private static final Map<String, GroupMember> members = new ConcurrentHashMap<>();

  // Items that the consumer of a path received. Curator's consumers take all there is, whether it is asked for or
  // not; they claim it in our default place.
  private static final Map<String, LinkedBlockingQueue<String>> given = new ConcurrentHashMap<>();

  private static final QueueSerializer<String> utf8 = new QueueSerializer<>() {
    public byte[] serialize(String item) {
      return item.getBytes(StandardCharsets.UTF_8);
    }
    public String deserialize(byte[] bytes) {
      return new String(bytes, StandardCharsets.UTF_8);
    }
  };

  private static QueueConsumer<String> consumer(LinkedBlockingQueue<String> items) {
    return new QueueConsumer<>() {
      public void consumeMessage(String message) {
        items.add(message);
      }
      public void stateChanged(CuratorFramework framework, ConnectionState state) {}
    };
  }

  private static QueueBase<String> queue(String kind, String path, QueueConsumer<String> consumer) throws Exception {
    QueueBuilder<String> builder = QueueBuilder.builder(client, consumer, utf8, path);
    if (consumer != null)
      builder.lockPath(path + ".claims");
    QueueBase<String> queue = kind.equals("fifo") ? builder.buildQueue()
        : kind.equals("priority")                 ? builder.buildPriorityQueue(0)
        : kind.equals("delay")                    ? builder.buildDelayQueue()
                                                  : builder.buildIdQueue();
    queue.start();
    return queue;
  }

  private static String putKind(String kind, String path, String data, String key) throws Exception {
    try (QueueBase<String> queue = queue(kind, path, null)) {
      if (queue instanceof DistributedPriorityQueue)
        ((DistributedPriorityQueue<String>) queue).put(data, Integer.parseInt(key));
      else if (queue instanceof DistributedDelayQueue)
        ((DistributedDelayQueue<String>) queue).put(data, System.currentTimeMillis() + Long.parseLong(key));
      else if (queue instanceof DistributedIdQueue)
        ((DistributedIdQueue<String>) queue).put(data, key);
      else
        ((DistributedQueue<String>) queue).put(data);
      return must(queue.flushPuts(PATIENCE_SECONDS, TimeUnit.SECONDS) ? "" : "no");
    }
  }

  private static String takeKind(String kind, String path) throws Exception {
    if (!given.containsKey(path)) {
      LinkedBlockingQueue<String> items = new LinkedBlockingQueue<>();
      given.put(path, items);
      queue(kind, path, consumer(items));
    }
    return given.get(path).poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
  }

  private static String removeId(String path, String id) throws Exception {
    try (QueueBase<String> queue = queue("id", path, null)) {
      return Integer.toString(((DistributedIdQueue<String>) queue).remove(id));
    }
  }

  private static String acquire(String path, InterProcessLock lock, long ms) throws Exception {
    if (!lock.acquire(ms, TimeUnit.MILLISECONDS))
      return "no";
    locks.put(path, lock);
    return "yes";
  }

  private static String carryOut(String verb, String[] w) throws Exception {
    final long patience = PATIENCE_SECONDS * 1000L;
    switch (verb) {
      case "lock":
        return must(acquire(w[0], new InterProcessMutex(client, w[0]), patience));
      case "try_lock":
        return acquire(w[0], new InterProcessMutex(client, w[0]), Long.parseLong(w[1]));
      case "read":
        return must(acquire(w[0], new InterProcessReadWriteLock(client, w[0]).readLock(), patience));
      case "write":
        return must(acquire(w[0], new InterProcessReadWriteLock(client, w[0]).writeLock(), patience));
      case "unlock":
        locks.remove(w[0]).release();
        return "";
      case "lease":
        Lease lease = new InterProcessSemaphoreV2(client, w[0], Integer.parseInt(w[1])).acquire(PATIENCE_SECONDS, TimeUnit.SECONDS);
        leases.put(w[0], lease);
        return "";
      case "return":
        leases.remove(w[0]).close();
        return "";
      case "latch":
        LeaderLatch latch = new LeaderLatch(client, w[0], w[1]);
        latch.start();
        latches.put(w[0], latch);
        return must(latch.await(PATIENCE_SECONDS, TimeUnit.SECONDS) ? "" : "no");
      case "leader":
        return latches.get(w[0]).getLeader().getId();
      case "unlatch":
        latches.remove(w[0]).close();
        return "";
      case "set_barrier":
        new DistributedBarrier(client, w[0]).setBarrier();
        return "";
      case "remove_barrier":
        new DistributedBarrier(client, w[0]).removeBarrier();
        return "";
      case "wait_barrier":
        return must(new DistributedBarrier(client, w[0]).waitOnBarrier(PATIENCE_SECONDS, TimeUnit.SECONDS) ? "" : "no");
      case "enter":
        DistributedDoubleBarrier barrier = new DistributedDoubleBarrier(client, w[0], Integer.parseInt(w[1]));
        barriers.put(w[0], barrier);
        return must(barrier.enter(PATIENCE_SECONDS, TimeUnit.SECONDS) ? "" : "no");
      case "leave":
        return must(barriers.remove(w[0]).leave(PATIENCE_SECONDS, TimeUnit.SECONDS) ? "" : "no");
      case "put":
        new SimpleDistributedQueue(client, w[0]).offer(w[1].getBytes(StandardCharsets.UTF_8));
        return "";
      case "take":
        return new String(new SimpleDistributedQueue(client, w[0]).take(), StandardCharsets.UTF_8);
      case "put_kind":
        return putKind(w[0], w[1], w[2], w.length > 3 ? w[3] : "");
      case "take_kind":
        return takeKind(w[0], w[1]);
      case "remove_id":
        return removeId(w[0], w[1]);
      case "add":
        AtomicValue<Long> sum = new DistributedAtomicLong(client, w[0], new RetryNTimes(1000, 5)).add(Long.parseLong(w[1]));
        return sum.succeeded() ? sum.postValue().toString() : must("no");
      case "join":
        GroupMember member = new GroupMember(client, w[0], w[1], w[2].getBytes(StandardCharsets.UTF_8));
        member.start();
        members.put(w[0], member);
        return "";
      case "members":
        return String.join(",", new TreeSet<>(members.get(w[0]).getCurrentMembers().keySet()));
      case "quit_group":
        members.remove(w[0]).close();
        return "";
      default:
        throw new IllegalArgumentException(verb);
    }
  }

  private static String must(String answer) {
    if (answer.equals("no"))
      throw new IllegalStateException("not in time");
    return "";
  }

  private static synchronized void answer(String line) {
    System.out.println(line);
    System.out.flush();
  }

  public static void main(String[] arguments) throws Exception {
    client = CuratorFrameworkFactory.builder()
                 .connectString(arguments[0])
                 .sessionTimeoutMs(5000)
                 .connectionTimeoutMs(10000)
                 .retryPolicy(new RetryNTimes(200, 50))
                 .build();
    client.start();
    client.blockUntilConnected(PATIENCE_SECONDS, TimeUnit.SECONDS);
    answer("0 ok");
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      String[] words = line.split(" ");
      String[] rest = Arrays.copyOfRange(words, 2, words.length);
      // "members" and "leader" are asked while something else waits.
      String thread = rest[0] + (words[1].equals("members") || words[1].equals("leader") ? "?" : "");
      threads.computeIfAbsent(thread, path -> Executors.newSingleThreadExecutor()).execute(() -> {
        try {
          answer(words[0] + " ok " + carryOut(words[1], rest));
        } catch (Throwable problem) {
          answer(words[0] + " error " + problem);
        }
      });
    }
    Runtime.getRuntime().halt(0);
  }
}
