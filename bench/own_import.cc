// Records with opscope's own scopes what opscope does to a trace, and saves the recording:
//   own_import JSON RECORDING REPETITIONS [PHASE TIMES]
// A repetition imports the Kineto JSON, writes it as .opscope, imports that and answers from it; each is a scope. PHASE
// does its work TIMES times within its scope: a slowdown of known size, which shows that the check finds one.
//
// Seconds of another machine, or of a busy one, cannot be compared. So a repetition begins with the scope `calibrate`,
// a fixed amount of the kind of work that an import is: a walk over the same bytes with a branch for each, a hash table
// of the names in quotes, and an append of 32 bytes per event. What slows the machine slows both. The loop uses no code
// of opscope, so a slower opscope cannot hide in it.
//
// The scopes are around public functions, none within the library: there they would make every program that reads a
// trace load the recorder.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "opscope/analysis/op_summary.h"
#include "opscope/analysis/steps.h"
#include "opscope/export.h"
#include "opscope/import.h"
#include "opscope/profiler.h"

namespace {

using opscope::Result;
using opscope::Status;
using opscope::Trace;

[[noreturn]] void Fail(const std::string& what) {
  std::fprintf(stderr, "own_import: %s\n", what.c_str());
  std::_Exit(1);
}

std::vector<std::byte> ReadAll(const std::string& path) {
  std::error_code error;
  std::vector<std::byte> bytes(std::filesystem::file_size(path, error));
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (error || file == nullptr) Fail("cannot open " + path);
  if (std::fread(bytes.data(), 1, bytes.size(), file) != bytes.size()) Fail("cannot read " + path);
  std::fclose(file);
  return bytes;
}

// Returns a number that depends on all of the work, so that the compiler keeps it.
uint64_t Calibrate(std::span<const std::byte> bytes) {
  std::vector<uint64_t> names(1 << 16);
  std::vector<std::array<uint64_t, 4>> events;
  uint64_t hash = 0, found = 0;
  bool in_quotes = false;
  for (const std::byte byte : bytes) {
    const auto code = static_cast<unsigned char>(byte);
    if (code == '"') {
      if (in_quotes) {
        uint64_t& slot = names[hash & (names.size() - 1)];
        found += slot == hash ? 1 : 0;
        slot = hash;
      }
      in_quotes = !in_quotes;
      hash = 14695981039346656037u;
    } else if (in_quotes) {
      hash = (hash ^ code) * 1099511628211u;
    } else if (code == '{') {
      events.push_back({hash, found, code, events.size()});
    }
  }
  return found + events.size();
}

Trace Require(Result<Trace> trace) {
  if (!trace.ok()) Fail(trace.error().message);
  return std::move(trace).value();
}

struct Phases {
  std::string json;
  std::string stored;
  std::string_view repeated = {};
  int times = 1;

  template <typename Work>
  void Run(opscope::StaticName name, const Work& work) const {
    const opscope::Scope scope(name);
    for (int i = 0; i < (repeated == name.text ? times : 1); ++i)
      work();
  }

  void RunAll(std::span<const std::byte> bytes) const {
    uint64_t kept = 0;
    Run({"calibrate"}, [&] { kept += Calibrate(bytes); });
    if (kept == 0) Fail(json + " has no events");
    Trace trace;
    Run({"import_json"}, [&] { trace = Require(opscope::ImportBytes(bytes, json, {.max_threads = 1})); });
    Run({"write_opscope"}, [&] {
      const Status written = opscope::ExportOpscope(trace, stored);
      if (!written.ok()) Fail(written.error().message);
    });
    Run({"import_opscope"}, [&] { trace = Require(opscope::ImportFile(stored, {.max_threads = 1})); });
    Run({"summarize"}, [&] {
      if (opscope::SummarizeOps(trace, {.max_threads = 1}).rows.empty()) Fail(json + " has no spans");
      if (opscope::MeasureSteps(trace).rows.empty()) Fail(json + " has no steps");
    });
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4 && argc != 6) {
    std::fprintf(stderr, "usage: own_import JSON RECORDING REPETITIONS [PHASE TIMES]\n");
    return 2;
  }
  Phases phases{.json = argv[1], .stored = std::string(argv[2]) + ".imported"};
  if (argc == 6) phases.repeated = argv[4];
  if (argc == 6) phases.times = std::atoi(argv[5]);
  const std::vector<std::byte> bytes = ReadAll(phases.json);
  opscope::Profiler profiler;
  if (const Status started = profiler.Start(); !started.ok()) Fail(started.error().message);
  for (int i = 0; i < std::atoi(argv[3]); ++i)
    phases.RunAll(bytes);
  if (const Status stopped = profiler.Stop(); !stopped.ok()) Fail(stopped.error().message);
  std::remove(phases.stored.c_str());
  if (const Status saved = profiler.Save(argv[2]); !saved.ok()) Fail(saved.error().message);
  return 0;
}
