// SPDX-License-Identifier: Apache-2.0
#include "tlm/observe/vcd_writer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>

#include "arch/error.h"

namespace ktpu::observe {
namespace {

constexpr std::size_t kFlushBytes = 1u << 20;
constexpr unsigned kMaxWidth = 256;
__extension__ typedef unsigned __int128 Wide;  // a cycle number times 10^12 needs more than 64 bits

struct Scope {
  std::string name;
  std::vector<std::size_t> signals;
  std::vector<std::unique_ptr<Scope>> scopes;  // in order of appearance
  std::map<std::string, Scope*, std::less<>> by_name;

  Scope& child(std::string_view child_name) {
    const auto it = by_name.find(child_name);
    if (it != by_name.end()) return *it->second;
    scopes.push_back(std::make_unique<Scope>());
    scopes.back()->name = child_name;
    by_name.emplace(child_name, scopes.back().get());
    return *scopes.back();
  }
};

std::string_view last_part(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? path : path.substr(dot + 1);
}

}  // namespace

TimeBase::TimeBase(double mhz, bool picoseconds) {
  if (!(mhz > 0 && mhz <= 1e6))
    throw arch::UserError::make(
        "a clock of {} MHz cannot be put into a wave file; it must be above 0 and at most "
        "1000000 MHz",
        mhz);
  hertz_ = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::llround(mhz * 1e6)));
  const bool whole_ns = !picoseconds && 1'000'000'000 % hertz_ == 0;
  per_second_ = whole_ns ? 1'000'000'000 : 1'000'000'000'000;
  unit_ = whole_ns ? "1 ns" : "1 ps";
}

std::uint64_t TimeBase::time(std::uint64_t cycle) const {
  return static_cast<std::uint64_t>(static_cast<Wide>(cycle) * per_second_ / hertz_);
}

VcdWriter::VcdWriter(const std::string& path, std::uint64_t max_bytes)
    : path_(path), file_(std::fopen(path.c_str(), "wb"), &std::fclose), max_bytes_(max_bytes) {
  if (!file_)
    throw arch::UserError::make(
        "{}: the wave file cannot be written; does the folder exist, and may you write there?", path);
}

VcdWriter::~VcdWriter() {
  // A run that ended by an exception still leaves what it has: that is when waves are wanted most.
  if (file_ && !truncated_) {
    buffer_.resize(std::min<std::size_t>(buffer_.size(), max_bytes_ - std::min(bytes_, max_bytes_)));
    flush();
  }
}

void VcdWriter::header(std::span<const Signal> signals, const TimeBase& time_base, std::string_view comment) {
  buffer_ += "$version ktpu-sim $end\n";
  if (!comment.empty()) buffer_ += fmt::format("$comment {} $end\n", comment);
  buffer_ += fmt::format("$timescale {} $end\n", time_base.unit());

  Scope root;
  for (std::size_t i = 0; i < signals.size(); ++i) {
    KTPU_CHECK(signals[i].width >= 1 && signals[i].width <= kMaxWidth, "signal {} of {} bits",
               signals[i].path, signals[i].width);
    Id id{};
    for (std::size_t rest = i;; rest = rest / 94 - 1) {  // printable characters from '!' on
      id.text[id.length++] = static_cast<char>('!' + rest % 94);
      if (rest < 94) break;
    }
    id.width = static_cast<std::uint16_t>(signals[i].width);
    ids_.push_back(id);
    Scope* scope = &root;
    std::string_view rest = signals[i].path;
    for (std::size_t dot = rest.find('.'); dot != std::string_view::npos; dot = rest.find('.')) {
      scope = &scope->child(rest.substr(0, dot));
      rest.remove_prefix(dot + 1);
    }
    scope->signals.push_back(i);
  }
  const auto write_scope = [&](const auto& self, const Scope& scope) -> void {
    for (const std::size_t i : scope.signals)
      buffer_ +=
          fmt::format("$var {} {} {} {} $end\n", signals[i].is_register ? "reg" : "wire", signals[i].width,
                      std::string_view(ids_[i].text, ids_[i].length), last_part(signals[i].path));
    for (const auto& child : scope.scopes) {
      buffer_ += fmt::format("$scope module {} $end\n", child->name);
      self(self, *child);
      buffer_ += "$upscope $end\n";
    }
  };
  write_scope(write_scope, root);
  buffer_ += "$enddefinitions $end\n";
  if (buffer_.size() > max_bytes_)
    throw arch::UserError::make(
        "{}: the names of {} signals alone take {} bytes, the size limit of waves is {}; "
        "choose a smaller scope or a higher limit",
        path_, signals.size(), buffer_.size(), max_bytes_);
  commit();
}

// Decides about the time written last: in, or out with everything after it.
void VcdWriter::commit() {
  if (truncated_) return;
  if (bytes() > max_bytes_) {
    buffer_.resize(mark_);
    truncated_ = true;
    flush();
    return;
  }
  if (buffer_.size() >= kFlushBytes) flush();
  mark_ = buffer_.size();
}

void VcdWriter::flush() {
  if (std::fwrite(buffer_.data(), 1, buffer_.size(), file_.get()) != buffer_.size()) failed_ = true;
  bytes_ += buffer_.size();
  buffer_.clear();
}

bool VcdWriter::time(std::uint64_t time) {
  if (truncated_) return false;
  if (any_time_ && time == last_time_) return true;
  KTPU_CHECK(!any_time_ || time > last_time_, "wave time {} after {}", time, last_time_);
  commit();
  if (truncated_) return false;
  char text[24];
  const auto end = fmt::format_to(text, "#{}\n", time);
  buffer_.append(text, static_cast<std::size_t>(end - text));
  last_time_ = time;
  any_time_ = true;
  return true;
}

void VcdWriter::put_vector(const std::uint64_t* words, unsigned width) {
  char text[kMaxWidth + 1];
  char* at = text;
  *at++ = 'b';
  unsigned word = (width - 1) / 64;
  while (word > 0 && words[word] == 0) --word;  // leading zeros are implied (section 18.2.1)
  const unsigned top_bits = words[word] == 0 ? 1 : static_cast<unsigned>(std::bit_width(words[word]));
  for (unsigned bit = top_bits; bit-- > 0;) *at++ = static_cast<char>('0' + ((words[word] >> bit) & 1));
  while (word-- > 0)
    for (unsigned bit = 64; bit-- > 0;) *at++ = static_cast<char>('0' + ((words[word] >> bit) & 1));
  buffer_.append(text, static_cast<std::size_t>(at - text));
}

void VcdWriter::change(std::size_t signal, std::span<const std::uint64_t> words) {
  if (truncated_) return;
  const Id& id = ids_[signal];
  if (id.width == 1) {
    buffer_ += static_cast<char>('0' + (words[0] & 1));
  } else {
    put_vector(words.data(), id.width);
    buffer_ += ' ';
  }
  buffer_.append(id.text, id.length);
  buffer_ += '\n';
}

void VcdWriter::unknown(std::size_t signal) {
  if (truncated_) return;
  const Id& id = ids_[signal];
  buffer_ += id.width == 1 ? "x" : "bx ";
  buffer_.append(id.text, id.length);
  buffer_ += '\n';
}

void VcdWriter::begin_dump() {
  if (!truncated_) buffer_ += "$dumpvars\n";
}
void VcdWriter::end_dump() {
  if (!truncated_) buffer_ += "$end\n";
}

void VcdWriter::close(std::uint64_t time) {
  if (!file_) return;
  commit();
  if (!truncated_ && (!any_time_ || time > last_time_)) {
    buffer_ += fmt::format("#{}\n", time);
    commit();
  }
  flush();
  const bool bad = std::fclose(file_.release()) != 0;
  if (failed_ || bad)
    throw arch::UserError::make("{}: only a part of the waves could be written; is the disk full?", path_);
}

std::uint64_t VcdWriter::worst_bytes_per_cycle(std::span<const Signal> signals) {
  std::uint64_t bytes = 22;  // '#', 20 digits, newline
  std::size_t id_length = 1;
  for (std::size_t count = signals.size(); count > 94; count /= 94) ++id_length;
  for (const Signal& signal : signals) bytes += (signal.width == 1 ? 1 : signal.width + 2) + id_length + 1;
  return bytes;
}

}  // namespace ktpu::observe
