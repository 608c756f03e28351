// SPDX-License-Identifier: Apache-2.0
#include "tlm/noc/window_reader.h"

#include <algorithm>

namespace ktpu::noc {

void WindowReader::reset() {
  words_left_ = outstanding_ = 0;
  words_read_ = 0;
  address_.valid = ram_.valid = data_.valid = false;
  queue_.reset();
}

void WindowReader::start(const arch::Flit& request, const WindowRun& run) {
  to_ = request.src();
  from_ = request.dst();  // the memory port that was addressed
  txn_ = request.txn();
  line_ = run.line;
  words_left_ = run.words;
  entry_words_ = run.entry_words;
  word_ = 0;
}

void WindowReader::advance(sim::Cycle now, const LineStore& store, bool taken,
                           const arch::Flit* acknowledge) {
  const bool room = this->room();
  if (taken) {
    queue_.pop(now);
    --outstanding_;
  }
  if (data_.valid) queue_.push(now, data_.flit);
  data_ = ram_;
  ram_ = address_;
  if (ram_.valid && ram_.read) {
    const LineStore::Line line = store.read(ram_.line);
    std::copy(line.begin(), line.end(), ram_.flit.w.begin());
  }
  address_.valid = acknowledge != nullptr || (running() && room);
  if (!address_.valid) return;
  ++outstanding_;
  address_.read = acknowledge == nullptr;
  if (acknowledge != nullptr) {
    address_.flit = *acknowledge;
    return;
  }
  // The tags of memory: a word of a stream names its entry and its place in it, a plain one nothing
  // (memory.md sections 4.3 and 4.4).
  const bool stream = entry_words_ != 0;
  const bool last = stream ? word_ + 1 == entry_words_ : words_left_ == 1;
  address_.flit = arch::make_flit(to_, from_, arch::FlitType::kMemRdResp, txn_, last, word_);
  address_.line = line_++;
  --words_left_;
  ++words_read_;
  if (!stream) return;
  word_ = last ? 0 : word_ + 1;
  if (last) txn_ = (txn_ + 1) & 255;
}

void WindowReader::Stage::visit(sim::Archive& archive, std::string_view name) {
  archive.scope(name, [&] {
    archive.state("valid", valid, 1);
    archive.state("read", read, 1);
    archive.state("line", line, 24);
    archive.flit("flit", flit);
  });
}

void WindowReader::visit(sim::Archive& a) {
  a.state("to_x", to_.x, 4);
  a.state("to_y", to_.y, 4);
  a.state("from_x", from_.x, 4);
  a.state("from_y", from_.y, 4);
  a.state("line", line_, 24);
  a.state("words_left", words_left_, 10);
  a.state("entry_words", entry_words_, 3);
  a.state("word", word_, 2);
  a.state("txn", txn_, 8);
  address_.visit(a, "address");
  ram_.visit(a, "ram");
  data_.visit(a, "data");
  queue_.visit(a, "queue");
  a.state("outstanding", outstanding_, 4);
  a.counter("words_read", words_read_, "words", "32-byte words read from the adapter's store");
}

}  // namespace ktpu::noc
