// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "apps/ktpu-cosim/stimulus.h"

namespace ktpu::cosim {

// A subset of `stimulus`, in its order and with gaps of 0 where possible, for which `fails` still holds and
// from which no single message can be left out; or as far as `tries` calls of `fails` bring it. `fails` must
// hold for `stimulus`.
Stimulus minimise(Stimulus stimulus, const std::function<bool(const Stimulus&)>& fails, unsigned tries);

}  // namespace ktpu::cosim
