// SPDX-License-Identifier: Apache-2.0
#include "rtl_models/coverage.h"

#include <verilated.h>

#if VM_COVERAGE
#include <verilated_cov.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#endif

namespace ktpu::rtl::detail {

#if VM_COVERAGE
namespace {

// Lines of the file are "C 'key' count" behind a header.
class Sum {
 public:
  explicit Sum(std::string path) : path_(std::move(path)) {}
  ~Sum() {
    std::ofstream file(path_);
    file << "# SystemC::Coverage-3\n";
    for (const auto& [key, count] : counts_) file << key << ' ' << count << '\n';
    if (file.flush()) return;
    std::fprintf(stderr, "%s: line coverage cannot be written there (KTPU_RTL_COVERAGE_FILE)\n",
                 path_.c_str());
    std::_Exit(2);
  }
  void add(VerilatedContext& context) {
    const std::string part = path_ + ".part";
    context.coveragep()->write(part.c_str());
    std::ifstream file(part);
    for (std::string line; std::getline(file, line);) {
      const std::size_t space = line.rfind(' ');
      if (line.starts_with("C ")) counts_[line.substr(0, space)] += std::stoull(line.substr(space + 1));
    }
    std::remove(part.c_str());
  }

 private:
  std::string path_;
  std::map<std::string, std::uint64_t> counts_;
};

}  // namespace

void keep_coverage(VerilatedContext& context) {
  static const char* const path = std::getenv("KTPU_RTL_COVERAGE_FILE");
  if (path == nullptr) return;
  static std::mutex mutex;
  static Sum sum(path);
  const std::scoped_lock lock(mutex);
  sum.add(context);
}
#else
void keep_coverage(VerilatedContext&) {}
#endif

}  // namespace ktpu::rtl::detail
