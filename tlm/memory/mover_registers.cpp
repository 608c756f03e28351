// SPDX-License-Identifier: Apache-2.0
#include "tlm/memory/mover_registers.h"

namespace ktpu::memory {

namespace mover = arch::mover;

bool MoverRegisters::write(std::uint32_t offset, std::uint64_t data) {
  const auto field = [&data](const arch::Field& f) { return arch::get(&data, f); };
  switch (offset) {
    case mover::kControl:
      mode = static_cast<mover::Mode>(field(mover::control::kMode));
      width = static_cast<std::uint8_t>(field(mover::control::kWidth));
      coalesce = field(mover::control::kCoalesce) != 0;
      cap_code = static_cast<std::uint8_t>(field(mover::control::kCap));
      return field(mover::control::kGo) != 0;
    case mover::kBase:
      walker(field(mover::base::kWalker))
          .set_base(field(mover::base::kBase), static_cast<unsigned>(field(mover::base::kNdim)));
      break;
    case mover::kDimension:
      latched_dimension_ = data;
      break;
    case mover::kAxis: {
      const auto latched = [this](const arch::Field& f) { return arch::get(&latched_dimension_, f); };
      walker(latched(mover::dimension::kWalker))
          .set_dimension(static_cast<unsigned>(latched(mover::dimension::kDimension)),
                         static_cast<std::uint16_t>(latched(mover::dimension::kCount)),
                         static_cast<std::int32_t>(latched(mover::dimension::kStride)),
                         static_cast<unsigned>(field(mover::axis::kAxis)),
                         static_cast<std::int16_t>(field(mover::axis::kStep)));
      break;
    }
    case mover::kExtent:
      walker(field(mover::extent::kWalker))
          .set_extent(static_cast<unsigned>(field(mover::extent::kAxis)),
                      static_cast<std::int16_t>(field(mover::extent::kBase)),
                      static_cast<std::uint16_t>(field(mover::extent::kExtent)));
      break;
    case mover::kIndex:
      index_address = field(mover::index::kAddress);
      index_count = static_cast<std::uint16_t>(field(mover::index::kCount));
      break;
    case mover::kSeed:
      seed = data;
      break;
    case mover::kImmediate:
      immediate = static_cast<std::uint32_t>(data);
      break;
    case mover::kGatherRow:
      pitch = static_cast<std::uint32_t>(field(mover::gather::kPitch));
      row_words = static_cast<std::uint16_t>(field(mover::gather::kWords));
      break;
    default:
      break;
  }
  return false;
}

std::array<std::uint64_t, 4> MoverRegisters::fill_word() const {
  std::uint64_t element = immediate;
  if (width == 0) element = (element & 0xFF) * 0x0101010101010101;
  if (width == 1) element = (element & 0xFFFF) * 0x0001000100010001;
  if (width >= 2) element |= element << 32;
  return {element, element, element, element};
}

void MoverRegisters::visit(sim::Archive& archive) {
  archive.scope("source", [&] { source.visit(archive); });
  archive.scope("destination", [&] { destination.visit(archive); });
  archive.state("mode", mode, 3);
  archive.state("width", width, 2);
  archive.state("coalesce", coalesce, 1);
  archive.state("cap", cap_code, 3);
  archive.state("index_address", index_address, arch::address::kBits);
  archive.state("index_count", index_count);
  archive.state("seed", seed);
  archive.state("immediate", immediate);
  archive.state("pitch", pitch);
  archive.state("row_words", row_words);
  archive.state("latched_dimension", latched_dimension_);
}

}  // namespace ktpu::memory
