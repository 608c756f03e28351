// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <set>

#include "arch/error.h"
#include "compiler/schedule/schedule_checks.h"

namespace ktpu::schedule {
namespace {

constexpr std::uint64_t kElementBytes = 2;

// First and last stage that touches a buffer. What comes from outside, or is read back, is needed all the
// time.
struct Use {
  std::size_t first = 0, last = 0;
};
std::vector<std::optional<Use>> uses(const Schedule& schedule) {
  std::vector<std::optional<Use>> found(schedule.buffers.size());
  for (std::size_t s = 0; s < schedule.stages.size(); ++s) {
    const auto touch = [&](BufferId id) {
      if (!found[id]) found[id] = Use{s, s};
      found[id]->last = s;
    };
    const Stage& stage = schedule.stages[s];
    for (const Relayout& r : stage.before) touch(r.buffer);
    for (const Instance& instance : stage.instances)
      for (const Statement& statement : instance.statements) {
        if (const Fill* fill = std::get_if<Fill>(&statement)) touch(fill->buffer);
        if (const Drain* drain = std::get_if<Drain>(&statement); drain != nullptr && drain->buffer)
          touch(*drain->buffer);
        const Chain* chain = std::get_if<Chain>(&statement);
        if (chain == nullptr) continue;
        touch(chain->result.buffer);
        for (const Leaf& leaf : chain->leaves)
          if (leaf.kind == Leaf::Kind::kMemory || leaf.kind == Leaf::Kind::kChannel)
            touch(leaf.stretch.buffer);
      }
  }
  return found;
}

[[noreturn]] void fail(const Buffer& b, const std::string& what) {
  throw arch::UserError::make("buffer %{}: {}", b.name, what);
}

void check_size(const Schedule& schedule, const Buffer& b) {
  std::uint64_t count = 1;
  for (const std::uint32_t extent : b.shape) count = product(count, extent);
  if (count == 0 || count == kTooLarge) fail(b, "its shape holds no element, or more than memory does");
  if (b.batched) {
    if (b.batch_stride == 0) fail(b, "its batch elements lie in one another: the stride is 0");
    if (product(reach(b), kElementBytes) > b.batch_stride)
      fail(b, fmt::format("a batch element holds {} elements, the next one begins {} bytes on", reach(b),
                          b.batch_stride));
    if (sum(product(schedule.batch - 1, b.batch_stride), product(b.held, kElementBytes)) > b.nbytes)
      fail(b, fmt::format("{} batch elements do not fit {} bytes", schedule.batch, b.nbytes));
  } else {
    if (b.batch_stride != 0) fail(b, "it has a stride but no batch");
    if (product(reach(b), kElementBytes) > b.nbytes)
      fail(b, fmt::format("it holds {} elements in {} bytes", reach(b), b.nbytes));
  }
  if (b.nbytes > schedule.resources.arena_bytes)
    fail(b, fmt::format("takes {} bytes, the arena has {}", b.nbytes, schedule.resources.arena_bytes));
  if (b.role == Role::kTable ? b.values.size() != count : !b.values.empty())
    fail(b, fmt::format("{} values for {} elements", b.values.size(), count));
}

void check_address(const Resources& machine, const Buffer& b) {
  const std::uint64_t at = b.address->value();
  if (at % machine.alignment != 0)
    fail(b, fmt::format("address {:#x} is no multiple of {}", at, machine.alignment));
  if (at < machine.arena_base || sum(at, b.nbytes) > sum(machine.arena_base, machine.arena_bytes))
    fail(b, fmt::format("bytes {:#x}+{:#x} lie outside the arena, {:#x}+{:#x}", at, b.nbytes,
                        machine.arena_base, machine.arena_bytes));
}

// Temporaries may share bytes when one is done with before the other begins.
bool may_share(const Buffer& a, const std::optional<Use>& a_use, const Buffer& b,
               const std::optional<Use>& b_use) {
  const auto temporary = [](const Buffer& x) { return x.role == Role::kTemp || x.role == Role::kScratch; };
  if (!temporary(a) || !temporary(b)) return false;
  if ((a.role == Role::kScratch) != (b.role == Role::kScratch)) return true;  // the block they all lie in
  if (!a_use || !b_use) return true;
  return a_use->last < b_use->first || b_use->last < a_use->first;
}

}  // namespace

void check_memory(const Schedule& schedule) {
  if (schedule.batch == 0) throw arch::UserError("a batch of 0 elements");
  if (schedule.resources.alignment == 0) throw arch::UserError("the alignment is 0");
  std::set<std::string> names;
  for (const Buffer& b : schedule.buffers) {
    if (b.name.empty() || !names.insert(b.name).second) fail(b, "the name is empty or stands twice");
    check_size(schedule, b);
    if (b.address) check_address(schedule.resources, b);
  }
  std::set<BufferId> allocated;
  for (const BufferId id : schedule.allocation)
    if (!allocated.insert(id).second) fail(schedule.buffers[id], "is allocated twice");

  const std::vector<std::optional<Use>> used = uses(schedule);
  for (BufferId i = 0; i < schedule.buffers.size(); ++i)
    for (BufferId j = 0; j < i; ++j) {
      const Buffer &a = schedule.buffers[j], &b = schedule.buffers[i];
      if (!a.address || !b.address) continue;
      const std::uint64_t a0 = a.address->value(), b0 = b.address->value();
      if (a0 < sum(b0, b.nbytes) && b0 < sum(a0, a.nbytes) && !may_share(a, used[j], b, used[i]))
        fail(b, fmt::format("shares memory with %{} while both are needed: bytes {:#x}+{:#x} and {:#x}+{:#x}",
                            a.name, b0, b.nbytes, a0, a.nbytes));
    }
}

}  // namespace ktpu::schedule
