// SPDX-License-Identifier: Apache-2.0
//
// The metrics of a Java server that measure what does not exist here: its caches, thread pools and queues
// between them. They are shown as 0, so that whoever asks for them by name finds a series and not a hole;
// docs/compatibility.md, "Metrics", lists them, and its test compares that list with this one.
#pragma once

#include <vector>

#include "monitor/four_letter_words.h"

namespace drover::server {

void append_uncounted_metrics(std::vector<Metric>& metrics);

}  // namespace drover::server
