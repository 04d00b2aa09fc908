// SPDX-License-Identifier: Apache-2.0
//
// Reads all metrics of the running server. The tables that declare them stand beside what they count
// (base/metric.h).
#pragma once

#include <vector>

#include "server/word_facts.h"

namespace drover::server {

// `facts` has its gauges already.
std::vector<Metric> collect_metrics(const FactSources& sources, const Facts& facts);

}  // namespace drover::server
