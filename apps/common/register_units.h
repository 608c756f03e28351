// SPDX-License-Identifier: Apache-2.0
// Every kind of node and every implementation of it that this build can put into a socket.
#pragma once

#include "tlm/platform/registry.h"

namespace ktpu::apps {

void register_units(platform::Registry& registry);

}  // namespace ktpu::apps
