// SPDX-License-Identifier: Apache-2.0
#include "Vktpu_command_engine.h"
#include "rtl_models/command_engine/command_engine_twin_impl.h"

template class ktpu::rtl::CommandEngineTwinOf<Vktpu_command_engine>;
