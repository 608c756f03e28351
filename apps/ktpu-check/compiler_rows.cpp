// SPDX-License-Identifier: Apache-2.0
// Rows of vectors/compiler/misc: dispatch plans, control programs and instruction words, made here by
// compiler/bytes and compared whole.
#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "apps/check_formats/hex.h"
#include "apps/ktpu-check/row_kinds.h"
#include "arch/error.h"
#include "compiler/bytes/control_program.h"
#include "compiler/bytes/dispatch.h"
#include "compiler/bytes/encode.h"
#include "compiler/bytes/inst_format.h"

namespace ktpu::check {

using arch::UserError;
using nlohmann::json;

namespace {

constexpr std::int64_t kMany = 1 << 20;

arch::Coord coord_at(const json& list, std::size_t first) {
  return {static_cast<std::uint8_t>(integer(list.at(first), "x", 0, 15)),
          static_cast<std::uint8_t>(integer(list.at(first + 1), "y", 0, 15))};
}

std::uint32_t count_at(const json& list, std::size_t i) {
  return static_cast<std::uint32_t>(integer(list.at(i), "count", 0, kMany));
}

std::string hex(std::uint64_t value) { return fmt::format("{:x}", value); }
std::string payload(const arch::Flit& flit) { return to_hex(flit.w.data(), arch::kPayloadBits); }

// "(3,)", "(0, 1)".
std::vector<std::int32_t> key_of(const std::string& tuple) {
  std::vector<std::int32_t> key;
  for (const char* at = tuple.data(); at != tuple.data() + tuple.size();) {
    std::int32_t value = 0;
    const auto read = std::from_chars(at, tuple.data() + tuple.size(), value);
    if (read.ec == std::errc{}) key.push_back(value);
    at = read.ptr == at ? at + 1 : read.ptr;
  }
  return key;
}

json step_row(const bytes::RoundStep& step) {
  if (const auto* seed = std::get_if<bytes::Seed>(&step)) return {"seed", seed->credit};
  if (const auto* kick = std::get_if<bytes::Kick>(&step))
    return {"kick", kick->to.x, kick->to.y, kick->base.index(), kick->count};
  const auto& await = std::get<bytes::Await>(step);
  return {"await", await.node.x, await.node.y, await.count};
}

}  // namespace

void check_dispatch_plan(const json& row, Differences& differences) {
  std::vector<arch::Coord> coords;
  for (const json& node : member(row, "nodes")) coords.push_back(coord_at(node, 0));
  std::map<std::vector<std::int32_t>, bytes::Ack> acks;
  for (const auto& [key, ack] : member(row, "acks").items())
    acks.insert({key_of(key), {bytes::Units({coord_at(ack.at(0), 0)})[0], count_at(ack, 1)}});
  std::vector<bytes::Instance> instances;
  for (const json& length : member(row, "lens")) {
    bytes::Instance instance;
    instance.key = {static_cast<std::int32_t>(instances.size())};
    instance.words.resize(static_cast<std::size_t>(integer(length, "lens", 0, kMany)));
    if (const auto ack = acks.find(instance.key); ack != acks.end()) {
      instance.ack = ack->second;
      acks.erase(ack);
    }
    instances.push_back(std::move(instance));
  }
  if (!acks.empty()) throw UserError("acks: names an instance that is not there");
  bytes::Limits limits;
  limits.staging_flits =
      static_cast<std::uint32_t>(integer(member(row, "stage_flits"), "stage_flits", 1, kMany));
  const bytes::Plan plan = bytes::plan_dispatch(std::move(instances), bytes::Units(coords), limits);
  bytes::verify(plan);
  json rounds = json::array();
  for (const bytes::Round& round : plan.rounds) {
    json steps = json::array();
    for (const bytes::RoundStep& step : round.artifact.steps) steps.push_back(step_row(step));
    rounds.push_back(std::move(steps));
  }
  compare_fields(row, {{"rounds", rounds}}, {"lens", "nodes", "stage_flits", "acks"}, {}, differences);
}

void check_block_deal(const json& row, Differences& differences) {
  const auto size = [&](const char* field) {
    return static_cast<std::size_t>(integer(member(row, field), field, 1, kMany));
  };
  const json got = {{"where", bytes::deal_in_blocks(size("instances"), size("units"))}};
  compare_fields(row, got, {"instances", "units"}, {}, differences);
}

void check_control_program(const json& row, Differences& differences) {
  const bytes::Limits limits;
  const bytes::Staging staging(limits.staging_flits);
  bytes::Artifact artifact;
  artifact.words.resize(limits.staging_flits);
  artifact.steps.emplace_back(bytes::Seed{limits.inst_depth});
  std::vector<bytes::Await> awaits;
  for (const json& kick : member(row, "kicks")) {
    const arch::Coord to = coord_at(kick, 0);
    const std::uint32_t count = count_at(kick, 3);
    artifact.steps.emplace_back(bytes::Kick{to, staging.slot(count_at(kick, 2), count), count});
    const auto found =
        std::find_if(awaits.begin(), awaits.end(), [&](const bytes::Await& a) { return a.node == to; });
    if (found == awaits.end())
      awaits.push_back({to, count});
    else
      found->count += count;
  }
  artifact.steps.insert(artifact.steps.end(), awaits.begin(), awaits.end());
  bytes::verify(artifact, limits);
  json commands = json::array();
  for (const arch::Command& c : bytes::control_program(artifact))
    commands.push_back({c.op, hex(c.address), hex(c.data), hex(c.mask)});
  compare_fields(row, {{"cmds", commands}}, {"kicks"}, {}, differences);
}

void check_cluster_inst(const json& row, Differences& differences) {
  const std::string& name = text(member(row, "format"), "format");
  const bytes::InstFormat* format = bytes::cluster_set().find(std::string_view(name));
  if (format == nullptr) throw UserError::make("format \"{}\" is not known", name);
  const json& fields = member(row, "fields");
  std::vector<bytes::InstFormat::Value> values;
  for (const auto& [field, value] : fields.items())
    values.push_back({field, integer(value, field.c_str(), INT64_MIN, INT64_MAX)});
  const arch::Flit word = format->encode(values);
  const bytes::InstFormat* found = bytes::cluster_set().find(word);
  const json got = {{"payload", payload(word)}, {"disasm", found ? found->disassemble(word) : ""}};
  compare_fields(row, got, {"format", "fields"}, {}, differences);

  arch::Flit recorded;
  hex_words(member(row, "payload"), "payload", arch::kPayloadBits, recorded.w.data());
  json decoded = json::object();
  const std::vector<std::uint64_t> got_values = format->decode(recorded);
  for (std::size_t i = 0; i < got_values.size(); ++i)
    if (fields.contains(format->fields()[i].name)) decoded[format->fields()[i].name] = got_values[i];
  compare(fields, decoded, "fields", differences);
}

void check_address40(const json& row, Differences& differences) {
  if (const std::string& call = text(member(row, "call"), "call"); call != "fill")
    throw UserError::make("call \"{}\" is not known", call);
  const std::string& address = text(member(row, "addr"), "addr");
  arch::ClusterInst fill;
  fill.op = static_cast<std::uint32_t>(arch::ClusterOp::kFill);
  // A negative address is one with its upper bits set.
  fill.addr = address.starts_with('-') ? ~hex_value(address.substr(1), "addr", 63) + 1
                                       : hex_value(address, "addr", 63);
  fill.n = static_cast<std::uint32_t>(integer(member(row, "n"), "n", 0, kMany));
  if (row.contains("sel")) fill.sel = static_cast<std::uint32_t>(integer(row["sel"], "sel", 0, kMany));
  json got = json::object();
  try {
    got["payload"] = payload(bytes::encode(fill));
  } catch (const UserError&) {
    got["result"] = "ValueError";  // the class of the reference for what cannot be encoded
  }
  compare_fields(row, got, {"call", "addr", "n", "sel"}, {}, differences);
}

void check_constant(const json& row, Differences& differences) {
  const json& value = member(row, "value");
  if (!value.is_number()) throw UserError("value: not a number");
  compare_fields(row, {{"e8m15", to_hex(bytes::constant_bits(value.get<double>()), 6)}}, {"value"}, {},
                 differences);
}

void check_vector_flit(const json& row, Differences& differences) {
  const auto number = [](const json& list, std::size_t i) {
    return static_cast<std::uint32_t>(integer(list.at(i), "operand", 0, UINT32_MAX));
  };
  arch::VectorInst inst;
  const auto as = [&](arch::VectorOp op) { inst.op = static_cast<std::uint32_t>(op); };
  if (row.contains("imem")) {
    as(arch::VectorOp::kImem);
    inst.addr = number(row["imem"], 0);
    inst.word = number(row["imem"], 1);
  } else if (row.contains("desc")) {
    as(arch::VectorOp::kDesc);
    inst.ad = number(row["desc"], 0);
    inst.fld = number(row["desc"], 1);
    inst.value = hex_value(row["desc"].at(2), "desc", 63);
  } else if (row.contains("desc_base")) {
    as(arch::VectorOp::kDesc);
    inst.ad = number(row["desc_base"], 0);
    inst.value = hex_value(row["desc_base"].at(1), "desc_base", 63);
  } else if (row.contains("run")) {
    as(arch::VectorOp::kRun);
    inst.addr = number(row["run"], 0);
  } else {
    throw UserError("none of imem, desc, desc_base and run");
  }
  const arch::Flit flit = bytes::encode(inst);
  const json got = {{"payload", payload(flit)}, {"flit288", arch::to_hex(flit)}};
  compare_fields(row, got, {"imem", "desc", "desc_base", "run"}, {}, differences);
}

namespace {

arch::VectorWord word_of(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::toupper(c); });
  for (std::size_t op = 0; op < arch::kVectorOpcodes.size(); ++op)
    if (arch::kVectorOpcodes[op].name == name) {
      arch::VectorWord word;
      word.op = static_cast<std::uint32_t>(op);
      return word;
    }
  throw UserError::make("operation \"{}\" is not known", name);
}

// One operand of a described word: letters that say what it is, then a number.
void put_operand(arch::VectorWord& word, std::string_view operand) {
  using O = arch::VectorOpcode;
  const std::size_t digits = std::min(operand.find_last_not_of("0123456789") + 1, operand.size());
  const std::string_view what = operand.substr(0, digits), number = operand.substr(digits);
  std::uint32_t value = 0;
  std::from_chars(number.data(), number.data() + number.size(), value);
  static constexpr std::array<std::string_view, 8> kKinds{"SUM", "MAX",    "MIN", "SUMSQ",
                                                          "DOT", "EXPSUM", "ANY", "ALL"};
  const auto kind = std::find(kKinds.begin(), kKinds.end(), what);
  const O op = word.opcode();
  if (word.opcode() == O::kVred && kind != kKinds.end()) {
    word.kind = static_cast<std::uint32_t>(kind - kKinds.begin());
  } else if (number.empty()) {
    throw UserError::make("operand \"{}\" is not known", operand);
  } else if (what == "ad") {
    word.ad = value;
  } else if (what == "off" || what == "l1off") {
    word.offset = value;
  } else if (what == "body") {
    word.vb = value;
  } else if (what.empty() || (what == "s" && (op == O::kVred || op == O::kVseti))) {
    word.vd = value;
  } else if (what == "s" && (op == O::kVsetvl || op == O::kVloop)) {
    word.va = value;
  } else if (what == "v" && op == O::kVred) {
    word.va = word.vb = value;  // a reduction of one register names it in both places
  } else {
    throw UserError::make("operand \"{}\" is not known", operand);
  }
}

}  // namespace

void check_vector_word(const json& row, Differences& differences) {
  arch::VectorWord word;
  if (row.contains("alu")) {
    word = word_of(text(row["alu"], "alu"));
    for (const auto& [name, value] : member(row, "args").items()) {
      const auto& fields = arch::Layout<arch::VectorWord>::fields;
      const auto field =
          std::find_if(fields.begin(), fields.end(), [&](const auto& b) { return b.field.name == name; });
      if (field == fields.end()) throw UserError::make("operand \"{}\" is not known", name);
      field->write(word, static_cast<std::uint64_t>(integer(value, name.c_str(), 0, UINT32_MAX)));
    }
  } else {
    const std::string& line = text(member(row, "op"), "op");
    const std::size_t space = std::min(line.find(' '), line.size());
    word = word_of(line.substr(0, space));
    using O = arch::VectorOpcode;
    if (word.opcode() == O::kVld || word.opcode() == O::kVst)
      word.dtype = static_cast<std::uint32_t>(arch::VectorType::kFp16);
    for (std::size_t begin = space + 1; begin < line.size();) {
      const std::size_t end = std::min(line.find(',', begin), line.size());
      std::string_view operands = std::string_view(line).substr(begin, end - begin);
      for (std::size_t gap; !operands.empty(); operands.remove_prefix(std::min(gap + 1, operands.size()))) {
        gap = std::min(operands.find(' '), operands.size());
        put_operand(word, operands.substr(0, gap));
      }
      begin = end + 1;
    }
  }
  const json got = {{"word", to_hex(bytes::encode(word), 8)}};
  compare_fields(row, got, {"alu", "args", "op"}, {}, differences);
}

}  // namespace ktpu::check
