// SPDX-License-Identifier: Apache-2.0
#include "tlm/observe/explain.h"

#include <gtest/gtest.h>

#include "arch/encoding/quirks.h"
#include "tests/unit/observe/test_machine.h"
#include "tlm/observe/standard_metrics.h"

namespace ktpu::observe {
namespace {

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(ObserveExplain, EveryExitStatusOfTheContract) {
  for (const int status : {0, 1, 2, 3, 4, 5, 6, 7, 70}) {
    const auto& text = exit_status_text(static_cast<arch::ExitStatus>(status));
    EXPECT_EQ(static_cast<int>(text.status), status);
    EXPECT_EQ(explain("exit " + std::to_string(status)), explain(text.name));
    EXPECT_TRUE(contains(explain(std::to_string(status)), text.sentence));
  }
  EXPECT_THROW(explain("exit 8"), arch::UserError);
}

TEST(ObserveExplain, EveryQuirk) {
  for (const arch::Quirk& quirk : arch::kQuirks) {
    const std::string text = explain(quirk.name);
    EXPECT_TRUE(contains(text, quirk.reference)) << text;
    EXPECT_TRUE(contains(text, quirk.none)) << text;
    EXPECT_TRUE(contains(text, quirk.where)) << text;
  }
}

TEST(ObserveExplain, EveryRowOfAReport) {
  test::TestMachine machine;
  Statistics statistics(machine.registry);
  RunFacts facts;
  facts.machine_cycles = facts.total_cycles = 1;
  statistics.set_facts(facts);
  add_standard(statistics);
  for (const Row& row : statistics.rows()) {
    const std::string text = explain(row.name, &statistics);
    EXPECT_TRUE(contains(text, row.unit)) << text;
    EXPECT_TRUE(contains(text, row.sentence)) << text;
    if (!row.is_count) {
      EXPECT_TRUE(contains(text, row.formula)) << text;
    }
  }
}

TEST(ObserveExplain, AShortNameFindsItsFirstOwner) {
  test::TestMachine machine;
  Statistics statistics(machine.registry);
  EXPECT_TRUE(contains(explain("served", &statistics), "sink@2,1.served"));
  EXPECT_TRUE(contains(explain("fifo.count", &statistics), "sink@2,1.queue_side.fifo.count"));
  const std::string both = explain("flits_in", &statistics);
  EXPECT_TRUE(contains(both, "source@1,1.links.flits_in")) << both;
  EXPECT_TRUE(contains(both, "1 more with this name")) << both;
  EXPECT_FALSE(contains(explain("stalled_cycles", &statistics), "more with this name"));
}

TEST(ObserveExplain, AnUnknownNameSaysWhatIsNear) {
  test::TestMachine machine;
  Statistics statistics(machine.registry);
  try {
    explain("severd", &statistics);
    FAIL();
  } catch (const arch::UserError& error) {
    EXPECT_TRUE(contains(error.what(), "Did you mean 'served'?")) << error.what();
  }
  EXPECT_THROW(explain("served"), arch::UserError);  // needs the machine
  EXPECT_TRUE(contains(explain("utilisation"), "100 * transferred / unit.cycles"));
}

}  // namespace
}  // namespace ktpu::observe
