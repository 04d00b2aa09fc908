// SPDX-License-Identifier: Apache-2.0
//
// Metrics of Java internals that do not exist here: its caches, thread pools and the queues between them.
// They are shown as 0, so that a query by name finds a series and not a gap. docs/compatibility.md,
// "Metrics", lists them, and its test compares that list with this one.
#pragma once

#include <vector>

#include "monitor/four_letter_words.h"

namespace drover::server {

void append_uncounted_metrics(std::vector<Metric>& metrics);

}  // namespace drover::server
