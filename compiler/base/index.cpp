// SPDX-License-Identifier: Apache-2.0
#include "compiler/base/index.h"

#include <charconv>

#include "arch/error.h"

namespace ktpu::base {

using arch::UserError;

struct Index::Node {
  Op op = Op::kConstant;
  std::int64_t value = 0;
  std::string axis;
  std::shared_ptr<const Node> a, b;
};

namespace {

std::int64_t divide(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

[[noreturn]] void overflow() { throw UserError("an index goes beyond 63 bits"); }

}  // namespace

Index::Index(std::int64_t value) : node_(std::make_shared<Node>(Node{Op::kConstant, value, {}, {}, {}})) {}

Index Index::axis(std::string name) {
  return Index(std::make_shared<const Node>(Node{Op::kAxis, 0, std::move(name), {}, {}}));
}

Index Index::make(Op op, const Index& a, const Index& b) {
  const Index made(std::make_shared<const Node>(Node{op, 0, {}, a.node_, b.node_}));
  const bool numbers = a.is_constant() && b.is_constant();
  const bool by_zero = (op == Op::kDiv || op == Op::kMod) && b.is_constant() && b.node_->value == 0;
  if (numbers && !by_zero) return Index(made.at({}));
  const bool a_zero = a.is_constant() && a.node_->value == 0, b_zero = b.is_constant() && b.node_->value == 0;
  const bool b_one = b.is_constant() && b.node_->value == 1, a_one = a.is_constant() && a.node_->value == 1;
  if (op == Op::kAdd && a_zero) return b;
  if ((op == Op::kAdd || op == Op::kSub) && b_zero) return a;
  if (op == Op::kMul && (a_zero || b_zero)) return Index(0);
  if (op == Op::kMul && a_one) return b;
  if ((op == Op::kMul || op == Op::kDiv) && b_one) return a;
  if (op == Op::kMod && b_one) return Index(0);
  return made;
}

Index operator+(const Index& a, const Index& b) { return Index::make(Index::Op::kAdd, a, b); }
Index operator-(const Index& a, const Index& b) { return Index::make(Index::Op::kSub, a, b); }
Index operator*(const Index& a, const Index& b) { return Index::make(Index::Op::kMul, a, b); }
Index floordiv(const Index& a, const Index& b) { return Index::make(Index::Op::kDiv, a, b); }
Index mod(const Index& a, const Index& b) { return Index::make(Index::Op::kMod, a, b); }

std::int64_t Index::at(const Bindings& bindings) const {
  const Node& n = *node_;
  if (n.op == Op::kConstant) return n.value;
  if (n.op == Op::kAxis) {
    const auto found = bindings.find(n.axis);
    if (found == bindings.end()) throw UserError::make("axis %{} is not open here", n.axis);
    return found->second;
  }
  const std::int64_t a = Index(n.a).at(bindings), b = Index(n.b).at(bindings);
  std::int64_t r = 0;
  switch (n.op) {
    case Op::kAdd:
      if (__builtin_add_overflow(a, b, &r)) overflow();
      return r;
    case Op::kSub:
      if (__builtin_sub_overflow(a, b, &r)) overflow();
      return r;
    case Op::kMul:
      if (__builtin_mul_overflow(a, b, &r)) overflow();
      return r;
    default:
      break;
  }
  if (b == 0) throw UserError("an index is divided by zero");
  if (b == -1 && a == INT64_MIN) overflow();
  return n.op == Op::kDiv ? divide(a, b) : a - divide(a, b) * b;
}

Index Index::bind(const Bindings& bindings) const {
  const Node& n = *node_;
  if (n.op == Op::kConstant) return *this;
  if (n.op == Op::kAxis) {
    const auto found = bindings.find(n.axis);
    return found == bindings.end() ? *this : Index(found->second);
  }
  return make(n.op, Index(n.a).bind(bindings), Index(n.b).bind(bindings));
}

Index Index::substitute(std::string_view axis, const Index& by) const {
  const Node& n = *node_;
  if (n.op == Op::kConstant) return *this;
  if (n.op == Op::kAxis) return n.axis == axis ? by : *this;
  return make(n.op, Index(n.a).substitute(axis, by), Index(n.b).substitute(axis, by));
}

bool Index::is_constant() const { return node_->op == Op::kConstant; }
bool Index::is_axis() const { return node_->op == Op::kAxis; }

std::set<std::string> Index::axes() const {
  const Node& n = *node_;
  if (n.op == Op::kConstant) return {};
  if (n.op == Op::kAxis) return {n.axis};
  std::set<std::string> all = Index(n.a).axes();
  all.merge(Index(n.b).axes());
  return all;
}

std::string Index::print() const {
  const Node& n = *node_;
  if (n.op == Op::kConstant) return std::to_string(n.value);
  if (n.op == Op::kAxis) return "%" + n.axis;
  const auto operand = [](const std::shared_ptr<const Node>& of) {
    const std::string text = Index(of).print();
    return of->op == Op::kConstant || of->op == Op::kAxis ? text : "(" + text + ")";
  };
  static constexpr std::string_view kNames[] = {"", "", "+", "-", "*", "floordiv", "mod"};
  return fmt::format("{} {} {}", operand(n.a), kNames[static_cast<std::size_t>(n.op)], operand(n.b));
}

bool operator==(const Index& a, const Index& b) {
  const Index::Node &x = *a.node_, &y = *b.node_;
  if (x.op != y.op) return false;
  if (x.op == Index::Op::kConstant) return x.value == y.value;
  if (x.op == Index::Op::kAxis) return x.axis == y.axis;
  return Index(x.a) == Index(y.a) && Index(x.b) == Index(y.b);
}

namespace {

// index := operand [operator operand]; operand := number | %axis | ( index )
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Index whole() {
    const Index read = index();
    blanks();
    if (at_ != text_.size()) fail("the index should end here");
    return read;
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    throw UserError::make("column {} of index \"{}\": {}", at_ + 1, text_, what);
  }
  void blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(std::string_view word) {
    blanks();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  Index index() {
    if (++depth_ > 64) fail("nested too deeply");
    const Index a = operand();
    --depth_;
    if (take("+")) return a + operand();
    if (take("-")) return a - operand();
    if (take("*")) return a * operand();
    if (take("floordiv ")) return floordiv(a, operand());
    if (take("mod ")) return mod(a, operand());
    return a;
  }
  Index operand() {
    if (take("(")) {
      const Index inner = index();
      if (!take(")")) fail("a ) is missing");
      return inner;
    }
    if (take("%")) {
      const std::size_t begin = at_;
      while (at_ < text_.size() &&
             (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_'))
        ++at_;
      if (at_ == begin) fail("the name of an axis is missing");
      return Index::axis(std::string(text_.substr(begin, at_ - begin)));
    }
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc()) fail("a number, %axis or ( is expected");
    at_ = static_cast<std::size_t>(end - text_.data());
    return Index(value);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Index Index::parse(std::string_view text) { return Reader(text).whole(); }

}  // namespace ktpu::base
