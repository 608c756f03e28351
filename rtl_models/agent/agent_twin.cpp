// SPDX-License-Identifier: Apache-2.0
#include "Vktpu_agent.h"
#include "rtl_models/agent/agent_twin_impl.h"

template class ktpu::rtl::AgentTwinOf<Vktpu_agent>;
