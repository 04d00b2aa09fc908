// SPDX-License-Identifier: Apache-2.0
//
// Power loss after every disk operation of a restore, from the received snapshot to the server that serves
// it, with every possible outcome for unsynced data. The next start has the old state or the new one,
// complete. Once the mark is set it has the new one, if that can be loaded.
#include <gtest/gtest.h>

#include "storage/set_aside.h"
#include "storage/testing.h"

namespace drover::storage::testing {
namespace {

constexpr int kTears = 20;
const std::vector<Zxid> kOld = range(4, 1, 9);
const std::vector<Zxid> kNew = range(3, 1, 4);

struct Restoring {
  explicit Restoring(std::uint64_t seed) : store(seed) {
    store.log(range(4, 1, 5));
    EXPECT_TRUE(write_snapshot(store.disk, store.dirs, range(4, 1, 5)));
    store.writer->roll();
    store.log(range(4, 6, 9));
    store.writer.reset();
  }

  // Restores a stored and verified body, as the server does; true: it has answered 200.
  bool take_in() {
    // The body, under a temporary name.
    const auto sent = write_snapshot(store.disk, store.dirs, kNew, {.incoming = true});
    if (!sent) return false;
    const std::string body = temporary_name("restore");
    if (!store.disk.rename(join_path(store.dirs.snapshots, *sent), join_path(store.dirs.snapshots, body)))
      return false;
    return keep_sent_snapshot(store.disk, store.dirs, body, snapshot_name(kNew.back(), Compression::kNone)) &&
           set_replacing_mark(store.disk, store.dirs, Replacing::kTrying);
  }
  // The start of the next life, which may be interrupted as well.
  void begin_to_start() {
    RefusingSink sink(reject_path);
    (void)recover(store.disk, store.dirs, {}, sink);
  }
  std::vector<Zxid> found_at_start() {
    RefusingSink sink(reject_path);
    const auto report = recover(store.disk, store.dirs, {}, sink);
    EXPECT_TRUE(report) << report.error().what;
    if (!report) return {};
    EXPECT_EQ(report->outcome, RecoveryOutcome::kRecovered) << report->damage;
    EXPECT_FALSE(sink.inner.altered);
    return sink.inner.history;
  }

  // reset() would clear a RecordingSink's reject_path.
  class RefusingSink final : public RecoverySink {
   public:
    explicit RefusingSink(std::string path) : path_(std::move(path)) {}
    void reset() override { inner.reset(); }
    bool session(SessionId id, std::int32_t timeout_ms) override { return inner.session(id, timeout_ms); }
    bool acl(std::int64_t key, std::string_view list) override { return inner.acl(key, list); }
    bool node(std::string_view path, const wire::Nullable& data, std::int64_t acl,
              const wire::StatPersisted& stat) override {
      return path != path_ && inner.node(path, data, acl, stat);
    }
    void snapshot_loaded(Zxid zxid, const std::optional<SnapshotDigest>& digest) override {
      inner.snapshot_loaded(zxid, digest);
    }
    bool txn(Zxid zxid, std::string_view bytes) override { return inner.txn(zxid, bytes); }
    RecordingSink inner;

   private:
    const std::string path_;
  };

  Store store;
  std::string reject_path = "\n";
};

void crash_everywhere(const std::string& reject_path) {
  bool through = false;
  for (std::uint64_t operations = 0; !through; ++operations) {
    for (const Survival survival : {Survival::kLose, Survival::kKeep, Survival::kTear}) {
      for (int seed = 0; seed < (survival == Survival::kTear ? kTears : 1); ++seed) {
        SCOPED_TRACE(std::to_string(operations) + " operations, survival " +
                     std::to_string(static_cast<int>(survival)) + ", seed " + std::to_string(seed));
        Restoring r(static_cast<std::uint64_t>(seed) + 1);
        r.reject_path = reject_path;
        r.store.disk.power_off_after(operations);
        const bool answered = r.take_in();
        if (answered) r.begin_to_start();
        through = !r.store.disk.is_off();
        r.store.disk.crash(survival);
        r.store.disk.clear_faults();
        const std::vector<Zxid> found = r.found_at_start();
        const bool loads = reject_path == "\n";
        const bool may_be_old =
            !loads || !answered;  // Otherwise a client was told that the new one is there.
        EXPECT_TRUE((may_be_old && found == kOld) || (loads && found == kNew))
            << found.size() << " transactions";
        r.store.disk.crash(Survival::kLose);
        EXPECT_EQ(r.found_at_start(), found) << "the start after that knows it too";
        EXPECT_EQ(replacing_mark(r.store.disk, r.store.dirs), Replacing::kNo);
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

TEST(RestoreCrash, LeavesTheOldStateOrTheNewOneAtEveryPoint) { crash_everywhere("\n"); }

TEST(RestoreCrash, LeavesTheOldStateAtEveryPointIfTheNewOneIsCorrupt) {
  crash_everywhere("/" + hex(kNew.back()));
}

}  // namespace
}  // namespace drover::storage::testing
