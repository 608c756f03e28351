// SPDX-License-Identifier: Apache-2.0
#include "topologies/loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "arch/error.h"
#include "topologies/suggest.h"

namespace ktpu::topo {

namespace fs = std::filesystem;

std::string read_text(const fs::path& path, const std::string& shown, const Mark* from) {
  const auto fail = [&](const std::string& why) -> void {
    const std::string message = fmt::format("cannot read {}: {}", show_text(shown), why);
    if (from != nullptr) fail_at(*from, message);
    throw arch::UserError(message);
  };
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  // Only regular files: a pipe or a device may never end.
  if (!fs::exists(status)) fail("no such file");
  if (!fs::is_regular_file(status)) fail(fs::is_directory(status) ? "it is a folder" : "not a regular file");
  const auto size = fs::file_size(path, error);
  if (error || size > kMaxFileBytes)
    fail(fmt::format("{} bytes; a topology file has at most {}", size, kMaxFileBytes));
  std::ifstream in(path, std::ios::binary);
  if (!in) fail("no permission");
  // Exactly `size` bytes: some files of the system claim none and never end.
  std::string text(static_cast<std::size_t>(size), '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad()) fail("read error");
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

namespace {

void merge_under(Doc& top, Doc&& below) {
  for (DocEntry& entry : below.entries) {
    DocEntry* mine = top.find(entry.key);
    if (mine == nullptr)
      top.entries.push_back(std::move(entry));
    else if (mine->value.is_map() && entry.value.is_map())
      merge_under(mine->value, std::move(entry.value));
  }
}

class Includer {
 public:
  explicit Includer(Budget& budget) : budget_(budget) {}

  void resolve(Doc& doc, const fs::path& folder, unsigned depth) {
    for (Doc& item : doc.items) resolve(item, folder, depth);
    if (!doc.is_map()) return;
    std::vector<Doc> below;
    for (std::size_t i = 0; i < doc.entries.size(); ++i) {
      if (doc.entries[i].key != "include") continue;
      const DocEntry entry = std::move(doc.entries[i]);
      doc.entries.erase(doc.entries.begin() + static_cast<std::ptrdiff_t>(i));
      if (entry.value.is_sequence()) {
        for (const Doc& item : entry.value.items) below.push_back(load(item, folder, depth));
      } else {
        below.push_back(load(entry.value, folder, depth));
      }
      break;
    }
    for (DocEntry& entry : doc.entries) resolve(entry.value, folder, depth);
    for (Doc& one : below) merge_under(doc, std::move(one));
  }

 private:
  Doc load(const Doc& name, const fs::path& folder, unsigned depth) {
    if (!name.is_scalar() || name.text.empty())
      fail_at(name.mark, fmt::format("include takes a file name or a list of them, not {}", name.what()));
    if (depth >= kMaxIncludes)
      fail_at(name.mark,
              fmt::format("includes nested more than {} deep; does a file include itself?", kMaxIncludes));
    if (budget_.files == 0) fail_at(name.mark, fmt::format("more than {} included files", kMaxFiles));
    --budget_.files;
    const fs::path path = folder / fs::path(name.text);
    const std::string shown = path.string();
    Doc doc = parse_document(read_text(path, shown, &name.mark), shown, budget_);
    if (!doc.is_map())
      fail_at(name.mark,
              fmt::format("included file {} must hold a map, it holds {}", show_text(shown), doc.what()));
    resolve(doc, path.parent_path(), depth + 1);
    return doc;
  }

  Budget& budget_;
};

void apply_override(Doc& root, const std::string& text, std::set<std::string>& seen, Budget& budget) {
  const std::string shown = "--set " + text;
  const Mark place{std::make_shared<const std::string>(shown), 0, 0};
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    fail_at(place, "write it as KEY.KEY=VALUE, for instance meshes.0.dram.first_read_beat=80");
  const std::string path = text.substr(0, equals);
  for (const std::string& other : seen) {
    if (other == path)
      fail_at(place, "the same key is set twice on the command line; the first would never be read");
    if (other.starts_with(path + "."))
      fail_at(place,
              fmt::format("this replaces the whole of {}, so --set {} would never be read", path, other));
  }
  seen.insert(path);

  Doc value = parse_document(std::string_view(text).substr(equals + 1), shown, budget, false);
  Doc* at = &root;
  std::string walked;
  std::size_t begin = 0;
  unsigned depth = 0;
  for (bool last = false; !last;) {
    const std::size_t dot = path.find('.', begin);
    last = dot == std::string::npos;
    const std::string part = path.substr(begin, last ? std::string::npos : dot - begin);
    begin = dot + 1;
    if (part.empty()) fail_at(place, fmt::format("an empty key in the path {}", show_text(path)));
    if (++depth >= kMaxDepth) fail_at(place, fmt::format("a path of more than {} keys", kMaxDepth));
    const std::string where = walked.empty() ? std::string("the machine") : walked;
    walked += (walked.empty() ? "" : ".") + part;
    if (at->is_sequence()) {
      const bool digits = part.size() <= 4 && std::all_of(part.begin(), part.end(), [](unsigned char c) {
                            return c >= '0' && c <= '9';
                          });
      const std::size_t index = digits ? std::stoul(part) : at->items.size();
      if (index >= at->items.size()) {
        const std::string range = at->items.empty() ? std::string("it is empty")
                                                    : fmt::format("valid: 0..{}", at->items.size() - 1);
        fail_at(place,
                fmt::format("{} is a list, {} is no element of it; {}", where, show_text(part), range));
      }
      at = &at->items[index];
    } else if (at->is_map() || at->is_null()) {
      if (at->is_null()) at->type = Doc::Type::kMap;
      DocEntry* entry = at->find(part);
      if (entry == nullptr) {
        if (budget.nodes == 0 || at->entries.size() >= kMaxKeys) fail_at(place, "too many keys");
        --budget.nodes;
        Doc fresh;
        fresh.type = last ? Doc::Type::kNull : Doc::Type::kMap;
        fresh.mark = place;
        at->entries.push_back({part, place, std::move(fresh)});
        entry = &at->entries.back();
      }
      at = &entry->value;
    } else {
      fail_at(place, fmt::format("{} is {}, it has no key {}", where, at->what(), show_text(part)));
    }
  }
  *at = std::move(value);
}

}  // namespace

void resolve_includes(Doc& doc, const fs::path& folder, Budget& budget) {
  Includer(budget).resolve(doc, folder, 0);
}

void apply_overrides(Doc& doc, const std::vector<std::string>& overrides, Budget& budget) {
  std::set<std::string> seen;
  for (const std::string& one : overrides) apply_override(doc, one, seen, budget);
}

}  // namespace ktpu::topo
