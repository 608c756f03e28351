// SPDX-License-Identifier: Apache-2.0
// Between kernel.cpp and the one file compiled for AVX2; nothing else includes it.
#pragma once

#include "arch/formats/kernel.h"

namespace ktpu::arch::detail {

// The AVX2 kernel for a legal `mw`; null when this build has none or the width is too wide for 32-bit lanes.
// The caller has checked that the processor has AVX2.
const AccumulateKernel* avx2_kernel(unsigned mw);

}  // namespace ktpu::arch::detail
