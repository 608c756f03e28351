// SPDX-License-Identifier: Apache-2.0
#include "apps/ktpu-check/format_bound.h"

#include <algorithm>
#include <cmath>

#include "apps/ktpu-check/format_kernels.h"
#include "arch/error.h"
#include "arch/program/image.h"

namespace ktpu::check {

using arch::UserError;

namespace {

constexpr double kTimesFormats = 1.25;

// An infinite or undefined result is infinitely wrong; an undefined reference takes anything.
double largest_error(const std::vector<double>& got, const std::vector<double>& exact, double& largest) {
  double error = 0;
  for (std::size_t i = 0; i < std::min(got.size(), exact.size()); ++i) {
    if (std::isnan(exact[i])) continue;
    largest = std::max(largest, std::fabs(exact[i]));
    const double off = std::fabs(got[i] - exact[i]);
    error = std::max(error, std::isnan(off) ? HUGE_VAL : off);
  }
  return error;
}

double fp16_ulp(double value) {
  constexpr int kLowest = -14, kFraction = 10;
  return value == 0 ? std::ldexp(1, kLowest - kFraction)
                    : std::ldexp(1, std::max(std::ilogb(value), kLowest) - kFraction);
}

// The only output of a kernel goes by the port's name.
Reals named(Reals outputs, const std::map<std::string, std::vector<std::uint16_t>>& names) {
  if (outputs.size() != 1 || !outputs.begin()->first.empty() || names.size() != 1) return outputs;
  Real only = std::move(outputs.begin()->second);
  return {{names.begin()->first, std::move(only)}};
}

}  // namespace

std::optional<FormatBound> format_bound(const std::string& kernel, const Reals& inputs,
                                        const nlohmann::json& knobs,
                                        const std::map<std::string, std::vector<std::uint16_t>>& outputs,
                                        unsigned acc_mw) {
  std::optional<Reals> exact = evaluate_float64(kernel, inputs, knobs);
  if (!exact) return std::nullopt;
  exact = named(std::move(*exact), outputs);
  FormatBound bound;
  double largest = 0;
  for (const bool truncated : {false, true}) {
    std::optional<Reals> formats = evaluate_formats(kernel, inputs, knobs, truncated, acc_mw);
    if (!formats) return std::nullopt;
    formats = named(std::move(*formats), outputs);
    for (const auto& [name, real] : *exact)
      bound.formats = std::max(bound.formats, largest_error(formats->at(name).v, real.v, largest));
  }
  for (const auto& [name, real] : *exact) {
    const auto found = outputs.find(name);
    if (found == outputs.end()) throw UserError::make("there is no output \"{}\"", name);
    std::vector<double> got(found->second.size());
    std::transform(found->second.begin(), found->second.end(), got.begin(), arch::fp16_to_double);
    bound.error = std::max(bound.error, largest_error(got, real.v, largest));
  }
  bound.allowed = kTimesFormats * bound.formats + fp16_ulp(largest);
  return bound;
}

}  // namespace ktpu::check
