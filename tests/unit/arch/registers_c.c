/* SPDX-License-Identifier: Apache-2.0 */
/* The generated header as firmware sees it: C, no C++. */
#include "firmware/ktpu_regs.h"

unsigned ktpu_test_node_status(unsigned x, unsigned y) { return KTPU_AGENT_NODE_STATUS + 8u * (y << 4 | x); }
unsigned ktpu_test_header(unsigned dst_x, unsigned type, unsigned txn) {
  return dst_x << KTPU_HDR_DST_X_LSB | type << KTPU_HDR_TYPE_LSB | txn << KTPU_HDR_TXN_LSB;
}
