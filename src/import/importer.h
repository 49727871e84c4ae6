// The importers, and how to add one. Each reads one format into a TraceBuilder; formats.cc detects the format by the
// first 64 KiB of the (decompressed) content, and content.cc calls its importer. A new format is a source file in a
// folder, a declaration in the importer.h of that folder and one row in formats.cc. Texts are read as a stream
// (TextSource), binary formats get all bytes.
//
// Contract of every importer: it adds all undamaged events to `builder`. Damage after the first complete event is a
// problem row, and the import succeeds. Earlier damage is kMalformed with "NAME: at byte N: what is wrong". The
// importer sets builder->info().format, format_version, epoch_ns and options_json. With options.max_memory != 0 it
// stops, with an `over_memory_limit` problem, when the text in memory plus builder->memory_bytes() exceeds the limit.
//
// Thread rule: any thread, one builder per call.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "import/chrome/importer.h"
#include "import/collapsed/importer.h"
#include "import/dialects/importer.h"
#include "import/megengine/importer.h"
#include "import/opscope/importer.h"
#include "import/paddle/importer.h"
#include "import/torch/importer.h"
#include "import/xla/importer.h"
