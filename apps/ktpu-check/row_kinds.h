// SPDX-License-Identifier: Apache-2.0
// One function per kind of row: runs it on the machine and compares every exact field
// (vectors/rtl/README.md, vectors/programs/README.md).
#pragma once

#include <nlohmann/json.hpp>

#include "apps/ktpu-check/compare.h"

namespace ktpu::check {

void check_noc(const nlohmann::json& row, Differences& differences);
void check_cycles_cluster(const nlohmann::json& row, Differences& differences);
void check_cycles_dispatch(const nlohmann::json& row, Differences& differences);
void check_cycles_matmul(const nlohmann::json& row, Differences& differences);
void check_cycles_mover(const nlohmann::json& row, Differences& differences);
void check_cycles_mesh8(const nlohmann::json& row, Differences& differences);
void check_cycles_interlink(const nlohmann::json& row, Differences& differences);
void check_vectors_matmul(const nlohmann::json& row, Differences& differences);
void check_vectors_acc(const nlohmann::json& row, Differences& differences);
void check_vectors_quant(const nlohmann::json& row, Differences& differences);
void check_cycles_vector(const nlohmann::json& row, Differences& differences);
void check_vectors_veckernel(const nlohmann::json& row, Differences& differences);
void check_vectors_valu(const nlohmann::json& row, Differences& differences);
void check_lane(const nlohmann::json& row, Differences& differences);
void check_convert(const nlohmann::json& row, Differences& differences);
void check_reduce(const nlohmann::json& row, Differences& differences);
void check_vector_program(const nlohmann::json& row, Differences& differences);
void check_program(const nlohmann::json& row, Differences& differences);
void check_dispatch_plan(const nlohmann::json& row, Differences& differences);
void check_block_deal(const nlohmann::json& row, Differences& differences);
void check_control_program(const nlohmann::json& row, Differences& differences);
void check_cluster_inst(const nlohmann::json& row, Differences& differences);
void check_address40(const nlohmann::json& row, Differences& differences);
void check_constant(const nlohmann::json& row, Differences& differences);
void check_vector_flit(const nlohmann::json& row, Differences& differences);
void check_vector_word(const nlohmann::json& row, Differences& differences);
void check_layout_pack(const nlohmann::json& row, Differences& differences);
void check_conv_geometry(const nlohmann::json& row, Differences& differences);
void check_entry_walk(const nlohmann::json& row, Differences& differences);
void check_scratch_block(const nlohmann::json& row, Differences& differences);
void check_arena(const nlohmann::json& file, Differences& differences);
void check_mesh_pairing(const nlohmann::json& row, Differences& differences);
void check_mesh_topology(const nlohmann::json& row, Differences& differences);
void check_remote_drain(const nlohmann::json& row, Differences& differences);
void check_live(const nlohmann::json& file, Differences& differences);
void check_dtypes(const nlohmann::json& row, Differences& differences);
void check_tile_choice(const nlohmann::json& row, Differences& differences);
void check_grid_covers(const nlohmann::json& row, Differences& differences);
void check_grid_correspondence(const nlohmann::json& row, Differences& differences);
void check_grid_epilogue(const nlohmann::json& row, Differences& differences);
void check_grid_ownership(const nlohmann::json& row, Differences& differences);
void check_fused_tile(const nlohmann::json& row, Differences& differences);
void check_vector_l1(const nlohmann::json& row, Differences& differences);
void check_rows_per_pass(const nlohmann::json& row, Differences& differences);
void check_lane_words(const nlohmann::json& row, Differences& differences);
void check_gemm_plan(const nlohmann::json& row, Differences& differences);
void check_entry_order(const nlohmann::json& row, Differences& differences);
void check_entry_words(const nlohmann::json& row, Differences& differences);
void check_framework(const nlohmann::json& row, Differences& differences);
void check_shared_a(const nlohmann::json& row, Differences& differences);
void check_traced_schedule(const nlohmann::json& row, Differences& differences);

}  // namespace ktpu::check
