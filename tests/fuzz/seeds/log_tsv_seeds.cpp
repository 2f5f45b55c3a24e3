// Inputs that fuzz_log_tsv begins with.
// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/seeds/seeds.hpp"

namespace pubsub::fuzz::log_tsv_seeds {

namespace {

std::vector<std::string> seeds() {
  const std::string header =
      "#separator \\x09\n#set_separator\t,\n#empty_field\t(empty)\n#unset_field\t-\n#path\tconn\n";
  return {
      header +
          "#fields\tts\tuid\tid.orig_h\tid.orig_p\tproto\tduration\tn\ti\tb\tset\tvec\tnet\td\n"
          "#types\ttime\tstring\taddr\tport\tenum\tinterval\tcount\tint\tbool\tset[string]\tvector["
          "count]\tsubnet\tdouble\n"
          "1795196530.397694\tC3\\x09\\\\m\t10.20.0.25\t37021\ttcp\t0.000010\t7\t-7\tT\ta,b\t1,"
          "2\t10.0.0.0/8\t1e5\n"
          "1.5\t-\tfd00::1\t53\tudp\t-1.5\t-\t-\tF\t(empty)\t(empty)\t-\t-\n"
          "1e3\t-\tx\t99999\ticmp\t1e99\tx\tx\tx\t-\t-\tx\tx\n#close\t2026\n",
      header + "#fields\ta\tb\n#types\ttable[addr]\tcolour\n10.0.0.1,::1\tx\nonly one\n",
      header + "#fields\ta\n#types\tstring\tstring\nx\n#types\n",
      "#separator \n#separator |\n#fields|a|p\n#types|func|port\nx|80\n\n#path\n#set_separator|\n",
      "early\n#fields\ta\n#types\tvector[set[count]]\n1\n#open\n# comment\n",
      header + "#fields\ta\ta\n#types\tpattern\tfile\nx\ty\n#fields\tb\n#"
               "types\tinterval\n99999999999999.1234567891\n-\n"};
}

std::vector<std::string> words() {
  return {"#separator ",
          "#fields\t",
          "#types\t",
          "#path\t",
          "#unset_field\t",
          "#empty_field\t",
          "#set_separator\t",
          "\t",
          "\n",
          "\\x09",
          "\\x",
          "\\\\",
          ",",
          "-",
          "(empty)",
          "set[",
          "vector[",
          "table[",
          "]",
          "count",
          "int",
          "double",
          "bool",
          "time",
          "interval",
          "string",
          "addr",
          "subnet",
          "port",
          "enum",
          "1e999",
          "e-5",
          "T",
          "F",
          "tcp",
          "proto"};
}

const target_seeds announced{"log_tsv", seeds, words};

} // namespace

} // namespace pubsub::fuzz::log_tsv_seeds
