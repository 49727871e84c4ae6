// Memory that is refused at any place: no crash, no hang, no leak, no wrong answer, and the program that is
// recorded does not notice. OPSCOPE_SOAK=1 tries every place, otherwise the first 40 of each job and a share of
// the others.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdio>
#include <string>

#include "jobs.h"

namespace faults {
namespace {

// With the first refusal, and with the first and all later ones, of malloc and of mmap.
void ExpectToBear(const std::string& what, const Job& job) {
  ASSERT_EQ(RunInChildProcess(job), "") << what << ", with nothing failing";
  for (const Call call : {Call::kAllocate, Call::kMap}) {
    for (const bool persists : {false, true}) {
      const Report report = FailEach({call, ENOMEM, persists}, job);
      const char* name = call == Call::kAllocate ? "malloc" : "mmap";
      EXPECT_EQ(report.wrong, "") << what << ", " << name << (persists ? ", from there on" : ", once");
      std::printf("%-28s %-6s %-13s %5lu places failed\n", what.c_str(), name, persists ? "from there on" : "once",
                  static_cast<unsigned long>(report.points));
    }
  }
}

TEST(AllocationFaults, OfARecordingCostNoMoreThanRecords) {
  ExpectToBear("recording", Recording());
  ExpectToBear("many threads", ManyThreads());
  const Folder folder;
  ExpectToBear("mapped recording", MappedRecording(folder.Path("mapped.opscope")));
}

TEST(AllocationFaults, OfAScheduleLeaveTheOldFileOrAWholeOne) {
  const Folder folder;
  ExpectToBear("schedule", ScheduledRecording(folder.Path("steps.opscope")));
}

TEST(AllocationFaults, OfSavingAndDumpingLeaveTheOldFileOrAWholeOne) {
  const Folder folder;
  ExpectToBear("save", Saving(folder.Path("saved.opscope")));
  ExpectToBear("dump", Dumping(folder.Path("dumped.opscope")));
}

TEST(AllocationFaults, OfReadingAreErrors) {
  const Folder folder;
  MakeRecording(folder.Path("recording.opscope"));
  ExpectToBear("read recording", Reading(folder.Path("recording.opscope")));
  for (const char* name : {"x.opscope", "x.json", "x.json.gz", "x.json.zst"}) {
    ASSERT_EQ(RunInChildProcess(Exporting(folder.Path("recording.opscope"), folder.Path(name))), "");
    ExpectToBear(std::string("read ") + name, Reading(folder.Path(name)));
  }
}

TEST(AllocationFaults, OfExportingLeaveTheOldFileOrAWholeOne) {
  const Folder folder;
  MakeRecording(folder.Path("recording.opscope"));
  for (const char* name : {"x.opscope", "x.json", "x.json.gz", "x.json.zst"})
    ExpectToBear(std::string("export ") + name, Exporting(folder.Path("recording.opscope"), folder.Path(name)));
}

TEST(AllocationFaults, ReachCAsErrors) {
  const Folder folder;
  ExpectToBear("C", UsingC(folder.Path("c.opscope")));
}

TEST(AllocationFaults, OfACommandAreOneLine) {
  const Folder folder;
  const std::string recording = folder.Path("recording.opscope");
  MakeRecording(recording);
  ExpectToBear("opscope summary", CommandLine({"summary", recording}, folder.path()));
  ExpectToBear("opscope info --json", CommandLine({"info", "--json", recording}, folder.path()));
  ExpectToBear("opscope doctor", CommandLine({"doctor", "--json"}, folder.path()));
}

}  // namespace
}  // namespace faults
