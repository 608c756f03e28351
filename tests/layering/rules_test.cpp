// SPDX-License-Identifier: Apache-2.0
// Each rule finds what it is there for, in trees made up for it.
#include "tests/layering/rules.h"

#include <gtest/gtest.h>

namespace ktpu::layering {
namespace {

// Spliced, or the rules would find these in this file.
const std::string kInclude = "#inc" + std::string("lude ");

TEST(LayeringRules, ComponentIsTheFolderOrTheFolderBelowTlmAndCompiler) {
  EXPECT_EQ(component_of("arch/encoding/codes.h"), "arch");
  EXPECT_EQ(component_of("tlm/noc/router.h"), "tlm/noc");
  EXPECT_EQ(component_of("compiler/bytes/units.h"), "compiler/bytes");
  EXPECT_EQ(component_of("tlm/CMakeLists.txt"), "tlm");
  EXPECT_EQ(component_of("README.md"), "");
}

TEST(LayeringRules, ForbiddenEdgesAreFoundWithTheirLine) {
  const SourceTree tree{
      {"arch/a.h", "\n" + kInclude + "\"tlm/sim/unit.h\"\n"},
      {"tlm/noc/router.h", kInclude + "\"tlm/memory/port.h\"\n" + kInclude + "\"tlm/sim/unit.h\"\n"},
      {"tlm/platform/a.h", kInclude + "\"topologies/description.h\"\n" + kInclude +
                               "\"topologies/reader.h\"\n" + kInclude + "\"tlm/noc/router.h\"\n"},
      {"rtl_models/router/r.cpp",
       "  # include \"tlm/noc/router.h\" // x\n" + kInclude + "\"rtl_models/twin.h\"\n"},
      {"apps/main.cpp", kInclude + "\"rtl_models/twin.h\"\n" + kInclude + "\"tlm/platform/a.h\"\n"},
      {"compiler/bytes/b.cpp", kInclude + "\"arch/a.h\"\n" + kInclude + "\"compiler/program/p.h\"\n"},
      {"compiler/schedule/s.h", kInclude + "\"arch/a.h\"\n" + kInclude + "\"topologies/reader.h\"\n"},
      {"gadgets/g.h", kInclude + "\"arch/a.h\"\n"},
  };
  EXPECT_EQ(check_edges(tree),
            (Violations{
                "arch/a.h:2: arch must not see tlm/sim/unit.h",
                "compiler/bytes/b.cpp:2: compiler/bytes must not see compiler/program/p.h",
                "compiler/schedule/s.h:2: compiler/schedule must not see topologies/reader.h",
                "gadgets/g.h:1: 'gadgets' has no line in the table of allowed edges",
                "rtl_models/router/r.cpp:1: rtl_models must not see tlm/noc/router.h",
                "tlm/noc/router.h:1: tlm/noc must not see tlm/memory/port.h",
                "tlm/platform/a.h:2: tlm/platform must not see topologies/reader.h",
            }));
}

TEST(LayeringRules, ForeignHeaders) {
  const SourceTree tree{
      {"tlm/noc/a.cpp", kInclude + "<systemc>\n"},
      {"tlm/sim/a.cpp", kInclude + "<tlm_utils/simple_target_socket.h>\n"},
      {"tlm/platform/a.cpp",
       kInclude + "<systemc>\n" + kInclude + "\"Vrouter.h\"\n" + kInclude + "<vector>\n"},
      {"apps/a.cpp", kInclude + "<yaml-cpp/yaml.h>\n" + kInclude + "<systemc>\n"},
      {"topologies/a.cpp", kInclude + "<yaml-cpp/yaml.h>\n"},
      {"rtl_models/a.cpp",
       kInclude + "<verilated.h>\n" + kInclude + "\"Vrouter.h\"\n" + kInclude + "<systemc>\n"},
  };
  EXPECT_EQ(check_foreign_headers(tree),
            (Violations{
                "apps/a.cpp:1: yaml-cpp/yaml.h is a YAML header, which this folder must not see",
                "rtl_models/a.cpp:3: systemc is a SystemC header, which this folder must not see",
                "tlm/noc/a.cpp:1: systemc is a SystemC header, which this folder must not see",
                "tlm/platform/a.cpp:2: Vrouter.h is a Verilated header, which this folder must not see",
                "tlm/sim/a.cpp:1: tlm_utils/simple_target_socket.h is a SystemC header, which this folder "
                "must not see",
            }));
}

TEST(LayeringRules, IncludePaths) {
  const SourceTree tree{
      {"arch/a.h", ""},
      {"arch/b.h", kInclude + "\"arch/a.h\"\n" + kInclude + "\"a.h\"\n" + kInclude + "\"arch/gone.h\"\n" +
                       kInclude + "\"arch/program/program_generated.h\"\n" + kInclude + "<vector>\n"},
  };
  EXPECT_EQ(check_include_paths(tree),
            (Violations{
                "arch/b.h:2: \"a.h\" is no path from the root of the repository",
                "arch/b.h:3: \"arch/gone.h\" is no path from the root of the repository",
            }));
}

TEST(LayeringRules, CMake) {
  const SourceTree tree{
      {"arch/CMakeLists.txt",
       "ktpu_add_library(arch\n  SOURCES\n    a.cpp sub/b.cpp # old.cpp\n    gone.cpp\n"
       "    \"${CMAKE_CURRENT_SOURCE_DIR}/c.cpp\" \"${generated}/d.cpp\"\n"
       "    ${PROJECT_SOURCE_DIR}/tests/main.cpp ../tests/other.cpp)\nfind_path(X some/header.h)\n"},
      {"arch/a.cpp", ""},
      {"arch/sub/b.cpp", ""},
      {"arch/c.cpp", ""},
      {"arch/old.cpp", ""},
      {"tests/main.cpp", ""},
  };
  EXPECT_EQ(check_cmake(tree), (Violations{
                                   "arch/CMakeLists.txt: names gone.cpp, which does not exist",
                                   "arch/CMakeLists.txt: names ../tests/other.cpp, which does not exist",
                                   "arch/old.cpp: is in no CMake file, so nothing builds it",
                               }));
}

TEST(LayeringRules, LicenceLineAndPragmaOnce) {
  const std::string licence = "// SPDX-License-Identifier: Apache-2.0\n";
  const SourceTree tree{
      {"a/good.h", licence + "#pragma once\n"},
      {"a/late.h", "\n" + licence + "#pragma once\n"},
      {"a/open.h", licence + "int x;\n"},
      {"a/none.cpp", "int x;\n"},
      {"a/CMakeLists.txt", "add()\n"},
      {"a/m.sv", "module m;\n"},
      {"README.md", "text\n"},
  };
  EXPECT_EQ(check_headers(tree), (Violations{
                                     "a/CMakeLists.txt:1: the licence line is missing",
                                     "a/late.h:1: the licence line is missing",
                                     "a/m.sv:1: the licence line is missing",
                                     "a/none.cpp:1: the licence line is missing",
                                     "a/open.h:1: no #pragma once",
                                 }));
}

TEST(LayeringRules, Length) {
  std::string text;
  for (int i = 0; i < 600; ++i) text += "x\n";
  EXPECT_TRUE(check_length({{"a.cpp", text}}, 600).empty());
  EXPECT_EQ(check_length({{"a.cpp", text + "x"}, {"long.md", text + text}}, 600),
            (Violations{"a.cpp: 601 lines, more than 600"}));
}

TEST(LayeringRules, MachinePaths) {
  const std::string machine = std::string("/wo") + "rk/";
  EXPECT_EQ(
      check_no_machine_paths({{"a.md", "x\nsee " + machine + "main\n"}, {"b.md", "../net" + machine + "x"}}),
      (Violations{"a.md:2: holds the path " + machine}));
}

}  // namespace
}  // namespace ktpu::layering
