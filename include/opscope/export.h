// Writes a Trace in other formats, and as `.opscope`: all headers of
// include/opscope/export. Each file is written beside its final name and renamed,
// so a failure leaves no partial file; kIo errors name the path.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opscope/export/chrome.h"
#include "opscope/export/formats.h"
#include "opscope/export/opscope_file.h"
#include "opscope/export/output_file.h"
#include "opscope/torch/stacks.h"
