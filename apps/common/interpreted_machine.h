// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "compiler/device/interpreted_machine.h"

namespace ktpu::apps {

using device::interpreted_machine;

}  // namespace ktpu::apps
