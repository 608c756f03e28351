// SPDX-License-Identifier: Apache-2.0
// Words that mean something to a YAML parser or to the topology reader, in places where they should not
// stand.
#pragma once

#include <string_view>

namespace ktpu::support {

inline constexpr std::string_view kYamlJunk[] = {"-1",
                                                 "1e99",
                                                 ".nan",
                                                 "-.inf",
                                                 "~",
                                                 "null",
                                                 "true",
                                                 "[]",
                                                 "{}",
                                                 "*a",
                                                 "&a ",
                                                 "<<: ",
                                                 "!t ",
                                                 "'",
                                                 "\"",
                                                 "\t",
                                                 "\n",
                                                 "- ",
                                                 ": ",
                                                 ", ",
                                                 "#",
                                                 "x",
                                                 ".",
                                                 "mat",
                                                 "0x",
                                                 "kind",
                                                 "|",
                                                 ">",
                                                 "%",
                                                 "@",
                                                 "\xff",
                                                 "\x01",
                                                 "? ",
                                                 "---\n",
                                                 "...\n",
                                                 "0x1p3",
                                                 "1_000",
                                                 "+5",
                                                 "007",
                                                 "1.5",
                                                 "1e3",
                                                 "\xC2\x85",
                                                 "impl",
                                                 "include: topology.yaml\n",
                                                 "\r",
                                                 "\xEF\xBB\xBF",
                                                 "cluster@1,1",
                                                 "router@1,1",
                                                 "{a: &x [*x]}",
                                                 "mem",
                                                 "controller",
                                                 "pe"};

}  // namespace ktpu::support
