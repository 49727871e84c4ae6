// Results as text: torch's table, tables for people, JSON and CSV of the command
// line. All headers of include/opscope/report. Functions return strings; nothing
// here prints.
//
//   #include "opscope/report.h"
//
//   const opscope::OpSummary summary = opscope::SummarizeOps(trace);
//   std::cout << opscope::SummaryTable(trace, summary).Text(20);
//   std::cout << opscope::FormatLoss(trace);
//
// Thread rule: pure functions; views in rows must live until the call returns.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opscope/report/advise.h"
#include "opscope/report/basis.h"
#include "opscope/report/check.h"
#include "opscope/report/critical_path.h"
#include "opscope/report/devices.h"
#include "opscope/report/diff.h"
#include "opscope/report/flame.h"
#include "opscope/report/info.h"
#include "opscope/report/memory.h"
#include "opscope/report/merge.h"
#include "opscope/report/modules.h"
#include "opscope/report/quality.h"
#include "opscope/report/reproduce.h"
#include "opscope/report/result_inputs.h"
#include "opscope/report/result_table.h"
#include "opscope/report/roofline.h"
#include "opscope/report/steps.h"
#include "opscope/report/summary.h"
#include "opscope/torch/memory_timeline_text.h"
#include "opscope/torch/table.h"
