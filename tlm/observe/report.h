// SPDX-License-Identifier: Apache-2.0
// Statistics as text. Equal runs give equal bytes: no time of day, no addresses, a fixed order.
#pragma once

#include <string>
#include <vector>

#include "tlm/observe/statistics.h"

namespace ktpu::observe {

// Aligned columns for people. Rows that are 0 are left out unless `zeros`, as are manifest values of several
// lines; violations come last.
std::string human_table(const Statistics& statistics, bool zeros = false);
// The same with the rows that answer most questions: those of the run, and the metrics (not the counters) of
// units unless there are too many units to read. The last line says how many more there are.
std::string human_summary(const Statistics& statistics);
// {"manifest": {...}, "statistics": {NAME: {value, unit, source, formula, sentence}}, "engines": {NAME:
// {cycles, percent_by_priority: {STATE: share}}}, "violations": [...]}. Exclusive states also have their
// priority.
std::string json_report(const Statistics& statistics);
// Header line, then name,value,unit,source,formula,sentence,priority; RFC 4180 quoting.
std::string csv_report(const Statistics& statistics);
// Throws UserError unless `path` ends in .json or .csv: before a run, so that the run is not in vain.
void require_report_path(const std::string& path);
// By the extension of `path`: .json or .csv. Throws UserError for another one or when the file can't be
// written.
void write_report(const Statistics& statistics, const std::string& path);

}  // namespace ktpu::observe
