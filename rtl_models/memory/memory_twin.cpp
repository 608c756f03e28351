// SPDX-License-Identifier: Apache-2.0
#include "Vktpu_memory.h"
#include "Vktpu_memory___024root.h"
#include "rtl_models/memory/memory_twin_impl.h"

template class ktpu::rtl::MemoryTwinOf<Vktpu_memory>;
