// SPDX-License-Identifier: Apache-2.0
#include "tlm/observe/expression.h"

#include <gtest/gtest.h>

#include <map>

#include "arch/error.h"

namespace ktpu::observe {
namespace {

class Table final : public Names {
 public:
  std::optional<double> value(std::string_view name) const override {
    if (name == "absent") return std::nullopt;
    return values_.at(std::string(name));
  }
  std::vector<double> values(std::string_view pattern) const override {
    if (pattern == "*") return {3, 1, 2};
    return {};
  }
  std::map<std::string, double> values_{{"a", 6}, {"b.c", 3}, {"cluster@2,1.busy", 10}, {"zero", 0}};
};

std::optional<double> eval(std::string_view text) { return Expression::parse(text).evaluate(Table()); }

TEST(ObserveExpression, PrecedenceAssociativityAndNames) {
  EXPECT_EQ(eval("1 + 2 * 3"), 7);
  EXPECT_EQ(eval("(1 + 2) * 3"), 9);
  EXPECT_EQ(eval("10 - 3 - 2"), 5);
  EXPECT_EQ(eval("100 / 5 / 2"), 10);
  EXPECT_EQ(eval("-2 * -a"), 12);
  EXPECT_EQ(eval("a / b.c"), 2);
  EXPECT_EQ(eval("cluster@2,1.busy - 1"), 9);
  EXPECT_EQ(eval("2.5e2"), 250);
}

TEST(ObserveExpression, FunctionsOverPatterns) {
  EXPECT_EQ(eval("sum(*)"), 6);
  EXPECT_EQ(eval("max(*) - min(*)"), 2);
  EXPECT_EQ(eval("count(*) * 10"), 30);
  EXPECT_EQ(eval("sum(nothing) + max(nothing)"), 0);
}

TEST(ObserveExpression, NoValueComesThrough) {
  EXPECT_EQ(eval("a / zero"), std::nullopt);
  EXPECT_EQ(eval("1 + a / zero"), std::nullopt);
  EXPECT_EQ(eval("-absent"), std::nullopt);
}

TEST(ObserveExpression, ABrokenFormulaIsABug) {
  for (const char* text : {"", "1 +", "(1", "1)", "a b", "median(*)", "sum(*", "1 $ 2"})
    EXPECT_THROW(Expression::parse(text), arch::InternalError) << text;
}

}  // namespace
}  // namespace ktpu::observe
