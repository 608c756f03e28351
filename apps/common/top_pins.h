// SPDX-License-Identifier: Apache-2.0
// The pins of a top that ktpu-rtlgen wrote for a machine of one mesh: what its host and its DRAM do with
// them. V: the Verilated class.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "rtl_models/memory/memory_sockets.h"
#include "tlm/orchestrator/register_bus.h"

namespace ktpu::apps {

// Inputs as in reset: nobody wants anything.
template <class V>
void quiet_top(V& p) {
  p.host_write_i = p.host_read_i = 0;
  if constexpr (requires { p.engine_write_i; }) p.engine_write_i = p.engine_read_i = 0;
  p.window_aw_valid_i = p.window_ar_valid_i = p.window_w_valid_i = 0;
  p.window_r_busy_i = p.window_b_busy_i = 0;
  p.dram_ar_ready_i = p.dram_aw_ready_i = p.dram_w_ready_i = p.dram_r_valid_i = p.dram_b_valid_i = 0;
}

// The host's access to the control agent in this cycle.
template <class V>
void set_host(V& p, const orchestrator::BusBeat& beat) {
  p.host_write_i = beat.write;
  p.host_read_i = beat.read;
  p.host_strobe_i = beat.strobe;
  p.host_write_offset_i = static_cast<std::uint16_t>(beat.write_offset);
  p.host_read_offset_i = static_cast<std::uint16_t>(beat.read_offset);
  p.host_write_data_i = beat.data;
}

// To the command engine, in a top that has one.
template <class V>
void set_engine(V& p, const orchestrator::BusBeat& beat) {
  p.engine_write_i = beat.write;
  p.engine_read_i = beat.read;
  p.engine_write_offset_i = beat.write_offset;
  p.engine_read_offset_i = beat.read_offset;
  p.engine_write_data_i = beat.data;
}

// What is handed over on the DRAM bus in this cycle, when the memory shows `shown`; sets the memory's pins.
template <class V>
class TopDram {
 public:
  explicit TopDram(unsigned bus_bits) : bytes_(bus_bits / 8) {}
  // Valid until the next call.
  rtl::DramSocket::Moves operator()(V& p, const rtl::DramSocket::Shown& shown) {
    ar_ = {p.dram_ar_addr_o, p.dram_ar_beats_o, p.dram_ar_id_o};
    aw_ = {p.dram_aw_addr_o, p.dram_aw_beats_o, p.dram_aw_id_o};
    if (p.dram_w_valid_o) std::memcpy(data_.data(), &p.dram_w_data_o[0], sizeof p.dram_w_data_o);
    w_ = {data_.data(), p.dram_w_lanes_o, static_cast<bool>(p.dram_w_last_o)};
    p.dram_ar_ready_i = shown.ar_ready;
    p.dram_aw_ready_i = shown.aw_ready;
    p.dram_w_ready_i = shown.w_ready;
    p.dram_r_valid_i = shown.r_valid;
    p.dram_b_valid_i = shown.b_valid;
    p.dram_b_id_i = shown.b_id;
    if (shown.r_valid) {
      p.dram_r_id_i = shown.r_id;
      std::memcpy(&p.dram_r_data_i[0], shown.r_data, bytes_);
    }
    return {p.dram_ar_valid_o && shown.ar_ready ? &ar_ : nullptr,
            p.dram_aw_valid_o && shown.aw_ready ? &aw_ : nullptr,
            p.dram_w_valid_o && shown.w_ready ? &w_ : nullptr, p.dram_r_ready_o && shown.r_valid,
            p.dram_b_ready_o && shown.b_valid};
  }

 private:
  unsigned bytes_;
  rtl::DramSocket::Address ar_, aw_;
  rtl::DramSocket::Beat w_;
  alignas(8) std::array<std::uint64_t, 16> data_{};
};

}  // namespace ktpu::apps
