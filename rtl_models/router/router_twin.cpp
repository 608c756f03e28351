// SPDX-License-Identifier: Apache-2.0
#include "Vktpu_router.h"
#include "rtl_models/router/router_twin_impl.h"

template class ktpu::rtl::RouterTwinOf<Vktpu_router>;
