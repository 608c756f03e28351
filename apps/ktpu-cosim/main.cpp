// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include "apps/common/register_units.h"
#include "apps/ktpu-cosim/campaign.h"

namespace {

using ktpu::arch::ExitStatus;

int report(ExitStatus status, const std::string& text) {
  fmt::print(stderr, "ktpu-cosim: {}\n", text);
  return static_cast<int>(status);
}

// `--module FILE[:TOP]`: that module stands beside the model of `block`.
void use_module(ktpu::platform::Registry& registry, const std::string& block, const std::string& text) {
  namespace topo = ktpu::topo;
  const topo::UserModule module = topo::parse_user_module(text, "--module " + text);
  const auto endpoint = [&](topo::Kind kind) {
    registry.add_endpoint(kind, topo::Impl::kLockstep,
                          registry.endpoint(kind, topo::Impl::kLockstep, block, module));
  };
  constexpr topo::Impl kLockstep = topo::Impl::kLockstep;
  if (block == "memory")
    registry.add_memory(kLockstep, registry.memory(kLockstep, block, module));
  else if (block == "agent")
    registry.add_agent(kLockstep, registry.agent(kLockstep, block, module));
  else if (block == "engine")
    registry.add_command_engine(kLockstep, registry.command_engine(kLockstep, block, module));
  else if (block == "router")
    registry.add_router(topo::Impl::kLockstep, registry.router(topo::Impl::kLockstep, block, module));
  else if (block == "cluster")
    endpoint(topo::Kind::kMatmulCluster);
  else if (block == "vector")
    endpoint(topo::Kind::kVectorCore);
  else
    throw ktpu::arch::UserError::make(
        "--module {}: a module of your own can stand for router, cluster, vector, memory, agent or engine, "
        "not for {}",
        text, block);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "Drives a block, as model and as RTL in lock-step, with random legal and wild messages, stalls and "
      "memory\n"
      "delays, and compares every output in every cycle. Or a whole machine: --topology. Exit status 6: they "
      "differ.",
      "ktpu-cosim"};
  ktpu::cosim::Campaign campaign;
  ktpu::cosim::WholeMachine machine;
  const std::string all = "all";
  std::vector<std::string> words = ktpu::cosim::block_words();
  words.push_back(all);
  auto* block =
      app.add_option("block", campaign.block, fmt::format("{}: one after another", fmt::join(words, ", ")))
          ->check(CLI::IsMember(words));
  auto* topology =
      app.add_option("-t,--topology", machine.topology, "A machine: file, or name of a shipped one");
  app.add_option("-p,--program", machine.program, "With --topology: what it runs")->needs(topology);
  app.add_option("--impl", machine.impls,
                 "With --topology: as in ktpu-sim; without, all that has a twin is in lock-step")
      ->allow_extra_args(false)
      ->needs(topology);
  block->excludes(topology);
  std::string module;
  app.add_option("--module", module, "A module of your own as the block's twin (docs/rtl.md)")
      ->type_name("FILE[:TOP]")
      ->needs(block);
  app.add_option("-n,--cycles", campaign.cycles, "In all")
      ->check(CLI::Range(1ull, 1'000'000'000'000ull))
      ->capture_default_str();
  app.add_option("--episode", campaign.episode, "Cycles with the same parameters; the next seed follows")
      ->check(CLI::Range(1ull, 1'000'000'000ull))
      ->capture_default_str();
  app.add_option("-s,--seed", campaign.seed, "Of the first episode; odd: legal, even: wild")
      ->capture_default_str();
  app.add_option("--stalls", campaign.stalls, "Percent of the cycles in which neighbours refuse flits")
      ->check(CLI::Range(0u, 95u))
      ->capture_default_str();
  app.add_option("--least", campaign.least,
                 "Transfers every port has to see in each direction; fewer are an error")
      ->capture_default_str();
  app.add_flag("-q,--quiet", campaign.quiet, "No line an episode");
  app.add_option("--tries", campaign.tries, "Runs that shortening a failing stimulus may take")
      ->capture_default_str();
  app.add_option("--waves", campaign.waves,
                 "VCD of the last cycles of both sides, written after a difference");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : static_cast<int>(ExitStatus::kUserError);
  }
  try {
    ktpu::platform::Registry registry;
    ktpu::apps::register_units(registry);
    if (!machine.topology.empty()) {
      // A program runs to its end unless told otherwise.
      machine.cycles =
          machine.program.empty() || app.count("--cycles") != 0 ? campaign.cycles : ktpu::sim::kNever;
      machine.seed = campaign.seed;
      machine.stalls = app.count("--stalls") != 0 ? campaign.stalls : 0;
      machine.waves = campaign.waves;
      return static_cast<int>(run_machine(machine, registry));
    }
    if (campaign.block.empty())
      throw ktpu::arch::UserError("give a block or a --topology; --help says which");
    if (!module.empty()) use_module(registry, campaign.block, module);
    if (campaign.block != all) return static_cast<int>(run_campaign(campaign, registry).status);
    for (const std::string& word : ktpu::cosim::block_words()) {
      campaign.block = word;
      const ExitStatus status = run_campaign(campaign, registry).status;
      if (status != ExitStatus::kOk) return static_cast<int>(status);
    }
    return static_cast<int>(ExitStatus::kOk);
  } catch (const ktpu::arch::UserError& error) {
    return report(error.status(), error.what());
  } catch (const std::exception& error) {
    return report(ExitStatus::kInternal, fmt::format("internal error: {}", error.what()));
  }
}
