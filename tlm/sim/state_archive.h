// SPDX-License-Identifier: Apache-2.0
// The two archives of a checkpoint: everything visit() lists, as bytes, and back. Numbers are stored little
// endian whatever the host is; cereal's portable binary archive is the byte layer.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>

#include "tlm/sim/archive.h"

namespace ktpu::sim {

// What both have: values come in parts (a unit, a link), and each part ends with a hash of the names and
// sizes it holds, so that bytes are never read as something else than they were written as.
class StateArchive : public Archive {
 public:
  bool is_checkpoint() const override { return true; }
  // Visits `part`, which has a visit(Archive&). `name` is what messages call it.
  template <typename Part>
  void part(std::string_view name, Part& part) {
    begin(name);
    part.visit(*this);
    end();
  }

 protected:
  virtual void part_name(std::string_view name) = 0;
  virtual void part_layout(std::uint64_t layout) = 0;
  void on_enter(std::string_view name) override { see(name, 0); }
  void on_leave() override { see("", 1); }
  // Takes note of a value's name and size.
  void see(std::string_view name, std::size_t bytes);
  const std::string& where() const { return part_; }

 private:
  void begin(std::string_view name);
  void end();

  std::string part_;
  std::uint64_t layout_ = 0;
};

class SaveArchive final : public StateArchive {
 public:
  explicit SaveArchive(std::ostream& out);
  ~SaveArchive() override;

  // Throws UserError: what the unit holds cannot be saved.
  void unreachable(std::string_view what) override;

 protected:
  void on_value(std::string_view name, void* value, std::size_t bytes, const ValueInfo& info) override;
  void on_memory(std::string_view name, void* data, std::size_t element_bytes, std::size_t count) override;
  void on_text(std::string_view name, std::string& text) override;
  void on_length(std::string_view name, std::uint64_t& length) override;
  void part_name(std::string_view name) override;
  void part_layout(std::uint64_t layout) override;

 private:
  struct Bytes;
  std::unique_ptr<Bytes> out_;
};

// Throws UserError when the bytes are not those of this machine in this version; the machine is then in no
// state to go on.
class RestoreArchive final : public StateArchive {
 public:
  // `bytes`: how many `in` holds.
  RestoreArchive(std::istream& in, std::uint64_t bytes);
  ~RestoreArchive() override;

  bool restores() const override { return true; }
  void unreachable(std::string_view what) override;

 protected:
  void on_value(std::string_view name, void* value, std::size_t bytes, const ValueInfo& info) override;
  void on_memory(std::string_view name, void* data, std::size_t element_bytes, std::size_t count) override;
  void on_text(std::string_view name, std::string& text) override;
  void on_length(std::string_view name, std::uint64_t& length) override;
  void part_name(std::string_view name) override;
  void part_layout(std::uint64_t layout) override;

 private:
  struct Bytes;
  std::unique_ptr<Bytes> in_;
};

// Finds out before a run whether it can be saved: throws UserError as SaveArchive would, writes nothing.
class ReachArchive final : public Archive {
 public:
  explicit ReachArchive(std::string_view part) : part_(part) {}
  bool walks_contents() const override { return false; }
  void unreachable(std::string_view what) override;

 protected:
  void on_value(std::string_view, void*, std::size_t, const ValueInfo&) override {}
  void on_memory(std::string_view, void*, std::size_t, std::size_t) override {}
  void on_enter(std::string_view) override {}
  void on_leave() override {}

 private:
  std::string part_;
};

}  // namespace ktpu::sim
