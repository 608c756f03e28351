// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <systemc>

#include "apps/ktpu-sim/options.h"
#include "apps/ktpu-sim/session.h"
#include "arch/error.h"

namespace {

// A message quotes names of files it was given; what these hold must not steer a terminal.
std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if ((u < 32 && c != '\n') || u == 127)
      out += fmt::format("\\x{:02x}", u);
    else
      out.push_back(c);
  }
  return out;
}

int report(ktpu::arch::ExitStatus status, const char* text) {
  fmt::print(stderr, "ktpu-sim: {}\n", printable(text));
  return static_cast<int>(status);
}

}  // namespace

int sc_main(int argc, char** argv) {
  using ktpu::arch::ExitStatus;
  try {
    ktpu::apps::Options options;
    if (const auto status = ktpu::apps::parse_options(argc, argv, options)) return *status;
    return static_cast<int>(ktpu::apps::run_session(options));
  } catch (const ktpu::arch::UserError& error) {
    return report(error.status(), error.what());
  } catch (const std::bad_alloc&) {
    return report(ExitStatus::kUserError,
                  "out of memory: the machine or the program is too large for this computer");
  } catch (const sc_core::sc_report& error) {  // by a module of the user's
    return report(ExitStatus::kUnitFault, error.what());
  } catch (const std::exception& error) {
    return report(
        ExitStatus::kInternal,
        fmt::format("internal error: {}\nPlease report this with the command line, the topology and the "
                    "program.",
                    error.what())
            .c_str());
  }
}

// Instead of the library's main(): the copyright lines of the kernel have no place in a tool's output.
int main(int argc, char** argv) {
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
  return sc_core::sc_elab_and_sim(argc, argv);
}
