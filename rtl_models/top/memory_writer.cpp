// SPDX-License-Identifier: Apache-2.0
#include "rtl_models/top/memory_writer.h"

#include <algorithm>
#include <bit>

#include "arch/encoding/interlink.h"
#include "arch/encoding/registers.h"
#include "arch/error.h"

namespace ktpu::rtl {

namespace {

constexpr unsigned kMaxBusBits = 1024;  // of ktpu_memory

}  // namespace

void MemoryWriter::write() {
  if (mesh_.ports.empty()) return;
  bus_bits_ = mesh_.dram.value_or(topo::Dram{}).bus_bits;
  engine_ = mesh_.agent && machine_.host.kind == topo::HostKind::kCommandEngine;
  // Both agents are at memory port 0 and take its setting.
  const topo::Node* first = mesh_.node_at(mesh_.ports.front());
  quirks_ = first == nullptr || first->quirks == topo::Quirks::kReference;
  if (mesh_.agent) host_ports();
  window_ports();
  dram_ports();
  memory();
  if (mesh_.agent) agent();
  if (engine_) engine();
}

bool MemoryWriter::linked(unsigned link) const {
  return std::any_of(machine_.meshes.begin(), machine_.meshes.end(), [&](const topo::Mesh& other) {
    return other.interlink == topo::Presence::kBuilt &&
           arch::interlink::neighbour(mesh_.id, link) == other.id;
  });
}

void MemoryWriter::host_ports() {
  Ports& ports = parts_.ports;
  const auto bus = [&](const std::string& name, unsigned offset_bits, bool strobe) {
    ports.in("logic", net(name + "_write_i"));
    ports.in("logic", net(name + "_read_i"));
    if (strobe) ports.in(logic(8), net(name + "_strobe_i"));
    ports.in(logic(offset_bits), net(name + "_write_offset_i"));
    ports.in(logic(offset_bits), net(name + "_read_offset_i"));
    ports.in(logic(64), net(name + "_write_data_i"));
    ports.out(logic(64), net(name + "_read_data_o"));
  };
  ports.comment(
      "The host's register bus of the control agent: at most one write and one read a cycle, data read in "
      "the next.");
  bus("host", 16, true);
  if (!engine_) return;
  ports.comment("The host's register bus of the command engine.");
  bus("engine", 32, false);
}

void MemoryWriter::window_ports() {
  Ports& ports = parts_.ports;
  ports.comment("The host's memory window: words of 256 bits, a transfer where valid and not busy.");
  for (const char* channel : {"aw", "ar"}) {
    ports.in("logic", net(fmt::format("window_{}_valid_i", channel)));
    ports.in(logic(40), net(fmt::format("window_{}_addr_i", channel)));
    ports.in(logic(9), net(fmt::format("window_{}_beats_i", channel)));
    ports.out("logic", net(fmt::format("window_{}_busy_o", channel)));
  }
  ports.in("logic", net("window_w_valid_i"));
  ports.in(logic(256), net("window_w_data_i"));
  ports.out("logic", net("window_w_busy_o"));
  ports.out("logic", net("window_r_valid_o"));
  ports.out(logic(256), net("window_r_data_o"));
  ports.out("logic", net("window_r_last_o"));
  ports.in("logic", net("window_r_busy_i"));
  ports.out("logic", net("window_b_valid_o"));
  ports.in("logic", net("window_b_busy_i"));
}

void MemoryWriter::dram_ports() {
  Ports& ports = parts_.ports;
  ports.comment(
      fmt::format("The DRAM bus, {} bits: bursts of 1 to 256 beats; a bit of w_lanes a 256-bit lane "
                  "written.",
                  bus_bits_));
  for (const char* channel : {"ar", "aw"}) {
    ports.out("logic", net(fmt::format("dram_{}_valid_o", channel)));
    ports.out(logic(40), net(fmt::format("dram_{}_addr_o", channel)));
    ports.out(logic(9), net(fmt::format("dram_{}_beats_o", channel)));
    ports.out(logic(3), net(fmt::format("dram_{}_id_o", channel)));
    ports.in("logic", net(fmt::format("dram_{}_ready_i", channel)));
  }
  ports.out("logic", net("dram_w_valid_o"));
  ports.out(logic(bus_bits_), net("dram_w_data_o"));
  ports.out(logic(bus_bits_ / 256), net("dram_w_lanes_o"));
  ports.out("logic", net("dram_w_last_o"));
  ports.in("logic", net("dram_w_ready_i"));
  ports.in("logic", net("dram_r_valid_i"));
  ports.in(logic(bus_bits_), net("dram_r_data_i"));
  ports.in(logic(3), net("dram_r_id_i"));
  ports.out("logic", net("dram_r_ready_o"));
  ports.in("logic", net("dram_b_valid_i"));
  ports.in(logic(3), net("dram_b_id_i"));
  ports.out("logic", net("dram_b_ready_o"));
}

// The links of the memory ports as the arrays that ktpu_memory has.
void MemoryWriter::mesh_nets() {
  Lines& body = parts_.body;
  body.add("  flit_t [ktpu_memory_pkg::MaxPorts-1:0] {}, {};", net("memory_in_data"), net("memory_out_data"));
  body.add("  logic  [ktpu_memory_pkg::MaxPorts-1:0] {}, {}, {}, {};", net("memory_in_valid"),
           net("memory_in_busy"), net("memory_out_valid"), net("memory_out_busy"));
  for (unsigned p = 0; p < topo::kMaxPorts; ++p) {
    const auto element = [&](std::string_view what) { return fmt::format("{}[{}]", net(what), p); };
    if (p < mesh_.ports.size()) {
      const topo::Node* node = mesh_.node_at(mesh_.ports[p]);
      KTPU_CHECK(node != nullptr, "memory port {} of mesh {}", p, mesh_.id);
      const LinkNets in = links_.out_of_router(*node), out = links_.into_router(*node);
      body.add("  assign {} = {};", element("memory_in_data"), in.data);
      body.add("  assign {} = {};", element("memory_in_valid"), in.valid);
      body.add("  assign {} = {};", in.busy, element("memory_in_busy"));
      body.add("  assign {} = {};", out.data, element("memory_out_data"));
      body.add("  assign {} = {};", out.valid, element("memory_out_valid"));
      body.add("  assign {} = {};", element("memory_out_busy"), out.busy);
      continue;
    }
    body.add("  assign {} = '0;", element("memory_in_data"));
    body.add("  assign {} = 1'b0;", element("memory_in_valid"));
    body.add("  assign {} = 1'b0;", element("memory_out_busy"));
    body.add("  logic {}_unused_{};", net("memory"), p);
    body.add("  assign {}_unused_{} = &{{1'b0, {}, {}, {}}};", net("memory"), p, element("memory_in_busy"),
             element("memory_out_data"), element("memory_out_valid"));
  }
}

void MemoryWriter::memory() {
  parts_.blocks.insert("memory");
  Lines& body = parts_.body;
  body.blank();
  body.add("  // --- Memory agent");
  body.blank();
  const bool interlink = mesh_.interlink != topo::Presence::kAbsent;
  const bool used = mesh_.interlink == topo::Presence::kBuilt;
  const char* staging = mesh_.staging != topo::Presence::kBuilt                    ? "NoStaging"
                        : mesh_.staging_placement == topo::StagingPlacement::kPort ? "PortStaging"
                                                                                   : "ConvergedStaging";
  unsigned links = 0;
  for (unsigned l = 0; used && l < arch::interlink::kLinks; ++l) links |= unsigned{linked(l)} << l;
  body.add("  localparam ktpu_memory_pkg::config_t {} = '{{", net("memory_config"));
  body.add("    reads: {}, links: {}, interlink_used: {}, interlink: {}, num_ports: {}, lanes_log2: {},",
           constant(7, mesh_.agent ? mesh_.agent->reads_in_flight : 1), constant(2, links), constant(1, used),
           constant(1, interlink), constant(3, mesh_.ports.size()),
           constant(2, static_cast<unsigned>(std::countr_zero(bus_bits_ / 256))));
  body.add("    mesh_id: {}, staging: ktpu_memory_pkg::{}, client: {}, quirks: {}", constant(2, mesh_.id),
           staging, constant(1, mesh_.agent.has_value()), constant(1, quirks_));
  body.add("  }};");
  std::string at;
  for (unsigned p = topo::kMaxPorts; p-- > 0;) {
    const arch::Coord port = p < mesh_.ports.size() ? mesh_.ports[p] : arch::Coord{};
    at += fmt::format("{}{}, {}", at.empty() ? "" : ", ", position(port.x), position(port.y));
  }
  body.add(
      "  localparam ktpu_memory_pkg::coord_t [ktpu_memory_pkg::MaxPorts-1:0] {} = {{{}}};  // x, y; port 0 "
      "last",
      net("memory_at"), at);
  mesh_nets();
  body.add("  flit_t {}, {};", net("agent_in_data"), net("agent_out_data"));
  body.add("  logic {}, {}, {}, {};", net("agent_in_valid"), net("agent_in_ready"), net("agent_out_valid"),
           net("agent_out_taken"));
  body.add("  logic [1:0] {};", net("aux_valid"));
  body.add("  logic [1:0][7:0] {};", net("aux_offset"));
  body.add("  logic [1:0][63:0] {};", net("aux_data"));
  body.add("  logic [15:0] {}, {};", net("memory_reads"), net("memory_writes"));
  body.add("  logic {}, {};", net("mover_busy"), net("memory_unused_resting"));
  body.add("  logic [23:0] {};", net("mover_moves"));
  body.add("  logic [3:0] {};", net("mover_fault"));
  if (bus_bits_ < kMaxBusBits) {
    body.add("  logic [{}:0] {};", kMaxBusBits - 1, net("memory_w_data"));
    body.add("  logic [{}:0] {};", kMaxBusBits / 256 - 1, net("memory_w_lanes"));
    body.add("  logic {};", net("memory_unused_lanes"));
    body.add("  assign {} = {}[{}:0];", net("dram_w_data_o"), net("memory_w_data"), bus_bits_ - 1);
    body.add("  assign {} = {}[{}:0];", net("dram_w_lanes_o"), net("memory_w_lanes"), bus_bits_ / 256 - 1);
    body.add("  assign {} = &{{1'b0, {}[{}:{}], {}[{}:{}]}};", net("memory_unused_lanes"),
             net("memory_w_data"), kMaxBusBits - 1, bus_bits_, net("memory_w_lanes"), kMaxBusBits / 256 - 1,
             bus_bits_ / 256);
  }
  body.add("  logic [1:0][3:0] {};", net("aux_index"));
  body.add("  logic [1:0][63:0] {};", net("aux_status"));
  body.add("  logic [1:0] {}, {};", net("link_out_valid"), net("link_in_valid"));
  body.add("  ktpu_interlink_pkg::beat_t [1:0] {}, {};", net("link_out_data"), net("link_in_data"));
  for (unsigned l = 0; l < arch::interlink::kLinks; ++l) {
    if (used && linked(l)) continue;  // joined to its neighbour's by the top
    body.add("  assign {}[{}] = 1'b0;", net("link_in_valid"), l);
    body.add("  assign {}[{}] = '0;", net("link_in_data"), l);
    body.add("  logic {}_{};", net("link_unused"), l);
    body.add("  assign {}_{} = &{{1'b0, {}[{}], {}[{}]}};", net("link_unused"), l, net("link_out_valid"), l,
             net("link_out_data"), l);
  }
  if (!mesh_.agent) {
    body.add("  // No control agent: what is not the memory's is swallowed.");
    body.add("  assign {} = '0;", net("agent_out_data"));
    for (const char* name : {"agent_in_ready", "agent_out_valid"}) body.add("  assign {} = 1'b0;", net(name));
    for (const char* name : {"aux_valid", "aux_offset", "aux_data", "aux_index"})
      body.add("  assign {} = '0;", net(name));
    body.add("  logic {};", net("memory_unused_client"));
    body.add("  assign {} = &{{1'b0, {}, {}, {}, {}, {}, {}, {}, {}, {}}};", net("memory_unused_client"),
             net("agent_in_data"), net("agent_in_valid"), net("agent_out_taken"), net("memory_reads"),
             net("memory_writes"), net("mover_busy"), net("mover_moves"), net("mover_fault"),
             net("aux_status"));
  }
  body.blank();
  Instance instance("ktpu_memory", "u_" + net("memory"));
  instance.clocked();
  instance.pin("config_i", net("memory_config"));
  instance.pin("at_i", net("memory_at"));
  instance.pin("in_data_i", net("memory_in_data"));
  instance.pin("in_valid_i", net("memory_in_valid"));
  instance.pin("in_busy_o", net("memory_in_busy"));
  instance.pin("out_data_o", net("memory_out_data"));
  instance.pin("out_valid_o", net("memory_out_valid"));
  instance.pin("out_busy_i", net("memory_out_busy"));
  instance.pin("client_valid_o", net("agent_in_valid"));
  instance.pin("client_data_o", net("agent_in_data"));
  instance.pin("client_ready_i", net("agent_in_ready"));
  instance.pin("client_valid_i", net("agent_out_valid"));
  instance.pin("client_data_i", net("agent_out_data"));
  instance.pin("client_taken_o", net("agent_out_taken"));
  for (const char* pin :
       {"window_aw_valid_i", "window_aw_addr_i", "window_aw_beats_i", "window_aw_busy_o", "window_ar_valid_i",
        "window_ar_addr_i", "window_ar_beats_i", "window_ar_busy_o", "window_w_valid_i", "window_w_data_i",
        "window_w_busy_o", "window_r_valid_o", "window_r_data_o", "window_r_last_o", "window_r_busy_i",
        "window_b_valid_o", "window_b_busy_i"})
    instance.pin(pin, net(pin));
  instance.pin("register_valid_i", net("aux_valid"));
  instance.pin("register_offset_i", net("aux_offset"));
  instance.pin("register_data_i", net("aux_data"));
  instance.pin("read_count_o", net("memory_reads"));
  instance.pin("write_count_o", net("memory_writes"));
  instance.pin("mover_busy_o", net("mover_busy"));
  instance.pin("mover_moves_o", net("mover_moves"));
  instance.pin("mover_fault_o", net("mover_fault"));
  instance.pin("status_index_i", net("aux_index"));
  instance.pin("status_o", net("aux_status"));
  instance.pin("resting_o", net("memory_unused_resting"));
  instance.pin("link_valid_o", net("link_out_valid"));
  instance.pin("link_data_o", net("link_out_data"));
  instance.pin("link_valid_i", net("link_in_valid"));
  instance.pin("link_data_i", net("link_in_data"));
  const bool wide = bus_bits_ == kMaxBusBits;
  for (const char* pin : {"ar_valid_o", "ar_addr_o", "ar_beats_o", "ar_id_o", "ar_ready_i", "aw_valid_o",
                          "aw_addr_o", "aw_beats_o", "aw_id_o", "aw_ready_i", "w_valid_o"})
    instance.pin(pin, net(fmt::format("dram_{}", pin)));
  instance.pin("w_data_o", wide ? net("dram_w_data_o") : net("memory_w_data"));
  instance.pin("w_lanes_o", wide ? net("dram_w_lanes_o") : net("memory_w_lanes"));
  for (const char* pin : {"w_last_o", "w_ready_i", "r_valid_i"})
    instance.pin(pin, net(fmt::format("dram_{}", pin)));
  instance.pin("r_data_i", wide
                               ? net("dram_r_data_i")
                               : fmt::format("{{{}'b0, {}}}", kMaxBusBits - bus_bits_, net("dram_r_data_i")));
  for (const char* pin : {"r_id_i", "r_ready_o", "b_valid_i", "b_id_i", "b_ready_o"})
    instance.pin(pin, net(fmt::format("dram_{}", pin)));
  body.add(instance);
}

void MemoryWriter::agent() {
  namespace field = arch::agent::aux_stat;
  parts_.blocks.insert("agent");
  Lines& body = parts_.body;
  body.blank();
  body.add("  // --- Control agent, on register buses 0 (host) and 1 (command engine)");
  body.blank();
  const arch::Coord at = mesh_.ports.front();
  body.add("  localparam ktpu_agent_pkg::agent_config_t {} = '{{", net("agent_config"));
  body.add("    x: {}, y: {}, grid_lo: {}, grid_hi: {}, stage_words: {}, quirk_o1: {}", position(at.x),
           position(at.y), constant(8, topo::kGridLo), constant(8, std::max(mesh_.hi.x, mesh_.hi.y)),
           constant(10, std::uint64_t{mesh_.agent->staging_flits} * arch::agent::kWordsPerFlit),
           constant(1, quirks_));
  body.add("  }};");
  body.add("  logic {}, {}, {};", net("engine_bus_write"), net("engine_bus_read"), net("agent_unused_quiet"));
  body.add("  ktpu_agent_pkg::agent_events_t {};", net("agent_unused_events"));
  body.add("  logic [31:0] {};", net("engine_bus_offset"));
  body.add("  logic [63:0] {}, {}, {};", net("engine_bus_write_data"), net("engine_bus_read_data"),
           net("aux_stat"));
  body.add("  logic [15:0] {};", net("agent_unused_offset"));
  body.add("  assign {} = {}[31:16];", net("agent_unused_offset"), net("engine_bus_offset"));
  body.add("  always_comb begin");
  body.add("    {} = '0;", net("aux_stat"));
  const auto set = [&](const arch::Field& f, const char* value) {
    body.add("    {}[{}:{}] = {};", net("aux_stat"), f.lsb + f.width - 1, f.lsb, net(value));
  };
  set(field::kMoves, "mover_moves");
  set(field::kReads, "memory_reads");
  set(field::kWrites, "memory_writes");
  set(field::kFault, "mover_fault");
  set(field::kBusy, "mover_busy");
  body.add("  end");
  if (!engine_) {
    for (const char* name : {"engine_bus_write", "engine_bus_read"})
      body.add("  assign {} = 1'b0;", net(name));
    for (const char* name : {"engine_bus_offset", "engine_bus_write_data"})
      body.add("  assign {} = '0;", net(name));
    body.add("  logic {};", net("agent_unused_data"));
    body.add("  assign {} = &{{1'b0, {}}};", net("agent_unused_data"), net("engine_bus_read_data"));
  }
  body.blank();
  const auto both = [&](const char* engine, const char* host) {
    return fmt::format("{{{}, {}}}", net(engine), net(host));
  };
  const std::string low = net("engine_bus_offset") + "[15:0]";
  Instance instance("ktpu_agent", "u_" + net("agent"));
  instance.clocked();
  instance.pin("config_i", net("agent_config"));
  instance.pin("write_i", both("engine_bus_write", "host_write_i"));
  instance.pin("read_i", both("engine_bus_read", "host_read_i"));
  instance.pin("strobe_i", fmt::format("{{8'hFF, {}}}", net("host_strobe_i")));
  instance.pin("write_offset_i", fmt::format("{{{}, {}}}", low, net("host_write_offset_i")));
  instance.pin("read_offset_i", fmt::format("{{{}, {}}}", low, net("host_read_offset_i")));
  instance.pin("write_data_i", both("engine_bus_write_data", "host_write_data_i"));
  instance.pin("read_data_o", both("engine_bus_read_data", "host_read_data_o"));
  instance.pin("aux_valid_o", net("aux_valid"));
  instance.pin("aux_offset_o", net("aux_offset"));
  instance.pin("aux_data_o", net("aux_data"));
  instance.pin("aux_index_o", net("aux_index"));
  instance.pin("aux_status_i", net("aux_status"));
  instance.pin("aux_stat_i", net("aux_stat"));
  instance.pin("in_data_i", net("agent_in_data"));
  instance.pin("in_valid_i", net("agent_in_valid"));
  instance.pin("in_ready_o", net("agent_in_ready"));
  instance.pin("out_data_o", net("agent_out_data"));
  instance.pin("out_valid_o", net("agent_out_valid"));
  instance.pin("out_taken_i", net("agent_out_taken"));
  instance.pin("events_o", net("agent_unused_events"));
  instance.pin("quiet_o", net("agent_unused_quiet"));
  body.add(instance);
}

void MemoryWriter::engine() {
  parts_.blocks.insert("command_engine");
  Lines& body = parts_.body;
  body.blank();
  body.add("  // --- Command engine");
  body.blank();
  body.add("  logic {};", net("engine_unused_quiet"));
  body.blank();
  const unsigned commands = mesh_.agent->commands, built = std::max(commands, 2U);
  Instance instance("ktpu_command_engine", "u_" + net("engine"));
  instance.parameter("MaxCommands", built);
  instance.clocked();
  instance.pin("pc_last_i", constant(bits_for(built - 1), commands - 1));
  instance.pin("host_write_i", net("engine_write_i"));
  instance.pin("host_read_i", net("engine_read_i"));
  instance.pin("host_write_offset_i", net("engine_write_offset_i"));
  instance.pin("host_read_offset_i", net("engine_read_offset_i"));
  instance.pin("host_data_i", net("engine_write_data_i"));
  instance.pin("host_data_o", net("engine_read_data_o"));
  instance.pin("bus_write_o", net("engine_bus_write"));
  instance.pin("bus_read_o", net("engine_bus_read"));
  instance.pin("bus_offset_o", net("engine_bus_offset"));
  instance.pin("bus_data_o", net("engine_bus_write_data"));
  instance.pin("bus_data_i", net("engine_bus_read_data"));
  instance.pin("quiet_o", net("engine_unused_quiet"));
  body.add(instance);
}

}  // namespace ktpu::rtl
