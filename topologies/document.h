// SPDX-License-Identifier: Apache-2.0
// A YAML text as a plain tree with a place on every node. Built from yaml-cpp's events rather than its Node
// graph, so that depth, size and aliases are bounded while reading and repeated keys are seen. Internal to
// topologies/.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "topologies/description.h"

namespace ktpu::topo {

inline constexpr std::size_t kMaxFileBytes = 1 << 20;
inline constexpr unsigned kMaxDepth = 24;        // a machine needs 6
inline constexpr std::size_t kMaxNodes = 60000;  // four meshes of 16x16 cells need about 2,500

inline constexpr std::size_t kMaxKeys = 1000;  // of one map; the largest sensible one names 256 + 196 nodes

inline constexpr std::size_t kMaxFiles = 100;  // included by one machine, repeats counted

// A place that is cheap to copy: tens of thousands of nodes share one file name.
struct Mark {
  std::shared_ptr<const std::string> file;
  int line = 0;
  int column = 0;
  Place place() const { return {file ? *file : std::string(), line, column}; }
};

struct DocEntry;

struct Doc {
  enum class Type { kNull, kScalar, kSequence, kMap };
  Type type = Type::kNull;
  bool quoted = false;  // the scalar stood in quotes: it is text, never a number
  std::string text;     // kScalar; kNull: the word that says so ("null", "~"), empty when nothing is written
  Mark mark;
  std::vector<Doc> items;         // kSequence
  std::vector<DocEntry> entries;  // kMap, keys are unique

  bool is_map() const { return type == Type::kMap; }
  bool is_sequence() const { return type == Type::kSequence; }
  bool is_scalar() const { return type == Type::kScalar; }
  bool is_null() const { return type == Type::kNull; }
  DocEntry* find(std::string_view key);
  const DocEntry* find(std::string_view key) const;
  std::string what() const;  // "a map", "a list", "nothing", "'text'": for messages
};

struct DocEntry {
  std::string key;
  Mark key_mark;
  Doc value;
};

// How many nodes may still be made and files read; shared by a file and all it includes, so that no mixture
// of aliases and includes can grow without bound.
struct Budget {
  std::size_t nodes = kMaxNodes;
  std::size_t files = kMaxFiles;
};

// Parses one YAML document. `name` is what messages call the text. Merge keys (`<<`) are applied; an empty
// text gives kNull. Throws UserError with name:line:column for anything that is not well-formed, bounded,
// tag-free UTF-8 YAML with unique scalar keys.
// `whole_file` false: the text is a fragment from elsewhere, places have no line.
Doc parse_document(std::string_view text, const std::string& name, Budget& budget, bool whole_file = true);

// The plain words that YAML takes for nothing: no name may be one.
inline bool is_null_word(std::string_view text) { return text == "null" || text == "Null" || text == "NULL"; }

// A UserError "file:line:column: message".
[[noreturn]] void fail_at(const Mark& mark, const std::string& message);
[[noreturn]] void fail_at(const Place& place, const std::string& message);

}  // namespace ktpu::topo
