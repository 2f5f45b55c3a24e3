// What nearly every test includes, read once for all of them; no test leans on it. A compiler cache
// must compare these headers byte by byte (CCACHE_DEPEND, tools/setup.sh).
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <thread>
#include <unordered_map>
#include <variant>
#include <vector>

#include <doctest/doctest.h>
#include <pubsub/pubsub.hpp>
