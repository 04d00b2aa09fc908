// SPDX-License-Identifier: Apache-2.0
//
// Connects the format of a leader's state (storage) with the builder of the state (replica).
#pragma once

#include <optional>
#include <string_view>

#include "replica/member.h"
#include "replica/state_builder.h"
#include "storage/recovery_sink_adapter.h"
#include "storage/snapshot_stream.h"

namespace drover::host {

class ReceiveState final : public replica::StateReceiver {
 public:
  void begin(replica::StateBuilder& builder) override {
    sink_.emplace(builder);
    reader_.emplace(*sink_);
  }
  std::optional<std::size_t> feed(std::string_view bytes) override {
    const auto taken = reader_->feed(bytes);
    return taken ? std::optional(*taken) : std::nullopt;
  }
  bool done() const override { return reader_ && reader_->done(); }

 private:
  std::optional<storage::RecoverySinkAdapter<replica::StateBuilder>> sink_;
  std::optional<storage::SnapshotStreamReader> reader_;
};

}  // namespace drover::host
