// SPDX-License-Identifier: Apache-2.0
#include "apps/ktpu-check/sha256.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>

#include "arch/error.h"

namespace ktpu::check {

std::string sha256_hex(std::span<const std::uint8_t> bytes) {
  std::array<std::uint8_t, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  const int ok = EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr);
  KTPU_CHECK(ok == 1, "libcrypto cannot compute SHA-256");
  std::string text;
  for (unsigned i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

}  // namespace ktpu::check
