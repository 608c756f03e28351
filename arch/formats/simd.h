// SPDX-License-Identifier: Apache-2.0
// Whether the vectorised (AVX2) forms of the formats library are used. The results never depend on it.
#pragma once

#include <string_view>

namespace ktpu::arch {

// Allows (default) or forbids the vectorised forms from now on; returns whether they are in use. An
// AccumulateKernel taken earlier stays what it is.
bool set_simd(bool allowed);
// Allowed, and this processor has AVX2.
bool simd_in_use();
// "avx2" or "scalar".
std::string_view simd_name();

namespace detail {
bool cpu_has_avx2();
}

}  // namespace ktpu::arch
