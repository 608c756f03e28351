// SPDX-License-Identifier: Apache-2.0
#include "compiler/cost/report.h"

#include <fmt/format.h>

#include <algorithm>

namespace ktpu::cost {
namespace {

Cause largest(const Spent& spent) {
  return static_cast<Cause>(std::max_element(spent.begin(), spent.end()) - spent.begin());
}

double share(Cycles part, Cycles whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string quoted(std::string_view s) {
  std::string out = "\"";
  for (const char c : s) {
    if (c == '"' || c == '\\')
      out += fmt::format("\\{}", c);
    else if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out + "\"";
}

std::string spent_json(const Spent& spent) {
  std::string out = "{";
  for (std::size_t c = 0; c < kCauses; ++c)
    if (spent[c] != 0)
      out += fmt::format("{}{}: {}", out.size() == 1 ? "" : ", ", quoted(cause_name(static_cast<Cause>(c))),
                         spent[c]);
  return out + "}";
}

std::string_view kind_name(UnitKind kind) { return kind == UnitKind::kCluster ? "cluster" : "vector core"; }

// The causes with most cycles, largest first.
std::string top(const Spent& spent, Cycles whole, std::size_t count) {
  std::vector<std::size_t> order(kCauses);
  for (std::size_t i = 0; i < kCauses; ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return spent[a] > spent[b]; });
  std::string out;
  for (std::size_t i = 0; i < count && spent[order[i]] != 0; ++i)
    out += fmt::format("{}{} {:.0f} %", i == 0 ? "" : ", ", cause_name(static_cast<Cause>(order[i])),
                       share(spent[order[i]], whole));
  return out;
}

}  // namespace

std::string_view cause_name(Cause cause) {
  switch (cause) {
    case Cause::kHost:
      return "host accesses";
    case Cause::kPoll:
      return "host polls";
    case Cause::kDispatch:
      return "dispatch";
    case Cause::kNetwork:
      return "routers";
    case Cause::kCluster:
      return "cluster compute";
    case Cause::kClusterDrain:
      return "cluster write-back";
    case Cause::kClusterControl:
      return "cluster control";
    case Cause::kVectorLanes:
      return "vector lanes";
    case Cause::kVectorPipe:
      return "vector pipe";
    case Cause::kVectorMoves:
      return "vector moves";
    case Cause::kVectorControl:
      return "vector control";
    case Cause::kPort:
      return "memory port";
    case Cause::kDram:
      return "DRAM";
    case Cause::kQuiet:
      return "quiet waits";
  }
  return "";
}

Cause Band::limiter() const { return largest(spent); }
Cause Report::limiter() const { return largest(spent); }

std::string text(const Report& r) {
  std::string out =
      fmt::format("{} on {}: machine {} cycles, total {} cycles ({:.1f} us at {:g} MHz), modelled\n",
                  r.program, r.machine, r.machine_cycles, r.total_cycles,
                  static_cast<double>(r.total_cycles) / r.fabric_mhz, r.fabric_mhz);
  out += fmt::format("\nbands (modelled cycles)\n{:<28} {:>7} {:>10} {:>6}  {:<20} {}\n", "band", "rounds",
                     "cycles", "share", "limiter", "spent on");
  for (const Band& b : r.bands)
    out +=
        fmt::format("{:<28} {:>7} {:>10} {:>5.1f}%  {:<20} {}\n", b.name, b.rounds, b.cycles(),
                    share(b.cycles(), r.total_cycles), cause_name(b.limiter()), top(b.spent, b.cycles(), 4));
  out += fmt::format("{:<28} {:>7} {:>10} {:>5.1f}%  {:<20} {}\n", "total", "", r.total_cycles, 100.0,
                     cause_name(r.limiter()), top(r.spent, r.total_cycles, 4));
  out += fmt::format("\nunits (modelled busy cycles)\n{:<22} {:>6} {:>10} {:>10} {:>10} {:>10} {:>7}\n",
                     "unit", "insts", "busy", "compute", "fill", "moves out", "compute");
  for (const UnitUse& u : r.units)
    out += fmt::format("{:<22} {:>6} {:>10} {:>10} {:>10} {:>10} {:>6.1f}%\n",
                       fmt::format("{} m{} ({},{})", kind_name(u.kind), u.mesh, u.at.x, u.at.y),
                       u.books.instructions, u.books.busy, u.books.compute, u.books.fill, u.books.drain,
                       share(u.books.compute, r.total_cycles));
  out += fmt::format("\nmemory (modelled)\n{:<22} {:>9} {:>9} {:>9} {:>10} {:>10}\n", "port", "fills",
                     "words", "writes", "read busy", "write busy");
  for (const PortUse& p : r.ports)
    out += fmt::format("{:<22} {:>9} {:>9} {:>9} {:>9.1f}% {:>9.1f}%\n",
                       fmt::format("port m{} ({},{})", p.mesh, p.at.x, p.at.y), p.books.reads,
                       p.books.plain_reads, p.books.writes, share(p.books.read_busy, r.total_cycles),
                       share(p.books.write_busy, r.total_cycles));
  for (const DramUse& d : r.drams)
    out += fmt::format("{:<22} {} bytes read, {} written; {:.1f} % and {:.1f} % of the time\n",
                       fmt::format("DRAM m{}", d.mesh), 32 * d.books.read_words, 32 * d.books.written_words,
                       share(d.books.read_busy, r.total_cycles), share(d.books.write_busy, r.total_cycles));
  for (const std::string& note : r.notes) out += fmt::format("not modelled: {}\n", note);
  return out;
}

std::string json(const Report& r) {
  std::string out = fmt::format(
      "{{\"modelled\": true, \"program\": {}, \"machine\": {}, \"fabric_mhz\": {:g}, \"machine_cycles\": {}, "
      "\"total_cycles\": {}, \"limiter\": {}, \"spent\": {}, \"bands\": [",
      quoted(r.program), quoted(r.machine), r.fabric_mhz, r.machine_cycles, r.total_cycles,
      quoted(cause_name(r.limiter())), spent_json(r.spent));
  for (std::size_t i = 0; i < r.bands.size(); ++i) {
    const Band& b = r.bands[i];
    out += fmt::format(
        "{}{{\"name\": {}, \"rounds\": {}, \"begin\": {}, \"cycles\": {}, \"limiter\": {}, \"spent\": {}}}",
        i == 0 ? "" : ", ", quoted(b.name), b.rounds, b.begin, b.cycles(), quoted(cause_name(b.limiter())),
        spent_json(b.spent));
  }
  out += "], \"units\": [";
  for (std::size_t i = 0; i < r.units.size(); ++i) {
    const UnitUse& u = r.units[i];
    out += fmt::format(
        "{}{{\"mesh\": {}, \"x\": {}, \"y\": {}, \"kind\": {}, \"instructions\": {}, \"busy\": {}, "
        "\"compute\": {}, \"fill\": {}, \"out\": {}}}",
        i == 0 ? "" : ", ", u.mesh, u.at.x, u.at.y, quoted(kind_name(u.kind)), u.books.instructions,
        u.books.busy, u.books.compute, u.books.fill, u.books.drain);
  }
  out += "], \"ports\": [";
  for (std::size_t i = 0; i < r.ports.size(); ++i) {
    const PortUse& p = r.ports[i];
    out += fmt::format(
        "{}{{\"mesh\": {}, \"x\": {}, \"y\": {}, \"fills\": {}, \"words\": {}, \"writes\": {}, "
        "\"read_busy\": {}, \"write_busy\": {}}}",
        i == 0 ? "" : ", ", p.mesh, p.at.x, p.at.y, p.books.reads, p.books.plain_reads, p.books.writes,
        p.books.read_busy, p.books.write_busy);
  }
  out += "], \"drams\": [";
  for (std::size_t i = 0; i < r.drams.size(); ++i) {
    const DramUse& d = r.drams[i];
    out += fmt::format(
        "{}{{\"mesh\": {}, \"read_bursts\": {}, \"write_bursts\": {}, \"read_bytes\": {}, "
        "\"written_bytes\": {}, \"read_busy\": {}, \"write_busy\": {}}}",
        i == 0 ? "" : ", ", d.mesh, d.books.read_bursts, d.books.write_bursts, 32 * d.books.read_words,
        32 * d.books.written_words, d.books.read_busy, d.books.write_busy);
  }
  out += "], \"notes\": [";
  for (std::size_t i = 0; i < r.notes.size(); ++i)
    out += fmt::format("{}{}", i == 0 ? "" : ", ", quoted(r.notes[i]));
  return out + "]}\n";
}

Comparison compare(const Report& a, const Report& b) {
  Comparison c;
  c.program_a = a.program;
  c.program_b = b.program;
  std::vector<bool> used(b.bands.size(), false);
  for (const Band& band : a.bands) {
    Comparison::Row row{band.name, band.cycles(), 0, band.limiter(), Cause::kHost};
    for (std::size_t i = 0; i < b.bands.size(); ++i)
      if (!used[i] && b.bands[i].name == band.name) {
        used[i] = true;
        row.b = b.bands[i].cycles();
        row.limiter_b = b.bands[i].limiter();
        break;
      }
    c.bands.push_back(row);
  }
  for (std::size_t i = 0; i < b.bands.size(); ++i)
    if (!used[i])
      c.bands.push_back({b.bands[i].name, 0, b.bands[i].cycles(), Cause::kHost, b.bands[i].limiter()});
  c.machine = {"machine", a.machine_cycles, b.machine_cycles, a.limiter(), b.limiter()};
  c.total = {"total", a.total_cycles, b.total_cycles, a.limiter(), b.limiter()};
  return c;
}

std::string text(const Comparison& c) {
  std::string out = fmt::format("a: {}\nb: {}\n{:<28} {:>10} {:>10} {:>8}  {:<20} {}\n", c.program_a,
                                c.program_b, "modelled cycles", "a", "b", "b / a", "limiter a", "limiter b");
  const auto line = [&](const Comparison::Row& r) {
    const auto count = [](Cycles v) { return v == 0 ? std::string("-") : fmt::format("{}", v); };
    out += fmt::format("{:<28} {:>10} {:>10} {:>8}  {:<20} {}\n", r.name, count(r.a), count(r.b),
                       r.a == 0 || r.b == 0 ? "-" : fmt::format("{:.3f}", r.ratio()),
                       r.a == 0 ? "" : cause_name(r.limiter_a), r.b == 0 ? "" : cause_name(r.limiter_b));
  };
  for (const Comparison::Row& row : c.bands) line(row);
  line(c.machine);
  line(c.total);
  return out;
}

std::string json(const Comparison& c) {
  const auto row = [](const Comparison::Row& r) {
    return fmt::format(
        "{{\"name\": {}, \"a\": {}, \"b\": {}, \"ratio\": {:.6f}, \"limiter_a\": {}, \"limiter_b\": {}}}",
        quoted(r.name), r.a, r.b, r.ratio(), quoted(cause_name(r.limiter_a)),
        quoted(cause_name(r.limiter_b)));
  };
  std::string out = fmt::format("{{\"modelled\": true, \"a\": {}, \"b\": {}, \"bands\": [",
                                quoted(c.program_a), quoted(c.program_b));
  for (std::size_t i = 0; i < c.bands.size(); ++i)
    out += fmt::format("{}{}", i == 0 ? "" : ", ", row(c.bands[i]));
  return out + fmt::format("], \"machine\": {}, \"total\": {}}}\n", row(c.machine), row(c.total));
}

}  // namespace ktpu::cost
