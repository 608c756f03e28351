// SPDX-License-Identifier: Apache-2.0
#include "tlm/vector/vector_core.h"

#include <algorithm>

#include "arch/encoding/vector_inst.h"

namespace ktpu::vector {

using sim::Cycle;

namespace {
noc::EndpointParams endpoint(const VectorParams& p) {
  noc::EndpointParams e;
  e.at = p.at;
  e.caps = arch::make_cu_caps(arch::UnitType::kVectorCore, 4, 2, p.inst_depth);  // vector.md section 2.5
  e.inst_depth = p.inst_depth;
  e.recv_depth = p.recv_depth;
  return e;
}
}  // namespace

VectorCore::VectorCore(std::string name, const VectorParams& params, sim::FlitPort links)
    : Unit(std::move(name)), params_(params), base_(endpoint(params), links, *this) {
  base_.report_to(&misuse_);
}

void VectorCore::reset(Cycle start) {
  base_.reset(start);
  entered_ = exec_done_ = false;
  imem_writes_ = desc_writes_ = runs_ = unknown_ = dropped_ = 0;
}

Cycle VectorCore::clock(Cycle now) {
  base_.begin(now, 0);
  // An envelope visible in v enters in v+1 and retires in v+2 (vector.md section 12.6).
  if (exec_done_) {
    base_.exec_done(0, false);
    exec_done_ = false;
  }
  if (entered_) {
    base_.accept_inst();
    execute(now);
    entered_ = false;
    exec_done_ = true;
  } else if (base_.inst_valid()) {
    entered_ = true;
  }
  if (base_.recv_valid()) {  // without kernels nothing was asked for: all of it is dropped
    base_.pop_recv();
    ++dropped_;
  }
  Cycle next = base_.end(now);
  if (entered_ || exec_done_) return now + 1;
  next = std::min(next, base_.recv_from());
  return next == sim::kNever ? next : std::max(next, now + 1);
}

void VectorCore::execute(Cycle now) {
  const auto inst = arch::unpack<arch::VectorInst>(base_.inst());
  switch (static_cast<arch::VectorOp>(inst.op)) {
    case arch::VectorOp::kImem:
      imem_[inst.addr % kWords] = inst.word;
      ++imem_writes_;
      break;
    case arch::VectorOp::kDesc:
      descriptors_[inst.ad % 8][inst.fld % 8] = inst.value;
      ++desc_writes_;
      break;
    case arch::VectorOp::kRun:
      ++runs_;
      misuse_.add(
          {"kernel-unsupported", now,
           fmt::format("vector kernels are not supported by this version: the RUN at word {} did nothing",
                       inst.addr)});
      break;
    default:
      ++unknown_;
  }
}

void VectorCore::visit(sim::Archive& a) {
  a.scope("endpoint", [&] { base_.visit(a); });
  a.state("entered", entered_, 1);
  a.state("exec_done", exec_done_, 1);
  a.memory("imem", imem_.data(), imem_.size());
  a.memory("descriptors", &descriptors_[0][0], 64);
  a.counter("imem_writes", imem_writes_, "instructions", "Instruction words stored.");
  a.counter("desc_writes", desc_writes_, "instructions", "Descriptor fields written.");
  a.counter("runs", runs_, "instructions", "RUN envelopes; none of them ran a kernel.");
  a.counter("unknown_ops", unknown_, "instructions", "Envelopes with an opcode the unit does not know.");
  a.counter("flits_dropped", dropped_, "flits", "Received flits dropped.");
  misuse_.visit(a);
}

std::vector<sim::Wait> VectorCore::waits(Cycle now) const {
  std::vector<sim::Wait> list;
  base_.waits(now, list);
  return list;
}

}  // namespace ktpu::vector
