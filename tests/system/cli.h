// SPDX-License-Identifier: Apache-2.0
// The fixture of the command-line tests.
#pragma once

#include <gmock/gmock.h>

#include "tests/support/plain_matmul.h"
#include "tests/system/process.h"

namespace ktpu::test {

class Cli : public Workshop {
 protected:
  const std::string worked = example("matmul_32x32x128");
  // User error: status 2, one clear message on stderr, nothing on stdout, no new file.
  void expect_refused(const std::vector<std::string>& arguments, const std::vector<std::string>& words) {
    const auto before = files();
    const Finished f = sim(arguments);
    std::string line;
    for (const std::string& a : arguments) line += a + " ";
    EXPECT_EQ(f.status, 2) << line << f.err;
    for (const std::string& word : words) EXPECT_THAT(f.err, testing::HasSubstr(word)) << line;
    EXPECT_EQ(files(), before) << line;
    EXPECT_THAT(f.err, testing::Not(testing::HasSubstr("internal error"))) << line;
  }
};

inline plain::Halves ramp(std::uint32_t seed) { return plain::lcg(32 * 128, seed, 9); }

}  // namespace ktpu::test
