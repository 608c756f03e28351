// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <optional>

#include "compiler/base/text_reader.h"
#include "compiler/tensor/graph.h"

namespace ktpu::tensor {

namespace {

std::string name_of(const Graph& graph, Id id) {
  const Node& node = graph[id];
  return base::name_text('%', node.name.empty() ? std::to_string(id) : node.name);
}

std::optional<Op> op_named(std::string_view name) {
  for (std::size_t i = 0; i <= static_cast<std::size_t>(Op::kAttention); ++i)
    if (info(static_cast<Op>(i)).name == name) return static_cast<Op>(i);
  return std::nullopt;
}

class Parser {
 public:
  Parser(std::string_view text, std::string_view file) : in_(text, file) {}

  Graph run() {
    in_.skip_lines();
    in_.expect_word("tensors");
    graph_.name = in_.name('@', "the graph");
    in_.open_block();
    while (!in_.close_block()) {
      if (in_.take_word("result"))
        graph_.results.push_back(value());
      else
        node();
      in_.end_of_line();
    }
    in_.end_of_text();
    return std::move(graph_);
  }

 private:
  Id value() {
    const std::size_t place = in_.place();
    const std::string name = in_.name('%', "a value");
    const auto found = ids_.find(name);
    if (found == ids_.end()) in_.fail_at(place, fmt::format("%{} is not computed above", name));
    return found->second;
  }

  void node() {
    const auto id = static_cast<Id>(graph_.nodes.size());
    const std::size_t place = in_.place();
    Node node;
    node.name = in_.name('%', "a value, or result");
    if (!ids_.emplace(node.name, id).second)
      in_.fail_at(place, fmt::format("%{} is computed twice", node.name));
    if (node.name == std::to_string(id)) node.name.clear();
    in_.expect("=");
    const std::size_t op_place = in_.place();
    const std::string word = in_.word("an operation");
    const std::optional<Op> op = op_named(word);
    if (!op) in_.fail_at(op_place, fmt::format("there is no operation {}", word));
    node.op = *op;
    if (node.op == Op::kConstant) {
      node.value = in_.real("its value");
    } else {
      while (in_.at('%')) {
        node.args.push_back(value());
        if (!in_.take(",")) break;
      }
      if (in_.take_word("eps")) node.value = in_.real("eps");
      node.causal = in_.take_word("causal");
      node.shape = in_.tensor_type();
    }
    graph_.nodes.push_back(std::move(node));
  }

  base::TextReader in_;
  Graph graph_;
  std::map<std::string, Id, std::less<>> ids_;
};

}  // namespace

std::string print(const Graph& graph) {
  std::string text = fmt::format("tensors {} {{\n", base::name_text('@', graph.name));
  for (Id id = 0; id < graph.nodes.size(); ++id) {
    const Node& node = graph[id];
    text += fmt::format("  {} = {}", name_of(graph, id), info(node.op).name);
    for (std::size_t i = 0; i < node.args.size(); ++i)
      text += fmt::format("{} {}", i == 0 ? "" : ",", name_of(graph, node.args[i]));
    if (node.op == Op::kConstant) {
      text += fmt::format(" {}\n", base::decimal(node.value));
      continue;
    }
    if (node.value != 0) text += fmt::format(" eps {}", base::decimal(node.value));
    if (node.causal) text += " causal";
    text += fmt::format(" {}\n", base::tensor_type_text(node.shape));
  }
  for (const Id result : graph.results) text += fmt::format("  result {}\n", name_of(graph, result));
  return text + "}\n";
}

Graph parse(std::string_view text, std::string_view file_name) { return Parser(text, file_name).run(); }

}  // namespace ktpu::tensor
