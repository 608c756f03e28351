// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "arch/error.h"
#include "arch/program/program.h"

namespace ktpu::arch {

// The message of the UserError that `f` throws, "" when it throws none.
template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const UserError& e) {
    EXPECT_EQ(e.status(), ExitStatus::kUserError);
    return e.what();
  }
  return {};
}

// A valid program that holds every kind of step, image and list once, with every member away from its
// default.
inline Program everything() {
  Program p;
  p.name = "every \"kind\"\nof \\ step \x01";
  p.needs = {"quad", 0x123456789abcdef0, 2, 64, 40, {}, {}};
  p.needs.units = {{0, {1, 1}, "matmul_cluster", 4096, 512, 256, 32},
                   {1, {1, 0}, "vector_core", 0, 0, 0, 16},
                   {1, {2, 1}, "odd kind", 0, 0, 0, 0}};
  p.needs.memory = {{0, 0, 0x100000}, {1, 0x80000000, 0x80001000}};
  p.images = {{0, {0x1000, ImageBytes{{1, 2, 3}, 0}}},
              {1, {0x2000, ImageBytes{{0xAB, 0xCD}, 33}}},
              {0, {0x3000, ImageBytes{{}, 4096}}},
              {0, {0x4000, ImageLcg{128, 7, 9, -0.3, true}}},
              {1, {0x5000, ImageTensor{{15 * 40, 139, 10, 1e-3, false}, {15, 40}, "entry:2x1"}}}};
  p.inputs = {{"a", 1, 0x5000, DType::kFp16, {15, 40}, "entry:2x1"},
              {"odd name", 0, 0, DType::kU8, {3}, "flat"}};
  p.outputs = {{"c", 0, 0x8000, DType::kFp32, {2, 8, 8}, "batch2:tile:1x1:2x2"},
               {"q", 0, 0x9000, DType::kMxfp7, {8, 64}, "entry:2x2"}};
  p.debug = {{"schedule", "line one\nline two\t\xC3\xA9"}, {"empty", ""}};
  Flit vector_flit = make_flit({}, {}, FlitType::kCuInst, 0x41, true);
  vector_flit.w[3] = 0x1008000000000000;
  vector_flit.w[0] = 0x12345678;
  Flit odd = make_flit({3, 4}, {5, 6}, static_cast<FlitType>(0xB), 1, false, 5);
  odd.w = {1, 2, 3, 4, odd.w[4]};
  p.steps = {
      {0, StepRound{"round one"}},
      {0, StepBaseline{{{1, 1}, {15, 15}}}},
      {1, StepBaseline{{{1, 0}}}},
      {0, StepStage{5, {odd, make_flit({}, {}, FlitType::kCuInst, 0, false)}}},
      {1, StepStage{62, {vector_flit, vector_flit}}},
      {0, StepCredit{17}},
      {1, StepKick{{1, 0}, 62, 2}},
      {1, StepAwait{{1, 0}, 2}},
      {0, StepAwait{{15, 15}, 65535}},
      {0, StepWrite{0x70, 0}},
      {0, StepWrite{0x30, ~0ull}},
      {0, StepWrite{0x1088, 1}},
      {0, StepPoll{0x58, 1, 0}},
      {1, StepPoll{0x01C8, ~0ull, 0x10000}},
      {0, StepCommands{{{1, 0x10000060, 5, 9},
                        {1, 0x8, 1, 0},
                        {2, 0x10000070, 4, 0xFFFF},
                        {2, 0x10000070, 4, ~0ull},
                        {3, 8, 6, 3}}}},
      {0, StepWindow{true, 0x8400001000, 0, {{1, 2}, 512}}},
      {0, StepWindow{false, 0x20, 64, {}}},
      {1, StepLoad{{0x80000000, ImageBytes{{0, 0x40}, 0}}}},
      {0, StepQuiet{256}},
      {1,
       StepRelayout{
           0x1000, 300, {{0, 4, 1, 8, 16}, {-1, 3, 1, 1, 0}, {10, 2, -5, 1, 0}}, "flat", "tile:1x1:2x2"}},
      {0, StepRelayout{0x2000, 256, {{1, 1, 1, 1, 0}}, "", ""}},
      {0, StepReset{20}},
      {0, StepPeStream{{1, 1}, 3, {9, 8, 7}}},
      {1, StepFirmware{{2, 2}, 0x100, std::vector<std::uint8_t>(70, 0x5A)}}};
  return p;
}

}  // namespace ktpu::arch
