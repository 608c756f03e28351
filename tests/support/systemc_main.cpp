// SPDX-License-Identifier: Apache-2.0
// libsystemc brings main(); this is the entry it calls.
#include <gtest/gtest.h>

#include <systemc>  // declares sc_main with C linkage

int sc_main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
