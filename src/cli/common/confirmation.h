// SPDX-License-Identifier: Apache-2.0
//
// Asking the user before something is changed.
#pragma once

namespace drover::cli::observe {

// "Continue? [y/N]". Without a terminal it prints that --yes is needed, and the answer is no.
bool is_confirmed();

}  // namespace drover::cli::observe
