// SPDX-License-Identifier: Apache-2.0
#include "Vktpu_quantiser.h"
#include "rtl_models/quantiser/quantiser_twin_impl.h"

template class ktpu::rtl::QuantiserTwinOf<Vktpu_quantiser>;
