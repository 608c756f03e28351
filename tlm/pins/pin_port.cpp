// SPDX-License-Identifier: Apache-2.0
#include "tlm/pins/pin_port.h"

#include <bit>
#include <cstring>

namespace ktpu::pins {

namespace {
constexpr int kWords = arch::kFlitBits / 32;
static_assert(std::endian::native == std::endian::little, "flits are copied to and from words as bytes");
}  // namespace

FlitBits to_bits(const arch::Flit& flit) {
  FlitBits bits;
  for (int i = 0; i < kWords; ++i) {
    std::uint32_t word = 0;
    std::memcpy(&word, reinterpret_cast<const char*>(flit.w.data()) + 4 * i, sizeof word);
    bits.set_word(i, word);
  }
  return bits;
}

arch::Flit to_flit(const FlitBits& bits) {
  arch::Flit flit;
  for (int i = 0; i < kWords; ++i) {
    const std::uint32_t word = bits.get_word(i);
    std::memcpy(reinterpret_cast<char*>(flit.w.data()) + 4 * i, &word, sizeof word);
  }
  return flit;
}

PinPort::PinPort(const std::string& name)
    : in_data((name + "_in_data").c_str()),
      out_data((name + "_out_data").c_str()),
      in_valid((name + "_in_valid").c_str()),
      in_busy((name + "_in_busy").c_str()),
      out_valid((name + "_out_valid").c_str()),
      out_busy((name + "_out_busy").c_str()) {}

void PinPort::bind(sim::Unit& unit, sim::FlitPort links) {
  links_ = links;
  if (links_.in != nullptr) links_.in->bind_receiver(unit);
  if (links_.out != nullptr) links_.out->bind_sender(unit);
}

void PinPort::drive() {
  if (links_.in != nullptr) links_.in->set_busy(in_busy.read());
  if (links_.out == nullptr) return;
  if (out_valid.read())
    links_.out->offer(to_flit(out_data.read()));
  else if (links_.out->valid())
    links_.out->withdraw();
}

int PinPort::clock() {
  int taken = 0;
  const bool offers = offered();
  in_valid.write(offers);
  if (offers) {
    in_data.write(to_bits(links_.in->data()));
    taken += !links_.in->busy();
  }
  if (links_.out == nullptr) {
    lost_ += out_valid.read();
    return taken - out_valid.read();
  }
  if (out_valid.read() && links_.out->sample_sent()) --taken;
  out_busy.write(links_.out->busy());
  return taken;
}

}  // namespace ktpu::pins
