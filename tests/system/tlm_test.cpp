// SPDX-License-Identifier: Apache-2.0
// The TLM-2.0 edges with modules a user would write: a memory behind the DRAM socket and a host on the host
// bus. One elaboration a process: run these through ctest, or one at a time.
#include <gmock/gmock.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstring>
#include <map>

#include "arch/encoding/registers.h"
#include "tests/system/run.h"
#include "tlm/platform/simulation.h"

namespace ktpu::test {
namespace {

using testing::HasSubstr;

// A loosely timed memory with a fixed delay, as in any TLM-2.0 tutorial.
class TutorialMemory final : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<TutorialMemory, 64> socket{"socket"};
  TutorialMemory(const sc_core::sc_module_name& name, const sc_core::sc_time& delay)
      : sc_module(name), delay_(delay) {
    socket.register_b_transport(this, &TutorialMemory::b_transport);
  }
  std::map<std::uint64_t, std::uint8_t> bytes;
  unsigned reads = 0, writes = 0, masked = 0;
  std::uint64_t refuse_from = ~0ull;  // addresses that answer with an error

  void fill(std::uint64_t address, const std::vector<std::uint8_t>& data) {
    for (std::size_t i = 0; i < data.size(); ++i) bytes[address + i] = data[i];
  }
  std::vector<std::uint8_t> copy(std::uint64_t address, std::size_t size) {
    std::vector<std::uint8_t> out;
    for (std::size_t i = 0; i < size; ++i) out.push_back(bytes[address + i]);
    return out;
  }

 private:
  void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) {
    if (p.get_address() >= refuse_from) {
      p.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
      return;
    }
    ++(p.is_read() ? reads : writes);
    const unsigned char* enables = p.get_byte_enable_ptr();
    masked += enables != nullptr;
    for (unsigned i = 0; i < p.get_data_length(); ++i) {
      if (p.is_read()) {
        p.get_data_ptr()[i] = bytes[p.get_address() + i];
      } else if (enables == nullptr || enables[i % p.get_byte_enable_length()] == TLM_BYTE_ENABLED) {
        bytes[p.get_address() + i] = p.get_data_ptr()[i];
      }
    }
    delay += delay_;
    p.set_response_status(tlm::TLM_OK_RESPONSE);
  }
  sc_core::sc_time delay_;
};

// mesh1 with the worked example in it and the tutorial's memory as its DRAM.
struct ForeignMemory {
  explicit ForeignMemory(const sc_core::sc_time& delay, const topo::Overrides& sets = {})
      : memory("memory", delay) {
    platform::register_models(models);
    system = std::make_unique<platform::System>(
        topo::read_file(e.machine, sets), models, [this](const topo::Mesh& mesh, memory::SparseMemory&) {
          auto device = std::make_unique<platform::TlmDram>("dram", mesh.dram->bus_bits);
          device->socket.bind(memory.socket);
          dram = device.get();
          return device;
        });
    memory.fill(e.a, plain::to_entries(operand_a(e), e.m, e.k, e.a_groups, e.blocks));
    memory.fill(e.b, plain::to_entries(operand_b(e), e.n, e.k, e.b_groups, e.blocks));
    runner = std::make_unique<platform::Runner>(*system, &program, platform::RunLimits{500'000, 50'000});
    simulation = std::make_unique<platform::Simulation>("ktpu", *system, *runner);
    simulation->add(*dram);
  }
  const Example& e = example("matmul_32x32x128");
  const arch::Program program = example_program("matmul_32x32x128");
  platform::Registry models;
  TutorialMemory memory;
  platform::TlmDram* dram = nullptr;
  std::unique_ptr<platform::System> system;
  std::unique_ptr<platform::Runner> runner;
  std::unique_ptr<platform::Simulation> simulation;
};

void expect_right_result(ForeignMemory& m) {
  sc_core::sc_start();
  if (m.simulation->failure()) std::rethrow_exception(m.simulation->failure());
  EXPECT_EQ(m.runner->result().status, arch::ExitStatus::kOk) << m.runner->result().message;
  EXPECT_EQ(plain::from_tiles(m.memory.copy(m.e.c, 2048), 1, 1, 8, 8), expected(m.e));
  EXPECT_EQ(m.memory.reads, 64u);
  EXPECT_EQ(m.memory.writes, 8u);
}

TEST(Tlm, AForeignMemoryRunsTheWorkedExample) {
  ForeignMemory m(sc_core::sc_time(20, sc_core::SC_NS));
  expect_right_result(m);
}

TEST(Tlm, AForeignMemoryWithoutDelay) {
  ForeignMemory m(sc_core::SC_ZERO_TIME);
  expect_right_result(m);
}

TEST(Tlm, ItsDelayCounts) {  // 64 reads one after the other, 300 cycles each
  ForeignMemory m(sc_core::sc_time(1, sc_core::SC_US));
  expect_right_result(m);
  EXPECT_GT(m.runner->result().machine_cycles().value(), 64u * 300);
  EXPECT_LT(m.runner->result().machine_cycles().value(), 64u * 330 + 8 * 330 + 3000);
}

TEST(Tlm, AWiderBusMasksTheBytesItDoesNotWrite) {
  ForeignMemory m(sc_core::sc_time(20, sc_core::SC_NS), {"meshes.0.dram.bus_bits=512"});
  expect_right_result(m);
}

TEST(Tlm, AnErrorResponseIsAUnitFaultWithItsAddress) {
  ForeignMemory m(sc_core::sc_time(20, sc_core::SC_NS));
  m.memory.refuse_from = 0x4000;  // the results
  sc_core::sc_start();
  EXPECT_EQ(m.runner->result().status, arch::ExitStatus::kUnitFault);
  EXPECT_THAT(m.runner->result().message, HasSubstr("TLM_ADDRESS_ERROR_RESPONSE"));
}

// The same run with SystemC around it and without.
TEST(Tlm, SystemCChangesNoCycle) {
  const Example& e = example("matmul_ksplit");
  ExampleRun plain_run(e);
  const platform::RunResult want = plain_run.finish();
  platform::Registry models;
  platform::register_models(models);
  platform::System system(topo::read_file(e.machine), models);
  const arch::Program program = example_program(e.name);
  platform::Runner runner(system, &program, {5'000'000, 100'000});
  platform::Simulation simulation("ktpu", system, runner);
  sc_core::sc_start();
  const platform::RunResult& got = runner.result();
  EXPECT_EQ(got.status, want.status);
  EXPECT_EQ(got.cycles, want.cycles);
  EXPECT_EQ(got.host_end, want.host_end);
  EXPECT_EQ(got.first_kick, want.first_kick);
  EXPECT_EQ(got.last_write_beat, want.last_write_beat);
  EXPECT_EQ(got.last_completion, want.last_completion);
}

// --- The host bus

class TutorialHost final : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<TutorialHost, 64> socket{"socket"};
  tlm_utils::simple_initiator_socket_optional<TutorialHost, 256> memory{"memory"};
  SC_HAS_PROCESS(TutorialHost);
  explicit TutorialHost(const sc_core::sc_module_name& name) : sc_module(name) { SC_THREAD(main); }
  std::function<void(TutorialHost&)> program;
  unsigned accesses = 0;
  tlm::tlm_response_status last = tlm::TLM_INCOMPLETE_RESPONSE;

  std::uint64_t access(tlm::tlm_command command, std::uint64_t address, std::uint64_t data,
                       unsigned size = 8) {
    tlm::tlm_generic_payload p;
    p.set_command(command);
    p.set_address(address);
    p.set_data_ptr(reinterpret_cast<unsigned char*>(&data));
    p.set_data_length(size);
    p.set_streaming_width(size);
    p.set_byte_enable_ptr(nullptr);
    p.set_dmi_allowed(false);
    p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    socket->b_transport(p, delay);
    wait(delay);
    last = p.get_response_status();
    ++accesses;
    return data;
  }
  void write(std::uint64_t address, std::uint64_t data) { access(tlm::TLM_WRITE_COMMAND, address, data); }
  std::uint64_t read(std::uint64_t address) { return access(tlm::TLM_READ_COMMAND, address, 0); }
  // Bytes through the memory window.
  tlm::tlm_response_status move(tlm::tlm_command command, std::uint64_t address,
                                std::vector<std::uint8_t>& bytes) {
    tlm::tlm_generic_payload p;
    fill(p, command, address, bytes);
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    memory->b_transport(p, delay);
    wait(delay);
    return p.get_response_status();
  }
  std::size_t debug(tlm::tlm_command command, std::uint64_t address, std::vector<std::uint8_t>& bytes) {
    tlm::tlm_generic_payload p;
    fill(p, command, address, bytes);
    return memory->transport_dbg(p);
  }
  std::uint64_t peek(std::uint64_t address) {
    std::uint64_t data = 0;
    tlm::tlm_generic_payload p;
    p.set_command(tlm::TLM_READ_COMMAND);
    p.set_address(address);
    p.set_data_ptr(reinterpret_cast<unsigned char*>(&data));
    p.set_data_length(8);
    EXPECT_EQ(socket->transport_dbg(p), 8u);
    return data;
  }

 private:
  static void fill(tlm::tlm_generic_payload& p, tlm::tlm_command command, std::uint64_t address,
                   std::vector<std::uint8_t>& bytes) {
    p.set_command(command);
    p.set_address(address);
    p.set_data_ptr(bytes.data());
    p.set_data_length(static_cast<unsigned>(bytes.size()));
    p.set_streaming_width(static_cast<unsigned>(bytes.size()));
    p.set_byte_enable_ptr(nullptr);
    p.set_dmi_allowed(false);
    p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  }
  void main() { program(*this); }
};

struct ForeignHost {
  explicit ForeignHost(const topo::Overrides& sets, const arch::Program* program = nullptr) : host("host") {
    platform::register_models(models);
    system = std::make_unique<platform::System>(topo::read_file("mesh1", sets), models);
    platform::write_memory(system->mesh(), e.a,
                           plain::to_entries(operand_a(e), e.m, e.k, e.a_groups, e.blocks));
    platform::write_memory(system->mesh(), e.b,
                           plain::to_entries(operand_b(e), e.n, e.k, e.b_groups, e.blocks));
    runner = std::make_unique<platform::Runner>(*system, program, platform::RunLimits{500'000, 50'000});
    simulation = std::make_unique<platform::Simulation>("ktpu", *system, *runner);
    host.socket.bind(simulation->host_socket);
  }
  void run() {
    sc_core::sc_start();
    if (simulation->failure()) std::rethrow_exception(simulation->failure());
  }
  const Example& e = example("matmul_32x32x128");
  platform::Registry models;
  TutorialHost host;
  std::unique_ptr<platform::System> system;
  std::unique_ptr<platform::Runner> runner;
  std::unique_ptr<platform::Simulation> simulation;
};

TEST(Tlm, AForeignHostRunsTheWorkedExample) {
  namespace reg = arch::agent;
  ForeignHost m({"host.kind=external"});
  const arch::Program program = example_program("matmul_32x32x128");
  m.host.program = [&](TutorialHost& h) {
    EXPECT_EQ(h.read(reg::kCaps) & 0xFFFF, 0x120u);
    const sc_core::sc_time start = sc_core::sc_time_stamp();
    const auto& stage = std::get<arch::StepStage>(program.steps.at(0).action);
    for (unsigned s = 0; s < stage.flits.size(); ++s)
      for (unsigned w = 0; w < 5; ++w) h.write(reg::stage_word(s, w), stage.flits[s].w[w]);
    const double cycles = (sc_core::sc_time_stamp() - start) / m.simulation->period();
    EXPECT_NEAR(cycles, 3.0 * 20, 3) << "three cycles an access";
    h.write(reg::kSigDone, 0);
    h.write(reg::kProgCred, 32);
    while ((h.read(reg::kProgStat) & 1) != 0) {
    }
    h.write(reg::kProgDst, 0x11);
    h.write(reg::kProgBase, 0);
    h.write(reg::kProgLen, 4);
    h.write(reg::kProgKick, 1);
    while ((h.read(reg::kSigDone) & 0xFFFF) != 4) wait(sc_core::sc_time(500, sc_core::SC_NS));
    EXPECT_EQ(h.last, tlm::TLM_OK_RESPONSE);
    const unsigned accesses = h.accesses;
    EXPECT_EQ(h.peek(reg::node_status(0x11)), 0x0100000040000401u);
    EXPECT_EQ(h.peek(reg::kProgStat), 0x3E0002u);
    EXPECT_EQ(h.accesses, accesses);
    h.access(tlm::TLM_WRITE_COMMAND, reg::kCtrl + 4, 1);  // not aligned
    EXPECT_EQ(h.last, tlm::TLM_BURST_ERROR_RESPONSE);
    h.access(tlm::TLM_WRITE_COMMAND, reg::kCtrl, 1, 4);  // not a register's width
    EXPECT_EQ(h.last, tlm::TLM_BURST_ERROR_RESPONSE);
    m.simulation->close_host();
  };
  m.run();
  EXPECT_EQ(m.runner->result().status, arch::ExitStatus::kOk) << m.runner->result().message;
  EXPECT_EQ(plain::from_tiles(platform::read_memory(m.system->mesh(), m.e.c, 2048), 1, 1, 8, 8),
            expected(m.e));
}

// An access lands in the cycle of its time, wherever the machine fell asleep, and takes three.
TEST(Tlm, AccessesHappenInTheCyclesOfTheirTime) {
  namespace reg = arch::agent;
  ForeignHost m({"host.kind=external"});
  m.host.program = [&](TutorialHost& h) {
    const sc_core::sc_time period = m.simulation->period();
    h.read(reg::kCtrl);
    for (const unsigned pause : {1u, 10u, 1000u, 20000u, 3u}) {
      const sc_core::sc_time start = sc_core::sc_time_stamp();
      wait(period * pause);
      h.write(reg::kCtrl, pause);
      EXPECT_EQ((sc_core::sc_time_stamp() - start) / period, pause + 3.0);
      EXPECT_EQ(h.peek(reg::kCtrl), pause);
      EXPECT_EQ(h.read(reg::kCtrl), pause);
      EXPECT_EQ((sc_core::sc_time_stamp() - start) / period, pause + 6.0);
    }
    m.simulation->close_host();
  };
  m.run();
  EXPECT_EQ(m.runner->result().status, arch::ExitStatus::kOk) << m.runner->result().message;
  EXPECT_LT(m.runner->result().cycles, 21'200u);
}

// memory.md section 8: the memory window as a socket of its own; (mesh+1) << 40 names a mesh (section 3).
TEST(Tlm, AForeignHostReachesTheMemoryWindow) {
  ForeignHost m({"host.kind=external", "meshes.0.staging=built"});
  m.host.memory.bind(m.simulation->memory_socket);
  std::vector<std::uint8_t> bytes(8192);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * 7 + i / 256);
  m.host.program = [&](TutorialHost& h) {
    auto cycles = [&, start = sc_core::sc_time_stamp()]() mutable {
      const double n = (sc_core::sc_time_stamp() - start) / m.simulation->period();
      start = sc_core::sc_time_stamp();
      return n;
    };
    std::vector<std::uint8_t> word(bytes.begin(), bytes.begin() + 32);
    h.move(tlm::TLM_WRITE_COMMAND, 0x7000, word);  // the first one waits for the host to start
    cycles();
    EXPECT_EQ(h.move(tlm::TLM_WRITE_COMMAND, 0x6000, word), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(cycles(),
              1 + 1 + 23 + 1 + 2);  // address, presented, response of the DRAM, latched, next access
    EXPECT_EQ(h.move(tlm::TLM_WRITE_COMMAND, (1ull << 40) | 0x8000000020, word), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(cycles(), 1 + 1 + 2 + 1 + 2);  // staging memory
    EXPECT_EQ(platform::read_memory(m.system->mesh(), 0x6000, 32), word);
    EXPECT_EQ(platform::read_memory(m.system->mesh(), 0x8000000020, 32), word);
    // Several bursts, across 4 KiB boundaries, and back; dbg sees the same at once.
    EXPECT_EQ(h.move(tlm::TLM_WRITE_COMMAND, 0x10020, bytes), tlm::TLM_OK_RESPONSE);
    std::vector<std::uint8_t> back(bytes.size());
    EXPECT_EQ(h.move(tlm::TLM_READ_COMMAND, 0x10020, back), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(back, bytes);
    const sc_core::sc_time before = sc_core::sc_time_stamp();
    back.assign(back.size(), 0);
    EXPECT_EQ(h.debug(tlm::TLM_READ_COMMAND, 0x10020, back), back.size());
    EXPECT_EQ(back, bytes);
    EXPECT_EQ(h.debug(tlm::TLM_WRITE_COMMAND, 0x8000000400, word), 32u);
    EXPECT_EQ(platform::read_memory(m.system->mesh(), 0x8000000400, 32), word);
    EXPECT_EQ(h.debug(tlm::TLM_READ_COMMAND, 0x8100000000, word), 0u);  // nothing there
    EXPECT_EQ(sc_core::sc_time_stamp(), before);
    std::vector<std::uint8_t> odd(33);
    EXPECT_EQ(h.move(tlm::TLM_WRITE_COMMAND, 0x6000, odd), tlm::TLM_BURST_ERROR_RESPONSE);
    EXPECT_EQ(h.move(tlm::TLM_WRITE_COMMAND, 0x6010, word), tlm::TLM_BURST_ERROR_RESPONSE);
    EXPECT_EQ(h.move(tlm::TLM_READ_COMMAND, 4ull << 40, word), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    m.simulation->close_host();
  };
  m.run();
  EXPECT_EQ(m.runner->result().status, arch::ExitStatus::kOk) << m.runner->result().message;
}

TEST(Tlm, AHostOnAMachineWithAnotherHostIsRefusedAndMayStillLook) {
  const arch::Program program = example_program("matmul_32x32x128");
  ForeignHost m({}, &program);
  bool ran = false;
  m.host.program = [&](TutorialHost& h) {
    wait(m.simulation->period() * 100);
    h.write(0, 1);
    EXPECT_EQ(h.last, tlm::TLM_GENERIC_ERROR_RESPONSE);
    EXPECT_EQ(h.peek(arch::agent::kCaps) & 0xFFFF, 0x120u);
    ran = true;
  };
  m.run();
  EXPECT_TRUE(ran);
  EXPECT_EQ(m.runner->result().status, arch::ExitStatus::kOk) << m.runner->result().message;
}

}  // namespace
}  // namespace ktpu::test
