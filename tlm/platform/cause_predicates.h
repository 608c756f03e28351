// SPDX-License-Identifier: Apache-2.0
// Whether, and where, a cause of causes.cpp is found. One function a row, named as the row.
#pragma once

#include <vector>

#include "tlm/platform/causes.h"

namespace ktpu::platform::predicate {

using Found = std::vector<Evidence>;

Found fill_of_256(const Scene& scene);
Found emit_on_load(const Scene& scene);
Found fused_drain_count(const Scene& scene);
Found results_overrun(const Scene& scene);
Found peer_to_itself(const Scene& scene);
Found two_senders(const Scene& scene);
Found response_outside_fill(const Scene& scene);
Found data_without_slot(const Scene& scene);
Found slots_exhausted(const Scene& scene);
Found write_short(const Scene& scene);
Found credit_above_depth(const Scene& scene);
Found peer_short(const Scene& scene);
Found shared_fill(const Scene& scene);
Found credit_never_seeded(const Scene& scene);
Found credit_below_programs(const Scene& scene);
Found kernel_without_halt(const Scene& scene);
Found sink_refuses(const Scene& scene);
Found kick_while_running(const Scene& scene);
Found kick_empty(const Scene& scene);
Found destination_changed(const Scene& scene);
Found flit_to_corner(const Scene& scene);
Found flit_outside(const Scene& scene);
Found flit_to_empty_slot(const Scene& scene);
Found instruction_to_port(const Scene& scene);
Found mailbox_full(const Scene& scene);
Found send_ignored(const Scene& scene);
Found control_lost(const Scene& scene);
Found signals_cleared(const Scene& scene);
Found poll_impossible(const Scene& scene);
Found signals_exceeded(const Scene& scene);
Found signals_missing(const Scene& scene);
Found poll_never_true(const Scene& scene);
Found upload_not_whole(const Scene& scene);
Found aperture_dropped(const Scene& scene);
Found remote_interleaved(const Scene& scene);
Found staging_past_end(const Scene& scene);
Found circle(const Scene& scene);
Found rtl_untold(const Scene& scene);
Found dead_wait(const Scene& scene);

}  // namespace ktpu::platform::predicate
