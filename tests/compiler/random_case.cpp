// SPDX-License-Identifier: Apache-2.0
#include "tests/compiler/random_case.h"

#include <array>

#include "compiler/kernels/kernels.h"
#include "tests/fuzz/random.h"

namespace ktpu::test {
namespace {

using fuzz::Random;
using kernel::Shape;

constexpr std::uint64_t kTargets = 1ull << 32;  // stream of the machines

class Making {
 public:
  Making(std::uint64_t seed, std::uint64_t number) : r_(seed, number) {
    const auto all = kernels::all();
    const kernel::Definition& definition = *all[r_.below(all.size())];
    c_.kernel = definition.name;
    c_.seed = static_cast<std::uint32_t>(number + 1);
    c_.regrid = r_.one_in(4);
    c_.reuse_temps = r_.one_in(3);
    knobs(definition.knobs);
    shapes(definition);
  }
  Case take() { return std::move(c_); }

 private:
  std::uint32_t upto(std::uint32_t low, std::uint32_t high) {
    return low + static_cast<std::uint32_t>(r_.below(high - low + 1));
  }
  template <std::size_t kCount>
  std::int64_t one_of(const std::array<std::int64_t, kCount>& list) {
    return list[r_.below(kCount)];
  }
  // 1, around multiples of what the machine works in, or anything.
  std::uint32_t extent(std::uint32_t most) {
    switch (r_.below(6)) {
      case 0:
        return upto(1, std::min(most, 4u));
      case 1:
        return std::min(most, std::max(1u, 4 * upto(1, std::max(1u, most / 4))));
      case 2:
        return std::min(most, std::max(1u, 32 * upto(1, std::max(1u, most / 32)) + upto(0, 2) - 1));
      case 3:
        return std::min(most, 32 * upto(1, std::max(1u, most / 32)));
      default:
        return upto(1, most);
    }
  }

  void knobs(const kernel::Knobs& known) {
    const auto set = [&](const char* name, std::int64_t value) {
      if (known.contains(name)) c_.knobs[name] = value;
    };
    if (r_.below(3) != 0) {
      set("gm", one_of(std::array<std::int64_t, 9>{1, 2, 3, 4, 5, 8, 8, 16, 32}));
      set("gn", one_of(std::array<std::int64_t, 9>{1, 2, 3, 4, 6, 8, 8, 16, 32}));
      set("nk", one_of(std::array<std::int64_t, 7>{1, 1, 2, 2, 3, 4, 8}));
    }
    if (r_.one_in(3))
      set("part", one_of(std::array<std::int64_t, 10>{1, 16, 100, 128, 256, 384, 512, 1024, 2048, 4096}));
    if (r_.one_in(3)) c_.knobs["fuse"] = r_.one_in(2);
    if (known.contains("act")) {
      static const std::array<const char*, 3> kActs{"silu", "relu", "gelu"};
      c_.knobs["act"] = std::string(kActs[r_.below(3)]);
    }
    if (known.contains("eps") && r_.one_in(2)) c_.knobs["eps"] = r_.one_in(2) ? 1e-5 : 1e-3;
    if (known.contains("s")) c_.knobs["s"] = r_.one_in(2) ? 0.125 : 1.5;
  }

  void shapes(const kernel::Definition& definition) {
    Shape lead;
    for (std::size_t axes = r_.below(4) == 0 ? r_.below(3) : 0; axes != 0; --axes) lead.push_back(upto(1, 3));
    const auto with_lead = [&](std::vector<std::uint32_t> inner) {
      Shape shape = lead;
      shape.insert(shape.end(), inner.begin(), inner.end());
      return shape;
    };
    if (c_.kernel == "kernels.flash_attention") return attention(with_lead);
    if (c_.kernel.ends_with("_wide")) return wide(definition, with_lead);
    if (c_.kernel == "kernels.group_stats") {
      const std::uint32_t rows = 1u << upto(0, 5);
      c_.knobs["rows"] = std::int64_t{rows};
      c_.inputs["x"] = {rows, 128};
      if (c_.knobs.contains("part") && r_.below(4) != 0) c_.knobs["part"] = std::int64_t{rows} * 128;
      return;
    }
    if (c_.kernel.ends_with("conv2d") || c_.kernel.ends_with("conv2d_bias")) return convolution(definition);
    const bool folds = c_.kernel.find("norm") != std::string::npos ||
                       c_.kernel.find("softmax") != std::string::npos ||
                       c_.kernel.find("row_") != std::string::npos;
    Shape flat;
    for (std::size_t axes = upto(1, 3); axes != 0; --axes) flat.push_back(extent(axes == 1 ? 700 : 9));
    std::map<std::string, std::uint32_t> extents{
        {"M", extent(100)}, {"K", extent(300)}, {"F", extent(130)}, {"N", folds ? width() : extent(140)}};
    for (const kernel::Port& port : definition.ports) {
      if (port.role != kernel::Role::kIn) continue;
      if (port.shape.size() == 1 && port.shape[0].is_ellipsis()) {
        c_.inputs[port.name] = flat;
        continue;
      }
      std::vector<std::uint32_t> inner;
      for (const kernel::Dim& dim : port.shape)
        if (!dim.is_ellipsis()) inner.push_back(extents.at(*dim.index().axes().begin()));
      c_.inputs[port.name] = port.shape[0].is_ellipsis() ? with_lead(inner) : inner;
    }
  }
  std::uint32_t width() { return r_.below(4) == 0 ? extent(200) : 16 * upto(1, 8); }

  template <typename WithLead>
  void attention(const WithLead& with_lead) {
    const std::uint32_t block = r_.below(4) == 0 ? 16 * upto(1, 8) : 32 * upto(1, 4);
    const std::uint32_t blocks = upto(1, 3);
    std::uint32_t queries = block * upto(1, 2);
    c_.knobs["block"] = std::int64_t{block};
    if (r_.one_in(3)) c_.knobs["causal"] = true;
    if (r_.one_in(3)) c_.knobs["keys"] = std::int64_t{upto(1, block * blocks)};
    if (r_.one_in(4)) c_.knobs["qblock"] = std::int64_t{r_.one_in(2) ? block : 4 * upto(1, 8)};
    if (r_.one_in(3)) queries = extent(90);
    const std::uint32_t d = extent(100), dv = r_.below(5) == 0 ? extent(100) : block;
    c_.inputs["q"] = with_lead({queries, d});
    c_.inputs["k"] = with_lead({block * blocks, d});
    c_.inputs["v"] = with_lead({dv, block * blocks});
  }

  template <typename WithLead>
  void wide(const kernel::Definition& definition, const WithLead& with_lead) {
    const std::uint32_t rows = r_.below(6) == 0 ? upto(1, 6) : 1u << upto(0, 4);
    c_.knobs["rows"] = std::int64_t{rows};
    if (c_.knobs.contains("part") && r_.below(4) != 0)
      c_.knobs["part"] = std::int64_t{rows} * 128 * upto(1, 2);
    const std::uint32_t height = upto(1, 6);
    for (const kernel::Port& port : definition.ports)
      if (port.role == kernel::Role::kIn) c_.inputs[port.name] = with_lead({height, rows * 128});
  }

  void convolution(const kernel::Definition& definition) {
    const std::uint32_t h = upto(1, 9), w = upto(1, 9),
                        channels = r_.below(5) == 0 ? upto(1, 70) : 32 * upto(1, 2);
    const std::uint32_t n = extent(70);
    c_.inputs["a"] = {h, w, channels};
    c_.inputs["b"] = {n, 9 * channels};
    if (definition.ports.size() == 4) c_.inputs["bias"] = {((h + 2) * (w + 2) + 3) / 4 * 4, n};
  }

  Random r_;
  Case c_;
};

}  // namespace

Case random_case(std::uint64_t seed, std::uint64_t number) { return Making(seed, number).take(); }

Target random_target(std::uint64_t seed, std::uint64_t number) {
  Random r(seed, kTargets + number);
  static const std::array<const char*, 6> kShipped{"mesh1",          "mesh8", "reference_mesh8",
                                                   "reference_6c4v", "cdc",   "staged"};
  switch (r.below(4)) {
    case 0:
      return shipped("reference_6c4v");
    case 1:
      return r.one_in(4) ? shipped("quad", static_cast<unsigned>(r.below(4))) : shipped(kShipped[r.below(6)]);
    default: {
      MadeMachine like;
      like.clusters = 1 + static_cast<unsigned>(r.below(8));
      like.vector_cores = r.one_in(8) ? 0 : 1 + static_cast<unsigned>(r.below(8));
      like.staging_flits = 16 + static_cast<unsigned>(r.below(113));
      like.commands = 32 + static_cast<unsigned>(r.below(97));
      like.inst_depth = 16u << r.below(6);
      return made(like);
    }
  }
}

}  // namespace ktpu::test
