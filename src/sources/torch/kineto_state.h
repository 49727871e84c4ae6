// Whether Kineto, the library behind torch.profiler, is idle. Kineto keeps CUPTI subscribed after a profile has ended,
// and CUPTI allows one subscriber only.
//
// A process has one Kineto profiler, created at the first use of torch.profiler. It is found by symbols that
// libtorch_cpu exports; if they are missing, or the object has another type, the state is unknown.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace opscope {

// True: torch.profiler was used in this process and records nothing now. False: it was not used, records, or is
// unknown.
bool KinetoIsIdle();

}  // namespace opscope
