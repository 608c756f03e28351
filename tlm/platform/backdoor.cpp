// SPDX-License-Identifier: Apache-2.0
#include "arch/encoding/address_map.h"
#include "arch/error.h"
#include "arch/program/image.h"
#include "tlm/platform/runner.h"

namespace ktpu::platform {

namespace {

// Whether staging memory serves `address`.
bool is_staged(const MeshSystem& mesh, std::uint64_t address) {
  if (!memory::is_staged(address, mesh.description->id)) return false;
  if (mesh.memory_stand != nullptr) return mesh.memory_stand->has_staging();
  return mesh.memory_agent != nullptr && mesh.memory_agent->staging() != nullptr;
}

void require(const MeshSystem& mesh, std::uint64_t address, std::uint64_t bytes, const char* what) {
  if (mesh.memory == nullptr)
    throw arch::UserError::make("{} at 0x{:x}: the machine has no DRAM", what, address);
  if (arch::address::in_aperture(address)) {
    if (!is_staged(mesh, address))
      throw arch::UserError::make(
          "{} at 0x{:x}: nothing is behind aperture {:#x} of mesh {}. Staging memory is aperture 0 of the "
          "mesh's "
          "own addresses and needs meshes.{}.staging=built",
          what, address, arch::address::aperture(address), arch::address::mesh(address),
          mesh.description->id);
    const std::uint64_t offset = address & 0xFFFF'FFFF;
    if (offset + bytes > arch::address::kStagingBytes)
      throw arch::UserError::make("{} at 0x{:x}, {} bytes: past the {} MiB of the staging memory", what,
                                  address, bytes, arch::address::kStagingBytes >> 20);
    return;
  }
  if (mesh.memory->contains(address, bytes)) return;
  const memory::SparseMemoryConfig& c = mesh.memory->config();
  throw arch::UserError::make(
      "{} at 0x{:x}, {} bytes: outside the DRAM, which is 0x{:x}..0x{:x}. Change the address, or dram.base, "
      "dram.size_mib or dram.wrap of the topology",
      what, address, bytes, c.base, c.base + c.size - 1);
}

// Stores without a check. With a staging memory in every port, all of them get the bytes.
void put(MeshSystem& mesh, std::uint64_t address, std::span<const std::uint8_t> bytes) {
  if (!arch::address::in_aperture(address)) return mesh.memory->write(address, bytes);
  const std::size_t ports = mesh.memory_agent == nullptr ? 0 : mesh.description->ports.size();
  memory::SparseMemory* before = nullptr;
  for (unsigned p = 0; p < ports; ++p) {
    memory::SparseMemory* store = mesh.memory_agent->staging(p);
    if (store != before) store->write(address, bytes);
    before = store;
  }
  if (mesh.memory_stand != nullptr) mesh.memory_stand->staging_written(address, bytes);
}

}  // namespace

void load_image(MeshSystem& mesh, const arch::MemoryImage& image) {
  require(mesh, image.address, arch::image_bytes(image), "memory image");
  arch::generate(
      image, [&](std::uint64_t address, std::span<const std::uint8_t> bytes) { put(mesh, address, bytes); });
}

std::vector<std::uint8_t> read_memory(const MeshSystem& mesh, std::uint64_t address, std::uint64_t bytes) {
  require(mesh, address, bytes, "read");
  std::vector<std::uint8_t> out(bytes);
  if (!is_staged(mesh, address))
    mesh.memory->read(address, out);
  else if (mesh.memory_agent != nullptr)
    mesh.memory_agent->staging()->read(address, out);  // with one in every port: the first port's
  else
    mesh.memory_stand->staging_read(address, out);
  return out;
}

void write_memory(MeshSystem& mesh, std::uint64_t address, std::span<const std::uint8_t> bytes) {
  require(mesh, address, bytes.size(), "write");
  put(mesh, address, bytes);
}

std::uint64_t relayout(MeshSystem& mesh, const arch::StepRelayout& step) {
  std::int64_t highest = -1;
  std::uint64_t halfwords = 0;
  for (const arch::GatherRun& run : step.gather) {
    halfwords += static_cast<std::uint64_t>(run.count) * run.times;
    if (run.source < 0 || run.count == 0 || run.times == 0) continue;
    const std::int64_t reach =
        std::max<std::int64_t>(0, static_cast<std::int64_t>(run.step)) * (run.count - 1) +
        std::max<std::int64_t>(0, run.advance) * (run.times - 1);
    highest = std::max(highest, run.source + reach);
  }
  std::vector<std::uint8_t> source;
  if (highest >= 0) source = read_memory(mesh, step.address, 2 * (static_cast<std::uint64_t>(highest) + 1));
  std::vector<std::uint8_t> out;
  out.reserve(2 * halfwords);
  for (const arch::GatherRun& run : step.gather) {
    for (std::uint32_t t = 0; t < run.times; ++t) {
      for (std::uint32_t k = 0; k < run.count; ++k) {
        const std::int64_t from = run.source + run.advance * t + static_cast<std::int64_t>(run.step) * k;
        if (run.source < 0) {
          out.insert(out.end(), {0, 0});
          continue;
        }
        if (from < 0 || 2 * static_cast<std::uint64_t>(from) + 1 >= source.size())
          throw arch::UserError::make("relayout at 0x{:x}: source halfword {} is before the buffer",
                                      step.address, from);
        out.push_back(source[2 * static_cast<std::size_t>(from)]);
        out.push_back(source[2 * static_cast<std::size_t>(from) + 1]);
      }
    }
  }
  if (mesh.memory_agent != nullptr) {
    const sim::Cycle now = mesh.memory_agent->engine()->now();
    mesh.memory_agent->host_reads(now, step.address, source.size(), "a relayout");
    mesh.memory_agent->host_writes(now, step.address, out.size(), "a relayout");
  }
  write_memory(mesh, step.address, out);
  return out.size();
}

}  // namespace ktpu::platform
