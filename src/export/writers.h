// One writer per export format, except Chrome JSON and `.opscope`; each is in a file of its name. Writers of folded
// stacks get the tree that export_trace.cc computes.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "export/export_output.h"
#include "opscope/analysis/flame.h"
#include "opscope/export/formats.h"

namespace opscope {

void WriteCollapsed(const Trace& trace, const FlameTree& tree, const ExportOptions& options, ExportOutput* out);
// REQUIRES: options.table names a table.
void WriteCsv(const Trace& trace, const ExportOptions& options, ExportOutput* out);

// As ExportHtml without a baseline; the title is the last part of options.trace_name.
void WriteHtml(const Trace& trace, const ExportOptions& options, ExportOutput* out);
void WritePerfetto(const Trace& trace, const ExportOptions& options, ExportOutput* out);
void WriteMegEngineChrome(const Trace& trace, const ExportOptions& options, ExportOutput* out);  // megengine/chrome.cc
void WriteMegEngineSvg(const Trace& trace, const ExportOptions& options,
                       ExportOutput* out);  // megengine/memory_flow.cc
void WritePaddleChrome(const Trace& trace, const ExportOptions& options, ExportOutput* out);    // paddle/chrome.cc
void WritePaddleProtobuf(const Trace& trace, const ExportOptions& options, ExportOutput* out);  // paddle/protobuf.cc
void WritePprof(const Trace& trace, const FlameTree& tree, const ExportOptions& options, ExportOutput* out);
void WriteSpeedscope(const Trace& trace, const ExportOptions& options, ExportOutput* out);

}  // namespace opscope
