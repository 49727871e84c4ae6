// Writes a Trace in other people's formats, and in `.opscope`. Files are written beside the final
// name and renamed, so a fault leaves nothing half-written; kIo errors name the path. This is all of it; each subject
// has a header of its own.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opscope/export/chrome.h"
#include "opscope/export/formats.h"
#include "opscope/export/opscope_file.h"
#include "opscope/export/output_file.h"
#include "opscope/torch/stacks.h"
