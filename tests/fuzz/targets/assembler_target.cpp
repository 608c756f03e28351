// SPDX-License-Identifier: Apache-2.0
#include <exception>

#include "arch/error.h"
#include "arch/program/text.h"
#include "tests/fuzz/targets/targets.h"

namespace ktpu::fuzz {

std::string fuzz_assembler(std::span<const std::uint8_t> bytes) {
  arch::Program program;
  try {
    program = arch::assemble({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, "p.kasm");
  } catch (const arch::UserError& error) {
    const std::string text = error.what();
    if (!text.starts_with("p.kasm:")) return "no file:line:column: " + text;
    return {};
  } catch (const std::exception& error) {
    return std::string("an exception that is no UserError: ") + error.what();
  }
  try {
    if (!(arch::assemble(arch::disassemble(program), "p.kasm") == program))
      return "the text form is another program";
  } catch (const std::exception& error) {
    return std::string("the text form is refused: ") + error.what();
  }
  return {};
}

}  // namespace ktpu::fuzz
