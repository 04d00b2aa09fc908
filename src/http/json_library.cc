// SPDX-License-Identifier: Apache-2.0
//
// Boost.JSON's code, compiled once, here: Debian's Boost headers come without its library.
#include <boost/json/src.hpp>
