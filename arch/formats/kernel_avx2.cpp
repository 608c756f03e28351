// SPDX-License-Identifier: Apache-2.0
#include "arch/formats/kernel_detail.h"

namespace ktpu::arch::detail {

const AccumulateKernel* avx2_table() { return nullptr; }

}  // namespace ktpu::arch::detail
