// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "arch/encoding/registers.h"
#include "arch/flit.h"

extern "C" unsigned ktpu_test_node_status(unsigned x, unsigned y);
extern "C" unsigned ktpu_test_header(unsigned dst_x, unsigned type, unsigned txn);

namespace ktpu::arch {

TEST(CHeader, AgreesWithTheTables) {
  EXPECT_EQ(ktpu_test_node_status(2, 1), agent::node_status(0x12));
  EXPECT_EQ(ktpu_test_header(3, 7, 0xA5), make_header({3, 0}, {}, FlitType::kCuCtrl, 0xA5, false));
}

}  // namespace ktpu::arch
