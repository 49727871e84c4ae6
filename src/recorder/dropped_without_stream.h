// Events that go to no stream: memory is short for what their thread needs to record, or the thread is past its end.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "recorder/registry.h"

namespace opscope {

// Counts one of a handler that has interrupted the stream's thread, which may be counting itself: so not in
// Stream::dropped.
void CountDropOfHandler(Stream* stream);

// Counts one for this window; returns false: its thread has no stream. REQUIRES: registry.mutex is held.
bool CountDropWithoutStream(Window* window);

// Counts one in each window that takes the native scopes of the calling thread, whose stream there gets it if it has
// one. thread: null for a thread without a Thread. Returns null, as opscope_thread_sync does then.
Thread* CountDropPerWindow(Thread* thread);

}  // namespace opscope
