// SPDX-License-Identifier: Apache-2.0
// What the tests of the levels' text forms share.
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>

#include "arch/error.h"

namespace ktpu::compiler_tests {

// The message of the refusal; empty: none came.
template <typename Action>
std::string refused(Action&& action) {
  try {
    action();
  } catch (const arch::UserError& error) {
    return error.what();
  }
  return {};
}

// `text` with `from` replaced by `to`, where it first stands.
inline std::string with(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

// A few bytes exchanged, doubled, moved or taken out.
inline std::string mutated(std::string text, std::mt19937& random) {
  const auto below = [&](std::size_t n) { return n == 0 ? 0 : random() % n; };
  static constexpr std::string_view kPieces[] = {
      "%",   "@", "{",   "}\n",        "[",  "]",   "(", ")",  "<",     ">",     ",",
      "x",   "0", "-",   "\"",         "\n", "of",  "#", "0x", "grid ", "1e999", "999999999999999999999",
      "nan", " ", "%t4", "4294967295", "\\", "\x80"};
  for (std::size_t edits = 1 + below(4); edits > 0; --edits) {
    const std::size_t at = below(text.size() + 1),
                      count = below(std::min<std::size_t>(text.size() - at, 24) + 1);
    switch (below(4)) {
      case 0:
        text.erase(at, count);
        break;
      case 1:
        text.insert(at, kPieces[below(std::size(kPieces))]);
        break;
      case 2:
        text.insert(below(text.size() + 1), text.substr(at, count));
        break;
      default:
        if (at < text.size()) text[at] = static_cast<char>(random());
    }
  }
  return text;
}

// Mutants of `text` are read or refused with their place, and what is read prints the same when it is read
// again.
template <typename Parse, typename Print, typename Verify>
void fuzz(std::string_view text, int rounds, Parse&& parse, Print&& print, Verify&& verify) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937 random(seed);
  int read = 0;
  for (int i = 0; i < rounds; ++i) {
    const std::string mutant = mutated(std::string(text), random);
    std::string printed;
    const std::string message = refused([&] { printed = print(parse(mutant)); });
    if (!message.empty()) {
      ASSERT_EQ(message.rfind("t:", 0), 0u) << message << "\n" << mutant;
      continue;
    }
    ++read;
    ASSERT_EQ(refused([&] { ASSERT_EQ(print(parse(printed)), printed) << mutant; }), "") << printed;
    refused([&] { verify(parse(printed)); });
  }
  EXPECT_GT(read, 0);
}

}  // namespace ktpu::compiler_tests
