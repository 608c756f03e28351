// SPDX-License-Identifier: Apache-2.0
// Writes a Value Change Dump (IEEE 1364-2005 section 18): declares signals, then times and changes. Knows
// nothing of machines. Nothing of the host's time or addresses gets into the file.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ktpu::observe {

// Cycle numbers to VCD time: nanoseconds where a period is a whole number of them, else picoseconds.
class TimeBase {
 public:
  // 0 < mhz <= 1,000,000; kept to a hertz.
  explicit TimeBase(double mhz, bool picoseconds = false);  // true: even if nanoseconds would do
  // Start of `cycle`, rounded down; never drifts, since each is worked out from the cycle number.
  std::uint64_t time(std::uint64_t cycle) const;
  std::string_view unit() const { return unit_; }  // "1 ns" or "1 ps"
  std::uint64_t hertz() const { return hertz_; }

 private:
  std::uint64_t hertz_;
  std::uint64_t per_second_;  // units in a second
  std::string_view unit_;
};

struct Signal {
  std::string path;          // scopes and name, separated by dots
  unsigned width = 1;        // bits, 1..256
  bool is_register = false;  // `reg` instead of `wire`
};

class VcdWriter {
 public:
  static constexpr std::uint64_t kNoLimit = ~0ull;

  // Throws UserError when the file cannot be made. The file never grows beyond `max_bytes`: the first time
  // that would not fit and all later ones are left out, see truncated().
  VcdWriter(const std::string& path, std::uint64_t max_bytes = kNoLimit);
  ~VcdWriter();

  // Once, first. The index of a signal in the list is its number below.
  void header(std::span<const Signal> signals, const TimeBase& time_base, std::string_view comment = {});

  // Opens a time, not before the last one. False: the size limit is reached, changes are ignored from here.
  bool time(std::uint64_t time);
  void change(std::size_t signal, std::uint64_t value) { change(signal, std::span(&value, 1)); }
  // Little-endian 64-bit words, as many as the width needs.
  void change(std::size_t signal, std::span<const std::uint64_t> words);
  void unknown(std::size_t signal);  // all bits x
  // Around the values of all signals at the first time.
  void begin_dump();
  void end_dump();

  // Ends the file at `time`. Throws UserError if anything could not be written (disk full).
  void close(std::uint64_t time);

  std::uint64_t bytes() const { return bytes_ + buffer_.size(); }  // so far
  bool truncated() const { return truncated_; }
  // Most bytes one time with a change of every signal in `signals` takes.
  static std::uint64_t worst_bytes_per_cycle(std::span<const Signal> signals);

 private:
  void commit();
  void flush();
  void put_vector(const std::uint64_t* words, unsigned width);

  std::string path_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  std::string buffer_;
  std::uint64_t bytes_ = 0;  // handed to the file
  std::uint64_t max_bytes_;
  std::size_t mark_ = 0;  // buffer_ up to here is within the limit
  std::uint64_t last_time_ = 0;
  bool any_time_ = false;
  bool truncated_ = false;
  bool failed_ = false;
  struct Id {
    char text[6];
    std::uint8_t length;
    std::uint16_t width;
  };
  std::vector<Id> ids_;
};

}  // namespace ktpu::observe
