// SPDX-License-Identifier: Apache-2.0
// One libFuzzer executable per target; KTPU_FUZZ_TARGET names the function.
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/targets/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string wrong = ktpu::fuzz::KTPU_FUZZ_TARGET({data, size});
  if (!wrong.empty()) {
    std::fprintf(stderr, "%s\n", wrong.c_str());
    std::abort();
  }
  return 0;
}
