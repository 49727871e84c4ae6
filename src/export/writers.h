// One function per format that ExportTrace knows beside Chrome's JSON and `.opscope`; each has a file of its name.
// Formats of folded stacks are given the tree that export_trace.cc has asked of the analysis.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "export/export_output.h"
#include "opscope/analysis/flame.h"
#include "opscope/export/formats.h"

namespace opscope {

void WriteCollapsed(const Trace& trace, const FlameTree& tree, const ExportOptions& options, ExportOutput* out);
// REQUIRES: there is a table of this name.
void WriteCsv(const Trace& trace, const ExportOptions& options, ExportOutput* out);

void WritePerfetto(const Trace& trace, const ExportOptions& options, ExportOutput* out);
void WriteMegEngineChrome(const Trace& trace, const ExportOptions& options, ExportOutput* out);  // megengine/chrome.cc
void WriteMegEngineSvg(const Trace& trace, const ExportOptions& options,
                       ExportOutput* out);  // megengine/memory_flow.cc
void WritePaddleChrome(const Trace& trace, const ExportOptions& options, ExportOutput* out);    // paddle/chrome.cc
void WritePaddleProtobuf(const Trace& trace, const ExportOptions& options, ExportOutput* out);  // paddle/protobuf.cc
void WritePprof(const Trace& trace, const FlameTree& tree, const ExportOptions& options, ExportOutput* out);
void WriteSpeedscope(const Trace& trace, const ExportOptions& options, ExportOutput* out);

}  // namespace opscope
