// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/address.h"

#include "arch/encoding/address_map.h"
#include "arch/error.h"

namespace ktpu::schedule {

Address global_address(unsigned mesh, std::uint64_t local) {
  const auto& at = arch::address::kMesh;
  if (mesh >> at.width != 0)
    throw arch::UserError::make("mesh {} does not exist: an address names 0 to {}", mesh,
                                (1u << at.width) - 1);
  if (local != arch::address::local(local))
    throw arch::UserError::make("byte {:#x} is outside the memory of one mesh: it takes {} bits", local,
                                arch::address::kLocal.width);
  return {std::uint64_t{mesh} << at.lsb | local, 0};
}

}  // namespace ktpu::schedule
