// SPDX-License-Identifier: Apache-2.0
#include "tlm/observe/report.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>

#include "arch/error.h"
#include "tlm/observe/engines.h"
#include "tlm/observe/history.h"

namespace ktpu::observe {
namespace {

// Ten significant digits: enough for any ratio of counters, and the same text on every host.
std::string exact_number(const Row& row) {
  if (row.is_count) return fmt::format("{}", row.count);
  return row.value ? fmt::format("{:.10g}", *row.value) : std::string();
}

std::string short_number(const Row& row) {
  if (row.is_count) return fmt::format("{}", row.count);
  if (!row.value) return "n/a";
  return *row.value < 1000 ? fmt::format("{:.4g}", *row.value) : fmt::format("{:.0f}", *row.value);
}

bool is_zero(const Row& row) { return row.is_count ? row.count == 0 : !row.value || *row.value == 0; }

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\n\r") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

// Values of several lines (the topology) are for the files.
std::string manifest_text(const Statistics& statistics) {
  std::string text;
  for (const auto& [key, value] : statistics.facts().manifest)
    if (value.find('\n') == std::string::npos) text += fmt::format("{}: {}\n", key, value);
  return text;
}

std::string rows_text(const std::vector<Row>& rows) {
  std::string text;
  std::size_t name_width = 4, number_width = 5;
  for (const Row& row : rows) {
    name_width = std::max(name_width, row.name.size());
    number_width = std::max(number_width, short_number(row).size());
  }
  for (const Row& row : rows) {
    text +=
        fmt::format("{:<{}}  {:>{}}  {}", row.name, name_width, short_number(row), number_width, row.unit);
    // A figure that does not come from the model says so.
    if (row.source != "model") text += fmt::format(" ({})", row.source);
    text += '\n';
  }
  return text;
}

std::string found_text(const Statistics& statistics) {
  std::string text;
  for (const FoundFact& found : statistics.facts().found)
    text += fmt::format("found {} x {} at {}, first in {}{}cycle {}\n", found.count, found.id, found.where,
                        found.clock, found.clock.empty() ? "" : " ",
                        found.first.empty() ? 0 : found.first.front().first);
  return text;
}

nlohmann::ordered_json found_json(const Statistics& statistics) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const FoundFact& found : statistics.facts().found) {
    nlohmann::ordered_json first = nlohmann::ordered_json::array();
    for (const auto& [cycle, text] : found.first) first.push_back({{"cycle", cycle}, {"text", text}});
    list.push_back({{"id", found.id},
                    {"severity", found.severity},
                    {"where", found.where},
                    {"count", found.count},
                    {"first", std::move(first)},
                    {"effect", found.effect},
                    {"fix", found.fix}});
    if (!found.clock.empty()) list.back()["clock"] = found.clock;
  }
  return list;
}

std::string violations_text(const Statistics& statistics) {
  std::string text;
  for (const Violation& violation : statistics.check())
    text += fmt::format("VIOLATED {}\n", violation.text());
  return text;
}

nlohmann::ordered_json histories(const History& history) {
  using Json = nlohmann::ordered_json;
  const auto number = [](double value) { return std::stod(fmt::format("{:.6g}", value)); };
  Json json;
  json["bucket_cycles"] = history.width();
  Json all = Json::object();
  for (const History::Series& series : history.series()) {
    Json entry;
    entry["unit"] = series.unit();
    entry["source"] = series.entry->source;
    entry["formula"] = series.formula();
    entry["sentence"] = series.entry->sentence;
    Json means = Json::array(), least = Json::array(), greatest = Json::array();
    for (const History::Bucket& bucket : series.buckets) {
      const bool known = bucket.cycles != 0;
      means.push_back(known ? Json(number(bucket.mean())) : Json());
      least.push_back(known ? Json(bucket.least) : Json());
      greatest.push_back(known ? Json(bucket.greatest) : Json());
    }
    entry["mean"] = std::move(means);
    if (!series.counts) {
      entry["least"] = std::move(least);
      entry["greatest"] = std::move(greatest);
    }
    all[series.entry->path] = std::move(entry);
  }
  json["series"] = std::move(all);
  return json;
}

// A row per bucket, "history:NAME[FIRST..LAST]" with its mean.
std::string history_rows(const History& history) {
  std::string text;
  for (const History::Series& series : history.series()) {
    sim::Cycle first = 0;
    for (const History::Bucket& bucket : series.buckets) {
      const sim::Cycle last = first + history.width() - 1;
      if (bucket.cycles != 0)
        text += fmt::format("{},{:.6g},{},{},{},{},\n",
                            csv_field(fmt::format("history:{}[{}..{}]", series.entry->path, first, last)),
                            bucket.mean(), csv_field(series.unit()), csv_field(series.entry->source),
                            csv_field(series.formula()), csv_field(series.entry->sentence));
      first += history.width();
    }
  }
  return text;
}

std::string shares_part(const Registry& registry, bool zeros) {
  const std::string text = shares_text(registry, zeros);
  return text.empty() ? text
                      : "\nwhere the cycles go, % of all cycles (--explain ENGINE tells the states)\n" + text;
}

}  // namespace

std::string human_table(const Statistics& statistics, bool zeros) {
  std::vector<Row> rows = statistics.rows();
  if (!zeros) std::erase_if(rows, is_zero);
  return manifest_text(statistics) + rows_text(rows) + shares_part(statistics.registry(), zeros) +
         found_text(statistics) + violations_text(statistics);
}

std::string human_summary(const Statistics& statistics) {
  constexpr std::size_t kUnitRows = 64;  // beyond, only the rows of the run
  std::vector<Row> rows = statistics.rows();
  std::erase_if(rows, is_zero);
  const std::size_t all = rows.size();
  std::erase_if(rows, [](const Row& row) {
    return row.over == Over::kLinks || (row.over == Over::kUnits && row.is_count);
  });
  const auto of_unit = [](const Row& row) { return row.over == Over::kUnits; };
  if (static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), of_unit)) > kUnitRows)
    std::erase_if(rows, of_unit);
  std::string text = manifest_text(statistics) + rows_text(rows);
  if (rows.size() != all)
    text +=
        fmt::format("and {} more: --table prints them, --stats FILE.json writes them with their meaning\n",
                    all - rows.size());
  constexpr std::ptrdiff_t kEngineRows = 64;
  const std::string shares = shares_part(statistics.registry(), false);
  if (std::count(shares.begin(), shares.end(), '\n') <= kEngineRows)
    text += shares;
  else
    text += "and where the cycles of every engine go: --table\n";
  return text + found_text(statistics) + violations_text(statistics);
}

std::string json_report(const Statistics& statistics) {
  using Json = nlohmann::ordered_json;
  Json json;
  Json manifest = Json::object();
  for (const auto& [key, value] : statistics.facts().manifest) manifest[key] = value;
  json["manifest"] = std::move(manifest);
  Json values = Json::object();
  for (const Row& row : statistics.rows()) {
    Json entry;
    if (row.is_count)
      entry["value"] = row.count;
    else if (row.value)
      entry["value"] = std::stod(exact_number(row));
    else
      entry["value"] = nullptr;
    entry["unit"] = row.unit;
    entry["source"] = row.source;
    entry["formula"] = row.formula;
    if (row.priority != 0) entry["priority"] = row.priority;
    entry["sentence"] = row.sentence;
    // Names are unique, so there is nothing to look for: ordered_json's operator[] would search linearly.
    values.get_ref<Json::object_t&>().emplace_back(row.name, std::move(entry));
  }
  json["statistics"] = std::move(values);
  Json engines = Json::object();
  for (const EngineCycles& engine : engines_of(statistics.registry())) {
    Json shares = Json::object();
    const std::vector<unsigned> tenths = engine.tenths();
    for (std::size_t i = 0; i < tenths.size(); ++i)
      shares[std::string(short_name(*engine.states[i]))] = tenths[i] / 10.0;
    Json entry;
    entry["cycles"] = engine.total();
    entry["percent_by_priority"] = std::move(shares);
    engines.get_ref<Json::object_t&>().emplace_back(std::string(engine.name), std::move(entry));
  }
  json["engines"] = std::move(engines);
  if (statistics.history() != nullptr) json["histories"] = histories(*statistics.history());
  Json violations = Json::array();
  for (const Violation& violation : statistics.check())
    violations.push_back({{"name", violation.name}, {"text", violation.text()}});
  json["findings"] = found_json(statistics);
  json["violations"] = std::move(violations);
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string csv_report(const Statistics& statistics) {
  std::string text = "name,value,unit,source,formula,sentence,priority\n";
  for (const Row& row : statistics.rows())
    text += fmt::format("{},{},{},{},{},{},{}\n", csv_field(row.name), exact_number(row), csv_field(row.unit),
                        csv_field(row.source), csv_field(row.formula), csv_field(row.sentence),
                        row.priority == 0 ? std::string() : fmt::format("{}", row.priority));
  if (statistics.history() != nullptr) text += history_rows(*statistics.history());
  return text;
}

void require_report_path(const std::string& path) {
  if (!path.ends_with(".json") && !path.ends_with(".csv"))
    throw arch::UserError::make(
        "{}: statistics are written as .json or .csv; give the file one of these names", path);
}

void write_report(const Statistics& statistics, const std::string& path) {
  require_report_path(path);
  const std::string text = path.ends_with(".json") ? json_report(statistics) : csv_report(statistics);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "wb"), &std::fclose);
  if (!file)
    throw arch::UserError::make("{}: cannot be written; does the folder exist, and may you write there?",
                                path);
  const bool written = std::fwrite(text.data(), 1, text.size(), file.get()) == text.size();
  if (std::fflush(file.get()) != 0 || !written)
    throw arch::UserError::make("{}: only a part could be written; is the disk full?", path);
}

}  // namespace ktpu::observe
