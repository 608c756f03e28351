// SPDX-License-Identifier: Apache-2.0
// The families of the library, and what they share. Private to this folder.
#pragma once

#include <functional>
#include <vector>

#include "compiler/kernel/definition.h"
#include "compiler/kernel/trace.h"
#include "compiler/kernels/activations.h"

namespace ktpu::kernels {

using Definitions = std::vector<kernel::Definition>;
void add_elementwise(Definitions& all);
void add_rows(Definitions& all);
void add_wide_rows(Definitions& all);
void add_matmul(Definitions& all);
void add_gated(Definitions& all);
void add_attention(Definitions& all);
void add_conv(Definitions& all);
void add_custom(Definitions& all);

// Settling: the knob as a number, if it is one from 1 on; else 0.
std::int64_t knob_of(const kernel::Knobs& knobs, std::string_view name);
// Parts become whole multiples of `unit` elements.
void settle_part(kernel::Knobs& knobs, std::int64_t unit);

// Of each row (compiler.md section 20).
kernel::Value softmax(const kernel::Value& x);
kernel::Value rms_normal(kernel::Trace& L, const kernel::Value& x);
kernel::Value layer_normal(kernel::Trace& L, const kernel::Value& x);

// One accumulator swept over all of K: acc += x(i, k) @ w(j, k).
kernel::Accumulator sweep(kernel::Trace& L, const kernel::Ref& x, const kernel::Ref& w, const base::Index& i,
                          const base::Index& j);
// A tiling over all tiles of x @ w^T with the knobs gm, gn, nk; `store` gets each swept accumulator.
using TileStore = std::function<void(const base::Index&, const base::Index&, const kernel::Accumulator&)>;
void for_each_tile(kernel::Trace& L, const kernel::Ref& x, const kernel::Ref& w, const TileStore& store);
// A tiling over the parts of `result`, of the knob `part`.
void for_each_part(kernel::Trace& L, const kernel::Ref& result,
                   const std::function<void(const base::Index&)>& store);

}  // namespace ktpu::kernels
