// SPDX-License-Identifier: Apache-2.0
#include "compiler/program/remote_drain.h"

#include "arch/error.h"

namespace ktpu::program {
namespace {

constexpr std::uint32_t kRawTiles = 2;     // buffer of raw accumulators: the receiver adds them
constexpr std::uint32_t kAcknowledge = 1;  // flag of the descriptor

}  // namespace

arch::ClusterInst remote_drain(const arch::ClusterInst& drain, const FarTarget& target) {
  if (!drain.is(arch::ClusterOp::kDrain))
    throw arch::UserError::make("only a DRAIN can go to another mesh; this is operation {}", drain.op);
  if (target.mesh > 3)
    throw arch::UserError::make("mesh {} does not exist: addresses know meshes 0 to 3", target.mesh);
  if (target.cluster.node_byte() == 0)
    throw arch::UserError::make("a drain to node (0,0) of another mesh would go to memory: name a cluster");
  arch::ClusterInst far = drain;
  far.addr = 0;
  far.dnode = 1;
  far.dst_x = target.agent.x;
  far.dst_y = target.agent.y;
  far.dbuf = kRawTiles;
  far.dflags = kAcknowledge;
  far.dack_x = target.agent.x;
  far.dack_y = target.agent.y;
  far.dmesh = target.mesh;
  far.dfin = target.cluster.node_byte();
  return far;
}

}  // namespace ktpu::program
