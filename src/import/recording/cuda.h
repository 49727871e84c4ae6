// Records of the CUDA source (kNative of kCuda). They become rows after the operators of all threads, because a runtime
// call gets the external id of its enclosing operator.
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
#include "import/cuda/cuda_naming.h"
#include "import/recording/clock.h"
#include "import/recording/part.h"
#include "trace/builder.h"

namespace opscope {

class RecordingCuda {
 public:
  RecordingCuda(TraceBuilder* builder, const TickClock* clock) : builder_(builder), clock_(clock) {}

  // Adds the parts of one window, in order. `parts` outlives Finish. Returns the number of records that are not about
  // the program: those of the source itself, and readings of sensors.
  uint64_t Add(ProcessId process, int64_t pid, std::span<RecordingPart> parts);
  // Sets the names and members of device work; the default is Kineto's. `naming` outlives this object.
  void UseNaming(const CudaNaming& naming) { naming_ = &naming; }
  // The names of graph nodes (kGraphNodesKey of window_facts.h). Leaves out malformed entries.
  void NameNodes(std::string_view json);
  // REQUIRES: the threads have tracks, and torch's operators their external ids. Returns the tracks of threads to which
  // it added calls: their spans are no longer in order.
  std::set<TrackId> Finish();

 private:
  struct Pause {
    uint64_t begin = 0, end = 0;
  };
  struct Window {
    ProcessId process;
    int64_t pid;
    std::span<RecordingPart> parts;
    std::vector<std::pair<const RecordingPart*, uint32_t>> notes;  // rows of the source's own records
    size_t calls = 0;
    size_t most_bytes = 0;                 // of a chunk
    uint64_t begin = 0, end = UINT64_MAX;  // of CUPTI's clock; UINT64_MAX: no record of the end
    std::vector<Pause> pauses = {};        // in order; they do not overlap
    bool IsPausedAt(uint64_t time) const;
    // True if the time of the record lies outside of the window or within a pause.
    bool IsOutside(const Record& raw, CudaEvent event) const;
  };
  // Also reads begin, end and pauses of the window.
  void ReadClock(Window& window, CudaClock* clock);
  void Read(Window& window, const CudaClock& clock, CudaImport* import);
  CudaRecord RecordOf(const Window& window, const CudaClock& clock, const Record& raw, const CudaShared& shared);

  TraceBuilder* builder_;
  const TickClock* clock_;
  const CudaNaming* naming_ = &kKinetoNaming;
  std::vector<Window> windows_;
  std::vector<std::pair<uint64_t, std::string>> node_names_;
};

}  // namespace opscope
