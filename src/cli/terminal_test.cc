// What people see in a terminal: whatever the file holds and however narrow it is, no line wraps and nothing in it is
// obeyed.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <clocale>
#include <cwchar>
#include <sstream>
#include <string>

#include "cli/program_for_test.h"

namespace opscope {
namespace {

// Long, wide, and with what a terminal would obey.
constexpr const char kHostile[] = R"json({"traceEvents":[
{"ph":"X","name":"ProfilerStep#7","cat":"user_annotation","pid":1,"tid":1,"ts":0,"dur":900},
{"ph":"X","name":"ProfilerStep#8","cat":"user_annotation","pid":1,"tid":1,"ts":900,"dur":900},
{"ph":"X","name":"nn.Module: Model_0","cat":"python_function","pid":1,"tid":1,"ts":1,"dur":800},
{"ph":"X","name":"aten::addmm","cat":"cpu_op","pid":1,"tid":1,"ts":10,"dur":90,"args":{"External id":4,
 "Input Dims":[[8],[8,8],[8,8],[],[]],"Input type":["float","float","float","Scalar","Scalar"]}},
{"ph":"X","name":"日本語の長い名前がここにあり端末の幅よりもずっと長いので切られるはずです本当に","cat":"cpu_op","pid":1,
 "tid":1,"ts":200,"dur":30.5},
{"ph":"X","name":"red\u001b[31m right-to-left\u202e\u0007 c1\u009b31m\r\n","cat":"cpu_op","pid":1,"tid":1,"ts":300,
 "dur":10},
{"ph":"i","name":"[memory]","s":"t","pid":1,"tid":1,"ts":20,"args":{"Bytes":4096,"Device Type":0,"Addr":1,
 "Total Allocated":4096,"Device Id":-1}},
{"ph":"X","name":"void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_64x64_32x6_nn_align4>(float const*, int)",
 "cat":"kernel","pid":0,"tid":7,"ts":120,"dur":400,"args":{"device":0,"stream":7,"External id":4,"correlation":9}}],
"device\u001b]0;title\u0007":"x"})json";

// `opscope ARGUMENTS` with a terminal of so many columns as its standard output.
std::string OnTerminal(const std::string& folder, const std::string& arguments, int columns) {
  const int master = posix_openpt(O_RDWR | O_NOCTTY);
  EXPECT_GE(master, 0);
  EXPECT_EQ(grantpt(master) + unlockpt(master), 0);
  const int terminal = open(ptsname(master), O_RDWR | O_NOCTTY);
  EXPECT_GE(terminal, 0);
  termios as_written = {};
  tcgetattr(terminal, &as_written);
  cfmakeraw(&as_written);
  tcsetattr(terminal, TCSANOW, &as_written);
  winsize size = {};
  size.ws_col = static_cast<unsigned short>(columns);
  ioctl(terminal, TIOCSWINSZ, &size);
  const std::string command =
      "unset COLUMNS; cd " + Quoted(folder) + " && TERM=xterm " OPSCOPE_COMMAND " " + arguments + " 2>errors";
  const pid_t child = fork();
  if (child == 0) {
    dup2(terminal, STDOUT_FILENO);
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(127);
  }
  close(terminal);
  std::string text;
  char buffer[4096];
  for (ssize_t got; (got = read(master, buffer, sizeof(buffer))) > 0;)
    text.append(buffer, static_cast<size_t>(got));
  close(master);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << arguments;
  for (const char* bold : {"\x1b[1m", "\x1b[0m"}) {  // the titles
    for (size_t at; (at = text.find(bold)) != std::string::npos;)
      text.erase(at, 4);
  }
  return text;
}

class TerminalWidth : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    utf8_ = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    if (utf8_ == nullptr) GTEST_SKIP() << "no locale C.UTF-8 here";
    before_ = uselocale(utf8_);
    Put("hostile.json", kHostile);
  }
  void TearDown() override {
    if (utf8_ != nullptr) {
      uselocale(before_);
      freelocale(utf8_);
    }
    Cli::TearDown();
  }
  // As the system counts them; -1: the line holds what cannot be printed.
  static int ColumnsOfLine(const std::string& line) {
    std::wstring wide(line.size(), L'\0');
    const size_t length = mbstowcs(wide.data(), line.c_str(), wide.size());
    return length == static_cast<size_t>(-1) ? -1 : wcswidth(wide.data(), length);
  }
  void ExpectFits(const std::string& arguments, int columns) {
    std::istringstream lines(OnTerminal(folder_.string(), arguments, columns));
    size_t count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
      const int width = ColumnsOfLine(line);
      EXPECT_GE(width, 0) << arguments << "\n" << line;
      EXPECT_LE(width, columns) << arguments << "\n" << line;
    }
    EXPECT_GT(count, 0u) << arguments;
  }

 private:
  locale_t utf8_ = nullptr, before_ = nullptr;
};

TEST_F(TerminalWidth, IsKeptByEveryTable) {
  for (const int columns : {40, 80, 120, 200}) {
    for (const char* arguments :
         {"summary hostile.json",
          "summary hostile.json --group-by name,shape,stack,module,category,thread,process,device,kind",
          "summary hostile.json --peak-flops 1e12 --sort p99", "summary hostile.json --style torch",
          "summary hostile.json --style torch --group-by name,shape,stack", "devices hostile.json",
          "modules hostile.json", "info hostile.json", "info hostile.json --list-threads --list-steps", "doctor",
          "summary hostile.json hostile.json", "merge hostile.json hostile.json -o all.opscope"})
      ExpectFits(arguments, columns);
  }
}

TEST_F(TerminalWidth, IsKeptWithTheNamesOfRealKernels) {
  const fs::path samples = fs::path(OPSCOPE_SOURCE_DIR) / "../shared/samples/kineto";
  if (!fs::exists(samples)) GTEST_SKIP() << "the samples are not here";
  for (const char* name : {"cuda_alexnet", "cuda_triton", "rocm_mi250_train"}) {
    const std::string file = Quoted((samples / name).string() + ".json.gz");
    for (const int columns : {40, 80, 120, 200}) {
      for (const char* verb :
           {"summary -q ", "summary -q --style torch ", "summary -q --group-by shape ", "devices -q "})
        ExpectFits(verb + file, columns);
    }
  }
}

}  // namespace
}  // namespace opscope
