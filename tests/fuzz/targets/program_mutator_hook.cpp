// SPDX-License-Identifier: Apache-2.0
// Half of the mutants of a program file are made of its meaning, the other half of its bytes: a bit flipped
// in a FlatBuffer rarely gets past the verifier.
#include <algorithm>
#include <cstring>

#include "arch/program/program_file.h"
#include "tests/fuzz/outcome.h"
#include "tests/fuzz/program_mutator.h"
#include "tests/fuzz/random.h"
#include "tests/fuzz/seeds.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  using namespace ktpu;
  fuzz::Random random(seed, 0);
  if (random.one_in(2)) {
    arch::Program program;
    if (fuzz::read_program(arch::rehash({data, data + size}), program).status == arch::ExitStatus::kOk) {
      const arch::Program& other = random.pick(fuzz::programs()).program;
      const auto bytes = fuzz::write_unchecked(fuzz::mutate_program(std::move(program), other, random));
      if (bytes.size() <= max_size) {
        std::memcpy(data, bytes.data(), bytes.size());
        return bytes.size();
      }
      return LLVMFuzzerMutate(data, size, max_size);
    }
  }
  return LLVMFuzzerMutate(data, size, max_size);
}
