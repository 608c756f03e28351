// SPDX-License-Identifier: Apache-2.0
// Between kernel.cpp and the one file compiled for AVX2; nothing else includes it.
#pragma once

#include "arch/formats/kernel.h"

namespace ktpu::arch::detail {

// Sixteen kernels, MW 9..24 in order, or null when this build or this processor has no AVX2.
const AccumulateKernel* avx2_table();

}  // namespace ktpu::arch::detail
