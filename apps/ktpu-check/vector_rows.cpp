// SPDX-License-Identifier: Apache-2.0
// vectors/vector/program.jsonl: kernels of a vector core alone.
#include "apps/check_formats/hex.h"
#include "apps/ktpu-check/row_kinds.h"
#include "apps/ktpu-check/vector_rig.h"
#include "arch/error.h"

namespace ktpu::check {

using nlohmann::json;

namespace {

constexpr Cycle kLimit = 2'000'000;
constexpr std::int64_t kDescriptors = 8, kFields = 8, kWords = 512;

std::uint64_t address_of(const json& row, const char* field) {
  return hex_value(member(row, field), field, 40);
}

vector::L1Word word_of(const json& value, const char* field) {
  vector::L1Word word;
  hex_words(value, field, 256, word.data());
  return word;
}

}  // namespace

void check_vector_program(const json& row, Differences& differences) {
  VectorRig rig;
  std::vector<std::uint32_t> imem;
  for (const json& word : member(row, "imem"))
    imem.push_back(static_cast<std::uint32_t>(hex_value(word, "imem", 32)));
  rig.write_imem(0, imem);
  for (const json& entry : member(row, "desc")) {
    if (!entry.is_array() || entry.size() != 3) throw arch::UserError("desc: not a list of three");
    rig.write_descriptor(static_cast<unsigned>(integer(entry[0], "desc", 0, kDescriptors - 1)),
                         static_cast<unsigned>(integer(entry[1], "desc", 0, kFields - 1)),
                         hex_value(entry[2], "desc", 40));
  }
  if (row.contains("mem_base")) {
    std::uint64_t at = address_of(row, "mem_base") / arch::kWordBytes;
    for (const json& word : member(row, "mem")) rig.memory[at++] = word_of(word, "mem");
  }
  const unsigned pc = static_cast<unsigned>(integer(member(row, "pc"), "pc", 0, kWords - 1));
  const VectorRig::Result result = rig.run(pc, kLimit);

  json got = json::object();
  if (result.completed) {
    got["code"] = result.code;
    const bool fault = result.code == static_cast<unsigned>(arch::SignalCode::kFault);
    got[fault ? "fault" : "cycles"] = result.arg;
    // vector.md section 12.6: the completion is on the link 10 + cycles after the RUN was taken.
    constexpr Cycle kOverhead = 10;
    if (!fault && result.signalled != result.accepted + kOverhead + result.arg)
      differences.add("signal", std::to_string(result.accepted + kOverhead + result.arg),
                      std::to_string(result.signalled));
  }
  if (row.contains("out_base")) {
    std::uint64_t at = address_of(row, "out_base") / arch::kWordBytes;
    json words = json::array();
    for (std::size_t i = 0; i < member(row, "out").size(); ++i)
      words.push_back(to_hex(rig.memory[at++].data(), 256));
    got["out"] = words;
  }
  compare_fields(row, got, {"name", "imem", "desc", "mem_base", "mem", "pc", "out_base", "may_touch"}, {},
                 differences);
}

}  // namespace ktpu::check
