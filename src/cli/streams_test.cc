// The program and its standard streams: closed ones, descriptors that no name leads to, and signals in the middle of
// a file.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <vector>

#include "cli/program_for_test.h"

namespace opscope {
namespace {

std::string Events(size_t count) {
  std::string text = "{\"traceEvents\": [";
  for (size_t i = 0; i < count; ++i) {
    text += i == 0 ? "" : ",";
    text += R"({"ph": "X", "name": "op)" + std::to_string(i % 1000) + R"(", "pid": 1, "tid": 1, "ts": )" +
            std::to_string(i) + R"(, "dur": 1, "args": {"number": )" + std::to_string(i) + "}}";
  }
  return text + "]}";
}

class Streams : public Cli {
 protected:
  // As Run, but the standard streams are those of `redirections`.
  int RunWith(const std::string& arguments, const std::string& redirections) const {
    const std::string command =
        "cd " + Quoted(folder_.string()) + " && " OPSCOPE_COMMAND " " + arguments + " " + redirections;
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  // The program as a child, after `prepare` ran in it.
  template <typename Prepare>
  static pid_t Start(std::vector<std::string> arguments, const Prepare& prepare) {
    const pid_t child = fork();
    if (child != 0) return child;
    std::vector<char*> pointers;
    for (std::string& argument : arguments)
      pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    if (prepare()) execv(OPSCOPE_PROGRAM, pointers.data());
    _exit(127);
  }

  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }
};

TEST_F(Streams, AnAnswerWithoutStandardOutputIsAnError) {
  Put("a.json", Events(100));
  for (const char* arguments : {"summary a.json", "info a.json", "flame a.json", "export a.json --to csv -o -"}) {
    EXPECT_EQ(RunWith(arguments, ">&- 2>error"), 1) << arguments;
    EXPECT_EQ(ReadText(Path("error")), "opscope: standard output: Bad file descriptor\n") << arguments;
  }
}

TEST_F(Streams, FilesAreWrittenAsEverWithoutThem) {
  Put("a.json", Events(100));
  for (const char* format : {"opscope", "perfetto", "csv"}) {
    const std::string arguments = std::string("export a.json --to ") + format + " -o out";
    ASSERT_EQ(RunWith(arguments, ">stdout 2>stderr"), 0);
    const std::string expected = ReadText(Path("out"));
    ASSERT_EQ(RunWith(arguments, "<&- >&- 2>&-"), 0);
    EXPECT_TRUE(ReadText(Path("out")) == expected) << format;
  }
}

TEST_F(Streams, AHyphenIsDescriptorZeroFromWhereItStands) {
  Put("a.json", "not a trace" + Events(100));
  const int file = open(Path("a.json").c_str(), O_RDONLY | O_CLOEXEC);
  lseek(file, 11, SEEK_SET);
  const std::string out = Path("out");
  const pid_t child = Start({"opscope", "convert", "-", "-o", out}, [&] { return dup2(file, STDIN_FILENO) == 0; });
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(lseek(file, 0, SEEK_CUR), static_cast<off_t>(fs::file_size(Path("a.json")))) << "the offset is shared";
  close(file);
}

TEST_F(Streams, AHyphenMayBeASocket) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const pid_t child =
      Start({"opscope", "convert", "-", "-o", Path("out")}, [&] { return dup2(ends[1], STDIN_FILENO) == 0; });
  close(ends[1]);
  const std::string text = Events(20'000);
  for (size_t at = 0; at < text.size();) {
    const ssize_t sent = send(ends[0], text.data() + at, text.size() - at, MSG_NOSIGNAL);
    if (sent <= 0) break;
    at += static_cast<size_t>(sent);
  }
  close(ends[0]);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(fs::exists(Path("out")));
}

TEST_F(Streams, StandardOutputMayBeAPipeThatDoesNotBlock) {
  const std::string input = Put("a.json", Events(20'000));  // more than a pipe holds
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
  ASSERT_EQ(fcntl(ends[0], F_SETFL, 0), 0);  // the end that the test reads
  const pid_t child = Start({"opscope", "export", input, "--to", "chrome", "-o", "-"},
                            [&] { return dup2(ends[1], STDOUT_FILENO) == STDOUT_FILENO; });
  close(ends[1]);
  size_t bytes = 0;
  char piece[4096];
  for (ssize_t got; (got = read(ends[0], piece, sizeof(piece))) > 0;)
    bytes += static_cast<size_t>(got);
  close(ends[0]);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_GT(bytes, size_t{1} << 20);
}

// As on a file system that has no files without names, where a file is written under a name of its own.
bool HaveNoNamelessFiles() {
  constexpr uint32_t kFlags = offsetof(seccomp_data, args) + 2 * sizeof(uint64_t);
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kFlags),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_TMPFILE & ~O_DIRECTORY, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {static_cast<unsigned short>(std::size(filter)), filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST_F(Streams, ASignalInAnExportLeavesNothingBehind) {
  const std::string input = Put("a.json", Events(300'000));
  const std::string before = Put("out.json.gz", "before");
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    const pid_t child = Start({"opscope", "export", input, "--to", "chrome", "--small", "-o", before}, [] {
      for (const int each : {SIGINT, SIGTERM, SIGHUP})
        signal(each, SIG_DFL);
      return HaveNoNamelessFiles();
    });
    int status = -1;
    pid_t ended = 0;
    while (Names().size() < 3 && (ended = waitpid(child, &status, WNOHANG)) == 0)
      sched_yield();
    ASSERT_EQ(ended, 0) << "it ended, or could not be started, before it could be interrupted: " << status;
    kill(child, number);
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == number) << status;
    EXPECT_EQ(Names(), (std::vector<std::string>{"a.json", "out.json.gz"}));
    EXPECT_EQ(ReadText(before), "before");
  }
}

TEST_F(Streams, NoVerbWritesOverItsInput) {
  Put("a.json", Events(10));
  const std::string before = ReadText(Path("a.json"));
  fs::create_symlink("a.json", Path("link"));
  fs::create_symlink("link", Path("link2"));
  fs::create_hard_link(Path("a.json"), Path("hard"));
  for (const std::string verb : {"export --to collapsed", "export --to chrome", "convert", "flame"}) {
    for (const char* output : {"a.json", "./a.json", "link", "link2", "hard"}) {
      if (verb == "flame" && std::string(output).ends_with(".json")) continue;  // refused for its ending
      for (const char* input : {"a.json", "link", "- <a.json"}) {
        const Outcome outcome = Run(verb + " -o " + output + " " + input);
        EXPECT_EQ(outcome.exit_code, 2) << verb << " " << output << " " << input;
        const std::string name = verb.substr(0, verb.find(' '));
        EXPECT_EQ(outcome.error, "opscope: " + name + ": " + output + " is the input\n");
        EXPECT_EQ(ReadText(Path("a.json")), before);
      }
    }
  }
  EXPECT_EQ(Run("convert a.json -o b.opscope").exit_code, 0);
  EXPECT_EQ(Run("convert a.json -o b.opscope").exit_code, 0) << "an older output may be replaced";
}

TEST_F(Streams, AMergeIsNotWrittenOverItsInputs) {
  Put("rank0.json", Events(10));
  Put("rank1.json", Events(10));
  const std::string before = ReadText(Path("rank1.json"));
  fs::create_symlink("rank1.json", Path("link"));
  for (const char* output : {"rank1.json", "./rank1.json", "link"}) {
    const Outcome outcome = Run(std::string("merge rank0.json rank1.json -o ") + output);
    EXPECT_EQ(outcome.exit_code, 2) << output;
    EXPECT_EQ(outcome.error, std::string("opscope: merge: ") + output + " is one of the inputs\n");
    EXPECT_EQ(ReadText(Path("rank1.json")), before);
  }
}

}  // namespace
}  // namespace opscope
