// SPDX-License-Identifier: Apache-2.0
// A plugin as another version of the simulator would have made it.
extern "C" const char* ktpu_plugin_abi() { return "interface 0"; }
extern "C" const void* ktpu_plugin() { return nullptr; }
