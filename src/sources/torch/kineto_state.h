// What torch's own profiler does with Kineto, which goes on holding CUPTI when it is over.
//
// Kineto has one profiler in a process, made at the first use of torch.profiler. It is found by the symbols that
// libtorch_cpu exports; where they, or the object behind them, are others nothing is known.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace opscope {

// Whether torch.profiler has been used in this process, and nothing is recorded by it now. False: not, or not known.
bool KinetoIsIdle();

}  // namespace opscope
