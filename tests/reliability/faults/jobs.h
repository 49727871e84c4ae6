// What is tried with faults: recording, saving, dumping, reading, exporting, through C++, C and the command
// line. Each job checks its own claims: an answer or an error that says something, what was there before is
// still there, nothing is left over, and the program that is recorded does its work.
//
// Thread rule: each job runs in a process of its own, which has used no opscope yet.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fault_loop.h"

namespace faults {

// A folder for one test, removed with all that is in it.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string Path(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Start, two threads that record more than the recorder keeps ready, Stop. Nothing but these is tried.
Job Recording();
// A window is open; then many threads begin to record at once.
Job ManyThreads();
// The same with a schedule whose recordings are saved to `path` as they become complete.
Job ScheduledRecording(std::string path);
// Start, two threads that record into a mapped file, Stop. What the file cannot take stays in memory, and a warning
// says so: nothing is dropped.
Job MappedRecording(std::string path);
// Save where a file stands: the old one or the whole new one.
Job Saving(std::string path);
// Save where a file stands and there is no room, or (`forbid`) no right: refused, the old file stays.
Job SavingWithoutRoom(std::string path, std::function<bool()> forbid = {});
// Dump where a file stands, while two threads record; the recording stays right.
Job Dumping(std::string path);
// A recording on request, made unarmed: for the jobs below.
void MakeRecording(const std::string& path);
// The whole trace, an error, or a part of it and a problem that says so.
Job Reading(std::string path);
// To `path`, where a file stands. The suffix says how: .opscope, .json, .json.gz, .json.zst.
Job Exporting(std::string recording, std::string path);
// Profiler, scopes, saving, reading and a summary in C.
Job UsingC(std::string path);
// `opscope ARGUMENTS`: 0, or 1 and one line, or 3.
Job CommandLine(std::vector<std::string> arguments, std::string folder);

// All names in a folder, sorted.
std::vector<std::string> NamesIn(const std::string& folder);

}  // namespace faults
