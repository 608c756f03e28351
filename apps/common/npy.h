// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy files, version 1.0 to 3.0, little endian, C order (the format is described in the NumPy
// manual).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ktpu::apps {

struct NpyArray {
  std::string descr;                 // "<f2", "|u1", ...
  std::vector<std::uint32_t> shape;  // empty: a scalar
  std::vector<std::uint8_t> data;    // row major

  std::size_t element_bytes() const;
  std::size_t size() const;  // elements
  // Element i as a number; floats and integers of 1 to 8 bytes.
  double number(std::size_t i) const;
};

// Both throw UserError with the file's name.
NpyArray read_npy(const std::string& path);
void write_npy(const std::string& path, const NpyArray& array);

}  // namespace ktpu::apps
