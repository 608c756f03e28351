// SPDX-License-Identifier: Apache-2.0
#include "compiler/bytes/artifact.h"

#include <algorithm>

#include "arch/error.h"

namespace ktpu::bytes {
namespace {

template <class... Ts>
struct Overload : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overload(Ts...) -> Overload<Ts...>;

bool overlap_in_part(const Kick& a, const Kick& b) {
  const std::uint32_t a0 = a.base.index(), a1 = a0 + a.count, b0 = b.base.index(), b1 = b0 + b.count;
  return a0 < b1 && b0 < a1 && (a0 != b0 || a1 != b1);
}

}  // namespace

Slot Staging::slot(std::uint32_t index, std::uint32_t count) const {
  if (index >= flits_ || count > flits_ - index)
    throw arch::UserError::make("slots {} to {}: the staging RAM has {}", index,
                                std::uint64_t{index} + std::max(count, 1u) - 1, flits_);
  return Slot(index);
}

void verify(const Artifact& artifact, const Limits& limits) {
  const auto fail = [&](const std::string& what) {
    throw arch::UserError::make("round {} of {}: {}", artifact.round, artifact.of, what);
  };
  std::vector<Kick> kicks;
  bool seeded = false;
  for (const RoundStep& step : artifact.steps) {
    seeded |= std::holds_alternative<Seed>(step);
    const Kick* kick = std::get_if<Kick>(&step);
    if (kick == nullptr) continue;
    const std::string who = fmt::format("kick {} of ({},{}), slots {}+{}", kicks.size(), kick->to.x,
                                        kick->to.y, kick->base.index(), kick->count);
    if (!seeded) fail(fmt::format("{}: comes before the credit is seeded, so it would never start", who));
    if (kick->count == 0) fail(fmt::format("{}: sends nothing", who));
    const std::uint64_t end = std::uint64_t{kick->base.index()} + kick->count;
    if (end > artifact.words.size())
      fail(fmt::format("{}: only {} words are staged", who, artifact.words.size()));
    if (end > limits.staging_flits)
      fail(fmt::format("{}: the staging RAM has {} slots", who, limits.staging_flits));
    for (const Kick& other : kicks)
      if (overlap_in_part(*kick, other))
        fail(fmt::format("{}: shares some slots with the kick of slots {}+{}, not all", who,
                         other.base.index(), other.count));
    kicks.push_back(*kick);
  }
}

std::string print(const Artifact& artifact) {
  std::string text =
      fmt::format("round {} of {}: {} words\n", artifact.round, artifact.of, artifact.words.size());
  const Overload line{
      [](const Seed& s) { return fmt::format("  seed {}\n", s.credit); },
      [](const Kick& k) {
        return fmt::format("  kick ({},{}) slots {}+{}\n", k.to.x, k.to.y, k.base.index(), k.count);
      },
      [](const Await& a) { return fmt::format("  await ({},{}) {}\n", a.node.x, a.node.y, a.count); }};
  for (const RoundStep& step : artifact.steps) text += std::visit(line, step);
  return text;
}

std::vector<arch::Flit> staged_flits(const Artifact& artifact) {
  std::vector<arch::Flit> flits = artifact.words;
  for (const RoundStep& step : artifact.steps) {
    const Kick* kick = std::get_if<Kick>(&step);
    if (kick == nullptr) continue;
    for (std::uint32_t i = 0; i < kick->count; ++i)
      flits.at(kick->base.index() + i).w[4] |=
          arch::make_header({}, {}, arch::FlitType::kCuInst, 0, i + 1 == kick->count);
  }
  return flits;
}

std::vector<arch::Step> program_steps(const Artifact& artifact, std::uint8_t mesh) {
  std::vector<arch::Step> steps;
  const auto add = [&](arch::Action action) { steps.push_back({mesh, std::move(action)}); };
  arch::StepBaseline baseline;
  for (const RoundStep& step : artifact.steps)
    if (const Await* await = std::get_if<Await>(&step)) baseline.nodes.push_back(await->node);
  add(arch::StepRound{fmt::format("{} of {}", artifact.round, artifact.of)});
  add(std::move(baseline));
  add(arch::StepStage{0, staged_flits(artifact)});
  const Overload action{[](const Seed& s) -> arch::Action { return arch::StepCredit{s.credit}; },
                        [](const Kick& k) -> arch::Action {
                          return arch::StepKick{k.to, k.base.index(), k.count};
                        },
                        [](const Await& a) -> arch::Action {
                          return arch::StepAwait{a.node, a.count};
                        }};
  for (const RoundStep& step : artifact.steps) add(std::visit(action, step));
  return steps;
}

}  // namespace ktpu::bytes
