// SPDX-License-Identifier: Apache-2.0
// cycles_interlink.jsonl: what crosses the links between meshes, and when.
#include <algorithm>

#include "apps/check_formats/hex.h"
#include "apps/ktpu-check/interlink_rig.h"
#include "apps/ktpu-check/row_kinds.h"
#include "arch/encoding/address_map.h"
#include "arch/encoding/payloads.h"
#include "arch/error.h"

namespace ktpu::check {

using nlohmann::json;
namespace il = arch::interlink;

namespace {

constexpr Cycle kStart = 50;  // any cycle past reset
constexpr Cycle kRouter = 5;  // a flit through the router that the rig leaves out
constexpr Cycle kRunDry = 20'000;
constexpr arch::Coord kFarCluster{2, 1};  // where CU_DATA goes
constexpr std::uint64_t kFarAddress = 0x1000, kMoveFrom = 0x1000, kMoveTo = 0x80000;
constexpr unsigned kMaxFlits = 1024;

unsigned number(const json& row, const char* field, std::int64_t low, std::int64_t high) {
  return static_cast<unsigned>(integer(member(row, field), field, low, high));
}

unsigned far_mesh(const json& row) {
  const unsigned mesh = number(row, "destination_mesh", 0, 3);
  if (mesh == 2)
    throw arch::UserError::make("destination_mesh 2 is not among the meshes 0, 1 and 3 of these rows");
  return mesh;
}
unsigned other_mesh(const json& row) {
  const unsigned mesh = far_mesh(row);
  if (mesh == 0) throw arch::UserError::make("destination_mesh 0 is the sender's own");
  return mesh;
}

json from(Cycle origin, const Cycles& cycles) {
  json list = json::array();
  for (const Cycle c : cycles) list.push_back(static_cast<std::int64_t>(c - origin));
  return list;
}
json from(Cycle origin, const std::vector<FlitEvent>& events) {
  Cycles cycles;
  for (const FlitEvent& e : events) cycles.push_back(e.cycle);
  return from(origin, cycles);
}

// A descriptor and data flits, marked for `mesh`.
std::vector<arch::Flit> burst(bool memory, unsigned mesh, unsigned flits) {
  const auto type = memory ? arch::FlitType::kMemWrReq : arch::FlitType::kCuData;
  const auto data = memory ? arch::FlitType::kMemWrData : arch::FlitType::kCuData;
  const unsigned txn = (memory ? kLinkPort : kFarCluster).node_byte();
  const unsigned mark = arch::kRsvdRemote | mesh;
  std::vector<arch::Flit> list{arch::make_flit(kLinkPort, kLinkSource, type, txn, flits == 1, mark)};
  if (memory) {
    arch::MemReq write;
    write.addr = std::uint64_t{mesh} << arch::address::kMesh.lsb | kFarAddress;
    write.len = flits - 2;
    arch::pack(list[0], write);
  } else {
    arch::CuDataDesc descriptor;
    descriptor.len = flits - 2;
    descriptor.flags = arch::kCuDataSignal;
    descriptor.ack_x = kLinkPort.x;
    descriptor.ack_y = kLinkPort.y;
    arch::pack(list[0], descriptor);
  }
  for (unsigned i = 1; i < flits; ++i) {
    list.push_back(arch::make_flit(kLinkPort, kLinkSource, data, txn, i + 1 == flits, mark));
    list.back().w[0] = i;
  }
  return list;
}

void offer(InterlinkRig& rig, const std::vector<arch::Flit>& flits) {
  for (const arch::Flit& flit : flits) rig.mesh(0).source.offer(kStart, flit);
}

json links_of(InterlinkRig& rig) {
  return {{"link1_of_mesh0", from(kStart, rig.mesh(0).data_beats[1])},
          {"link1_of_mesh1", from(kStart, rig.mesh(1).data_beats[1])}};
}

json run_burst(const json& row) {
  const std::string& payload = text(member(row, "payload"), "payload");
  if (payload != "cu_data" && payload != "mem_wr")
    throw arch::UserError::make("payload \"{}\" is neither cu_data nor mem_wr", payload);
  InterlinkRig rig;
  offer(rig, burst(payload == "mem_wr", other_mesh(row), number(row, "flits", 1, kMaxFlits)));
  rig.run(kRunDry);
  json got = links_of(rig);
  got["accept"] = from(kStart, rig.mesh(0).source.accepted);
  got["injected"] = from(kStart, rig.mesh(other_mesh(row)).sink.taken);
  return got;
}

json run_stream(const json& row) {
  const unsigned flits = number(row, "flits", 2, kMaxFlits), bursts = number(row, "bursts", 1, kMaxFlits);
  InterlinkRig rig;
  for (unsigned b = 0; b < bursts; ++b) offer(rig, burst(false, other_mesh(row), flits));
  rig.run(1'000'000);
  json first = json::array(), last = json::array();
  const auto& accepted = rig.mesh(0).source.accepted;
  const auto& injected = rig.mesh(other_mesh(row)).sink.taken;
  for (std::size_t i = 0; i < accepted.size(); i += flits) first.push_back(accepted[i].cycle - kStart);
  for (std::size_t i = flits - 1; i < injected.size(); i += flits) last.push_back(injected[i].cycle - kStart);
  return {{"first_flit_accepted", first}, {"last_flit_injected", last}};
}

json run_stalled(const json& row) {
  InterlinkRig rig;
  rig.mesh(other_mesh(row)).sink.busy = true;
  const unsigned flits = number(row, "flits", 2, kMaxFlits);
  for (unsigned sent = 0; sent < 4 * il::kCredits + 4 * flits; sent += flits)
    offer(rig, burst(false, other_mesh(row), flits));
  rig.run(kRunDry);
  return {{"accepted_flits", rig.mesh(0).source.accepted.size()}};
}

json run_credit(const json& row) {
  InterlinkRig rig;
  offer(rig, burst(false, other_mesh(row), number(row, "flits", 2, kMaxFlits)));
  rig.run(kRunDry);
  json after = json::array();
  const auto& credit = rig.mesh(0).class0_credit;
  for (std::size_t i = 1; i < credit.size(); ++i)  // the first is the reset value
    after.push_back({credit[i].first - kStart, credit[i].second});
  return {{"credit_packets_on_reverse_link", from(kStart, rig.mesh(1).credit_beats[0])},
          {"class0_credit_after", after}};
}

json run_doorbell(const json& row) {
  InterlinkRig rig;
  rig.write(0, kStart, il::kDoorbell, other_mesh(row));
  rig.run(kRunDry);
  return links_of(rig);
}

// The command registers of a contiguous copy (memory.md sections 10.1 and 13).
void start_copy(InterlinkRig& rig, unsigned words, std::uint64_t source, std::uint64_t destination,
                bool coalesce) {
  constexpr std::uint64_t kOneDimension = 1ull << 44;
  const std::array<std::uint64_t, 2> base{source, destination};
  for (std::uint64_t walker = 0; walker < base.size(); ++walker) {
    rig.write(0, kStart, 0x10, kOneDimension | base[walker] << 4 | walker);
    rig.write(0, kStart, 0x18, std::uint64_t{arch::kWordBytes} << 20 | words << 4 | walker);
    rig.write(0, kStart, 0x20, 0);
  }
  rig.write(0, kStart, 0x00, 1u << 16 | (coalesce ? 8u << 8 : 0u) | 1u << 3);
}

json run_mover_copy(const json& row) {
  InterlinkRig rig;
  const unsigned mesh = far_mesh(row);
  const std::uint64_t to = std::uint64_t{mesh} << arch::address::kMesh.lsb | kMoveTo;
  start_copy(rig, number(row, "words", 1, 4096), kMoveFrom, to, number(row, "coalesce", 0, 1) != 0);
  rig.run(1'000'000);
  const Cycles& reads = rig.mesh(0).read_beats;
  const Cycle origin = reads.empty() ? kStart : reads.front();
  return {{"write_beats_at_destination_dram", from(origin, rig.mesh(mesh).write_beats)},
          {"link1_of_mesh0", from(origin, rig.mesh(0).data_beats[1])},
          {"link1_of_mesh1", from(origin, rig.mesh(1).data_beats[1])}};
}

json run_memory_write(const json& row) {
  InterlinkRig rig;
  auto& far = rig.mesh(other_mesh(row));
  far.sink.back = &far.source;
  far.sink.delay = kRouter;
  offer(rig, burst(true, other_mesh(row), number(row, "words", 1, arch::kMaxWriteLen + 1) + 1));
  rig.run(kRunDry);
  std::vector<FlitEvent> injected, acks;
  for (const FlitEvent& e : far.sink.taken)
    (e.flit.type() == arch::FlitType::kMemWrAck ? acks : injected).push_back(e);
  json got = links_of(rig);
  got["injected"] = from(kStart, injected);
  got["accepted_by_far_port"] = json::array();
  for (const FlitEvent& e : far.source.accepted)
    if (e.flit.type() != arch::FlitType::kMemWrAck) got["accepted_by_far_port"].push_back(e.cycle - kStart);
  got["dram_address"] = from(kStart, far.write_addresses);
  got["dram_beats"] = from(kStart, far.write_beats);
  got["dram_response"] = from(kStart, far.write_responses);
  got["ack"] = from(kStart, acks);
  return got;
}

}  // namespace

void check_cycles_interlink(const json& row, Differences& differences) {
  const std::string& kind = text(member(row, "kind"), "kind");
  constexpr std::pair<const char*, json (*)(const json&)> kKinds[] = {{"burst", run_burst},
                                                                      {"stream", run_stream},
                                                                      {"stalled_receiver", run_stalled},
                                                                      {"credit", run_credit},
                                                                      {"doorbell", run_doorbell},
                                                                      {"mover_copy", run_mover_copy},
                                                                      {"memory_write", run_memory_write}};
  const auto* found =
      std::find_if(std::begin(kKinds), std::end(kKinds), [&](const auto& k) { return kind == k.first; });
  if (found == std::end(kKinds)) throw arch::UserError::make("kind \"{}\" is none of these rows", kind);
  compare_fields(row, found->second(row),
                 {"kind", "payload", "destination_mesh", "flits", "bursts", "words", "coalesce"}, {},
                 differences);
}

}  // namespace ktpu::check
