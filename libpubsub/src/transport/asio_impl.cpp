// Asio is compiled once, here, instead of in every file that includes it.
// SPDX-License-Identifier: BSD-3-Clause
#include <boost/asio/impl/src.hpp>
