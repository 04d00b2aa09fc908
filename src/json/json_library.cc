// SPDX-License-Identifier: Apache-2.0
//
// Compiles the code of Boost.JSON once: Debian's Boost headers come without its library.
#include <boost/json/src.hpp>
