// Runs a program and keeps what can be seen of it from outside: status, standard output, and how long it
// took to end after it said that it was about to (descriptor 3).
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

struct Job {
  int status = -1;        // as waitpid gives it; -1: it did not end in time and was killed
  std::string output;     // standard output
  double ending_ms = -1;  // from "about to end" to its end; -1: it did not say
  std::string description() const;
};

// Standard error goes to /dev/null. A job that runs longer than `limit_s` is killed.
Job RunJob(const std::vector<std::string>& command, int limit_s = 30);
