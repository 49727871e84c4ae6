// Records of the CUDA source (kNative of kCuda). They become rows when the operators of all threads have theirs,
// because a call of the runtime gets the number of the operator that made it.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "import/cuda/cuda_clock.h"
#include "import/cuda/cuda_import.h"
#include "import/cuda/cuda_words.h"
#include "import/recording/clock.h"
#include "import/recording/part.h"
#include "trace/builder.h"

namespace opscope {

class RecordingCuda {
 public:
  RecordingCuda(TraceBuilder* builder, const TickClock* clock) : builder_(builder), clock_(clock) {}

  // The parts of one window, in order; they stay until Finish. process: theirs. Returns how many of their records say
  // nothing of the program: what the source itself notes down, readings of sensors among it.
  uint64_t Add(ProcessId process, int64_t pid, std::span<RecordingPart> parts);
  // Names and members as in `words`; without this call, Kineto's. `words` outlives this object.
  void UseWords(const CudaWords& words) { words_ = &words; }
  // What the program calls nodes of graphs (kGraphNodesKey of window_facts.h); what is not of this form is left out.
  void NameNodes(std::string_view json);
  // REQUIRES: threads have their rows, and torch's operators their numbers. Returns tracks of threads that have got
  // calls, which are not in the order of their rows.
  std::set<TrackId> Finish();

 private:
  struct Pause {
    uint64_t begin = 0, end = 0;
  };
  struct Window {
    ProcessId process;
    int64_t pid;
    std::span<RecordingPart> parts;
    std::vector<std::pair<const RecordingPart*, uint32_t>> notes;  // rows: what the source itself notes down
    size_t calls = 0;
    size_t most_bytes = 0;                 // of a chunk
    uint64_t begin = 0, end = UINT64_MAX;  // of CUPTI's clock; it did not end where nothing says so
    std::vector<Pause> pauses = {};        // one after the other, in order
    bool IsPausedAt(uint64_t time) const;
    // By its time: whether it is not of the window, or was paused.
    bool IsOutside(const Record& raw, CudaEvent event) const;
  };
  // And where the window lies.
  void ReadClock(Window& window, CudaClock* clock);
  void Read(Window& window, const CudaClock& clock, CudaImport* import);
  CudaRecord RecordOf(const Window& window, const CudaClock& clock, const Record& raw, const CudaShared& shared);

  TraceBuilder* builder_;
  const TickClock* clock_;
  const CudaWords* words_ = &kKinetosWords;
  std::vector<Window> windows_;
  std::vector<std::pair<uint64_t, std::string>> node_names_;
};

}  // namespace opscope
