// SPDX-License-Identifier: Apache-2.0
// Measurements as a table for people and as JSON.
#pragma once

#include <string>
#include <vector>

#include "bench/measure.h"

namespace ktpu::bench {

std::string table_header();
// `models`: the same workload with models everywhere, when it was measured.
std::string table_row(const Measurement& m, const Measurement* models);
// What the numbers are measured on: compiler, processor, options.
std::string table_notes(double seconds, unsigned repeats);
// One object a measurement with every repetition; the units are in the keys.
std::string json(const std::vector<Measurement>& measurements, double seconds, unsigned repeats);

}  // namespace ktpu::bench
