// SPDX-License-Identifier: Apache-2.0
//
// Code that the functions of drover/sasl.h share.
#pragma once

#include <string>

#include "drover/sasl.h"
#include "sasl/mechanisms.h"

namespace drover::login {

// "zookeeper/zk.example.com@EXAMPLE.COM" without its realm. Empty names: it is malformed.
sasl::ServiceName service_of(const std::string& principal);

}  // namespace drover::login
