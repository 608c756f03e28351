// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "arch/error.h"
#include "topologies/reader.h"

namespace ktpu::topo::testing {

// A small complete machine. Tests change it with `with`.
inline constexpr const char* kGood = R"(version: 1
name: good
clock_mhz: 300
meshes:
  - grid:
      - [ .,   vec, .,   .   ]
      - [ mem, mat, mat, .   ]
      - [ mem, mat, .,   src ]
      - [ .,   .,   .,   .   ]
    router: {fifo_depth: 64}
    units:
      mat: {kind: matmul_cluster, tiles: 256}
      vec: {kind: vector_core}
      mem: {kind: memory_port}
      src: {kind: traffic}
    agent: {staging_flits: 128, commands: 128}
    dram: {model: simple, bus_bits: 512, base: 0x80000000, size_mib: 64}
host: {kind: command_engine}
)";

// `text` with its one occurrence of `from` replaced.
inline std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  EXPECT_EQ(text.find(from, at + 1), std::string::npos) << "twice: " << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

inline std::string error_of(const std::string& text, const Overrides& overrides = {}) {
  try {
    read_string(text, "t.yaml", overrides);
  } catch (const arch::UserError& e) {
    EXPECT_EQ(e.status(), arch::ExitStatus::kUserError);
    return e.what();
  }
  return "no error";
}

// `marked` holds "@@" where the message must point; `message` is the whole text behind "t.yaml:LINE:COLUMN:
// ".
inline void expect_error(std::string marked, const std::string& message) {
  const std::size_t at = marked.find("@@");
  ASSERT_NE(at, std::string::npos) << "no mark in the text";
  marked.erase(at, 2);
  int line = 1, column = 1;
  for (std::size_t i = 0; i < at; ++i) marked[i] == '\n' ? (++line, column = 1) : ++column;
  EXPECT_EQ(error_of(marked),
            "t.yaml:" + std::to_string(line) + ":" + std::to_string(column) + ": " + message);
}

}  // namespace ktpu::topo::testing
