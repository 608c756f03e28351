// SPDX-License-Identifier: Apache-2.0
// Included in front of all Verilated code: redirects what it prints into the exception that follows
// (twin.cpp).
#pragma once

int ktpu_verilated_print(const char* format, ...);
#define VL_PRINTF ktpu_verilated_print
