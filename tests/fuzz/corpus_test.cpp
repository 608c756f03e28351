// SPDX-License-Identifier: Apache-2.0
// What mutants once broke stays whole: corpus/README.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "arch/program/text.h"
#include "tests/fuzz/outcome.h"
#include "topologies/reader.h"

namespace ktpu::fuzz {
namespace {

using arch::ExitStatus;
using testing::HasSubstr;

const std::string kFolder = KTPU_SOURCE_DIR "/tests/fuzz/corpus/";

std::string corpus(const std::string& name) {
  std::ifstream in(kFolder + name, std::ios::binary);
  EXPECT_TRUE(in.good()) << name;
  return {std::istreambuf_iterator<char>(in), {}};
}
arch::Program program(const std::string& name) { return arch::assemble(corpus(name), name); }

Outcome run_file(const std::string& topology, const arch::Program* p) {
  return run(topo::read_file(topology), p, {60'000, 4000});
}

TEST(Corpus, BusySink) {
  const arch::Program p = arch::assemble("write CTRL = 1\nquiet 64\n", "p.kasm");
  for (const arch::Program* program : {static_cast<const arch::Program*>(nullptr), &p}) {
    const Outcome outcome = run_file(kFolder + "busy_sink.yaml", program);
    EXPECT_EQ(outcome.wrong, "");
    EXPECT_EQ(outcome.status, ExitStatus::kOk) << outcome.message;
  }
}

TEST(Corpus, ExternalHost) {
  const Outcome outcome = run_file(kFolder + "external_host.yaml", nullptr);
  EXPECT_EQ(outcome.wrong, "") << outcome.message;
}

TEST(Corpus, MailboxResponse) {
  const arch::Program p = program("mailbox_response.kasm");
  EXPECT_EQ(run_file("mesh1", &p).wrong, "");
}

}  // namespace
}  // namespace ktpu::fuzz
