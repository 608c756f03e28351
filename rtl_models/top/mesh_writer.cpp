// SPDX-License-Identifier: Apache-2.0
#include "rtl_models/top/mesh_writer.h"

#include <algorithm>
#include <array>

#include "arch/error.h"
#include "rtl_models/top/memory_writer.h"

namespace ktpu::rtl {

namespace {

// Of ktpu_router_pkg::port_e, in the order of topo::Side.
constexpr std::array<const char*, 5> kSides{"North", "East", "South", "West", "Local"};
constexpr unsigned kVectorQuirks = 10;  // V1 to V12 of ktpu_pkg

const char* side_name(topo::Side side) { return kSides[static_cast<unsigned>(side)]; }

topo::Side opposite(topo::Side side) {
  constexpr std::array<topo::Side, 5> other{topo::Side::kSouth, topo::Side::kWest, topo::Side::kNorth,
                                            topo::Side::kEast, topo::Side::kLocal};
  return other[static_cast<unsigned>(side)];
}

arch::Coord neighbour(arch::Coord at, topo::Side side) {
  constexpr std::array<int, 5> dx{0, 1, 0, -1, 0}, dy{-1, 0, 1, 0, 0};
  const auto s = static_cast<unsigned>(side);
  return {static_cast<std::uint8_t>(at.x + dx[s]), static_cast<std::uint8_t>(at.y + dy[s])};
}

// A storage parameter: modules are built for two words or more, the input says how many are used.
std::uint64_t storage(unsigned used) { return std::max(used, 2U); }

std::string depth(unsigned used) { return constant(bits_for(storage(used)), used); }

// The last index of `used` words that storage(used) words address.
std::string last(unsigned used) { return constant(bits_for(storage(used) - 1), used - 1); }

}  // namespace

std::string position(unsigned value) { return constant(4, value); }

MeshWriter::MeshWriter(const topo::Machine& machine, const topo::Mesh& mesh, std::string prefix,
                       TopParts& parts)
    : machine_(machine), mesh_(mesh), prefix_(std::move(prefix)), parts_(parts) {}

std::string MeshWriter::unit(std::string_view kind, arch::Coord at) const {
  return fmt::format("{}{}_{}_{}", prefix_, kind, at.x, at.y);
}

std::string MeshWriter::net(const topo::Router& router, std::string_view what) const {
  return fmt::format("{}_{}", unit("router", router.at), what);
}

LinkNets MeshWriter::into_router(const topo::Node& node) const {
  const std::string router = unit("router", node.router), side = side_name(node.side);
  return {fmt::format("{}_in_data[{}]", router, side), fmt::format("{}_in_valid[{}]", router, side),
          fmt::format("{}_in_busy[{}]", router, side)};
}

LinkNets MeshWriter::out_of_router(const topo::Node& node) const {
  const std::string router = unit("router", node.router), side = side_name(node.side);
  return {fmt::format("{}_out_data[{}]", router, side), fmt::format("{}_out_valid[{}]", router, side),
          fmt::format("{}_out_busy[{}]", router, side)};
}

void MeshWriter::write() {
  Lines& body = parts_.body;
  if (!mesh_.routers.empty()) {
    parts_.blocks.insert("router");
    body.blank();
    body.add("  // --- Routers");
  }
  for (const topo::Router& at : mesh_.routers) router(at);
  body.blank();
  body.add("  // --- Links between routers, and slots where nothing is: a flit sent there is lost");
  for (const topo::Router& at : mesh_.routers) links(at);
  body.blank();
  body.add("  // --- Endpoints");
  for (const topo::Node& node : mesh_.nodes) endpoint(node);
  MemoryWriter(machine_, mesh_, prefix_, parts_, *this).write();
}

void MeshWriter::router(const topo::Router& router) {
  Lines& body = parts_.body;
  body.blank();
  body.add("  localparam place_t {} = '{{x: {}, y: {}, x_lo: {}, x_hi: {}, y_lo: {}, y_hi: {}}};",
           net(router, "place"), position(router.at.x), position(router.at.y), position(mesh_.lo.x),
           position(mesh_.hi.x), position(mesh_.lo.y), position(mesh_.hi.y));
  body.add("  flit_t [NumPorts-1:0] {}, {};", net(router, "in_data"), net(router, "out_data"));
  body.add("  port_mask_t           {}, {}, {}, {};", net(router, "in_valid"), net(router, "in_busy"),
           net(router, "out_valid"), net(router, "out_busy"));
  body.blank();
  Instance instance("ktpu_router", "u_" + unit("router", router.at));
  instance.parameter("MaxFifoDepth", storage(mesh_.router.fifo_depth));
  instance.clocked();
  instance.pin("place_i", net(router, "place"));
  instance.pin("fifo_depth_i", depth(mesh_.router.fifo_depth));
  for (const char* pin :
       {"in_data_i", "in_valid_i", "in_busy_o", "out_data_o", "out_valid_o", "out_busy_i"}) {
    const std::string_view name(pin);
    instance.pin(pin, net(router, name.substr(0, name.size() - 2)));
  }
  body.add(instance);
}

void MeshWriter::links(const topo::Router& router) {
  parts_.body.blank();
  for (unsigned s = 0; s < kSides.size(); ++s) link(router, static_cast<topo::Side>(s));
}

// What comes into `router` by `side`, and the answer to what leaves there.
void MeshWriter::link(const topo::Router& router, topo::Side side) {
  Lines& body = parts_.body;
  const char* here = side_name(side);
  const topo::Router* other =
      side == topo::Side::kLocal ? nullptr : mesh_.router_at(neighbour(router.at, side));
  if (other != nullptr) {
    const char* there = side_name(opposite(side));
    body.add("  assign {}[{}] = {}[{}];", net(router, "in_data"), here, net(*other, "out_data"), there);
    body.add("  assign {}[{}] = {}[{}];", net(router, "in_valid"), here, net(*other, "out_valid"), there);
    body.add("  assign {}[{}] = {}[{}];", net(router, "out_busy"), here, net(*other, "in_busy"), there);
    return;
  }
  const bool taken = std::any_of(mesh_.nodes.begin(), mesh_.nodes.end(), [&](const topo::Node& node) {
    return node.router == router.at && node.side == side;
  });
  if (taken) return;  // wired where the endpoint is
  body.add("  assign {}[{}] = '0;", net(router, "in_data"), here);
  body.add("  assign {}[{}] = 1'b0;", net(router, "in_valid"), here);
  body.add("  assign {}[{}] = 1'b0;", net(router, "out_busy"), here);
  const std::string unused = fmt::format("{}_unused_{}", unit("router", router.at), here);
  body.add("  logic {};", unused);
  body.add("  assign {} = &{{1'b0, {}[{}], {}[{}], {}[{}]}};", unused, net(router, "out_data"), here,
           net(router, "out_valid"), here, net(router, "in_busy"), here);
}

void MeshWriter::endpoint(const topo::Node& node) {
  switch (node.kind()) {
    case topo::Kind::kMatmulCluster:
      return cluster(node);
    case topo::Kind::kVectorCore:
      return vector(node);
    case topo::Kind::kTraffic:
      return traffic(node);
    case topo::Kind::kNull:
      return null(node);
    case topo::Kind::kMemoryPort:  // of the memory agent
      return;
    case topo::Kind::kController:
    case topo::Kind::kPe:
      break;
  }
  KTPU_CHECK(false, "{} has no RTL", topo::node_id(machine_, mesh_, node));
}

void MeshWriter::mesh_pins(Instance& instance, const topo::Node& node) const {
  const LinkNets in = out_of_router(node), out = into_router(node);
  instance.pin("in_data_i", in.data);
  instance.pin("in_valid_i", in.valid);
  instance.pin("in_busy_o", in.busy);
  instance.pin("out_data_o", out.data);
  instance.pin("out_valid_o", out.valid);
  instance.pin("out_busy_i", out.busy);
}

void MeshWriter::place_pins(Instance& instance, const topo::Node& node) const {
  const arch::Coord memory = node.port ? mesh_.ports.at(*node.port) : arch::Coord{};
  instance.pin("x_i", position(node.at.x));
  instance.pin("y_i", position(node.at.y));
  instance.pin("memory_x_i", position(memory.x));
  instance.pin("memory_y_i", position(memory.y));
}

void MeshWriter::cluster(const topo::Node& node) {
  const auto& cluster = *node.get<topo::MatmulCluster>();
  const std::string name = unit("cluster", node.at), unused = name + "_unused";
  parts_.blocks.insert("cluster");
  Lines& body = parts_.body;
  body.blank();
  body.add("  ktpu_cluster_pkg::cluster_events_t {}_events;", unused);
  body.add("  logic {}_full, {}_quiet;", unused, unused);
  body.blank();
  Instance instance("ktpu_cluster", "u_" + name);
  const unsigned entries = std::max(cluster.l1_a, cluster.l1_b);
  instance.parameter("MaxTiles", storage(cluster.tiles));
  instance.parameter("MaxEntries", storage(entries));
  instance.parameter("MaxInstDepth", storage(cluster.inst_depth));
  instance.parameter("MaxRecvDepth", storage(cluster.recv_depth));
  instance.clocked();
  place_pins(instance, node);
  instance.pin("tile_mask_i", last(cluster.tiles));
  instance.pin("a_mask_i", constant(bits_for(storage(entries) - 1), cluster.l1_a - 1));
  instance.pin("b_mask_i", constant(bits_for(storage(entries) - 1), cluster.l1_b - 1));
  instance.pin("inst_depth_i", depth(cluster.inst_depth));
  instance.pin("recv_depth_i", depth(cluster.recv_depth));
  instance.pin("quirk_c1_i", constant(1, node.quirks == topo::Quirks::kReference));
  mesh_pins(instance, node);
  instance.pin("in_full_o", unused + "_full");
  instance.pin("quiet_o", unused + "_quiet");
  instance.pin("events_o", unused + "_events");
  body.add(instance);
}

void MeshWriter::vector(const topo::Node& node) {
  const auto& core = *node.get<topo::VectorCore>();
  const std::string name = unit("vector", node.at), unused = name + "_unused";
  parts_.blocks.insert("vector");
  Lines& body = parts_.body;
  body.blank();
  body.add("  ktpu_vector_pkg::vector_events_t {}_events;", unused);
  body.add("  logic {}_idle;", unused);
  body.blank();
  Instance instance("ktpu_vector", "u_" + name);
  instance.parameter("MaxInstDepth", storage(core.inst_depth));
  instance.parameter("MaxRecvDepth", storage(core.recv_depth));
  instance.clocked();
  place_pins(instance, node);
  instance.pin("inst_depth_i", depth(core.inst_depth));
  instance.pin("recv_depth_i", depth(core.recv_depth));
  instance.pin("l1_last_i", constant(9, core.l1_words - 1));
  const bool quirks = node.quirks == topo::Quirks::kReference;
  instance.pin("quirks_i", constant(kVectorQuirks, quirks ? (1U << kVectorQuirks) - 1 : 0));
  mesh_pins(instance, node);
  instance.pin("events_o", unused + "_events");
  instance.pin("idle_o", unused + "_idle");
  body.add(instance);
}

void MeshWriter::traffic(const topo::Node& node) {
  const std::string name = unit("traffic", node.at);
  const LinkNets in = into_router(node), out = out_of_router(node);
  Ports& ports = parts_.ports;
  ports.comment(fmt::format("{}: what stands there, into the mesh and out of it.",
                            topo::node_id(machine_, mesh_, node)));
  ports.in("flit_t", name + "_data_i");
  ports.in("logic", name + "_valid_i");
  ports.out("logic", name + "_busy_o");
  ports.out("flit_t", name + "_data_o");
  ports.out("logic", name + "_valid_o");
  ports.in("logic", name + "_busy_i");
  Lines& body = parts_.body;
  body.blank();
  body.add("  assign {} = {}_data_i;", in.data, name);
  body.add("  assign {} = {}_valid_i;", in.valid, name);
  body.add("  assign {}_busy_o = {};", name, in.busy);
  body.add("  assign {}_data_o = {};", name, out.data);
  body.add("  assign {}_valid_o = {};", name, out.valid);
  body.add("  assign {} = {}_busy_i;", out.busy, name);
}

void MeshWriter::null(const topo::Node& node) {
  const LinkNets in = into_router(node), out = out_of_router(node);
  const std::string unused = unit("null", node.at) + "_unused";
  Lines& body = parts_.body;
  body.blank();
  body.add("  // {} swallows what comes.", topo::node_id(machine_, mesh_, node));
  body.add("  assign {} = '0;", in.data);
  body.add("  assign {} = 1'b0;", in.valid);
  body.add("  assign {} = 1'b0;", out.busy);
  body.add("  logic {};", unused);
  body.add("  assign {} = &{{1'b0, {}, {}, {}}};", unused, out.data, out.valid, in.busy);
}

}  // namespace ktpu::rtl
