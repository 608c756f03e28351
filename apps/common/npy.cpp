// SPDX-License-Identifier: Apache-2.0
#include "apps/common/npy.h"

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

#include "apps/common/whole_file.h"
#include "arch/error.h"
#include "arch/program/image.h"
#include "arch/program/validate.h"

namespace ktpu::apps {

namespace {

constexpr char kMagic[] = "\x93NUMPY";
constexpr std::size_t kMagicBytes = 6;
constexpr std::size_t kAlign = 64;  // the data starts at a multiple of this

template <typename T>
T load(const std::uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

[[noreturn]] void bad(const std::string& path, const std::string& why) {
  throw arch::UserError::make("{}: not a usable .npy file: {}", path, why);
}

}  // namespace

std::size_t NpyArray::element_bytes() const { return static_cast<std::size_t>(std::stoul(descr.substr(2))); }

std::size_t NpyArray::size() const {
  std::size_t n = 1;
  for (const std::uint32_t d : shape) n *= d;
  return n;
}

double NpyArray::number(std::size_t i) const {
  const std::uint8_t* p = data.data() + i * element_bytes();
  const std::string type = descr.substr(1);
  if (type == "f2") return arch::fp16_to_double(load<std::uint16_t>(p));
  if (type == "f4") return load<float>(p);
  if (type == "f8") return load<double>(p);
  if (type == "u1" || type == "b1") return *p;
  if (type == "u2") return load<std::uint16_t>(p);
  if (type == "u4") return load<std::uint32_t>(p);
  if (type == "u8") return static_cast<double>(load<std::uint64_t>(p));
  if (type == "i1") return load<std::int8_t>(p);
  if (type == "i2") return load<std::int16_t>(p);
  if (type == "i4") return load<std::int32_t>(p);
  return static_cast<double>(load<std::int64_t>(p));
}

NpyArray read_npy(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (std::filesystem::is_directory(path)) throw arch::UserError::make("{}: is a folder, not a file", path);
  if (!file) throw arch::UserError::make("{}: cannot be opened", path);
  const std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.size() < kMagicBytes + 6 || std::memcmp(bytes.data(), kMagic, kMagicBytes) != 0)
    bad(path, "it does not begin with the NumPy mark");
  const unsigned major = bytes[kMagicBytes];
  if (major < 1 || major > 3) bad(path, fmt::format("version {} is unknown", major));
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  std::size_t begin = kMagicBytes + 2 + length_bytes;
  const std::size_t length = major == 1 ? load<std::uint16_t>(&bytes[kMagicBytes + 2])
                                        : load<std::uint32_t>(&bytes[kMagicBytes + 2]);
  if (begin + length > bytes.size()) bad(path, "its header is cut off");
  const std::string header(bytes.begin() + static_cast<std::ptrdiff_t>(begin),
                           bytes.begin() + static_cast<std::ptrdiff_t>(begin + length));
  begin += length;

  NpyArray array;
  std::smatch match;
  static const std::regex kDescr(R"('descr'\s*:\s*'([^']*)')");
  static const std::regex kOrder(R"('fortran_order'\s*:\s*(True|False))");
  static const std::regex kShape(R"('shape'\s*:\s*\(([0-9,\sL]*)\))");
  static const std::regex kType(R"([<|=](f[248]|[ui][1248]|b1))");
  if (!std::regex_search(header, match, kDescr)) bad(path, "its header has no 'descr'");
  array.descr = match[1];
  if (!std::regex_match(array.descr, kType))
    bad(path,
        fmt::format("element type '{}' is not supported; use little-endian floats or integers", array.descr));
  if (!std::regex_search(header, match, kOrder)) bad(path, "its header has no 'fortran_order'");
  if (match[1] == "True") bad(path, "it is in Fortran order; save numpy.ascontiguousarray(x)");
  if (!std::regex_search(header, match, kShape)) bad(path, "its header has no 'shape'");
  const std::string dims = match[1];
  static const std::regex kNumber("[0-9]+");
  std::uint64_t elements = 1;
  for (auto it = std::sregex_iterator(dims.begin(), dims.end(), kNumber); it != std::sregex_iterator();
       ++it) {
    if (it->str().size() > 9) bad(path, fmt::format("dimension {} is too large", it->str()));
    array.shape.push_back(static_cast<std::uint32_t>(std::stoul(it->str())));
    elements *= array.shape.back();
    if (elements > arch::kMaxImageBytes) bad(path, "it is too large");
  }
  if (begin + elements * array.element_bytes() != bytes.size())
    bad(path, fmt::format("{} bytes of data where the shape asks for {}", bytes.size() - begin,
                          elements * array.element_bytes()));
  array.data.assign(bytes.begin() + static_cast<std::ptrdiff_t>(begin), bytes.end());
  return array;
}

void write_npy(const std::string& path, const NpyArray& array) {
  std::string shape;
  for (const std::uint32_t d : array.shape) shape += fmt::format("{}, ", d);
  if (array.shape.size() > 1) shape.resize(shape.size() - 2);
  if (array.shape.size() == 1) shape.resize(shape.size() - 1);
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", array.descr, shape);
  const std::size_t fixed = kMagicBytes + 4;
  header.append((kAlign - (fixed + header.size() + 1) % kAlign) % kAlign, ' ');
  header += '\n';
  std::string out(kMagic, kMagicBytes);
  out += '\x01';
  out += '\x00';
  out += static_cast<char>(header.size() & 255);
  out += static_cast<char>(header.size() >> 8);
  out += header;
  out.append(reinterpret_cast<const char*>(array.data.data()), array.data.size());
  write_whole(path, out);
}

}  // namespace ktpu::apps
