// SPDX-License-Identifier: Apache-2.0
//
// Curator's part in a recipe that it shares with other libraries: contender.cc says what a contender does.
//
// Usage: Contender ADDRESS KIND PATH ROUNDS

import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreMutex;
import org.apache.curator.retry.RetryNTimes;
import org.apache.zookeeper.CreateMode;

public final class Contender {
  private static final int PATIENCE_SECONDS = 120;

  private static void beInside(CuratorFramework client, String path) throws Exception {
    client.create().withMode(CreateMode.EPHEMERAL).forPath(path + ".inside");
    int count = Integer.parseInt(new String(client.getData().forPath(path + ".count")));
    client.sync().forPath(path); // Time in which somebody else could count from the same number.
    client.setData().forPath(path + ".count", Integer.toString(count + 1).getBytes());
    client.delete().forPath(path + ".inside");
  }

  private static InterProcessLock lock(CuratorFramework client, String kind, String path) {
    switch (kind) {
      case "mutex":
        return new InterProcessMutex(client, path);
      case "write":
        return new InterProcessReadWriteLock(client, path).writeLock();
      case "semaphore":
        return new InterProcessSemaphoreMutex(client, path);
      default:
        throw new IllegalArgumentException(kind);
    }
  }

  private static void oneRound(CuratorFramework client, String kind, String path) throws Exception {
    if (kind.equals("latch")) {
      try (LeaderLatch latch = new LeaderLatch(client, path, "java")) {
        latch.start();
        if (!latch.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) throw new IllegalStateException("not elected");
        beInside(client, path);
      }
      return;
    }
    InterProcessLock lock = lock(client, kind, path);
    if (!lock.acquire(PATIENCE_SECONDS, TimeUnit.SECONDS)) throw new IllegalStateException("not acquired");
    try {
      beInside(client, path);
    } finally {
      lock.release();
    }
  }

  public static void main(String[] arguments) throws Exception {
    int rounds = Integer.parseInt(arguments[3]);
    try (CuratorFramework client = CuratorFrameworkFactory.newClient(arguments[0], new RetryNTimes(5, 200))) {
      client.start();
      client.blockUntilConnected();
      System.out.println("ready");
      System.in.read();
      for (int i = 0; i < rounds; ++i) oneRound(client, arguments[1], arguments[2]);
    }
  }
}
