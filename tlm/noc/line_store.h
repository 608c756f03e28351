// SPDX-License-Identifier: Apache-2.0
// The RAM of a staging adapter: lines of 256 bits, zero until written. Host memory is used for the pages that
// were written.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "arch/error.h"
#include "tlm/sim/archive.h"

namespace ktpu::noc {

class LineStore {
 public:
  using Line = std::array<std::uint64_t, 4>;  // [0] holds bits 63:0

  explicit LineStore(std::uint32_t lines) : pages_((lines + kPageLines - 1) / kPageLines) {}

  Line read(std::uint32_t line) const {
    const Page* page = pages_[line / kPageLines].get();
    return page == nullptr ? Line{} : (*page)[line % kPageLines];
  }
  void write(std::uint32_t line, const Line& value) { make(line / kPageLines)[line % kPageLines] = value; }

  void visit(sim::Archive& archive) {
    if (!archive.is_checkpoint()) {
      if (archive.walks_contents())
        for (const auto& page : pages_)
          if (page != nullptr) archive.memory("lines", page->front().data(), 4 * kPageLines);
      return;
    }
    std::vector<std::uint32_t> written;
    for (std::uint32_t p = 0; p < pages_.size(); ++p)
      if (pages_[p] != nullptr) written.push_back(p);
    archive.kept_list("pages", written, [&](std::uint32_t& page) { archive.kept("page", page); });
    if (archive.restores())
      for (auto& page : pages_) page.reset();
    for (const std::uint32_t p : written) {
      KTPU_CHECK(p < pages_.size(), "page {} of {}", p, pages_.size());
      archive.kept_memory("lines", make(p).data(), kPageLines);
    }
  }

 private:
  static constexpr std::uint32_t kPageLines = 128;
  using Page = std::array<Line, kPageLines>;

  Page& make(std::uint32_t page) {
    if (pages_[page] == nullptr) pages_[page] = std::make_unique<Page>();
    return *pages_[page];
  }

  std::vector<std::unique_ptr<Page>> pages_;
};

}  // namespace ktpu::noc
