// SPDX-License-Identifier: Apache-2.0
#include "topologies/document.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <sstream>
#include <unordered_map>

#include "arch/error.h"
#include "topologies/suggest.h"

namespace ktpu::topo {

DocEntry* Doc::find(std::string_view key) {
  for (auto& e : entries)
    if (e.key == key) return &e;
  return nullptr;
}

const DocEntry* Doc::find(std::string_view key) const { return const_cast<Doc*>(this)->find(key); }

std::string Doc::what() const {
  switch (type) {
    case Type::kNull:
      return text.empty() ? "nothing" : show_text(text);
    case Type::kScalar:
      return quoted ? fmt::format("the quoted text {}", show_text(text)) : show_text(text);
    case Type::kSequence:
      return "a list";
    case Type::kMap:
      return "a map";
  }
  return "?";
}

void fail_at(const Place& place, const std::string& message) {
  throw arch::UserError(fmt::format("{}: {}", place.text(), message));
}

void fail_at(const Mark& mark, const std::string& message) { fail_at(mark.place(), message); }

namespace {

std::size_t count_nodes(const Doc& doc) {
  std::size_t n = 1;
  for (const auto& item : doc.items) n += count_nodes(item);
  for (const auto& entry : doc.entries) n += count_nodes(entry.value);
  return n;
}

unsigned depth_of(const Doc& doc) {
  unsigned d = 0;
  for (const auto& item : doc.items) d = std::max(d, depth_of(item));
  for (const auto& entry : doc.entries) d = std::max(d, depth_of(entry.value));
  return d + 1;
}

// Turns the event stream of one YAML document into a Doc.
class Builder final : public YAML::EventHandler {
 public:
  Builder(std::string_view source, std::shared_ptr<const std::string> file, Budget& budget, bool lines)
      : file_(std::move(file)), budget_(budget), lines_(lines) {
    while (!source.empty()) {
      const std::size_t end = source.find('\n');
      source_lines_.push_back(source.substr(0, end));
      source.remove_prefix(end == std::string_view::npos ? source.size() : end + 1);
    }
  }

  Doc take() { return std::move(root_); }
  Mark mark(const YAML::Mark& m) const {
    return lines_ ? Mark{file_, m.line + 1, m.column + 1} : Mark{file_, 0, 0};
  }  // yaml-cpp counts from 0

  void OnDocumentStart(const YAML::Mark& m) override { root_.mark = mark(m); }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& m, YAML::anchor_t anchor) override {
    begin(m, Doc::Type::kNull);
    stack_.back().doc.text = null_word(m);
    end(anchor);
  }
  void OnAlias(const YAML::Mark& m, YAML::anchor_t anchor) override {
    const auto it = anchors_.find(anchor);
    if (it == anchors_.end()) fail_at(mark(m), "the alias stands inside the very node that it names");
    spend(count_nodes(it->second), mark(m));
    if (stack_.size() + depth_of(it->second) > kMaxDepth) fail_at(mark(m), too_deep());
    Frame frame;
    frame.doc = it->second;
    frame.doc.mark = mark(m);  // an error in an aliased value is cured where it is used
    stack_.push_back(std::move(frame));
    end(YAML::NullAnchor);
  }
  void OnScalar(const YAML::Mark& m, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    if (!tag.empty() && tag != "?" && tag != "!") refuse_tag(m, tag);
    begin(m, Doc::Type::kScalar);
    stack_.back().doc.text = value;
    stack_.back().doc.quoted = tag == "!";
    end(anchor);
  }
  void OnSequenceStart(const YAML::Mark& m, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    if (!tag.empty() && tag != "?" && tag != "!") refuse_tag(m, tag);
    begin(m, Doc::Type::kSequence);
    stack_.back().anchor = anchor;
  }
  void OnSequenceEnd() override { end(stack_.back().anchor); }
  void OnMapStart(const YAML::Mark& m, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    if (!tag.empty() && tag != "?" && tag != "!") refuse_tag(m, tag);
    begin(m, Doc::Type::kMap);
    stack_.back().anchor = anchor;
  }
  void OnMapEnd() override {
    merge(stack_.back().doc);
    end(stack_.back().anchor);
  }

 private:
  struct Frame {
    Doc doc;
    YAML::anchor_t anchor = YAML::NullAnchor;
    bool has_key = false;  // in a map: the key of the value to come is known
    std::string key;
    Mark key_mark;
  };

  static std::string too_deep() { return fmt::format("nested more than {} levels deep", kMaxDepth); }

  // yaml-cpp does not say whether a null was written or is just missing; `kind: null` is a word of ours.
  std::string null_word(const YAML::Mark& m) const {
    if (m.line < 0 || m.column < 0 || static_cast<std::size_t>(m.line) >= source_lines_.size()) return "";
    std::string_view rest = source_lines_[static_cast<std::size_t>(m.line)];
    rest.remove_prefix(std::min(rest.size(), static_cast<std::size_t>(m.column)));
    if (rest.starts_with('~')) return "~";
    return is_null_word(rest.substr(0, 4)) ? "null" : "";
  }

  [[noreturn]] void refuse_tag(const YAML::Mark& m, const std::string& tag) {
    fail_at(mark(m), fmt::format("YAML tags such as {} are not used in topology files", show_text(tag)));
  }

  void spend(std::size_t n, const Mark& at) {
    if (n > budget_.nodes)
      fail_at(at, fmt::format("more than {} values after aliases and includes: not a machine", kMaxNodes));
    budget_.nodes -= n;
  }

  void begin(const YAML::Mark& m, Doc::Type type) {
    if (stack_.size() >= kMaxDepth) fail_at(mark(m), too_deep());
    spend(1, mark(m));
    Frame frame;
    frame.doc.type = type;
    frame.doc.mark = mark(m);
    stack_.push_back(std::move(frame));
  }

  void end(YAML::anchor_t anchor) {
    Doc doc = std::move(stack_.back().doc);
    stack_.pop_back();
    if (anchor != YAML::NullAnchor) {
      spend(count_nodes(doc), doc.mark);
      anchors_[anchor] = doc;
    }
    if (stack_.empty()) {
      root_ = std::move(doc);
      return;
    }
    Frame& up = stack_.back();
    if (up.doc.is_sequence()) {
      up.doc.items.push_back(std::move(doc));
    } else if (!up.has_key) {
      if (!doc.is_scalar()) fail_at(doc.mark, fmt::format("a key must be a word, this is {}", doc.what()));
      if (up.doc.entries.size() >= kMaxKeys)
        fail_at(doc.mark, fmt::format("more than {} keys in a map", kMaxKeys));
      if (const DocEntry* first = up.doc.find(doc.text))
        fail_at(doc.mark, fmt::format("key {} is given twice; the first is in line {}", show_text(doc.text),
                                      first->key_mark.line));
      up.has_key = true;
      up.key = std::move(doc.text);
      up.key_mark = doc.mark;
    } else {
      // "key:" with nothing behind it has no place of its own
      if (doc.is_null() && doc.text.empty()) doc.mark = up.key_mark;
      up.doc.entries.push_back({std::move(up.key), std::move(up.key_mark), std::move(doc)});
      up.has_key = false;
    }
  }

  // Applies a merge key: the map's own keys win, then earlier merged maps over later ones.
  void merge(Doc& map) {
    for (std::size_t i = 0; i < map.entries.size(); ++i) {
      if (map.entries[i].key != "<<") continue;
      DocEntry entry = std::move(map.entries[i]);
      map.entries.erase(map.entries.begin() + static_cast<std::ptrdiff_t>(i));
      if (entry.value.is_sequence()) {
        for (const Doc& item : entry.value.items) merge_one(map, item);
      } else {
        merge_one(map, entry.value);
      }
      return;  // a second "<<" was refused as a repeated key
    }
  }

  static void merge_one(Doc& map, const Doc& from) {
    if (!from.is_map())
      fail_at(from.mark, fmt::format("a merge key '<<' takes a map or a list of maps, not {}", from.what()));
    for (const DocEntry& e : from.entries)
      if (map.find(e.key) == nullptr) map.entries.push_back(e);
  }

  std::shared_ptr<const std::string> file_;
  Budget& budget_;
  bool lines_;
  std::vector<std::string_view> source_lines_;
  std::vector<Frame> stack_;
  std::unordered_map<YAML::anchor_t, Doc> anchors_;
  Doc root_;
};

// Refuses what cannot be a text file before yaml-cpp sees it (it replaces bad bytes silently, and guesses
// UTF-16).
void check_text(std::string_view text, const std::shared_ptr<const std::string>& file, bool whole_file) {
  Mark at{file, whole_file ? 1 : 0, 1};
  if (text.size() > kMaxFileBytes)
    fail_at(at, fmt::format("{} bytes; a topology file has at most {}", text.size(), kMaxFileBytes));
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    std::size_t length = 1;
    if (byte >= 0x80) {
      length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2;
      bool good = byte >= 0xC2 && byte <= 0xF4 && i + length <= text.size();
      std::uint32_t code = good ? byte & (0xFFu >> (length + 1)) : 0;
      for (std::size_t k = 1; good && k < length; ++k) {
        const auto next = static_cast<unsigned char>(text[i + k]);
        good = (next & 0xC0) == 0x80;
        code = code << 6 | (next & 0x3F);
      }
      static constexpr std::uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
      good = good && code >= kSmallest[length] && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
      if (!good) fail_at(at, fmt::format("byte 0x{:02x} is not UTF-8; is this a text file?", byte));
    } else if ((byte < 0x20 && byte != '\n' && byte != '\r' && byte != '\t') || byte == 0x7F) {
      fail_at(at, fmt::format("control character 0x{:02x}; is this a text file?", byte));
    }
    if (byte == '\n')
      at.line += whole_file ? 1 : 0, at.column = 1;
    else
      at.column += static_cast<int>(length);
    i += length;
  }
}

}  // namespace

Doc parse_document(std::string_view text, const std::string& name, Budget& budget, bool whole_file) {
  const auto file = std::make_shared<const std::string>(name);
  check_text(text, file, whole_file);
  Builder builder(text, file, budget, whole_file);
  Doc empty;
  empty.mark = {file, whole_file ? 1 : 0, 1};
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder)) return empty;
    Doc doc = builder.take();
    Builder second(text, file, budget, whole_file);
    if (parser.HandleNextDocument(second)) {
      const Doc extra = second.take();
      fail_at(extra.mark, "a second YAML document; a topology file holds one");
    }
    return doc;
  } catch (const YAML::Exception& e) {
    if (!whole_file) fail_at(Mark{file, 0, 0}, fmt::format("not well-formed YAML: {}", e.msg));
    const bool placed = !e.mark.is_null();
    fail_at(Mark{file, placed ? e.mark.line + 1 : 1, placed ? e.mark.column + 1 : 1},
            fmt::format("not well-formed YAML: {}", e.msg));
  }
}

}  // namespace ktpu::topo
