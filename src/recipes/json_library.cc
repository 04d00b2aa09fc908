// SPDX-License-Identifier: Apache-2.0
//
// The code of Boost.JSON, which Debian has without its headers' package only. Nothing else is in this file: a
// program that links several of our libraries takes it from one of them.
#include <boost/json/src.hpp>
