// SPDX-License-Identifier: Apache-2.0
//
// ZooKeeper's own client as a load: numbered writes, one after the other, each reported with what its caller
// may believe about it. Takes commands on standard input, so that one JVM serves many ensembles:
//
//   open HOSTS   connects and creates /java and /java/counter; answers "opened"
//   resume       writes 0, 1, 2, …: even numbers create /java/nN, odd ones set /java/counter to N;
//                answers "N ok", or "N unknown" when the connection was lost before the answer
//   pause        answers "paused" when nothing is open
//   close        answers "closed"
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;

public class CountingClient {
  static final int SESSION_MS = 6000;
  static final int PACE_MS = 25;

  final BlockingQueue<String> commands = new LinkedBlockingQueue<>();
  String hosts;
  ZooKeeper client;
  int number;

  public static void main(String[] unused) throws Exception {
    new CountingClient().run();
  }

  void run() throws Exception {
    Thread reader = new Thread(this::read);
    reader.setDaemon(true);
    reader.start();
    boolean writing = false;
    while (true) {
      String command = writing ? commands.poll(PACE_MS, TimeUnit.MILLISECONDS) : commands.take();
      if (command == null) {
        write();
      } else if (command.startsWith("open ")) {
        open(command.substring("open ".length()));
        say("opened");
      } else if (command.equals("resume")) {
        writing = true;
      } else if (command.equals("pause")) {
        writing = false;
        say("paused");
      } else if (command.equals("close")) {
        writing = false;
        client.close(1000);
        say("closed");
      } else {
        return;
      }
    }
  }

  void read() {
    try (BufferedReader input = new BufferedReader(new InputStreamReader(System.in))) {
      for (String line = input.readLine(); line != null; line = input.readLine()) commands.add(line);
    } catch (java.io.IOException gone) {
      // As the end of the input: nobody wants this process any more.
    }
    commands.add("end");
  }

  void open(String where) throws Exception {
    hosts = where;
    number = 0;
    connect();
    createOnce("/java", "");
    createOnce("/java/counter", "-1");
  }

  void connect() throws Exception {
    client = new ZooKeeper(hosts, SESSION_MS, event -> {});
  }

  void createOnce(String path, String data) throws Exception {
    while (true) {
      try {
        client.create(path, data.getBytes(), Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        return;
      } catch (KeeperException.NodeExistsException done) {
        return;
      } catch (KeeperException.ConnectionLossException notYet) {
        Thread.sleep(PACE_MS);
      }
    }
  }

  void write() throws Exception {
    byte[] data = Integer.toString(number).getBytes();
    String outcome = "ok";
    try {
      if (number % 2 == 0) {
        client.create("/java/n" + number, data, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
      } else {
        client.setData("/java/counter", data, -1);
      }
    } catch (KeeperException.ConnectionLossException | KeeperException.SessionMovedException lost) {
      outcome = "unknown";
    } catch (KeeperException.SessionExpiredException expired) {
      outcome = "unknown";
      client.close();
      connect();
    }
    say(number++ + " " + outcome);
  }

  void say(String line) {
    System.out.println(line);
    System.out.flush();
  }
}
