// SPDX-License-Identifier: Apache-2.0
#include "rtl_models/twin.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace {

// What the module of this thread printed during the present eval: Verilator prints the text of a failing
// assertion before it stops.
thread_local std::string printed;

std::string trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

[[noreturn]] void stop(const char* file, int line, const char* text) {
  std::string message = trimmed(std::move(printed));
  printed.clear();
  if (message.empty()) message = fmt::format("{}:{}: {}", file, line, text);
  throw ktpu::rtl::detail::Stopped{std::move(message)};
}

}  // namespace

// Verilator's printf (VL_PRINTF of all Verilated code, see verilated_print.h).
int ktpu_verilated_print(const char* format, ...) {
  std::va_list args;
  va_start(args, format);
  char text[1024];
  const int length = std::vsnprintf(text, sizeof text, format, args);
  va_end(args);
  printed += text;
  return length;
}

// Verilator's hooks (VL_USER_STOP, VL_USER_FATAL); throwing is the documented use.
void vl_stop(const char* file, int line, const char* /*hierarchy*/) { stop(file, line, "$stop"); }
void vl_fatal(const char* file, int line, const char* /*hierarchy*/, const char* message) {
  stop(file, line, message);
}

namespace ktpu::rtl::detail {

void guarded_eval(const std::string& unit, sim::Cycle cycle, void (*eval)(void*), void* module) {
  try {
    eval(module);
  } catch (const Stopped& stopped) {
    throw RtlFailure(fmt::format("cycle {}: RTL of {} stopped: {}", cycle, unit, stopped.text));
  }
}

}  // namespace ktpu::rtl::detail
