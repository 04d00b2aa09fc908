// SPDX-License-Identifier: Apache-2.0
#include "sim/recover.h"

#include "replica/state_builder.h"
#include "storage/recovery_sink_adapter.h"

namespace drover::sim {
namespace {

// The history begins where the snapshot ends.
struct Builder {
  using Digest = replica::StateBuilder::Digest;

  replica::StateBuilder& to;
  zab::History& history;

  void reset() {
    to.reset();
    history.begin_at(Zxid{0});
  }
  bool session(SessionId id, std::int32_t timeout_ms) { return to.session(id, timeout_ms); }
  bool acl(std::int64_t key, std::string_view list) { return to.acl(key, list); }
  bool node(std::string_view path, const wire::Nullable& data, std::int64_t acl,
            const wire::StatPersisted& stat) {
    return to.node(path, data, acl, stat);
  }
  void loaded(Zxid zxid, const std::optional<Digest>& digest) {
    to.loaded(zxid, digest);
    history.begin_at(zxid);
  }
  bool txn(Zxid zxid, std::string_view entry) { return to.txn(zxid, entry); }
};

}  // namespace

IoResult<Recovered> recover_state(storage::Disk& disk, const storage::DataDirs& dirs, state::Machine& machine,
                                  const zab::WindowLimits& window,
                                  const std::function<void(std::string_view entry)>& on_known, bool repair) {
  Recovered found;
  found.history = zab::History(window);
  replica::StateBuilder state(machine, [&](Zxid zxid, std::string_view entry) {
    found.history.replay(zxid, entry);
    on_known(entry);
  });
  Builder builder{state, found.history};
  storage::RecoverySinkAdapter<Builder> sink(builder);
  TRY_ASSIGN(found.report, storage::recover(disk, dirs, {.autocreate = true, .repair = repair}, sink));
  state.finish();
  found.contradictions = state.findings();
  found.contradicted = state.is_contradicted();
  found.exact = state.is_exact();
  return found;
}

}  // namespace drover::sim
