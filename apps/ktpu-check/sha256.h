// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace ktpu::check {

// SHA-256 as 64 lower-case hex digits, as the recorded files give it.
std::string sha256_hex(std::span<const std::uint8_t> bytes);

}  // namespace ktpu::check
