// SPDX-License-Identifier: BSD-3-Clause
#include "app.hpp"

int main(int argc, char** argv) {
  return pubsub::tool::run(argc, argv);
}
