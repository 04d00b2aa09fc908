// SPDX-License-Identifier: Apache-2.0
//
// Encodes request bodies, and decodes replies into public types.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/call.h"
#include "drover/op.h"
#include "drover/types.h"
#include "wire/jute.h"
#include "wire/records.h"

namespace drover::client {

// Prepends a chroot such as "/app" to "/a"; "/" becomes the chroot itself.
std::string join_path(std::string_view prefix, std::string_view path);

// The create operation that a mode needs.
wire::OpCode create_op(CreateMode mode);
std::string create_body(std::string_view path, std::string_view data, const CreateOptions& options);
std::string path_body(std::string_view path);
std::string path_watch_body(std::string_view path, bool watch);
std::string path_version_body(std::string_view path, Version version);
std::string path_type_body(std::string_view path, std::int32_t type);
std::string set_body(std::string_view path, std::string_view data, Version version);
std::string set_acl_body(std::string_view path, const std::vector<Acl>& acl, Version version);
std::string reconfig_body(const ConfigChange& change);
std::string multi_body(std::string_view prefix, const std::vector<Op>& ops);
std::string multi_read_body(std::string_view prefix, const std::vector<ReadOp>& ops);

// Decode functions for CallOf. Malformed bytes make the reader fail.
Result<void> decode_nothing(wire::Reader& r, const Call& call);
Result<Created> decode_created(wire::Reader& r, const Call& call);
Result<Stat> decode_stat(wire::Reader& r, const Call& call);
Result<std::optional<Stat>> decode_exists(wire::Reader& r, const Call& call);
Result<NodeData> decode_node(wire::Reader& r, const Call& call);
Result<Children> decode_children(wire::Reader& r, const Call& call);
Result<AclData> decode_acl(wire::Reader& r, const Call& call);
Result<std::vector<OpResult>> decode_multi(wire::Reader& r, const Call& call);
Result<std::vector<Result<ReadResult>>> decode_multi_read(wire::Reader& r, const Call& call);
Result<std::vector<Identity>> decode_identities(wire::Reader& r, const Call& call);
Result<std::vector<std::string>> decode_paths(wire::Reader& r, const Call& call);
Result<std::int64_t> decode_count(wire::Reader& r, const Call& call);

}  // namespace drover::client
