// SPDX-License-Identifier: Apache-2.0
// The endpoint staging adapter (fabric.md section 12): one flit register on the way from the endpoint to the
// router, wires in the other direction, and a RAM that serves the endpoint's requests to a window of
// addresses. Whatever it does not serve goes on to the router as it came.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tlm/noc/adapter_window.h"
#include "tlm/noc/endpoint_base.h"
#include "tlm/noc/line_store.h"
#include "tlm/noc/window_reader.h"
#include "tlm/sim/link.h"
#include "tlm/sim/unit.h"

namespace ktpu::noc {

struct AdapterParams {
  arch::Coord at;              // of the endpoint: the source of control replies
  std::uint32_t lines = 8192;  // a power of two
};

class StagingAdapter final : public sim::Unit, public EndpointReports {
 public:
  // Both seen from the adapter's neighbour: `unit.in` goes to the endpoint and `unit.out` comes from it,
  // `router.in` comes from the router and `router.out` goes to it.
  StagingAdapter(std::string name, const AdapterParams& params, sim::FlitPort unit, sim::FlitPort router);

  void reset(sim::Cycle start) override;
  void drive(sim::Cycle now) override;
  sim::Cycle clock(sim::Cycle now) override;

  // Both directions are combinational. First the passage shows what the router offers to the endpoint; when
  // the endpoint has answered, the adapter's own settle() gives both busy wires: the endpoint's to the
  // router, and to the endpoint whether the register is occupied and its flit does not leave in this cycle.
  std::vector<sim::Unit*> parts() const override { return {passage_.get()}; }
  bool parts_settle_apart() const override { return true; }
  bool is_mealy() const override { return true; }
  bool settle(sim::Cycle now) override;
  std::vector<const sim::LinkBase*> settle_reads() const override { return {to_unit_, to_router_}; }
  std::vector<const sim::LinkBase*> settle_writes() const override { return {from_router_, from_unit_}; }

  void visit(sim::Archive& archive) override;
  std::vector<sim::Wait> waits(sim::Cycle now) const override;
  const EndpointMisuseLog& misuse() const override { return misuse_; }
  void set_write_observer(WriteObserver* observer) override { writes_ = observer; }

  // Parts for the wait-for graph: what comes from the endpoint, and what goes to it.
  static constexpr const char* kUp = "up";
  static constexpr const char* kDown = "down";
  const sim::FlitLink& from_unit() const { return *from_unit_; }
  const sim::FlitLink& from_router() const { return *from_router_; }

  const AdapterWindow& window() const { return window_; }
  std::uint64_t served() const { return served_; }
  std::uint64_t forwarded() const { return forwarded_; }

 private:
  // The way down, as far as valid and data go.
  class Passage final : public sim::Unit {
   public:
    explicit Passage(StagingAdapter& adapter) : Unit(adapter.name() + ".passage"), adapter_(adapter) {}
    void reset(sim::Cycle) override {}
    void drive(sim::Cycle) override {}
    sim::Cycle clock(sim::Cycle) override { return sim::kNever; }
    bool is_mealy() const override { return true; }
    bool settle(sim::Cycle) override { return adapter_.pass_down(); }
    std::vector<const sim::LinkBase*> settle_writes() const override { return {adapter_.to_unit_}; }

   private:
    StagingAdapter& adapter_;
  };

  // What becomes of the flit in the register, decided as it comes in.
  enum class Kind : std::uint8_t { kPass, kRead, kWrite, kBeat, kLastBeat };
  enum class Shown : std::uint8_t { kNothing, kFlit, kReply };  // on the router's side

  bool pass_down();
  bool leaves() const;
  void take_up(sim::Cycle now, const arch::Flit& flit, const AdapterWindow& window);
  Kind classify(sim::Cycle now, const arch::Flit& flit, const AdapterWindow& window);
  Kind classify_request(sim::Cycle now, const arch::Flit& flit, const AdapterWindow& window);
  void take_control(sim::Cycle now, const arch::Flit& request);
  std::uint64_t control_word(unsigned index) const;

  AdapterParams params_;
  sim::FlitLink *from_unit_, *to_unit_, *from_router_, *to_router_;
  std::unique_ptr<Passage> passage_;

  // Control registers.
  AdapterWindow window_;
  std::uint64_t served_ = 0, forwarded_ = 0;

  // Up.
  arch::Flit flit_{};
  bool valid_ = false;
  Kind kind_ = Kind::kPass;
  WindowRun run_{};  // of a read in the register; of a beat: its line
  arch::Flit reply_{};
  bool reply_valid_ = false;
  Shown shown_ = Shown::kNothing;
  bool changed_ = false;  // the router's side does not show it yet

  // The open write.
  arch::Flit ack_{};
  std::uint32_t write_line_ = 0, write_left_ = 0;  // of the next beat; beats to come

  // Down.
  LineStore store_;
  WindowReader reader_;
  bool answer_shown_ = false;  // the endpoint's side shows the reader's head
  bool held_ = false;          // it shows the router's flit, which was refused in the cycle before
  bool answers_ = false;       // within one cycle: an own answer is on the endpoint's side

  std::uint64_t answers_sent_ = 0, absorbed_ = 0, controls_ = 0, replies_ = 0, words_written_ = 0;
  EndpointMisuseLog misuse_;
  WriteObserver* writes_ = nullptr;
};

}  // namespace ktpu::noc
