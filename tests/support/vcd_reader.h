// SPDX-License-Identifier: Apache-2.0
// Reads a VCD file back, for tests. Strict: throws std::runtime_error with the line number for anything the
// format (IEEE 1364-2005 section 18) does not allow in what we write.
#pragma once

#include <cstdint>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace ktpu::test {

class VcdReader {
 public:
  struct Change {
    std::uint64_t time;
    std::string bits;  // most significant first, extended to the width; 'x' where unknown
    // The low 64 bits; none when a bit is unknown.
    std::optional<std::uint64_t> number() const {
      std::uint64_t value = 0;
      for (const char c : bits) {
        if (c != '0' && c != '1') return std::nullopt;
        value = value << 1 | static_cast<std::uint64_t>(c - '0');
      }
      return value;
    }
  };
  struct Signal {
    unsigned width = 0;
    std::string kind;  // "wire", "reg"
    std::vector<Change> changes;
  };

  static VcdReader from_file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw std::runtime_error(path + ": cannot be read");
    std::stringstream text;
    text << in.rdbuf();
    return from_text(text.str());
  }
  static VcdReader from_text(const std::string& text) {
    VcdReader reader;
    std::istringstream in(text);
    reader.parse(in);
    return reader;
  }

  const std::string& timescale() const { return timescale_; }                // "1 ns"
  const std::vector<std::uint64_t>& times() const { return times_; }         // every '#' of the file
  const std::map<std::string, Signal>& signals() const { return signals_; }  // by full name
  bool has(const std::string& name) const { return signals_.contains(name); }
  const Signal& signal(const std::string& name) const {
    const auto it = signals_.find(name);
    if (it == signals_.end()) throw std::runtime_error("no signal " + name);
    return it->second;
  }
  const std::vector<Change>& changes(const std::string& name) const { return signal(name).changes; }
  // The value a signal has at `time`; none when unknown or before its first change.
  std::optional<std::uint64_t> at(const std::string& name, std::uint64_t time) const {
    std::optional<std::uint64_t> value;
    for (const Change& change : changes(name)) {
      if (change.time > time) break;
      value = change.number();
    }
    return value;
  }
  // All changes of all signals.
  std::size_t total_changes() const {
    std::size_t total = 0;
    for (const auto& [name, signal] : signals_) total += signal.changes.size();
    return total;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error("VCD line " + std::to_string(line_) + ": " + what);
  }

  void parse(std::istream& in) {
    std::string line;
    std::vector<std::string> scopes;
    bool header = true, dumping = false;
    while (std::getline(in, line)) {
      ++line_;
      std::istringstream words(line);
      std::string word;
      if (!(words >> word)) continue;
      if (header) {
        header = parse_header(word, words, scopes);
      } else if (word == "$dumpvars") {
        if (dumping || times_.empty()) fail("$dumpvars out of place");
        dumping = true;
      } else if (word == "$end") {
        if (!dumping) fail("$end without a beginning");
        dumping = false;
      } else if (word[0] == '#') {
        const std::uint64_t time = std::stoull(word.substr(1));
        if (!times_.empty() && time <= times_.back()) fail("time does not increase");
        times_.push_back(time);
      } else {
        parse_change(word, words);
      }
    }
    if (header) fail("no $enddefinitions");
    if (!scopes.empty()) fail("a scope stays open");
    if (dumping) fail("$dumpvars stays open");
  }

  bool parse_header(const std::string& word, std::istringstream& words, std::vector<std::string>& scopes) {
    std::vector<std::string> rest;
    for (std::string w; words >> w;) rest.push_back(w);
    if (rest.empty() || rest.back() != "$end") fail("no $end");
    rest.pop_back();
    if (word == "$timescale") {
      for (const std::string& w : rest) timescale_ += (timescale_.empty() ? "" : " ") + w;
    } else if (word == "$scope") {
      if (rest.size() != 2 || rest[0] != "module") fail("bad scope");
      scopes.push_back(rest[1]);
    } else if (word == "$upscope") {
      if (scopes.empty()) fail("$upscope outside all scopes");
      scopes.pop_back();
    } else if (word == "$var") {
      if (rest.size() != 4) fail("bad variable");
      std::string name;
      for (const std::string& scope : scopes) name += scope + ".";
      name += rest[3];
      if (signals_.contains(name)) fail("two signals " + name);
      if (!ids_.emplace(rest[2], name).second) fail("identifier used twice");
      signals_[name].width = static_cast<unsigned>(std::stoul(rest[1]));
      signals_[name].kind = rest[0];
    } else if (word != "$version" && word != "$comment" && word != "$enddefinitions") {
      fail("unknown keyword " + word);
    }
    return word != "$enddefinitions";
  }

  void parse_change(const std::string& word, std::istringstream& words) {
    if (times_.empty()) fail("a value before the first time");
    std::string bits, id;
    if (word[0] == 'b') {
      bits = word.substr(1);
      if (!(words >> id)) fail("a vector without an identifier");
    } else {
      bits = word.substr(0, 1);
      id = word.substr(1);
    }
    if (bits.empty() || bits.find_first_not_of("01x") != std::string::npos) fail("bad value " + bits);
    const auto it = ids_.find(id);
    if (it == ids_.end()) fail("undeclared identifier " + id);
    Signal& signal = signals_[it->second];
    if (bits.size() > signal.width) fail("too many bits for " + it->second);
    const char fill = bits[0] == 'x' ? 'x' : '0';
    bits.insert(0, signal.width - bits.size(), fill);
    if (!signal.changes.empty() && signal.changes.back().time == times_.back())
      fail("two values at one time");
    if (!signal.changes.empty() && signal.changes.back().bits == bits) fail("a change to the same value");
    signal.changes.push_back({times_.back(), bits});
  }

  std::size_t line_ = 0;
  std::string timescale_;
  std::vector<std::uint64_t> times_;
  std::map<std::string, std::string> ids_;
  std::map<std::string, Signal> signals_;
};

}  // namespace ktpu::test
