// SPDX-License-Identifier: Apache-2.0
// The members of MemoryTwinOf. A source file includes the header of a Verilated memory agent, then this, and
// instantiates the template; memory_twin.cpp does so for ktpu_memory.
#pragma once

#include <bit>
#include <cstring>

#include "arch/encoding/address_map.h"
#include "arch/encoding/interlink.h"
#include "arch/encoding/registers.h"
#include "arch/error.h"
#include "rtl_models/memory/memory_twin.h"
#include "rtl_models/twin.h"

namespace ktpu::rtl {

namespace detail {
// A flit on the pins: 288 bits, nine 32-bit words, the lowest first. Flit::w has the same bytes in the same
// order.
inline constexpr unsigned kMemoryFlitWords = arch::kFlitBits / 32;
inline constexpr unsigned kMemoryFlitBytes = arch::kFlitBits / 8;
inline constexpr unsigned kMemoryLaneBytes = arch::kPayloadBits / 8;
inline constexpr unsigned kMemoryBusWords = 1024 / 32;  // of the widest DRAM bus
// A beat of an interlink: the flit in the lower bits, the header in the upper ones.
inline constexpr unsigned kBeatWords = (arch::interlink::kBeatBits + arch::interlink::kHeaderBits) / 32;
inline constexpr unsigned kBeatHeaderBytes = arch::interlink::kHeaderBits / 8;
static_assert(std::endian::native == std::endian::little, "flits are copied to and from the pins as bytes");
}  // namespace detail

template <class V>
MemoryTwinOf<V>::MemoryTwinOf(std::string name, MemoryPlace place, typename DramOf<V>::Socket& dram)
    : MemoryRtl(std::move(name)),
      place_(std::move(place)),
      dram_(dram),
      twin_(std::make_unique<Twin<V>>(this->name())) {
  const auto refuse = [&](const std::string& what) {
    throw arch::UserError::make("{}: the RTL memory agent has no {}: choose impl model for it", this->name(),
                                what);
  };
  if (place_.reads_in_flight == 0 || place_.reads_in_flight > kMaxReads)
    refuse(fmt::format("{} reads in flight (reads_in_flight)", place_.reads_in_flight));
  if (place_.bus_bits != 256 && place_.bus_bits != 512 && place_.bus_bits != 1024)
    refuse(fmt::format("DRAM bus of {} bits", place_.bus_bits));
  if (place_.ports.empty() || place_.ports.size() > kMaxPorts)
    refuse(fmt::format("{} memory ports", place_.ports.size()));
}

template <class V>
MemoryTwinOf<V>::~MemoryTwinOf() = default;

template <class V>
void MemoryTwinOf<V>::bind_port(unsigned port, sim::FlitPort links) {
  KTPU_CHECK(port < place_.ports.size(), "memory port {} of {}", port, place_.ports.size());
  ports_[port] = links;
  links.in->bind_receiver(*this, &in_valid_, 1u << port);
  links.out->bind_sender(*this);
}

template <class V>
void MemoryTwinOf<V>::aux_write(sim::Cycle, std::uint32_t offset, std::uint64_t data) {
  KTPU_CHECK(writes_ < 2, "{}: {} register writes in a cycle", name(), writes_ + 1);
  if (offset > 0xFF) return;  // no register
  V& pins = twin_->pins();
  const unsigned w = writes_++;
  pins.register_valid_i = static_cast<std::uint8_t>(pins.register_valid_i | 1u << w);
  pins.register_offset_i =
      static_cast<std::uint16_t>((pins.register_offset_i & ~(0xFFu << 8 * w)) | offset << 8 * w);
  std::memcpy(&pins.register_data_i[2 * w], &data, sizeof data);
}

template <class V>
std::uint64_t MemoryTwinOf<V>::aux_stat() const {
  namespace field = arch::agent::aux_stat;
  const V& pins = twin_->pins();
  std::uint64_t word = 0;
  arch::set(&word, field::kMoves, pins.mover_moves_o);
  arch::set(&word, field::kReads, pins.read_count_o);
  arch::set(&word, field::kWrites, pins.write_count_o);
  arch::set(&word, field::kFault, pins.mover_fault_o);
  arch::set(&word, field::kBusy, pins.mover_busy_o);
  return word;
}

template <class V>
std::uint64_t MemoryTwinOf<V>::aux_status(unsigned word) const {
  V& pins = twin_->pins();
  pins.status_index_i = static_cast<std::uint8_t>(word & 15u);
  twin_->settle(0);
  std::uint64_t value;
  std::memcpy(&value, &pins.status_o[0], sizeof value);
  return value;
}

namespace detail {
// Whether the class has the staging memory where the project's own modules have it.
template <class V>
concept OwnStore = requires(V& v) {
  v.rootp->ktpu_memory__DOT__u_core__DOT__u_path__DOT__u_staging__DOT__mem;
}
|| requires(V& v) { v.rootp->ktpu_memory_core__DOT__u_path__DOT__u_staging__DOT__mem; };
}  // namespace detail

template <class V>
std::uint8_t* MemoryTwinOf<V>::staged_byte(std::uint64_t address, unsigned port) const {
  if constexpr (!detail::OwnStore<V>) {
    throw arch::UserError::make(
        "{}: the simulator cannot reach into the staging memory of a module of your own (address 0x{:x}, "
        "port {}), "
        "neither before a run nor after it: let the program fill it, or choose impl model",
        name(), address, port);
  } else {
    auto& root = *twin_->pins().rootp;
    const auto byte_in = [address](auto& words) {
      constexpr std::size_t kWords = sizeof words / arch::kWordBytes;
      auto* word = reinterpret_cast<std::uint8_t*>(&words[address / arch::kWordBytes % kWords][0]);
      return word + address % arch::kWordBytes;
    };
// A variable inside the core, which is the top or a part of it.
#define KTPU_OF_CORE(path)                               \
  [&]() -> auto& {                                       \
    if constexpr (kOneClock)                             \
      return root.ktpu_memory__DOT__u_core__DOT__##path; \
    else                                                 \
      return root.ktpu_memory_core__DOT__##path;         \
  }                                                      \
  ()
#define KTPU_OF_PORT(p) KTPU_OF_CORE(gen_port__BRA__##p##__KET____DOT__u_port__DOT__u_store__DOT__mem)
    if (place_.staging != MemoryPlace::Staging::kPort)
      return byte_in(KTPU_OF_CORE(u_path__DOT__u_staging__DOT__mem));
    switch (port) {
      case 0:
        return byte_in(KTPU_OF_PORT(0));
      case 1:
        return byte_in(KTPU_OF_PORT(1));
      case 2:
        return byte_in(KTPU_OF_PORT(2));
      default:
        return byte_in(KTPU_OF_PORT(3));
    }
  }
#undef KTPU_OF_PORT
#undef KTPU_OF_CORE
}

template <class V>
void MemoryTwinOf<V>::store(std::uint64_t address, std::span<const std::uint8_t> bytes) {
  const auto stores =
      place_.staging == MemoryPlace::Staging::kPort ? static_cast<unsigned>(place_.ports.size()) : 1;
  for (const std::uint8_t byte : bytes) {
    for (unsigned p = 0; p < stores; ++p) *staged_byte(address, p) = byte;
    ++address;
  }
}

template <class V>
void MemoryTwinOf<V>::load(std::uint64_t address, std::span<std::uint8_t> bytes) const {
  for (std::uint8_t& byte : bytes) byte = *staged_byte(address++, 0);
}

template <class V>
bool MemoryTwinOf<V>::resting() const {
  return twin_->pins().resting_o && in_valid_ == 0 && dram_.resting() &&
         (client_ == nullptr || client_->resting());
}

template <class V>
void MemoryTwinOf<V>::reset(sim::Cycle start) {
  V& pins = twin_->pins();
  const auto count = static_cast<unsigned>(place_.ports.size());
  const auto lanes_log2 = static_cast<unsigned>(std::countr_zero(place_.bus_bits / arch::kPayloadBits));
  unsigned links = 0;
  if (interlink_ != nullptr)
    for (unsigned l = 0; l < arch::interlink::kLinks; ++l) links |= unsigned{interlink_->connected(l)} << l;
  // config_t, from its lowest field on.
  std::uint32_t config = 0;
  unsigned at = 0;
  const auto field = [&](unsigned value, unsigned bits) {
    config |= value << at;
    at += bits;
  };
  field(place_.quirks, 1);
  field(client_ != nullptr, 1);
  field(static_cast<unsigned>(place_.staging), 2);
  field(place_.mesh_id & 3u, 2);
  field(lanes_log2, 2);
  field(count, 3);
  field(place_.interlink || place_.interlink_idle, 1);
  field(place_.interlink, 1);
  field(links, 2);
  field(place_.reads_in_flight, 7);
  pins.config_i = config;
  pins.at_i = 0;
  for (unsigned p = 0; p < count; ++p)
    pins.at_i |= static_cast<std::uint32_t>((place_.ports[p].x & 15u) << 4 | (place_.ports[p].y & 15u))
                 << 8 * p;
  pins.in_valid_i = 0;
  pins.out_busy_i = 0;
  pins.client_valid_i = 0;
  pins.client_ready_i = 0;
  pins.register_valid_i = 0;
  pins.link_valid_i = 0;
  pins.window_aw_valid_i = pins.window_ar_valid_i = pins.window_w_valid_i = 0;
  pins.window_r_busy_i = pins.window_b_busy_i = 0;
  writes_ = 0;
  pins.r_valid_i = pins.b_valid_i = 0;
  if constexpr (kOneClock)
    pins.ar_ready_i = pins.aw_ready_i = pins.w_ready_i = 0;
  else
    pins.ar_full_i = pins.aw_full_i = pins.w_full_i = 0;
  dram_.reset(start);
  if (client_ != nullptr) client_->reset(start);
  twin_->reset(start);
}

template <class V>
void MemoryTwinOf<V>::drive(sim::Cycle now) {
  V& pins = twin_->pins();
  if (client_ != nullptr) {
    client_->drive(now);
    const arch::Flit* flit = client_->out();
    pins.client_valid_i = flit != nullptr;
    if (flit != nullptr) std::memcpy(&pins.client_data_i[0], flit->w.data(), detail::kMemoryFlitBytes);
    twin_->settle(now);
  }
  if (window_ != nullptr) window_->drive(window_outputs());
  if (interlink_ != nullptr) drive_links();
  for (unsigned p = 0; p < place_.ports.size(); ++p) {
    sim::FlitLink* link = ports_[p].out;
    if (pins.out_valid_o >> p & 1) {
      // A refused flit is offered again: if a wrong module changes it meanwhile, the link is to show that.
      arch::Flit flit;
      std::memcpy(flit.w.data(), &pins.out_data_o[p * detail::kMemoryFlitWords], detail::kMemoryFlitBytes);
      link->offer(flit);
    } else if (link->valid()) {
      link->withdraw();
    }
  }
}

template <class V>
void MemoryTwinOf<V>::drive_links() {
  const V& pins = twin_->pins();
  InterlinkSocket::Beat beat;
  for (unsigned l = 0; l < arch::interlink::kLinks; ++l) {
    if (!interlink_->connected(l)) continue;
    const bool valid = pins.link_valid_o >> l & 1;
    if (valid) {
      const auto* words = &pins.link_data_o[l * detail::kBeatWords];
      std::memcpy(beat.data.w.data(), words, detail::kMemoryFlitBytes);
      std::memcpy(beat.header.data(), words + detail::kMemoryFlitWords, detail::kBeatHeaderBytes);
    }
    interlink_->drive(l, valid ? &beat : nullptr);
  }
}

template <class V>
void MemoryTwinOf<V>::clock_links() {
  V& pins = twin_->pins();
  pins.link_valid_i = 0;
  for (unsigned l = 0; l < arch::interlink::kLinks; ++l) {
    const InterlinkSocket::Beat* beat = interlink_->connected(l) ? interlink_->clock(l) : nullptr;
    if (beat == nullptr) continue;
    pins.link_valid_i = static_cast<std::uint8_t>(pins.link_valid_i | 1u << l);
    auto* words = &pins.link_data_i[l * detail::kBeatWords];
    std::memcpy(words, beat->data.w.data(), detail::kMemoryFlitBytes);
    std::memcpy(words + detail::kMemoryFlitWords, beat->header.data(), detail::kBeatHeaderBytes);
  }
}

template <class V>
void MemoryTwinOf<V>::show_inputs() {
  V& pins = twin_->pins();
  pins.in_valid_i = static_cast<std::uint8_t>(in_valid_);
  for (std::uint32_t bits = in_valid_; bits != 0; bits &= bits - 1) {
    const unsigned p = static_cast<unsigned>(std::countr_zero(bits));
    std::memcpy(&pins.in_data_i[p * detail::kMemoryFlitWords], ports_[p].in->data().w.data(),
                detail::kMemoryFlitBytes);
  }
}

// busy depends on the kind of the offered flit (memory.md section 2).
template <class V>
bool MemoryTwinOf<V>::settle(sim::Cycle now) {
  show_inputs();
  twin_->settle(now);
  const V& pins = twin_->pins();
  bool changed = false;
  for (unsigned p = 0; p < place_.ports.size(); ++p)
    changed |= ports_[p].in->set_busy(pins.in_busy_o >> p & 1);
  return changed;
}

template <class V>
std::vector<const sim::LinkBase*> MemoryTwinOf<V>::settle_reads() const {
  std::vector<const sim::LinkBase*> links;
  for (unsigned p = 0; p < place_.ports.size(); ++p) links.push_back(ports_[p].in);
  return links;
}

template <class V>
WindowSocket::Outputs MemoryTwinOf<V>::window_outputs() const {
  const V& pins = twin_->pins();
  WindowSocket::Outputs out;
  out.aw_busy = pins.window_aw_busy_o;
  out.ar_busy = pins.window_ar_busy_o;
  out.w_busy = pins.window_w_busy_o;
  out.r_valid = pins.window_r_valid_o;
  out.r_last = pins.window_r_last_o;
  out.b_valid = pins.window_b_valid_o;
  std::memcpy(out.r.data(), &pins.window_r_data_o[0], sizeof out.r);
  return out;
}

template <class V>
void MemoryTwinOf<V>::clock_window(sim::Cycle now) {
  V& pins = twin_->pins();
  const WindowSocket::Inputs in = window_->clock(now, window_outputs());
  pins.window_aw_valid_i = in.aw.valid;
  pins.window_aw_addr_i = in.aw.addr & arch::address::kMask;
  pins.window_aw_beats_i = static_cast<std::uint16_t>(in.aw.beats & 0x1FFu);
  pins.window_ar_valid_i = in.ar.valid;
  pins.window_ar_addr_i = in.ar.addr & arch::address::kMask;
  pins.window_ar_beats_i = static_cast<std::uint16_t>(in.ar.beats & 0x1FFu);
  pins.window_w_valid_i = in.w != nullptr;
  if (in.w != nullptr) std::memcpy(&pins.window_w_data_i[0], in.w, arch::kWordBytes);
  pins.window_r_busy_i = in.r_busy;
  pins.window_b_busy_i = in.b_busy;
}

template <class V>
auto MemoryTwinOf<V>::show_dram(sim::Cycle now) {
  V& pins = twin_->pins();
  const auto shown = dram_.shown(now);
  pins.b_valid_i = shown.b_valid;
  pins.b_id_i = shown.b_id;
  pins.r_id_i = shown.r_id;
  if constexpr (kOneClock) {
    pins.ar_ready_i = shown.ar_ready;
    pins.aw_ready_i = shown.aw_ready;
    pins.w_ready_i = shown.w_ready;
    pins.r_valid_i = shown.r_valid;
    if (shown.r_valid) std::memcpy(&pins.r_data_i[0], shown.r_data, place_.bus_bits / 8);
  } else {
    pins.ar_full_i = shown.ar_full;
    pins.aw_full_i = shown.aw_full;
    pins.w_full_i = shown.w_full;
    std::uint32_t heads = 0;
    for (unsigned f = 0; f < shown.r.size(); ++f) {
      if (shown.r[f] == nullptr) continue;
      const unsigned slot = slot_of(f);
      heads |= 1u << slot;
      std::memcpy(&pins.r_data_i[slot * detail::kMemoryBusWords], shown.r[f], place_.bus_bits / 8);
    }
    pins.r_valid_i = static_cast<std::uint8_t>(heads);
  }
  return shown;
}

template <class V>
template <class Shown>
void MemoryTwinOf<V>::clock_dram(sim::Cycle now, const Shown& shown) {
  const V& pins = twin_->pins();
  alignas(8) std::uint64_t data[16];
  if constexpr (kOneClock) {
    const DramSocket::Address ar{pins.ar_addr_o, pins.ar_beats_o, pins.ar_id_o};
    const DramSocket::Address aw{pins.aw_addr_o, pins.aw_beats_o, pins.aw_id_o};
    std::memcpy(data, &pins.w_data_o[0], sizeof data);
    const DramSocket::Beat w{data, pins.w_lanes_o, static_cast<bool>(pins.w_last_o)};
    dram_.clock(now, {pins.ar_valid_o && shown.ar_ready ? &ar : nullptr,
                      pins.aw_valid_o && shown.aw_ready ? &aw : nullptr,
                      pins.w_valid_o && shown.w_ready ? &w : nullptr, pins.r_ready_o && shown.r_valid,
                      pins.b_ready_o && shown.b_valid});
  } else {
    // burst_t is {addr, beats, id}, write_beat_t {data, lanes, last}.
    const auto address = [](std::uint64_t burst) {
      return DramSocket::Address{burst >> 12 & arch::address::kMask,
                                 static_cast<std::uint32_t>(burst >> 3 & 0x1FF),
                                 static_cast<std::uint8_t>(burst & 7)};
    };
    const DramSocket::Address ar = address(pins.ar_o), aw = address(pins.aw_o);
    const std::uint32_t low = pins.w_o[0];
    if (pins.w_push_o)
      for (unsigned n = 0; n < 16; ++n) {
        const auto word = [&](unsigned k) { return std::uint64_t{pins.w_o[k]}; };
        data[n] = (word(2 * n) | word(2 * n + 1) << 32) >> 5 | word(2 * n + 2) << 59;
      }
    const DramSocket::Beat w{data, low >> 1 & 15u, (low & 1u) != 0};
    std::uint32_t popped = 0;
    for (unsigned f = 0; f < shown.r.size(); ++f) popped |= (pins.r_pop_o >> slot_of(f) & 1u) << f;
    dram_.clock(now, {pins.ar_push_o ? &ar : nullptr, pins.aw_push_o ? &aw : nullptr,
                      pins.w_push_o ? &w : nullptr, popped});
  }
}

template <class V>
sim::Cycle MemoryTwinOf<V>::clock(sim::Cycle now) {
  V& pins = twin_->pins();
  show_inputs();
  if (window_ != nullptr) clock_window(now);
  if (interlink_ != nullptr) clock_links();
  std::uint32_t busy = 0;
  for (unsigned p = 0; p < place_.ports.size(); ++p) {
    sim::FlitLink* link = ports_[p].out;
    if (link->valid() && link->sample_sent()) ++traffic_[p].out[link->data().type_code()];
    if (const sim::FlitLink* in = ports_[p].in; in->transfers()) ++traffic_[p].in[in->data().type_code()];
    busy |= static_cast<std::uint32_t>(link->busy()) << p;
  }
  pins.out_busy_i = static_cast<std::uint8_t>(busy);
  const auto shown = show_dram(now);
  twin_->settle(now);

  if (client_ != nullptr) {
    pins.client_ready_i = 0;
    if (pins.client_valid_o) {
      arch::Flit flit;
      std::memcpy(flit.w.data(), &pins.client_data_o[0], detail::kMemoryFlitBytes);
      pins.client_ready_i = client_->offer(now, flit);
      lost_ += !pins.client_ready_i;
    }
    client_->clock(now, pins.client_taken_o);
    for (const ClientSocket::RegisterWrite& write : client_->writes(now))
      aux_write(now, write.offset, write.data);
  }

  clock_dram(now, shown);
  twin_->clock(now);
  pins.register_valid_i = 0;
  writes_ = 0;
  return now + 1;
}

template <class V>
std::vector<sim::Wait> MemoryTwinOf<V>::waits(sim::Cycle now) const {
  std::vector<sim::Wait> waits;
  for (unsigned p = 0; p < place_.ports.size(); ++p) {
    const sim::FlitLink* out = ports_[p].out;
    if (!out->valid() || !out->busy()) continue;
    waits.push_back(
        {.what = fmt::format("port {} at ({},{}): its {} flit for ({},{}) to be taken", p, place_.ports[p].x,
                             place_.ports[p].y, arch::flit_type_name(out->data().type_code()),
                             out->data().dst_x(), out->data().dst_y()),
         .part = "output",
         .kind = "output",
         .over = out});
  }
  for (sim::Wait& wait : dram_.waits(now)) waits.push_back(std::move(wait));
  if (client_ != nullptr)
    for (sim::Wait& wait : client_->waits(now)) waits.push_back(std::move(wait));
  return waits;
}

template <class V>
void MemoryTwinOf<V>::sync(sim::Cycle now) {
  if (client_ != nullptr) client_->sync(now);
}

template <class V>
void MemoryTwinOf<V>::open_waves(const std::string& path) {
  twin_->open_waves(path);
}

template <class V>
void MemoryTwinOf<V>::visit(sim::Archive& archive) {
  archive.unreachable("state inside the RTL twin");
  for (unsigned p = 0; p < place_.ports.size(); ++p) {
    archive.scope(fmt::format("port{}", p), [&] {
      for (unsigned type = 0; type < 16; ++type) {
        const auto kind = arch::flit_type_name(type);
        archive.counter(fmt::format("flits_in.{}", kind), traffic_[p].in[type], "flits",
                        "flits of this type accepted from the mesh");
        archive.counter(fmt::format("flits_out.{}", kind), traffic_[p].out[type], "flits",
                        "flits of this type sent into the mesh, the control agent's included");
      }
    });
  }
  archive.counter("lost", lost_, "flits",
                  "flits accepted for the control agent and dropped because it was full");
  dram_.visit(archive);
  if (client_ != nullptr) archive.scope("agent", [&] { client_->visit(archive); });
}

}  // namespace ktpu::rtl
