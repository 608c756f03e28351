// SPDX-License-Identifier: Apache-2.0
#include "Vktpu_vector.h"
#include "rtl_models/vector/vector_twin_impl.h"

template class ktpu::rtl::VectorTwinOf<Vktpu_vector>;
