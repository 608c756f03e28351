// SPDX-License-Identifier: Apache-2.0
// Runs the built executables as a user would: as processes, in a folder of the test's own.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace ktpu::test {

namespace fs = std::filesystem;

struct Finished {
  int status = -1;  // exit status; 1000 + signal if killed by one
  std::string out, err;
};

inline std::string slurp(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
inline void spill(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

// A folder that lives as long as the test.
class Workshop : public testing::Test {
 protected:
  Workshop() {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    std::string name =
        std::string(info->test_suite_name()) + "_" + info->name() + "_" + std::to_string(getpid());
    for (char& c : name)
      if (c == '/') c = '_';
    folder = fs::temp_directory_path() / ("ktpu_" + name);
    fs::remove_all(folder);
    fs::create_directories(folder);
  }
  ~Workshop() override {
    std::error_code ignored;
    fs::permissions(folder, fs::perms::owner_all, ignored);
    fs::remove_all(folder, ignored);
  }

  // `tool`: name of an executable of the build, or an absolute path.
  Finished run(const std::string& tool, const std::vector<std::string>& arguments,
               const fs::path& in = {}) const {
    const fs::path out = fs::temp_directory_path() / (folder.filename().string() + ".out");
    const fs::path err = fs::temp_directory_path() / (folder.filename().string() + ".err");
    const std::string path = (fs::path(KTPU_BIN_DIR) / tool).string();
    const pid_t child = fork();
    if (child == 0) {
      if (chdir((in.empty() ? folder : in).c_str()) != 0) _exit(99);
      if (freopen(out.c_str(), "w", stdout) == nullptr || freopen(err.c_str(), "w", stderr) == nullptr)
        _exit(98);
      std::vector<char*> argv{const_cast<char*>(path.c_str())};
      for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
      argv.push_back(nullptr);
      execv(path.c_str(), argv.data());
      _exit(97);
    }
    int raw = 0;
    waitpid(child, &raw, 0);
    Finished finished{WIFEXITED(raw) ? WEXITSTATUS(raw) : 1000 + WTERMSIG(raw), slurp(out), slurp(err)};
    fs::remove(out);
    fs::remove(err);
    return finished;
  }
  Finished sim(const std::vector<std::string>& arguments, const fs::path& in = {}) const {
    return run("ktpu-sim", arguments, in);
  }
  // An example of the build, or text assembled into the test's folder.
  static std::string example(const std::string& name) {
    return (fs::path(KTPU_BIN_DIR).parent_path() / "examples" / (name + ".bin")).string();
  }
  std::string assemble(const std::string& text, const std::string& name = "program") const {
    spill(folder / (name + ".kasm"), text);
    const Finished f = run("ktpu-asm", {name + ".kasm", "-o", name + ".bin"});
    EXPECT_EQ(f.status, 0) << f.err;
    return name + ".bin";
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

  fs::path folder;
};

// A NumPy file of halves, version 1.0.
inline std::string npy(const std::vector<std::uint16_t>& values, const std::string& shape,
                       const std::string& descr = "<f2", bool fortran = false) {
  std::string header = "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
                       ", 'shape': " + shape + ", }";
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string text = "\x93NUMPY";
  text += '\x01';
  text += '\x00';
  text += static_cast<char>(header.size() & 255);
  text += static_cast<char>(header.size() >> 8);
  text += header;
  for (const std::uint16_t v : values) {
    text += static_cast<char>(v & 255);
    text += static_cast<char>(v >> 8);
  }
  return text;
}

}  // namespace ktpu::test
