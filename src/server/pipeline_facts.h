// SPDX-License-Identifier: Apache-2.0
//
// Metrics of a request's path through the server, under the names of Java's stages.
//
// Our stages differ from Java's (docs/compatibility.md, "Metrics"): each metric measures what happens at the
// same point of a write. Everything is counted once per batch, and nothing in the path of a read.
#pragma once

#include <vector>

#include "server/word_facts.h"

namespace drover::server {

void append_pipeline_metrics(const FactSources& sources, std::vector<Metric>& metrics);

}  // namespace drover::server
