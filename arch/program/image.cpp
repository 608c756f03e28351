// SPDX-License-Identifier: Apache-2.0
#include "arch/program/image.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "arch/error.h"
#include "arch/program/tensor_layout.h"
#include "arch/program/validate.h"

namespace ktpu::arch {
namespace {

constexpr std::uint64_t kPiece = 64 * 1024;

// The generator's recurrence, vectors/compiler/README.md "Inputs".
class Lcg {
 public:
  explicit Lcg(const ImageLcg& parameters) : p_(parameters), x_(parameters.seed) {}
  std::uint16_t next() {
    x_ = 1664525u * x_ + 1013904223u;
    double v =
        std::ldexp(static_cast<double>(static_cast<int>(x_ >> 20) - 2048), -static_cast<int>(p_.shift));
    if (p_.abs) v = std::fabs(v);
    return double_to_fp16(v + p_.offset);
  }

 private:
  const ImageLcg& p_;
  std::uint32_t x_;
};

void check_size(std::uint64_t bytes) {
  if (bytes > kMaxImageBytes)
    throw UserError::make("an image of {} bytes; at most {} are allowed", bytes, kMaxImageBytes);
}

std::vector<std::uint8_t> to_bytes(const std::vector<std::uint16_t>& values) {
  std::vector<std::uint8_t> bytes(values.size() * 2);
  for (std::size_t i = 0; i < values.size(); ++i) {
    bytes[2 * i] = static_cast<std::uint8_t>(values[i]);
    bytes[2 * i + 1] = static_cast<std::uint8_t>(values[i] >> 8);
  }
  return bytes;
}

}  // namespace

double fp16_to_double(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31, mantissa = bits & 1023;
  double value;
  if (exponent == 31) {
    value = mantissa == 0 ? HUGE_VAL : NAN;
  } else {
    value = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(mantissa + 1024, exponent - 25);
  }
  return (bits >> 15) != 0 ? -value : value;
}

std::uint16_t double_to_fp16(double value) {
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 48 & 0x8000);
  const double magnitude = std::fabs(value);
  if (std::isnan(value)) return sign | 0x7E00;
  if (magnitude >= 65520.0) return sign | 0x7C00;  // halfway to 2^16 rounds to infinity
  if (magnitude == 0) return sign;
  // Scaled so that one unit is the last place of the result; nearbyint rounds ties to even.
  const int exponent = std::max(std::ilogb(magnitude), -14);
  const auto units = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
  // A mantissa that rounds up to 2048 carries into the exponent by plain addition; subnormals have exponent
  // 0.
  const int biased = exponent + 15;
  return static_cast<std::uint16_t>(sign | (static_cast<std::uint32_t>(biased - 1) * 1024 + units));
}

std::vector<std::uint16_t> lcg_values(const ImageLcg& lcg) {
  std::vector<std::uint16_t> values(lcg.count);
  Lcg source(lcg);
  for (auto& v : values) v = source.next();
  return values;
}

std::uint64_t image_bytes(const ImageBytes& data) {
  const std::uint64_t bytes = data.size ? data.size : data.data.size();
  check_size(bytes);
  return bytes;
}

std::uint64_t image_bytes(const MemoryImage& image) {
  if (const auto* raw = std::get_if<ImageBytes>(&image.content)) return image_bytes(*raw);
  if (const auto* lcg = std::get_if<ImageLcg>(&image.content)) {
    check_size(lcg->count > kMaxImageBytes ? lcg->count : lcg->count * 2);
    return lcg->count * 2;
  }
  const auto& tensor = std::get<ImageTensor>(image.content);
  const TensorLayout layout(tensor.layout, tensor.shape);
  if (tensor.values.count != layout.values())
    throw UserError::make("the generator makes {} values, the shape has {}", tensor.values.count,
                          layout.values());
  return layout.elements() * 2;
}

void generate(const MemoryImage& image, const ImageSink& sink) {
  const std::uint64_t total = image_bytes(image);
  if (const auto* raw = std::get_if<ImageBytes>(&image.content)) {
    if (raw->data.size() >= total) {  // no repetition: straight from the file
      for (std::uint64_t at = 0; at < total; at += kPiece)
        sink(image.address + at, std::span(raw->data).subspan(at, std::min(kPiece, total - at)));
      return;
    }
    std::vector<std::uint8_t> piece(std::min(kPiece, total));
    for (std::uint64_t at = 0; at < total; at += piece.size()) {
      const std::uint64_t n = std::min<std::uint64_t>(piece.size(), total - at);
      if (!raw->data.empty()) {
        std::uint64_t phase = at % raw->data.size();
        for (std::uint64_t i = 0; i < n; ++i) {
          piece[i] = raw->data[phase];
          if (++phase == raw->data.size()) phase = 0;
        }
      }
      sink(image.address + at, std::span(piece).first(n));
    }
  } else if (const auto* lcg = std::get_if<ImageLcg>(&image.content)) {
    Lcg source(*lcg);
    std::vector<std::uint8_t> piece;
    for (std::uint64_t at = 0; at < total; at += piece.size()) {
      piece.resize(std::min(kPiece, total - at));
      for (std::size_t i = 0; i < piece.size(); i += 2) {
        const std::uint16_t v = source.next();
        piece[i] = static_cast<std::uint8_t>(v);
        piece[i + 1] = static_cast<std::uint8_t>(v >> 8);
      }
      sink(image.address + at, piece);
    }
  } else {
    const auto& tensor = std::get<ImageTensor>(image.content);
    sink(image.address, TensorLayout(tensor.layout, tensor.shape).pack(to_bytes(lcg_values(tensor.values))));
  }
}

std::vector<std::uint8_t> image_data(const MemoryImage& image) {
  std::vector<std::uint8_t> all;
  all.reserve(image_bytes(image));
  generate(image, [&](std::uint64_t, std::span<const std::uint8_t> b) {
    all.insert(all.end(), b.begin(), b.end());
  });
  return all;
}
std::vector<std::uint8_t> image_data(const ImageBytes& data) { return image_data(MemoryImage{0, data}); }

}  // namespace ktpu::arch
