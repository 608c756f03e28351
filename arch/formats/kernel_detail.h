// SPDX-License-Identifier: Apache-2.0
// Between the scalar files and the kernels compiled for AVX2; nothing else includes it.
#pragma once

#include "arch/formats/kernel.h"

namespace ktpu::arch::detail {

// The AVX2 kernel for a legal `mw`; null when this build has none or the width is too wide for 32-bit lanes.
// The caller has checked that the processor has AVX2.
const AccumulateKernel* avx2_kernel(unsigned mw);

// Whether this build has the AVX2 files' real contents.
extern const bool kBuiltForAvx2;

}  // namespace ktpu::arch::detail
