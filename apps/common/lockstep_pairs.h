// SPDX-License-Identifier: Apache-2.0
// Two implementations of one socket as a lock-step pair: the model on the machine's links, the twin on
// shadows of them.
#pragma once

#include <string>

#include "tlm/platform/registry.h"

namespace ktpu::apps {

// `suffix` of the twin's name: ".rtl".
platform::RouterFactory lockstep_router(platform::RouterFactory twin, std::string suffix);
platform::EndpointFactory lockstep_endpoint(platform::EndpointFactory model, platform::EndpointFactory twin,
                                            std::string suffix);

}  // namespace ktpu::apps
