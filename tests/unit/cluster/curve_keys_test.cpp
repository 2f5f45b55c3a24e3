// SPDX-License-Identifier: BSD-3-Clause
#include "support/temporary_folder.hpp"

#include <pubsub/cluster/curve_keys.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

using namespace pubsub;
using namespace pubsub::cluster;

TEST_CASE("keys that were made are for every role, and for this user only") {
  const test::temporary_folder parent;
  const auto folder = parent / "new/keys";
  const auto made = make_curve_keys(folder);
  REQUIRE_MESSAGE(made, made.error().message());
  for (const auto role : {curve_role::client, curve_role::server, curve_role::both}) {
    const auto keys = read_curve_keys(folder, role);
    REQUIRE_MESSAGE(keys, keys.error().message());
    CHECK(check(*keys, role));
    CHECK(keys->client_secret.empty() == (role == curve_role::server));
    CHECK(keys->server_secret.empty() == (role == curve_role::client));
  }
  using std::filesystem::perms;
  CHECK(std::filesystem::status(folder).permissions() == perms::owner_all);
  for (const auto& file : std::filesystem::directory_iterator{folder})
    CHECK(file.status().permissions() == (perms::owner_read | perms::owner_write));
}

TEST_CASE("no key is replaced") {
  const test::temporary_folder folder;
  std::ofstream{folder / "client_secretkey"} << "precious";
  const auto made = make_curve_keys(folder / "");
  REQUIRE_FALSE(made);
  CHECK(made.error().code() == errc::cannot_open_file);
  CHECK(made.error().context().find("client_secretkey is there already") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(folder / "server_secretkey"));
}

TEST_CASE("a list of clients has a key a line, and the line that has none is named") {
  const test::temporary_folder folder;
  const auto file = folder / "clients";
  const std::string key = "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"; // of ZeroMQ's own examples
  std::ofstream{file} << "# sensors\n" << key << "\n\n  " << key << " # the second\n";
  const auto keys = read_client_keys(file);
  REQUIRE_MESSAGE(keys, keys.error().message());
  CHECK(*keys == std::vector<std::string>{key, key});
  std::ofstream{file} << "# none\n" << key.substr(1) << "\n";
  CHECK(read_client_keys(file).error().context().find("line 2: ") != std::string::npos);
  CHECK(read_client_keys(folder / "absent").error().code() == errc::cannot_open_file);
}
