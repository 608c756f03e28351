// SPDX-License-Identifier: Apache-2.0
// --checkpoint, --restore and --digest: what a run writes about its state on the way.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "apps/ktpu-sim/options.h"
#include "tlm/platform/checkpoint.h"

namespace ktpu::apps {

class Saving {
 public:
  // All must outlive it. Throws UserError for a machine that cannot be saved and files that cannot be
  // written.
  Saving(const Options& options, platform::System& system, platform::Runner& runner,
         platform::ProgramId program);

  // Before the run: takes up the checkpoint of --restore and plans the rest.
  void begin();
  // After it. Says which checkpoints the run did not get to.
  void finish();

 private:
  void save(sim::Cycle now);
  std::string file_of(sim::Cycle cycle) const;

  const Options& options_;
  platform::System& system_;
  platform::Runner& runner_;
  platform::ProgramId program_;
  sim::Cycle digest_every_ = 0;
  std::ofstream digest_;
  std::vector<sim::Cycle> missing_;  // of --checkpoint-at, not yet saved
};

}  // namespace ktpu::apps
