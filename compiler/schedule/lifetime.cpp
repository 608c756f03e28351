// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/lifetime.h"

#include <algorithm>
#include <optional>

#include "arch/error.h"

namespace ktpu::schedule {
namespace {

struct Free {
  std::uint64_t offset, bytes;
};

std::uint64_t place(std::vector<Free>& free, std::uint64_t& end, std::uint64_t bytes) {
  const auto fits = std::find_if(free.begin(), free.end(), [&](const Free& f) { return f.bytes >= bytes; });
  if (fits == free.end()) {
    end += bytes;
    return end - bytes;
  }
  const std::uint64_t at = fits->offset;
  fits->offset += bytes;
  fits->bytes -= bytes;
  if (fits->bytes == 0) free.erase(fits);
  return at;
}

// Into the list in address order, joined with its neighbours.
void give_back(std::vector<Free>& free, Free span) {
  auto at = std::find_if(free.begin(), free.end(), [&](const Free& f) { return f.offset > span.offset; });
  at = free.insert(at, span);
  if (const auto next = at + 1; next != free.end() && at->offset + at->bytes == next->offset) {
    at->bytes += next->bytes;
    free.erase(next);
  }
  if (at == free.begin()) return;
  if (const auto before = at - 1; before->offset + before->bytes == at->offset) {
    before->bytes += at->bytes;
    free.erase(at);
  }
}

bool holds(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::map<std::string, Lifetime> lifetimes(std::span<const StageAccess> stages,
                                          std::span<const ScratchBuffer> buffers) {
  std::map<std::string, Lifetime> lives;
  for (const ScratchBuffer& buffer : buffers) {
    std::optional<std::size_t> read, written;
    std::size_t last = 0;
    for (std::size_t i = 0; i < stages.size(); ++i) {
      const bool reads = holds(stages[i].reads, buffer.name), writes = holds(stages[i].writes, buffer.name);
      if (reads && !read) read = i;
      if (writes && !written) written = i;
      if (reads || writes) last = i;
    }
    const bool whole = !read || !written || *read <= *written;
    const Lifetime life =
        whole ? Lifetime{0, stages.empty() ? 0 : stages.size() - 1} : Lifetime{*written, last};
    if (!lives.emplace(buffer.name, life).second)
      throw arch::UserError::make("two buffers are named \"{}\"", buffer.name);
  }
  return lives;
}

ScratchBlock pack(std::span<const StageAccess> stages, std::span<const ScratchBuffer> buffers,
                  std::uint64_t alignment) {
  if (alignment == 0) throw arch::UserError::make("buffers cannot be aligned to 0 bytes");
  const std::map<std::string, Lifetime> lives = lifetimes(stages, buffers);
  ScratchBlock block{alignment, 0, {}};
  for (const ScratchBuffer& buffer : buffers) {
    const std::uint64_t units = std::max<std::uint64_t>(1, (buffer.bytes + alignment - 1) / alignment);
    block.placements.push_back({buffer.name, 0, units * alignment, lives.at(buffer.name)});
  }
  std::vector<Free> free;
  for (std::size_t stage = 0; stage < std::max<std::size_t>(1, stages.size()); ++stage) {
    for (Placement& p : block.placements)
      if (p.life.first == stage) p.offset = place(free, block.bytes, p.bytes);
    for (const Placement& p : block.placements)
      if (p.life.last == stage) give_back(free, {p.offset, p.bytes});
  }
  return block;
}

const Placement* ScratchBlock::find(std::string_view name) const {
  const auto found =
      std::find_if(placements.begin(), placements.end(), [&](const Placement& p) { return p.name == name; });
  return found == placements.end() ? nullptr : &*found;
}

std::string ScratchBlock::print() const {
  std::string text = fmt::format("{} bytes in units of {}\n", bytes, alignment);
  for (const Placement& p : placements)
    text += fmt::format("{} at {}, {} bytes, stages {} to {}\n", p.name, p.offset, p.bytes, p.life.first,
                        p.life.last);
  return text;
}

std::string ScratchBlock::verify() const {
  std::size_t stages = 0;
  for (const Placement& p : placements) {
    if (p.offset % alignment != 0 || p.offset + p.bytes > bytes)
      return fmt::format("{} at {} is not aligned to {} or ends behind the block's {} bytes", p.name,
                         p.offset, alignment, bytes);
    stages = std::max(stages, p.life.last + 1);
  }
  for (std::size_t stage = 0; stage < stages; ++stage) {
    std::vector<const Placement*> live;
    for (const Placement& p : placements)
      if (p.life.first <= stage && stage <= p.life.last) live.push_back(&p);
    std::sort(live.begin(), live.end(), [](auto* a, auto* b) { return a->offset < b->offset; });
    for (std::size_t i = 1; i < live.size(); ++i)
      if (live[i - 1]->offset + live[i - 1]->bytes > live[i]->offset)
        return fmt::format("stage {}: {} and {} share byte {}", stage, live[i - 1]->name, live[i]->name,
                           live[i]->offset);
  }
  return {};
}

}  // namespace ktpu::schedule
