// SPDX-License-Identifier: Apache-2.0
// What an adapter tells about itself: state list and waits. Nothing here changes what it does.
#include "tlm/noc/staging_adapter.h"
#include "tlm/sim/engine.h"

namespace ktpu::noc {

void StagingAdapter::visit(sim::Archive& a) {
  a.scope("window", [&] {
    a.state("base", window_.base, 40);
    a.state("enabled", window_.enabled, 1);
  });
  a.state("valid", valid_, 1);
  a.state("kind", kind_, 3);
  a.flit("flit", flit_);
  a.state("run_line", run_.line, 24);
  a.state("run_words", run_.words, 10);
  a.state("run_entry_words", run_.entry_words, 3);
  a.state("reply_valid", reply_valid_, 1);
  a.flit("reply", reply_);
  a.state("shown", shown_, 2);
  a.kept("changed", changed_);
  a.scope("write", [&] {
    a.flit("ack", ack_);
    a.state("line", write_line_, 24);
    a.state("left", write_left_, 9);
  });
  a.scope("reads", [&] { reader_.visit(a); });
  a.scope("store", [&] { store_.visit(a); });
  a.state("held", held_, 1);
  a.kept("answer_shown", answer_shown_);
  a.kept("answers", answers_);
  a.counter("served", served_, "requests", "Read and write requests of the unit that the adapter served");
  a.counter("forwarded", forwarded_, "requests",
            "Read and write requests of the unit that went on to memory");
  a.counter("words_written", words_written_, "words", "32-byte words written to the adapter's store");
  a.counter("absorbed", absorbed_, "flits",
            "Flits of the unit that ended here: requests served and their data");
  a.counter("answers", answers_sent_, "flits",
            "Read responses and write acknowledgements that the adapter gave to the unit");
  a.counter("controls", controls_, "flits", "CU_CTRL requests for the adapter's registers");
  a.counter("replies", replies_, "flits", "CU_CTRL replies sent by the adapter");
  misuse_.visit(a);
}

std::vector<sim::Wait> StagingAdapter::waits(sim::Cycle) const {
  std::vector<sim::Wait> list;
  if (shown_ != Shown::kNothing && to_router_->busy()) {
    const arch::Flit& flit = shown_ == Shown::kReply ? reply_ : flit_;
    list.push_back({.what = fmt::format("its {} flit for ({},{}) to be taken",
                                        arch::flit_type_name(flit.type_code()), flit.dst_x(), flit.dst_y()),
                    .part = kUp,
                    .kind = "output",
                    .over = to_router_});
  } else if (valid_ && kind_ == Kind::kRead && reader_.running()) {
    list.push_back({.what = fmt::format("the read before it, {} words to come", reader_.words_left()),
                    .part = kUp,
                    .on_part = kDown,
                    .kind = "window-read"});
  } else if (valid_ && kind_ == Kind::kLastBeat && !reader_.room()) {
    list.push_back(
        {.what = fmt::format("room for an acknowledgement: {} answers before it", reader_.outstanding()),
         .part = kUp,
         .on_part = kDown,
         .kind = "window-write"});
  }
  if (to_unit_->valid() && to_unit_->busy())
    list.push_back({.what = answers_
                                ? fmt::format("its answer to be taken: {} on their way, {} words to be read",
                                              reader_.outstanding(), reader_.words_left())
                                : fmt::format("a {} flit from the router to be taken",
                                              arch::flit_type_name(to_unit_->data().type_code())),
                    .part = kDown,
                    .kind = "output",
                    .over = to_unit_});
  if (write_left_ != 0 && !valid_)
    list.push_back({.what = fmt::format("{} data flits of the open write", write_left_),
                    .on = from_unit_->sender(),
                    .part = "write",
                    .kind = "window-write"});
  return list;
}

}  // namespace ktpu::noc
