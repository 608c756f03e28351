// SPDX-License-Identifier: Apache-2.0
// Messages for the memory agent and the blocks of the control plane. kLegal: as programs and hosts do it;
// kWild: at random.
#include <random>

#include "apps/ktpu-cosim/stimulus.h"
#include "arch/encoding/address_map.h"
#include "arch/encoding/interlink.h"
#include "arch/encoding/mover.h"
#include "arch/encoding/registers.h"
#include "tests/support/random_agent_load.h"
#include "tests/support/random_bursts.h"
#include "tests/support/random_engine_beat.h"
#include "tests/support/random_memory_requests.h"
#include "tests/support/random_moves.h"
#include "tests/support/random_remote_burst.h"

namespace ktpu::cosim {

namespace {

using orchestrator::BusBeat;
using sim::Random;

BusBeat write_of(std::uint32_t offset, std::uint64_t data) {
  BusBeat beat;
  beat.write = true;
  beat.write_offset = offset;
  beat.data = data;
  return beat;
}
BusBeat read_of(std::uint32_t offset) {
  BusBeat beat;
  beat.read = true;
  beat.read_offset = offset;
  return beat;
}

// Messages of one port until `cycles` are filled: make(messages so far) adds at least one.
template <class Make>
void fill(Stimulus& all, sim::Cycle cycles, Make make) {
  for (sim::Cycle sent = 0; sent < cycles;) {
    const std::size_t before = all.size();
    make();
    for (std::size_t m = before; m < all.size(); ++m) sent += all[m].gap + all[m].size();
  }
}

Message beats_message(unsigned port, sim::Cycle gap, std::vector<BusBeat> beats) {
  Message message;
  message.port = port;
  message.gap = gap;
  message.beats = std::move(beats);
  return message;
}

std::vector<BusBeat> registers_of_a_move(Random& random, std::uint64_t base, bool keep_seed) {
  std::vector<BusBeat> beats;
  // A seed that changes within a word is the one thing that model and RTL may take at different times.
  for (const auto& [offset, data] : test::random_move(random, base))
    if (keep_seed || offset != arch::mover::kSeed) beats.push_back(write_of(offset, data));
  return beats;
}

}  // namespace

Stimulus memory_stimulus(const Block& block, Style style, Random& random, sim::Cycle cycles) {
  const auto& shape = std::get<MemoryShape>(block.shape);
  const bool staged = shape.agent.staging != memory::StagingPlacement::kNone;
  const bool wild = style == Style::kWild;
  // Busy and quiet ports, moves or none, many or few flits for the control agent: so that each of them is
  // alone with the DRAM now and then.
  const bool host_first = random.below(3) == 0;
  const unsigned pace = host_first ? 400 : 1 + random.below(random.below(2) == 0 ? 12 : 120);
  const unsigned chatty = random.below(3);
  Stimulus all;
  for (unsigned p = 0; p < shape.agent.ports.size(); ++p) {
    test::MemoryMessages messages(random, shape.agent.ports[p], staged, shape.agent.mesh_id);
    fill(all, cycles / 4, [&] {
      Message message;
      message.port = p;
      message.lane = 1 + random.below(5);
      message.gap = random.below(2 * pace);
      const arch::Coord source{static_cast<std::uint8_t>(message.lane), static_cast<std::uint8_t>(p + 1)};
      if (random.below(4) < chatty)
        message.flits = {messages.signal(source)};
      else
        message.flits = wild ? messages.any(source) : messages.usual(source);
      all.push_back(std::move(message));
    });
  }
  const unsigned client = block.port("client");
  fill(all, cycles, [&] {
    Message message;
    message.port = client;
    message.gap = random.below(wild ? 60 : 20);
    message.flits.push_back(test::random_agent_flit(random));
    all.push_back(std::move(message));
  });
  const unsigned aux = block.port("aux");
  const std::uint64_t base = 1ull << 39 | std::uint64_t{shape.agent.mesh_id} << 36;
  fill(all, host_first || random.below(3) == 0 ? 1 : cycles, [&] {
    const bool staging = staged && random.below(2) == 0;
    all.push_back(beats_message(aux, random.below(wild ? 40 : 200),
                                registers_of_a_move(random, staging ? base : 0, !wild)));
  });
  const unsigned aw = block.port("window.aw"), ar = block.port("window.ar");
  fill(all, cycles, [&] {
    // Uploads take long.
    const auto is_upload = [](const test::RandomBurst& b) {
      return arch::address::in_aperture(b.address.addr) && b.address.beats % 8 == 0;
    };
    test::RandomBurst burst = test::random_burst(random, staged, shape.agent.mesh_id);
    for (unsigned n = random.below(8); n != 0 && is_upload(burst); --n)
      burst = test::random_burst(random, staged, shape.agent.mesh_id);
    const bool upload = is_upload(burst);
    if (!upload && random.below(4) != 0) burst.address.beats = 1 + random.below(3);
    Message message;
    message.port = burst.write ? aw : ar;
    message.gap = random.below(host_first ? 4 : 30);
    message.burst = {burst.write, burst.address};
    all.push_back(std::move(message));
  });
  return all;
}

// Bursts, words and doorbells from mesh to mesh, requests and moves at home. kWild: bursts that break the
// rules of memory.md section 11.7, of one flit, interleaved, with a flit lost, and with the interlink off at
// times.
Stimulus chain_stimulus(const Block& block, Style style, Random& random, sim::Cycle cycles) {
  namespace il = arch::interlink;
  const auto& meshes = std::get<ChainShape>(block.shape).meshes;
  const bool wild = style == Style::kWild;
  Stimulus all;
  for (unsigned m = 0; m < meshes.size(); ++m) {
    const memory::MemoryAgentConfig& agent = meshes[m].agent;
    const auto other = [&] {
      if (wild && random.below(12) == 0) return random.below(4);
      return meshes[(m + 1 + random.below(static_cast<std::uint32_t>(meshes.size()) - 1)) % meshes.size()]
          .agent.mesh_id;
    };
    for (unsigned p = 0; p < agent.ports.size(); ++p) {
      test::MemoryMessages messages(random, agent.ports[p], false, agent.mesh_id);
      fill(all, cycles / 2, [&] {
        Message message;
        message.port = block.port(fmt::format("m{}.port{}", m, p));
        message.gap = random.below(40);
        // One port sends bursts, so that they are not interleaved (X1).
        if ((p == 0 || wild) && random.below(3) != 0) {
          const arch::Coord source{static_cast<std::uint8_t>(8 + m), static_cast<std::uint8_t>(1 + p)};
          unsigned flits = 2 + random.below(random.below(6) == 0 ? 60 : 14);
          if (flits % 32 == 1) ++flits;  // X2
          if (wild && random.below(4) == 0) flits = 1;
          message.flits = test::random_remote_burst(random, other(), agent.ports[p], source, flits);
          if (wild && flits > 1 && random.below(8) == 0)
            message.flits.erase(message.flits.begin() + random.below(flits));
        } else {
          message.lane = 1 + random.below(3);
          message.flits =
              messages.usual({static_cast<std::uint8_t>(message.lane), static_cast<std::uint8_t>(p + 1)});
        }
        all.push_back(std::move(message));
      });
    }
    fill(all, cycles, [&] {
      Message message;
      message.port = block.port(fmt::format("m{}.port0", m));
      message.lane = 9;
      message.gap = random.below(100);
      message.flits = {test::MemoryMessages(random, agent.ports[0], false, agent.mesh_id).signal({1, 1})};
      all.push_back(std::move(message));
    });
    fill(all, cycles, [&] {
      Message message;
      message.port = block.port(fmt::format("m{}.client", m));
      message.gap = random.below(40);
      message.flits.push_back(test::random_agent_flit(random));
      all.push_back(std::move(message));
    });
    fill(all, cycles, [&] {
      const unsigned far = random.below(3) == 0 ? agent.mesh_id : other();
      std::vector<BusBeat> beats;
      for (const auto& [offset, data] : memory::test::copy_of(
               std::uint64_t{agent.mesh_id} << 36 | random.below(1u << 10) * 32ull,
               std::uint64_t{far} << 36 | random.below(1u << 12) * 32ull, 1 + random.below(30)))
        beats.push_back(write_of(offset, data));
      beats.push_back(write_of(arch::mover::kControl, std::uint64_t{random.below(2)} << 11 | 1ull << 16));
      beats.push_back(write_of(il::kDoorbell, other() | std::uint64_t{random.below(256)} << 8));
      if (random.below(4) == 0) beats.push_back(write_of(il::kControl, 1 | random.below(4) << 1));
      if (random.below(8) == 0) beats.push_back(write_of(0x98 + 8 * random.below(8), random.next()));
      if (wild && random.below(8) == 0) beats.push_back(write_of(il::kControl, random.below(2)));
      if (random.below(12) == 0) beats.push_back(write_of(il::kMeshId, agent.mesh_id));
      all.push_back(beats_message(block.port(fmt::format("m{}.aux", m)), random.below(60), std::move(beats)));
    });
  }
  return all;
}

namespace {

// A dispatch as of orchestrator.md section 9, on one bus.
std::vector<BusBeat> dispatch(Random& random, unsigned slots) {
  namespace reg = arch::agent;
  const unsigned flits = 1 + random.below(std::min(slots, 8u)), base = random.below(slots - flits + 1);
  std::vector<BusBeat> beats;
  for (unsigned s = 0; s < flits; ++s)
    for (unsigned w = 0; w < reg::kWordsPerFlit; ++w)
      beats.push_back(write_of(reg::stage_word(base + s, w), random.next()));
  beats.push_back(write_of(reg::kSigDone, 0));
  beats.push_back(write_of(reg::kProgCred, flits + random.below(3)));
  beats.push_back(write_of(reg::kProgDst, random.below(256)));
  beats.push_back(write_of(reg::kProgBase, base));
  beats.push_back(write_of(reg::kProgLen, flits));
  beats.push_back(write_of(reg::kProgKick, 1));
  for (unsigned n = 4 + random.below(5 * flits); n != 0; --n)
    beats.push_back(read_of(random.below(3) != 0 ? reg::kProgStat : reg::node_status(random.below(256))));
  return beats;
}

// The mailbox: a flit sent, one received.
std::vector<BusBeat> mail(Random& random) {
  namespace reg = arch::agent;
  std::vector<BusBeat> beats{read_of(reg::kTxStatus)};
  for (unsigned w = 0; w < reg::kWordsPerFlit; ++w)
    beats.push_back(write_of(reg::kTxFlit + 8 * w, random.next()));
  beats.push_back(write_of(reg::kTxKick, 1));
  beats.push_back(read_of(reg::kRxStatus));
  for (unsigned w = 0; w < reg::kWordsPerFlit; ++w) beats.push_back(read_of(reg::kRxFlit + 8 * w));
  beats.push_back(write_of(reg::kRxPop, 1));
  return beats;
}

}  // namespace

Stimulus agent_stimulus(const Block& block, Style style, Random& random, sim::Cycle cycles) {
  const auto& params = std::get<orchestrator::ControlAgentParams>(block.shape);
  const bool wild = style == Style::kWild;
  Stimulus all;
  for (const unsigned bus : {0u, 1u})
    fill(all, cycles, [&] {
      std::vector<BusBeat> beats;
      switch (wild ? 0 : 1 + random.below(4)) {
        case 0:
          for (unsigned n = 1 + random.below(6); n != 0; --n)
            beats.push_back(test::random_agent_beat(random));
          break;
        case 1:
        case 2:
          beats = dispatch(random, params.staging_flits);
          break;
        case 3:
          beats = mail(random);
          break;
        default:
          for (const auto& [offset, data] : test::random_move(random, 0))
            beats.push_back(write_of(arch::agent::kAuxCfgMover + offset % 0x100, data));
          beats.push_back(read_of(arch::agent::kAuxStat));
          beats.push_back(read_of(arch::agent::kAuxStatW + 8 * random.below(16)));
      }
      all.push_back(beats_message(bus, random.below(wild ? 8 : 30), std::move(beats)));
    });
  const unsigned mesh = block.port("mesh");
  fill(all, cycles, [&] {
    Message message;
    message.port = mesh;
    message.gap = random.below(10);
    message.flits.push_back(test::random_agent_flit(random));
    all.push_back(std::move(message));
  });
  return all;
}

namespace {

// A program of writes and polls that come true, its start, and a look at it now and then until the end.
std::vector<BusBeat> engine_program(Random& random, unsigned capacity) {
  namespace eng = arch::engine;
  std::vector<BusBeat> beats;
  const unsigned commands = 1 + random.below(std::min(capacity, 12u));
  for (unsigned c = 0; c < commands; ++c) {
    const bool last = c + 1 == commands;
    const auto op = last                   ? eng::CommandOp::kDone
                    : random.below(3) == 0 ? eng::CommandOp::kPoll
                                           : eng::CommandOp::kWrite;
    const std::uint64_t mask = random.below(4);
    beats.push_back(write_of(eng::command_field(c, 0), static_cast<std::uint64_t>(op)));
    beats.push_back(write_of(eng::command_field(c, 1), 0x10000000u + 8 * random.below(1 << 13)));
    beats.push_back(write_of(eng::command_field(c, 2),
                             op == eng::CommandOp::kPoll ? mask & random.next() : random.next()));
    beats.push_back(write_of(eng::command_field(c, 3), mask));
  }
  beats.push_back(write_of(eng::kCtrl, 1));
  for (unsigned n = 8 * commands; n != 0; --n) {
    const std::uint32_t reads[]{eng::kCtrl, eng::kPc, eng::kCode, eng::kPolls};
    beats.push_back(read_of(reads[random.below(4)]));
  }
  return beats;
}

}  // namespace

Stimulus engine_stimulus(const Block& block, Style style, Random& random, sim::Cycle cycles) {
  const unsigned commands = std::get<EngineShape>(block.shape).commands;
  Stimulus all;
  fill(all, cycles, [&] {
    if (style == Style::kLegal) {
      all.push_back(beats_message(0, random.below(40), engine_program(random, commands)));
    } else {
      std::vector<BusBeat> beats;
      for (unsigned n = 1 + random.below(8); n != 0; --n)
        beats.push_back(test::random_engine_beat(random, commands));
      all.push_back(beats_message(0, random.below(6), std::move(beats)));
    }
  });
  return all;
}

Stimulus quantiser_stimulus(const Block&, Style style, Random& random, sim::Cycle cycles) {
  std::mt19937_64 halves(random.next());
  Stimulus all;
  fill(all, cycles, [&] {
    Message message;
    message.gap = random.below(4);
    QuantiserEntry entry;
    entry.b_layout = random.below(2) != 0;
    entry.halves = test::random_entry(halves);
    if (style == Style::kWild && random.below(4) == 0) {
      entry.beats = random.below(9);
      entry.waits = false;
    }
    message.entry = entry;
    all.push_back(std::move(message));
  });
  return all;
}

}  // namespace ktpu::cosim
