// SPDX-License-Identifier: Apache-2.0
#include "tlm/observe/wave_sampler.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "arch/error.h"
#include "tlm/observe/glob.h"

namespace ktpu::observe {
namespace {

bool can_show(const Entry& entry) {
  // Counters may be kept lazily, so in the middle of a run they are not what they seem.
  return entry.kind == EntryKind::kWire || entry.kind == EntryKind::kState;
}

std::size_t words_of(unsigned width) { return (width + 63) / 64; }

}  // namespace

std::vector<const Entry*> wave_entries(const Registry& registry, const std::vector<std::string>& patterns) {
  std::vector<const Entry*> entries;
  if (patterns.empty()) {
    for (const Entry& entry : registry.entries())
      if (entry.kind == EntryKind::kWire) entries.push_back(&entry);
    return entries;
  }
  for (const Entry* entry : registry.select(patterns))
    if (can_show(*entry)) entries.push_back(entry);
  for (const std::string& pattern : patterns) {
    const bool shown = std::any_of(entries.begin(), entries.end(),
                                   [&](const Entry* entry) { return selects(pattern, entry->path); });
    if (!shown)
      throw arch::UserError::make(
          "the wave scope '{}' matches only counters and memories; waves show wires and registers", pattern);
  }
  return entries;
}

WaveSampler::WaveSampler(const std::vector<const Entry*>& entries) {
  std::unordered_map<const sim::LinkBase*, std::size_t> link_index;
  std::vector<std::vector<WatchedField>> fields;  // by link
  for (const Entry* entry : entries) {
    const auto signal = static_cast<std::uint32_t>(signals_.size());
    signals_.push_back({entry->path, entry->width, entry->kind == EntryKind::kState});
    offset_.push_back(static_cast<std::uint32_t>(store_.size()));
    store_.resize(store_.size() + words_of(entry->width), 0);
    if (entry->owner != nullptr && (synced_.empty() || synced_.back() != entry->owner))
      synced_.push_back(entry->owner);
    const Location& where = entry->location;
    const std::uint64_t mask = entry->width >= 64 ? ~0ull : (1ull << entry->width) - 1;
    if (where.link != nullptr) {
      const auto [it, added] = link_index.try_emplace(where.link, links_.size());
      if (added) {
        links_.emplace_back().link = where.link;
        fields.emplace_back();
      }
      WatchedLink& watched = links_[it->second];
      if (where.flits != nullptr) {
        watched.flits = where.flits;
        fields[it->second].push_back(
            {signal, static_cast<std::uint16_t>(where.lsb), static_cast<std::uint16_t>(entry->width)});
      } else {
        (where.lsb == 0 ? watched.valid_signal : watched.busy_signal) = signal;
      }
    } else if (where.address != nullptr) {
      values_.push_back({where.address, mask, 0, signal, where.bytes});
    } else if (where.rewalk != nullptr) {
      if (units_.empty() || units_.back().unit != where.rewalk) units_.push_back({where.rewalk, {}});
      units_.back().values.push_back({where.ordinal, mask, signal});
    } else {
      functions_.push_back({entry, signal});
    }
  }
  for (std::size_t i = 0; i < links_.size(); ++i) {
    links_[i].first_field = static_cast<std::uint32_t>(fields_.size());
    fields_.insert(fields_.end(), fields[i].begin(), fields[i].end());
    links_[i].end_field = static_cast<std::uint32_t>(fields_.size());
  }
  offset_.push_back(static_cast<std::uint32_t>(store_.size()));
  known_.assign(signals_.size(), false);
}

std::span<const std::uint64_t> WaveSampler::value(std::size_t signal) const {
  if (!known_[signal]) return {};
  return std::span(store_).subspan(offset_[signal], offset_[signal + 1] - offset_[signal]);
}

void WaveSampler::report(std::uint32_t signal, std::span<const std::uint64_t> words) {
  if (!any_) {
    any_ = true;
    sink_->begin(cycle_);
  }
  std::copy(words.begin(), words.end(), store_.begin() + offset_[signal]);
  known_[signal] = true;
  sink_->change(signal, words);
}

void WaveSampler::sample(sim::Cycle cycle, WaveSink& sink) {
  sink_ = &sink;
  cycle_ = cycle;
  any_ = false;
  for (sim::Unit* unit : synced_) unit->sync(cycle);
  sample_links();
  sample_values();
  sample_computed();
  first_ = false;
}

void WaveSampler::sample_links() {
  for (WatchedLink& watched : links_) {
    const auto now = static_cast<std::uint8_t>(static_cast<unsigned>(watched.link->valid()) |
                                               static_cast<unsigned>(watched.link->busy()) << 1);
    if (now != watched.last) {
      const unsigned differs = first_ ? 3u : static_cast<unsigned>(now ^ watched.last);
      watched.last = now;
      const std::uint64_t valid = now & 1u, busy = now >> 1;
      if ((differs & 1) && watched.valid_signal != kUnwatched) report(watched.valid_signal, {&valid, 1});
      if ((differs & 2) && watched.busy_signal != kUnwatched) report(watched.busy_signal, {&busy, 1});
    }
    if ((now & 1) && watched.flits != nullptr) sample_flit(watched);
  }
}

void WaveSampler::sample_flit(WatchedLink& watched) {
  const arch::Flit& flit = watched.flits->data();
  if (watched.seen_flit && flit == watched.last_flit) return;
  for (std::uint32_t i = watched.first_field; i < watched.end_field; ++i) {
    const WatchedField& field = fields_[i];
    if (field.width > 64) {  // the payload: the words below the header
      const std::span<const std::uint64_t> words(flit.w.data(), field.width / 64);
      if (!watched.seen_flit || !std::equal(words.begin(), words.end(), watched.last_flit.w.begin()))
        report(field.signal, words);
      continue;
    }
    const std::uint64_t value = flit.bits(field.lsb, field.width);
    if (!watched.seen_flit || value != watched.last_flit.bits(field.lsb, field.width))
      report(field.signal, {&value, 1});
  }
  watched.last_flit = flit;
  watched.seen_flit = true;
}

void WaveSampler::sample_values() {
  for (WatchedValue& watched : values_) {
    std::uint64_t value = 0;
    switch (watched.bytes) {  // fixed sizes compile to plain loads
      case 1:
        std::memcpy(&value, watched.address, 1);
        break;
      case 2:
        std::memcpy(&value, watched.address, 2);
        break;
      case 4:
        std::memcpy(&value, watched.address, 4);
        break;
      default:
        std::memcpy(&value, watched.address, 8);
        break;
    }
    value &= watched.mask;
    if (!first_ && value == watched.last) continue;
    watched.last = value;
    report(watched.signal, {&value, 1});
  }
}

void WaveSampler::sample_computed() {
  for (const WatchedUnit& watched : units_) {
    const std::vector<std::uint64_t>& values = computed_.of(*watched.unit);
    for (const WatchedComputed& one : watched.values)
      report_if_changed(one.signal, values.at(one.ordinal) & one.mask);
  }
  for (const WatchedFunction& watched : functions_) report_if_changed(watched.signal, watched.entry->read());
}

void WaveSampler::report_if_changed(std::uint32_t signal, std::uint64_t value) {
  if (first_ || value != store_[offset_[signal]]) report(signal, {&value, 1});
}

}  // namespace ktpu::observe
