// SPDX-License-Identifier: Apache-2.0
#include "tlm/observe/expression.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "arch/error.h"

namespace ktpu::observe {

struct Expression::Node {
  enum class Kind : std::uint8_t {
    kNumber,
    kName,
    kAdd,
    kSub,
    kMul,
    kDiv,
    kNegate,
    kSum,
    kMax,
    kMin,
    kCount
  };
  Kind kind;
  double number = 0;
  std::string text;  // of a name or pattern
  std::shared_ptr<const Node> left, right;

  std::optional<double> evaluate(const Names& names) const;
};

namespace {

using Node = Expression::Node;
using NodePtr = std::shared_ptr<const Node>;

NodePtr make(Node::Kind kind, NodePtr left, NodePtr right = nullptr) {
  auto node = std::make_shared<Node>();
  node->kind = kind;
  node->left = std::move(left);
  node->right = std::move(right);
  return node;
}

bool name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
// Node names hold '@' and ','; formulas need neither for anything else.
bool name_char(char c) { return name_start(c) || (c >= '0' && c <= '9') || c == '.' || c == '@' || c == ','; }

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  NodePtr all() {
    NodePtr node = sum();
    KTPU_CHECK(peek() == '\0', "formula '{}': unexpected '{}' at {}", text_, peek(), at_);
    return node;
  }

 private:
  char peek() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  NodePtr sum() {
    NodePtr node = product();
    for (;;) {
      if (take('+'))
        node = make(Node::Kind::kAdd, node, product());
      else if (take('-'))
        node = make(Node::Kind::kSub, node, product());
      else
        return node;
    }
  }
  NodePtr product() {
    NodePtr node = factor();
    for (;;) {
      if (take('*'))
        node = make(Node::Kind::kMul, node, factor());
      else if (take('/'))
        node = make(Node::Kind::kDiv, node, factor());
      else
        return node;
    }
  }
  NodePtr factor() {
    if (take('-')) return make(Node::Kind::kNegate, factor());
    if (take('(')) {
      NodePtr node = sum();
      KTPU_CHECK(take(')'), "formula '{}': ')' missing at {}", text_, at_);
      return node;
    }
    if (name_start(peek())) return name();
    return number();
  }
  NodePtr number() {
    auto node = std::make_shared<Node>();
    node->kind = Node::Kind::kNumber;
    peek();
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), node->number);
    KTPU_CHECK(error == std::errc(), "formula '{}': a value is missing at {}", text_, at_);
    at_ += static_cast<std::size_t>(end - begin);
    return node;
  }
  NodePtr name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && name_char(text_[at_])) ++at_;
    auto node = std::make_shared<Node>();
    node->text = text_.substr(begin, at_ - begin);
    node->kind = Node::Kind::kName;
    if (peek() != '(') return node;
    static constexpr std::pair<std::string_view, Node::Kind> kFunctions[] = {{"sum", Node::Kind::kSum},
                                                                             {"max", Node::Kind::kMax},
                                                                             {"min", Node::Kind::kMin},
                                                                             {"count", Node::Kind::kCount}};
    const auto* function = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                        [&](const auto& f) { return f.first == node->text; });
    KTPU_CHECK(function != std::end(kFunctions), "formula '{}': no function '{}'", text_, node->text);
    node->kind = function->second;
    take('(');
    const std::size_t close = text_.find(')', at_);
    KTPU_CHECK(close != std::string_view::npos, "formula '{}': ')' missing", text_);
    node->text = text_.substr(at_, close - at_);
    at_ = close + 1;
    return node;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

double reduce(Node::Kind kind, const std::vector<double>& values) {
  if (kind == Node::Kind::kCount) return static_cast<double>(values.size());
  if (values.empty()) return 0;
  if (kind == Node::Kind::kMax) return *std::max_element(values.begin(), values.end());
  if (kind == Node::Kind::kMin) return *std::min_element(values.begin(), values.end());
  double total = 0;
  for (const double value : values) total += value;
  return total;
}

}  // namespace

std::optional<double> Expression::Node::evaluate(const Names& names) const {
  switch (kind) {
    case Kind::kNumber:
      return number;
    case Kind::kName:
      return names.value(text);
    case Kind::kSum:
    case Kind::kMax:
    case Kind::kMin:
    case Kind::kCount:
      return reduce(kind, names.values(text));
    default:
      break;
  }
  const std::optional<double> a = left->evaluate(names);
  if (kind == Kind::kNegate) return a ? std::optional(-*a) : a;
  const std::optional<double> b = right->evaluate(names);
  if (!a || !b) return std::nullopt;
  switch (kind) {
    case Kind::kAdd:
      return *a + *b;
    case Kind::kSub:
      return *a - *b;
    case Kind::kMul:
      return *a * *b;
    default:
      return *b == 0 ? std::nullopt : std::optional(*a / *b);
  }
}

Expression Expression::parse(std::string_view text) {
  Expression expression;
  expression.text_ = text;
  expression.root_ = Parser(text).all();
  return expression;
}

std::optional<double> Expression::evaluate(const Names& names) const { return root_->evaluate(names); }

}  // namespace ktpu::observe
