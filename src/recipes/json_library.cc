// SPDX-License-Identifier: Apache-2.0
//
// The code of Boost.JSON, whose headers can be compiled where they are used. Nothing else is in this file: a
// program that links several of our libraries takes it from one of them.
#include <boost/json/src.hpp>
