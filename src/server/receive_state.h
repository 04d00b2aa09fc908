// SPDX-License-Identifier: Apache-2.0
//
// Joins the format of a leader's state (storage) with what is built from it (replica).
#pragma once

#include <optional>
#include <string_view>

#include "replica/member.h"
#include "replica/state_builder.h"
#include "server/config.h"
#include "storage/recovery_sink_adapter.h"
#include "storage/snapshot_stream.h"

namespace drover::server {

class ReceiveState final : public replica::StateReceiver {
 public:
  explicit ReceiveState(const ServerConfig& config)
      : limits_(storage::stream_limits(static_cast<std::size_t>(config.limits.jute_max_buffer))) {}

  void begin(replica::StateBuilder& builder) override {
    sink_.emplace(builder);
    reader_.emplace(*sink_, limits_);
  }
  std::optional<std::size_t> feed(std::string_view bytes) override {
    const auto taken = reader_->feed(bytes);
    return taken ? std::optional(*taken) : std::nullopt;
  }
  bool done() const override { return reader_ && reader_->done(); }

 private:
  storage::SnapshotLimits limits_;
  std::optional<storage::RecoverySinkAdapter<replica::StateBuilder>> sink_;
  std::optional<storage::SnapshotStreamReader> reader_;
};

}  // namespace drover::server
