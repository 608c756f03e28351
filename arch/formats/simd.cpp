// SPDX-License-Identifier: Apache-2.0
#include "arch/formats/simd.h"

#include <atomic>

#include "arch/formats/kernel_detail.h"

namespace ktpu::arch {
namespace {

std::atomic<bool> simd_allowed{true};

}  // namespace

bool detail::cpu_has_avx2() {
#if defined(__x86_64__)
  static const bool has = __builtin_cpu_supports("avx2");
  return has;
#else
  return false;
#endif
}

bool set_simd(bool allowed) {
  simd_allowed.store(allowed, std::memory_order_relaxed);
  return simd_in_use();
}

bool simd_in_use() {
  return simd_allowed.load(std::memory_order_relaxed) && detail::kBuiltForAvx2 && detail::cpu_has_avx2();
}

std::string_view simd_name() { return simd_in_use() ? "avx2" : "scalar"; }

}  // namespace ktpu::arch
