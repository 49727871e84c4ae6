// Dumps when the program ends by an exception: the end is what it would have been.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>

#include "flight/flight_for_test.h"
#include "opscope/profiler.h"

namespace opscope {
namespace {

struct End {
  int status = 0;
  std::string errors;  // what it wrote on standard error
};

End RunChild(const std::function<void()>& body) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    body();
    _exit(0);
  }
  close(ends[1]);
  End end;
  char buffer[4096];
  for (ssize_t got; (got = read(ends[0], buffer, sizeof(buffer))) > 0;)
    end.errors.append(buffer, static_cast<size_t>(got));
  close(ends[0]);
  waitpid(child, &end.status, 0);
  return end;
}

void ThrowInScopes() {
  OPSCOPE_SCOPE("forward");
  OPSCOPE_SCOPE("layer 3");
  throw std::runtime_error("shapes do not match");
}

Options OnException(const DumpFolder& folder) {
  return {.flight = {.path = folder.File("f.opscope"), .on_exception = true}};
}

TEST(FlightEnd, AnUncaughtExceptionIsDumpedWithTheScopesThatItWasThrownIn) {
  const DumpFolder folder;
  const auto without = [] { std::thread(ThrowInScopes).join(); };
  const auto with = [&] {
    Profiler profiler(OnException(folder));
    if (!profiler.Start().ok()) _exit(1);
    std::thread(ThrowInScopes).join();
  };
  const End expected = RunChild(without), end = RunChild(with);
  EXPECT_TRUE(WIFSIGNALED(end.status) && WTERMSIG(end.status) == SIGABRT) << end.status;
  EXPECT_EQ(end.status, expected.status);
  EXPECT_EQ(end.errors, expected.errors);
  const ReadDump dump = Read(folder.only());
  EXPECT_EQ(dump.open, "forward layer 3 ");
  EXPECT_NE(dump.options.find("\"reason\":\"exception\",\"detail\":\"std::runtime_error\""), std::string::npos)
      << dump.options;
}

TEST(FlightEnd, TheTerminateHandlerOfTheProgramIsCalled) {
  const DumpFolder folder;
  const End end = RunChild([&] {
    std::set_terminate([] { _exit(42); });
    Profiler profiler(OnException(folder));
    if (!profiler.Start().ok()) _exit(1);
    std::thread(ThrowInScopes).join();
  });
  EXPECT_TRUE(WIFEXITED(end.status) && WEXITSTATUS(end.status) == 42) << end.status;
  EXPECT_EQ(folder.FileCount(), 1u);
}

std::terminate_handler terminate_below = nullptr;

TEST(FlightEnd, AHandlerThatCallsItMayStayBetweenRecordings) {
  const DumpFolder folder;
  const End end = RunChild([&] {
    std::set_terminate([] { _exit(42); });
    Profiler first(OnException(folder)), second(OnException(folder));
    if (!first.Start().ok()) _exit(1);
    terminate_below = std::set_terminate([] { terminate_below(); });
    if (!first.Stop().ok() || !second.Start().ok()) _exit(1);
    std::thread(ThrowInScopes).join();
  });
  EXPECT_TRUE(WIFEXITED(end.status) && WEXITSTATUS(end.status) == 42) << end.status;
  EXPECT_EQ(Read(folder.only()).open, "forward layer 3 ");
}

TEST(FlightEnd, AnExceptionThatIsCaughtIsNoEnd) {
  const DumpFolder folder;
  const std::terminate_handler before = std::get_terminate();
  Profiler profiler(OnException(folder));
  ASSERT_TRUE(profiler.Start().ok());
  EXPECT_NE(std::get_terminate(), before);
  EXPECT_THROW(ThrowInScopes(), std::runtime_error);
  ASSERT_TRUE(profiler.Stop().ok());
  EXPECT_EQ(std::get_terminate(), before);
  EXPECT_EQ(folder.FileCount(), 0u);
}

TEST(FlightEnd, AProgramThatCannotWriteItsDumpEndsAllTheSame) {
  const End end = RunChild([] {
    Profiler profiler({.flight = {.path = "/no/such/folder/f.opscope", .on_exception = true}});
    if (!profiler.Start().ok()) _exit(1);
    std::thread(ThrowInScopes).join();
  });
  EXPECT_TRUE(WIFSIGNALED(end.status) && WTERMSIG(end.status) == SIGABRT) << end.status;
}

}  // namespace
}  // namespace opscope
