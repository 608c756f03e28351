// SPDX-License-Identifier: Apache-2.0
// Bytes of memory images.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "arch/program/program.h"

namespace ktpu::arch {

// Bytes the content takes in memory. Throws UserError when a size is out of bounds or a layout is unknown.
std::uint64_t image_bytes(const ImageBytes& data);
std::uint64_t image_bytes(const MemoryImage& image);

// Calls sink(address, bytes) for consecutive pieces of at most 64 KiB (a tensor in a layout comes in one
// piece).
using ImageSink = std::function<void(std::uint64_t address, std::span<const std::uint8_t> bytes)>;
void generate(const MemoryImage& image, const ImageSink& sink);
std::vector<std::uint8_t> image_data(const ImageBytes& data);
std::vector<std::uint8_t> image_data(const MemoryImage& image);

// Values of the generator as FP16 bit patterns, in order.
std::vector<std::uint16_t> lcg_values(const ImageLcg& lcg);

// Nearest FP16 to a double, ties to even; overflow gives infinity.
std::uint16_t double_to_fp16(double value);
double fp16_to_double(std::uint16_t bits);

}  // namespace ktpu::arch
