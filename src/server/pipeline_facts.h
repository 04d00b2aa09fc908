// SPDX-License-Identifier: Apache-2.0
//
// The metrics of a request's way through the server, under the names of the stages that Java has for it.
//
// Our stages are others (docs/compatibility.md, "Metrics"): what is measured here is what happens at the same
// point of a write's life. All of it is counted once per batch, and nothing on the way of a read.
#pragma once

#include <vector>

#include "server/word_facts.h"

namespace drover::server {

void append_pipeline_metrics(const FactSources& sources, std::vector<Metric>& metrics);

}  // namespace drover::server
