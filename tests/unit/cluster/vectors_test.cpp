// SPDX-License-Identifier: Apache-2.0
// The cluster's rows of the recorded vectors, as far as they do not depend on the memory behind the mesh.
#include "tests/unit/cluster/bench.h"
#include "tests/unit/cluster/vector_files.h"

namespace ktpu::test {
namespace {

using cluster::BusyFlag;
using nlohmann::json;

arch::Word256 word_from_hex(const std::string& hex) {
  const Flit flit = arch::flit_from_hex(std::string(8, '0') + hex);
  return {flit.w[0], flit.w[1], flit.w[2], flit.w[3]};
}

// Sends `words` into a buffer as one-burst streams of at most 256 granules.
void load(Bench& b, unsigned buffer, const json& words) {
  for (std::size_t at = 0; at < words.size(); at += 256) {
    const std::size_t count = std::min<std::size_t>(256, words.size() - at);
    b.send(0, data_descriptor(buffer, static_cast<unsigned>(at), static_cast<unsigned>(count - 1), false));
    for (std::size_t i = 0; i < count; ++i)
      b.send(0, data_flit(word_from_hex(words[at + i]), i + 1 == count));
  }
}

TEST(VectorsRtl, Acc) {
  unsigned rows = 0;
  for (const json& row : vector_rows("rtl/vectors_acc.jsonl")) {
    SCOPED_TRACE(fmt::format("row {}: {}x{} nk {} anchor {}", ++rows, row["gm"].get<int>(),
                             row["gn"].get<int>(), row["nk"].get<int>(), row["anchor"].get<int>()));
    Bench b(default_params(), true, false);
    load(b, 0, row["a_words"]);
    load(b, 1, row["b_words"]);
    ClusterInst g = gemm(row["gm"], row["gn"], row["nk"]);
    g.anchor = row["anchor"];
    const unsigned tiles = g.gm * g.gn;
    // Behind the operands by far enough for the last of them to be written.
    const Cycle start = row["a_words"].size() + row["b_words"].size() + 40;
    b.send(start, inst_flit(g));
    b.send(start, inst_flit(drain(tiles)));
    ASSERT_TRUE(b.run_until_signals(2));
    b.engine().sync();
    const auto out = b.outputs(FlitType::kMemWrData);
    ASSERT_EQ(out.size(), tiles);
    for (unsigned t = 0; t < tiles; ++t) {
      const std::string fp16 = row["fp16"][t];
      for (unsigned e = 0; e < 16; ++e) {
        EXPECT_EQ(b.unit().tile(t).lane[e], std::stoul(row["acc22"][t][e].get<std::string>(), nullptr, 16))
            << "tile " << t << " element " << e;
        EXPECT_EQ(out[t].flit.bits(16 * e, 16), std::stoul(fp16.substr(4 * e, 4), nullptr, 16))
            << "tile " << t << " element " << e;
      }
    }
    for (const auto& misuse : b.unit().misuse().kept()) EXPECT_EQ(misuse.kind, "gemm-anchor");
  }
}

class CyclesCluster : public ::testing::Test {
 protected:
  static std::vector<json> rows(const std::string& op) {
    std::vector<json> list;
    for (const json& row : vector_rows("rtl/cycles_cluster.jsonl"))
      if (row["op"] == op) list.push_back(row);
    return list;
  }
};

TEST_F(CyclesCluster, Fill) {
  for (const json& row : rows("FILL")) {
    SCOPED_TRACE(row.dump());
    Bench b;
    ClusterInst f = fill(row["n"], row["sel"]);
    f.preq = row["preq"];
    b.send(0, inst_flit(f));
    const Cycle issue = 4, last = issue + row["last_resp"].get<Cycle>();
    const unsigned words = 4 * f.n;
    for (unsigned i = 0; i < words; ++i) b.send(last + 1 - words + i, response(i / 4, i % 4));
    ASSERT_TRUE(b.run_until_signals(1));
    EXPECT_EQ(b.record.issue[0] - Bench::kOrigin, issue);
    EXPECT_EQ(b.output_cycles(FlitType::kMemRdReq), std::vector<Cycle>{issue + row["req_out"].get<Cycle>()});
    if (words <= last - issue) {
      EXPECT_EQ(b.record.retire[0] - b.record.issue[0], row["issue_to_retire"].get<Cycle>());
    }
  }
}

TEST_F(CyclesCluster, Gemm) {
  for (const json& row : rows("GEMM")) {
    SCOPED_TRACE(row.dump());
    Bench b;
    b.send(0, inst_flit(gemm(row["gm"], row["gn"], row["nk"])));
    b.run(10000);
    const Cycle start = b.record.gemm_start.at(0);
    EXPECT_EQ(start - b.record.issue[0], row["start_delay"].get<Cycle>());
    EXPECT_EQ(b.record.retire[0] - b.record.issue[0], row["issue_to_retire"].get<Cycle>());
    EXPECT_EQ(b.record.edge(BusyFlag::kSweep, true), start + 1);
    EXPECT_EQ(b.record.edge(BusyFlag::kSweep, false) - start - 1, row["sweep_busy"].get<Cycle>());
    EXPECT_EQ(b.record.edge(BusyFlag::kGemm, false) - start - 1, row["gemm_busy"].get<Cycle>());
    EXPECT_EQ(b.record.edge(BusyFlag::kGemm, false) - start, row["start_to_idle"].get<Cycle>());
    EXPECT_EQ(b.record.commands.size(), row["acu_cmds"].get<std::size_t>());
    EXPECT_EQ(b.record.commands.front().cycle - start, row["first_cmd"].get<Cycle>());
    EXPECT_EQ(b.record.commands.back().cycle - start, row["last_cmd"].get<Cycle>());
  }
}

TEST_F(CyclesCluster, Drain) {
  for (const json& row : rows("DRAIN")) {
    if (row["n"] > 1024) continue;  // its flits meet the memory's back-pressure
    SCOPED_TRACE(row.dump());
    Bench b;
    b.send(0, inst_flit(drain(row["n"])));
    ASSERT_TRUE(b.run_until_signals(1));
    b.run(2000);
    const Cycle start = b.record.drain_start.at(0);
    EXPECT_EQ(start - b.record.issue[0], row["start_delay"].get<Cycle>());
    EXPECT_EQ(b.record.retire[0] - b.record.issue[0], row["issue_to_retire"].get<Cycle>());
    EXPECT_EQ(b.record.retire[0] - start, row["start_to_retire"].get<Cycle>());
    EXPECT_EQ(b.record.edge(BusyFlag::kDrain, false) - b.record.edge(BusyFlag::kDrain, true),
              row["drain_busy"].get<Cycle>());
    const auto heads = b.outputs(FlitType::kMemWrReq), data = b.outputs(FlitType::kMemWrData);
    EXPECT_EQ(heads.size() + data.size(), row["flits_out"].get<std::size_t>());
    EXPECT_EQ(heads.front().cycle + Bench::kOrigin - start, row["first_flit"].get<Cycle>());
    EXPECT_EQ(data.back().cycle + Bench::kOrigin - start, row["last_flit"].get<Cycle>());
  }
}

TEST_F(CyclesCluster, Fused) {
  for (const json& row : rows("FUSED")) {
    SCOPED_TRACE(row.dump());
    Bench b;
    const unsigned gm = row["gm"], gn = row["gn"];
    b.send(0, inst_flit(gemm(gm, gn, row["nk"], false, true)));
    b.send(1, inst_flit(drain(gm * gn, true)));
    ASSERT_TRUE(b.run_until_signals(2));
    const Cycle start = b.record.gemm_start.at(0);
    EXPECT_EQ(b.record.retire[1] - start, row["gemm_start_to_drain_retire"].get<Cycle>());
    EXPECT_EQ(b.record.edge(BusyFlag::kSweep, false) - start - 1, row["sweep_busy"].get<Cycle>());
    EXPECT_EQ(b.outputs(FlitType::kMemWrReq).front().cycle + Bench::kOrigin - start,
              row["first_flit"].get<Cycle>());
    EXPECT_EQ(b.outputs(FlitType::kMemWrData).back().cycle + Bench::kOrigin - start,
              row["last_flit"].get<Cycle>());
  }
}

}  // namespace
}  // namespace ktpu::test
