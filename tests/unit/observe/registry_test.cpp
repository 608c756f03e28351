// SPDX-License-Identifier: Apache-2.0
#include "tlm/observe/registry.h"

#include <gtest/gtest.h>

#include "arch/error.h"
#include "tests/unit/observe/test_machine.h"

namespace ktpu::observe {
namespace {

using test::TestMachine;

std::vector<std::string> paths(const std::vector<const Entry*>& entries) {
  std::vector<std::string> names;
  for (const Entry* entry : entries) names.push_back(entry->path);
  return names;
}

TEST(ObserveRegistry, ListsEveryVisitedValueOnceUnderItsFullName) {
  TestMachine machine;
  std::vector<std::string> names;
  for (const Entry& entry : machine.registry.entries()) names.push_back(entry.path);
  EXPECT_EQ(names, (std::vector<std::string>{"source@1,1.sent",
                                             "source@1,1.flits",
                                             "source@1,1.blocked",
                                             "sink@2,1.queue_side.last",
                                             "sink@2,1.queue_side.fifo.count",
                                             "sink@2,1.table",
                                             "sink@2,1.served",
                                             "source@1,1.out.valid",
                                             "source@1,1.out.busy",
                                             "source@1,1.out.dst_x",
                                             "source@1,1.out.dst_y",
                                             "source@1,1.out.src_x",
                                             "source@1,1.out.src_y",
                                             "source@1,1.out.type",
                                             "source@1,1.out.txn",
                                             "source@1,1.out.last",
                                             "source@1,1.out.rsvd",
                                             "source@1,1.out.payload",
                                             "source@1,1.out.transferred",
                                             "source@1,1.out.stalled_cycles",
                                             "source@1,1.links.flits_in",
                                             "source@1,1.links.flits_out",
                                             "sink@2,1.links.flits_in",
                                             "sink@2,1.links.flits_out"}));
}

TEST(ObserveRegistry, KeepsKindWidthUnitSentenceFormulaAndSource) {
  TestMachine machine;
  const Entry& served = machine.registry.at("sink@2,1.served");
  EXPECT_EQ(served.kind, EntryKind::kCounter);
  EXPECT_EQ(served.width, 64u);
  EXPECT_EQ(served.unit, "flits");
  EXPECT_EQ(served.sentence, "Flits taken out of the queue");
  EXPECT_EQ(served.formula, "one a served flit");
  EXPECT_EQ(served.node, "sink@2,1");
  EXPECT_EQ(served.source, "model");
  EXPECT_EQ(machine.registry.at("source@1,1.sent").width, 8u);
  EXPECT_EQ(machine.registry.at("source@1,1.out.payload").width, 256u);
  EXPECT_EQ(machine.registry.at("sink@2,1.table").kind, EntryKind::kMemory);
  EXPECT_EQ(machine.registry.at("sink@2,1.table").location.elements, 4u);
}

TEST(ObserveRegistry, ReadsValuesAsTheyAreNowAlsoThoseWithoutAnAddress) {
  TestMachine machine(12, 1, 40);
  const Entry& count = machine.registry.at("sink@2,1.queue_side.fifo.count");
  const Entry& sent = machine.registry.at("source@1,1.sent");
  EXPECT_EQ(count.read(), 0u);
  EXPECT_FALSE(count.is_direct());
  EXPECT_TRUE(sent.is_direct());
  machine.engine.run_until(8);  // flits are offered in cycles 3, 4, 5, 6, 7; the first leaves the queue in 6
  EXPECT_EQ(sent.read(), 5u);
  EXPECT_EQ(count.read(), 4u);
  EXPECT_EQ(machine.registry.at("source@1,1.out.transferred").read(), 5u);
  EXPECT_EQ(machine.registry.at("source@1,1.out.txn").read(), 4u);
  EXPECT_EQ(machine.registry.at("source@1,1.out.type").read(), 8u);
  EXPECT_EQ(machine.registry.at("source@1,1.out.payload").read(), 0x1004u);
  EXPECT_EQ(machine.registry.at("sink@2,1.table").read(), 7u);
}

TEST(ObserveRegistry, SumsTheLinksOfAUnit) {
  TestMachine machine;
  machine.engine.run_until(200);
  EXPECT_EQ(machine.registry.at("source@1,1.links.flits_out").read(), 12u);
  EXPECT_EQ(machine.registry.at("source@1,1.links.flits_in").read(), 0u);
  EXPECT_EQ(machine.registry.at("sink@2,1.links.flits_in").read(), 12u);
  EXPECT_EQ(machine.registry.at("sink@2,1.links.flits_in").node, "sink@2,1");
}

TEST(ObserveRegistry, AStateIsMaskedToItsWidth) {
  struct Wide final : sim::Unit {
    using Unit::Unit;
    void reset(sim::Cycle) override {}
    void drive(sim::Cycle) override {}
    sim::Cycle clock(sim::Cycle) override { return sim::kNever; }
    void visit(sim::Archive& archive) override { archive.state("value", value, 5); }
    std::int32_t value = -1;
  } unit("unit");
  Registry registry;
  registry.add(unit, "rtl");
  EXPECT_EQ(registry.at("unit.value").read(), 31u);
  EXPECT_EQ(registry.at("unit.value").source, "rtl");
}

TEST(ObserveRegistry, FindsByPatternInRegistryOrder) {
  TestMachine machine;
  EXPECT_EQ(paths(machine.registry.match("*.fifo")),
            (std::vector<std::string>{"sink@2,1.queue_side.fifo.count"}));
  EXPECT_EQ(paths(machine.registry.select({"sink@2,1.served", "source@1,1.sent"})),
            (std::vector<std::string>{"source@1,1.sent", "sink@2,1.served"}));
  EXPECT_EQ(machine.registry.find("sink@2,1"), nullptr);  // a node is not a value
}

TEST(ObserveRegistry, AnUnknownNameSaysWhatIsNear) {
  TestMachine machine;
  try {
    machine.registry.at("sink@2,1.severd");
    FAIL() << "found it";
  } catch (const arch::UserError& error) {
    EXPECT_STREQ(
        error.what(),
        "there is no value 'sink@2,1.severd' in this machine. Did you mean 'sink@2,1', 'sink@2,1.served'?");
  }
  EXPECT_THROW(machine.registry.select({"source@*", "sinc@*"}), arch::UserError);
}

TEST(ObserveRegistry, TwoValuesOfOneNameAreABug) {
  TestMachine machine;
  EXPECT_THROW(machine.registry.add_value("sink@2,1.served", EntryKind::kCounter, 64, "flits", "again",
                                          [] { return 1u; }),
               arch::InternalError);
  machine.registry.add_value("dram.beats", EntryKind::kCounter, 64, "beats", "Beats moved",
                             [] { return 42u; });
  EXPECT_EQ(machine.registry.at("dram.beats").read(), 42u);
  EXPECT_EQ(machine.registry.at("dram.beats").node, "dram");
}

TEST(ObserveRegistry, DescribesAValue) {
  TestMachine machine;
  EXPECT_EQ(machine.registry.at("sink@2,1.served").describe(),
            "sink@2,1.served\n  kind:     counter, 64 bits\n  unit:     flits\n"
            "  meaning:  Flits taken out of the queue\n  formula:  one a served flit\n  source:   model\n");
}

}  // namespace
}  // namespace ktpu::observe
