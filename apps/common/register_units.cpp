// SPDX-License-Identifier: Apache-2.0
#include "apps/common/register_units.h"

#ifdef KTPU_HAVE_RTL
#include "rtl_models/register_twins.h"
#endif

namespace ktpu::apps {

void register_units(platform::Registry& registry) {
  platform::register_models(registry);
#ifdef KTPU_HAVE_RTL
  rtl::register_twins(registry);
#endif
}

}  // namespace ktpu::apps
