// SPDX-License-Identifier: Apache-2.0
#include "Vktpu_memory_core.h"
#include "Vktpu_memory_core___024root.h"
#include "rtl_models/memory/memory_twin_impl.h"

template class ktpu::rtl::MemoryTwinOf<Vktpu_memory_core>;
