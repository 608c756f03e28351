// SPDX-License-Identifier: Apache-2.0
#include "compiler/tensor_to_kernel/tiles.h"

#include <algorithm>

#include "arch/error.h"

namespace ktpu::tensor_to_kernel {

using base::ProductShape;
using kernel::Kernel;

namespace {

constexpr std::uint32_t kBlock = 32, kLongestFill = 255;

class Scan {
 public:
  std::vector<Product> run(const Kernel& kernel) {
    body(kernel.body);
    return std::move(found_);
  }

 private:
  void body(const kernel::Body& nodes) {
    for (const kernel::Node& node : nodes) std::visit([this](const auto& it) { see(it); }, node.it);
  }
  void see(const kernel::Tiling& tiling) {
    if (tiling.body) body(*tiling.body);
  }
  void see(const kernel::Loop& loop) {
    if (loop.body) body(*loop.body);
  }
  void see(const kernel::OpenTile&) {}
  void see(const kernel::OpenRegion&) {}
  void see(const kernel::FillRegion& fill) { regions_[fill.region] = fill.source.view.shape; }
  void see(const kernel::Contraction& product) {
    const kernel::Shape a = shape(product.a), b = shape(product.b);
    if (a.size() < 2 || b.size() < 2) return;
    tiles_[product.tile] = found_.size();
    const ProductShape made{kernel::elements(a) / a.back(), kernel::elements(b) / b.back(), a.back()};
    found_.push_back({made, false});
  }
  void see(const kernel::Store& store) {
    if (store.leaves.size() == 1 && store.expr.nodes().size() == 1) return;
    for (const kernel::Leaf& leaf : store.leaves)
      if (leaf.kind == kernel::Leaf::Kind::kTile)
        if (const auto at = tiles_.find(leaf.tile); at != tiles_.end()) found_[at->second].epilogue = true;
  }
  kernel::Shape shape(const kernel::Factor& factor) const {
    if (const auto* access = std::get_if<kernel::Access>(&factor)) return access->view.shape;
    const auto at = regions_.find(std::get<kernel::RegionId>(factor));
    return at == regions_.end() ? kernel::Shape{} : at->second;
  }

  std::vector<Product> found_;
  std::map<kernel::TileId, std::size_t> tiles_;
  std::map<kernel::RegionId, kernel::Shape> regions_;
};

double work(const ProductShape& shape) {
  return static_cast<double>(shape.m) * static_cast<double>(shape.n) * static_cast<double>(shape.k);
}

bool has_tile_knobs(const kernel::Knobs& knobs) {
  return knobs.contains("gm") && knobs.contains("gn") && knobs.contains("nk");
}

// The longest chunk both banks and a FILL take; at least 1.
std::uint32_t chunk(std::uint32_t gm, std::uint32_t gn, std::uint64_t k, const Capacity& capacity) {
  const std::uint32_t bank = std::min(capacity.bank_entries, kLongestFill);
  const std::uint64_t blocks = std::max<std::uint64_t>(1, k / kBlock);
  return static_cast<std::uint32_t>(
      std::max<std::uint64_t>(1, std::min<std::uint64_t>({bank / gm, bank / gn, blocks})));
}

}  // namespace

std::vector<Product> products(const Kernel& kernel) {
  std::vector<Product> distinct;
  for (const Product& product : Scan().run(kernel)) {
    const auto same = std::find_if(distinct.begin(), distinct.end(), [&](const Product& other) {
      return other.shape.m == product.shape.m && other.shape.n == product.shape.n &&
             other.shape.k == product.shape.k;
    });
    if (same == distinct.end())
      distinct.push_back(product);
    else
      same->epilogue = same->epilogue || product.epilogue;
  }
  return distinct;
}

base::TileLimits limits_of(const Capacity& capacity) {
  const std::uint32_t l1 = capacity.bank_entries * capacity.banks;
  return {capacity.tiles, l1, l1, capacity.banks};
}

kernel::Knobs with_tiles(const kernel::Definition& definition,
                         const std::map<std::string, kernel::Shape>& inputs, const kernel::Knobs& given,
                         const Capacity& capacity) {
  if (!has_tile_knobs(definition.knobs) || given.contains("gm") || given.contains("gn") ||
      given.contains("nk"))
    return given;
  const Kernel traced = kernel::trace(definition, inputs, given);
  const std::vector<Product> all = products(traced);
  if (all.empty()) return given;
  const Product& largest = *std::max_element(all.begin(), all.end(), [](const Product& a, const Product& b) {
    return work(a.shape) < work(b.shape);
  });
  const ProductShape& shape = largest.shape;
  kernel::Knobs knobs = given;
  const auto set = [&](std::uint32_t gm, std::uint32_t gn, std::uint32_t nk) {
    knobs["gm"] = std::int64_t{gm};
    knobs["gn"] = std::int64_t{gn};
    knobs["nk"] = std::int64_t{nk};
  };
  if (largest.epilogue && traced.fuse) {
    const auto cores = static_cast<std::uint32_t>(capacity.vector_cores / traced.batch);
    if (const auto tile = base::fused_tile(shape.m, shape.n, cores)) {
      set(tile->gm, tile->gn, chunk(tile->gm, tile->gn, shape.k, capacity));
      return knobs;
    }
  }
  const base::TileCandidate best = base::choose_tile(shape, limits_of(capacity));
  set(best.gm, best.gn, std::min(best.nk, chunk(best.gm, best.gn, shape.k, capacity)));
  return knobs;
}

std::string explain_tiles(const Kernel& kernel, const Capacity& capacity) {
  std::string text;
  const auto whole = [&](const char* knob) -> std::int64_t {
    const auto at = kernel.knobs.find(knob);
    const auto* value = at == kernel.knobs.end() ? nullptr : std::get_if<std::int64_t>(&at->second);
    return value ? *value : 0;
  };
  for (const Product& product : products(kernel)) {
    text += base::explain_tile(product.shape, limits_of(capacity));
    if (has_tile_knobs(kernel.knobs))
      text += fmt::format("  {} has gm={} gn={} nk={}{}\n", kernel.name, whole("gm"), whole("gn"),
                          whole("nk"), product.epilogue ? ", and computes on the accumulator" : "");
    if (!product.epilogue) continue;
    const auto cores = static_cast<std::uint32_t>(capacity.vector_cores / kernel.batch);
    if (const auto tile = base::fused_tile(product.shape.m, product.shape.n, cores))
      text += fmt::format("  gm={} gn={} keeps the epilogue on {} vector cores\n", tile->gm, tile->gn,
                          capacity.vector_cores);
    else
      text += fmt::format("  no tile keeps the epilogue on {} vector cores: it is staged\n",
                          capacity.vector_cores);
  }
  return text.empty() ? fmt::format("{} has no product\n", kernel.name) : text;
}

}  // namespace ktpu::tensor_to_kernel
