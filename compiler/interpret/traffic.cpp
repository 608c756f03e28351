// SPDX-License-Identifier: Apache-2.0
#include "compiler/interpret/traffic.h"

#include <algorithm>
#include <sstream>

#include "arch/error.h"
#include "arch/program/tensor_layout.h"

namespace ktpu::interpret {

namespace {

constexpr std::string_view kBuffersText = "buffers";

// Adds what earlier ranges leave of [begin, end).
void add_clipped(std::vector<BufferRange>& ranges, const BufferRange& range) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> left{{range.begin, range.end}};
  for (const BufferRange& taken : ranges) {
    if (taken.mesh != range.mesh) continue;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> next;
    for (const auto& [begin, end] : left) {
      if (taken.end <= begin || end <= taken.begin) {
        next.emplace_back(begin, end);
        continue;
      }
      if (begin < taken.begin) next.emplace_back(begin, taken.begin);
      if (taken.end < end) next.emplace_back(taken.end, end);
    }
    left = std::move(next);
  }
  for (const auto& [begin, end] : left)
    if (begin < end) ranges.push_back({range.name, range.mesh, begin, end});
}

BufferRange parse_line(const std::string& line, std::size_t number) {
  std::istringstream in(line);
  BufferRange range;
  std::string address, bytes, mesh = "0", rest;
  in >> range.name >> address >> bytes;
  if (std::string m; in >> m) mesh = m;
  try {
    std::size_t used_a = 0, used_b = 0, used_m = 0;
    range.begin = std::stoull(address, &used_a, 16);
    range.end = range.begin + std::stoull(bytes, &used_b, 10);
    range.mesh = static_cast<std::uint8_t>(std::stoul(mesh, &used_m, 10));
    if (used_a == address.size() && used_b == bytes.size() && used_m == mesh.size() && !(in >> rest))
      return range;
  } catch (const std::exception&) {
    // falls through to the message
  }
  throw arch::UserError::make("debug text \"buffers\", line {}: \"{}\" is not NAME ADDRESS BYTES [MESH]",
                              number, line);
}

void add_tensor(std::vector<BufferRange>& ranges, const arch::Tensor& tensor) {
  const unsigned bits = arch::dtype_bits(tensor.dtype);
  if (bits == 0) return;
  const arch::TensorLayout layout(tensor.layout, tensor.shape, bits / 8);
  add_clipped(ranges,
              {tensor.name, tensor.mesh, tensor.address, tensor.address + layout.elements() * bits / 8});
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 32)
      out += fmt::format("\\u{:04x}", c);
    else
      out += c;
  }
  return out + "\"";
}

std::string line_of(std::string_view name, const Bytes& b) {
  return fmt::format("  {:<32} {:>14} {:>14} {:>14}\n", name, b.read, b.written, b.sent);
}

}  // namespace

Bytes& Bytes::operator+=(const Bytes& other) {
  read += other.read;
  written += other.written;
  sent += other.sent;
  return *this;
}

std::vector<BufferRange> buffers_of(const arch::Program& program) {
  std::vector<BufferRange> ranges;
  for (const arch::DebugText& debug : program.debug) {
    if (debug.name != kBuffersText) continue;
    std::istringstream lines(debug.text);
    std::size_t number = 0;
    for (std::string line; std::getline(lines, line);) {
      ++number;
      if (line.find_first_not_of(" \t\r") != std::string::npos) add_clipped(ranges, parse_line(line, number));
    }
  }
  for (const arch::Tensor& tensor : program.inputs) add_tensor(ranges, tensor);
  for (const arch::Tensor& tensor : program.outputs) add_tensor(ranges, tensor);
  return ranges;
}

Traffic::Traffic(std::vector<BufferRange> buffers) : ranges_(std::move(buffers)) {
  std::sort(ranges_.begin(), ranges_.end(), [](const BufferRange& a, const BufferRange& b) {
    return std::pair(a.mesh, a.begin) < std::pair(b.mesh, b.begin);
  });
  for (const BufferRange& range : ranges_) names_.push_back(range.name);
  names_.emplace_back("units");
  names_.emplace_back("other");
}

void Traffic::begin_round(std::string name) { rounds_.push_back(std::move(name)); }

template <typename Count>
void Traffic::split(std::uint8_t mesh, arch::Coord unit, std::uint64_t address, std::uint64_t bytes,
                    Count&& count) {
  // The first range that ends behind `address`.
  auto range = std::partition_point(ranges_.begin(), ranges_.end(), [&](const BufferRange& r) {
    return r.mesh < mesh || (r.mesh == mesh && r.end <= address);
  });
  while (bytes != 0) {
    std::size_t buffer = names_.size() - 1;
    std::uint64_t part = bytes;
    if (range != ranges_.end() && range->mesh == mesh) {
      if (range->begin <= address) {
        buffer = static_cast<std::size_t>(range - ranges_.begin());
        part = std::min(bytes, range->end - address);
        if (address + part == range->end) ++range;
      } else {
        part = std::min(bytes, range->begin - address);
      }
    }
    count(rows_[{rounds_.size() - 1, mesh, unit, buffer}], part);
    address += part;
    bytes -= part;
  }
}

void Traffic::read(std::uint8_t mesh, arch::Coord unit, std::uint64_t address, std::uint64_t bytes) {
  split(mesh, unit, address, bytes, [](Bytes& b, std::uint64_t n) { b.read += n; });
}

void Traffic::write(std::uint8_t mesh, arch::Coord unit, std::uint64_t address, std::uint64_t bytes) {
  split(mesh, unit, address, bytes, [](Bytes& b, std::uint64_t n) { b.written += n; });
}

void Traffic::send(std::uint8_t mesh, arch::Coord unit, std::uint64_t bytes) {
  rows_[{rounds_.size() - 1, mesh, unit, names_.size() - 2}].sent += bytes;
}

Bytes Traffic::total() const {
  Bytes sum;
  for (const auto& [key, bytes] : rows_) sum += bytes;
  return sum;
}

std::string Traffic::table() const {
  std::map<std::size_t, Bytes> by_round;
  std::map<std::pair<unsigned, arch::Coord>, Bytes> by_unit;
  std::map<std::string, Bytes> by_buffer;
  for (const auto& [key, bytes] : rows_) {
    by_round[key.round] += bytes;
    by_unit[{key.mesh, key.unit}] += bytes;
    by_buffer[names_[key.buffer]] += bytes;
  }
  std::string out = fmt::format("  {:<32} {:>14} {:>14} {:>14}\n", "bytes", "read", "written", "sent");
  out += "round\n";
  for (const auto& [round, bytes] : by_round)
    out += line_of(fmt::format("{} {}", round, rounds_[round]), bytes);
  out += "unit\n";
  for (const auto& [unit, bytes] : by_unit)
    out += line_of(fmt::format("mesh {} ({},{})", unit.first, unit.second.x, unit.second.y), bytes);
  out += "buffer\n";
  for (const auto& [name, bytes] : by_buffer) out += line_of(name, bytes);
  return out + "all\n" + line_of("total", total());
}

std::string Traffic::json() const {
  std::string out = "{\"rows\": [";
  bool first = true;
  for (const auto& [key, b] : rows_) {
    out += fmt::format(
        "{}\n  {{\"round\": {}, \"mesh\": {}, \"unit\": [{}, {}], \"buffer\": {}, \"read\": {}, "
        "\"written\": {}, \"sent\": {}}}",
        first ? "" : ",", quoted(fmt::format("{} {}", key.round, rounds_[key.round])), key.mesh, key.unit.x,
        key.unit.y, quoted(names_[key.buffer]), b.read, b.written, b.sent);
    first = false;
  }
  const Bytes sum = total();
  return out + fmt::format("\n], \"total\": {{\"read\": {}, \"written\": {}, \"sent\": {}}}}}\n", sum.read,
                           sum.written, sum.sent);
}

}  // namespace ktpu::interpret
