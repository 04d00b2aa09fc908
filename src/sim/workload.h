// SPDX-License-Identifier: Apache-2.0
//
// A client's requests, drawn from a seed.
//
// Few paths, so that clients conflict; every value is written once in the whole run, so that a reader knows
// its writer; versions that were seen before, so that some are right and some are not.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "wire/records.h"
#include "wire/replies.h"

namespace drover::sim {

struct WorkloadOptions {
  std::uint32_t top_paths = 4;  // /k0, /k1, ...
  std::uint32_t children = 4;   // /k0/c0, ...
  std::uint32_t grandchildren = 2;
  bool ttl_nodes = false;  // the servers have extended types
  std::uint32_t write_percent = 50;
  std::uint32_t watch_percent = 50;    // of the reads that can have one
  std::uint32_t close_in = 400;        // one in so many steps closes the session; 0: none
  std::uint32_t vanish_in = 800;       // one in so many falls silent
  std::uint32_t move_in = 0;           // one in so many takes the session to another server
  std::uint32_t value_bytes_max = 12;  // after the part that makes it unique
  std::uint32_t crowd_percent = 0;     // of the writes: ephemerals that only the session's end deletes
};

struct WorkloadStep {
  enum class Kind : std::uint8_t { kCall, kClose, kVanish, kMove };
  Kind kind = Kind::kCall;
  wire::OpCode op{};
  std::string body;
};

class Workload {
 public:
  // `writer` tells this client's values from those of all others.
  Workload(std::uint64_t seed, std::uint32_t writer, const WorkloadOptions& options);

  // A step may be several calls that belong together (a sync and the read after it): they come one by one.
  WorkloadStep next();
  // It learns versions and the names of sequential nodes from replies.
  void on_reply(wire::OpCode op, std::string_view request, const wire::ReplyHeader& header,
                std::string_view body);

 private:
  WorkloadStep call(wire::OpCode op, std::string body) const {
    return {WorkloadStep::Kind::kCall, op, std::move(body)};
  }
  WorkloadStep write();
  WorkloadStep read();
  WorkloadStep watch_step();
  WorkloadStep create();
  WorkloadStep join_crowd();
  WorkloadStep multi();
  WorkloadStep set_acl();
  std::string create_body(std::string_view path, std::int32_t flags);
  std::string set_body(std::string_view path);
  std::string versioned_body(std::string_view path);

  std::string path();
  std::string deletable();
  std::string value();
  std::int32_t version_of(std::string_view path);
  bool chance(std::uint32_t percent) { return random_.below(100) < percent; }

  Random random_;
  std::uint32_t writer_;
  WorkloadOptions options_;
  std::uint64_t values_ = 0;
  std::vector<WorkloadStep> ready_;  // the rest of a step, last first
  std::map<std::string, std::int32_t, std::less<>> versions_;
  std::vector<std::string> sequential_;  // names to delete later
};

}  // namespace drover::sim
