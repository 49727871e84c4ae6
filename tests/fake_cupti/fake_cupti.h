// A simulated libcupti with a simulated GPU behind it, for tests on machines without a GPU: the environment variable
// OPSCOPE_CUPTI_LIB selects it instead of NVIDIA's library. The test program calls the simulated CUDA (fake_cuda.h),
// and the profiler under test finds the functions of CUPTI by dlsym.
//
// It is stricter than the real library: where CUPTI's documentation forbids a call, or CUPTI would crash, hang or lose
// records, the call is counted as a violation of a named rule (fake_cupti_violation_text), and it returns the code that
// CUPTI returns. Callbacks run under the library's lock, so that a tool that holds an own lock during a call is always
// detected (rule `deadlock`) instead of hanging now and then.
//
// A scenario is the text "key=value;key=value", in the environment variable OPSCOPE_FAKE_CUPTI at the first use of the
// library, or the argument of fake_cupti_scenario. Keys that are not given mean a healthy machine. An unknown key or
// value aborts the process with a message.
//
//   version=12.1|12.9|13.0|13.5|99  version of CUPTI (13.0): its functions, structs, kinds and behaviour; 99: structs
//                                   longer than those of any known version
//   driver=none                     no driver is installed; functions answer as the real library's do then
//   devices=N                       number of simulated GPUs (1)
//   missing=FUNCTION,..             dlsym does not find these functions (it returns null, without a text from dlerror)
//   fail=FUNCTION[(KIND)]:CODE[@N[+]],..
//                                   the function returns CODE, (for this kind only), in its Nth call (and all later
//                                   ones)
//   hang=FUNCTION:SECONDS[@N],..    the function blocks for this time (in its Nth call only)
//   holder=none|idle|recording      another user of CUPTI. idle: subscribed; recording: also with enabled kinds and
//                                   buffers
//   deliver=thread|inline|flush     who returns full buffers: CUPTI's own thread, the thread that filled the buffer,
//                                   or a flush
//   flush=caller|thread             which thread returns buffers while ActivityFlushAll waits
//   late=MS|never                   a flush returns at once; its buffers follow from CUPTI's thread after this time
//   thread_buffers=0|1              0: one buffer for all records; 1: one per thread for API records (the default from
//                                   12.3 on)
//   order=completion|reversed|shuffled|device_first
//                                   order of the records that one flush or one full queue collects; device_first: the
//                                   kernel's record comes before that of the call that launched it
//   correlation=N                   the first correlation id; the one after 4294967295 is 1
//   drop=N                          every Nth record is dropped, as if CUPTI had no memory for it
//   early=NS                        the device's clock is slow: records start this much before their call
//   incomplete=N                    every Nth record of a device has start and end 0
//   unknown=N                       every Nth record is followed by one of the unknown kind 777
//   longer=BYTES                    each record is longer than its struct, by a multiple of 8
//   after_disable=N                 N kernel records arrive, in a separate buffer, after the last kind was disabled
//   nested_driver=0|1               runtime calls also record the driver call inside them, with the same correlation id
//   queue=N                         launches that may wait on a stream before the next launch blocks (1024)
//   latency=NS                      time from a launch to the start of its work on an idle stream (2000)
//
// Thread rule: any thread. A returned text is valid until the next call of the same function on that thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#define FAKE_CUPTI_API __attribute__((visibility("default")))

// Resets the library and applies the scenario. REQUIRES: no thread is inside the library. Joins its threads.
FAKE_CUPTI_API void fake_cupti_scenario(const char* scenario);

// Applies other faults while sessions and buffers stay. `version`, `longer` and `devices` are not changed.
FAKE_CUPTI_API void fake_cupti_change(const char* scenario);

// The number of violations of rules, and "RULE COUNT: FUNCTION\n" for each broken rule ("" if there is none).
FAKE_CUPTI_API uint64_t fake_cupti_violations(void);
FAKE_CUPTI_API const char* fake_cupti_violation_text(void);

// Numbers of records of a kind (0: all kinds): created; dropped for lack of room; returned in buffers of the last
// registered callbacks. issued = dropped + handed back + still in open buffers.
FAKE_CUPTI_API uint64_t fake_cupti_issued(uint32_t kind);
FAKE_CUPTI_API uint64_t fake_cupti_dropped(uint32_t kind);
FAKE_CUPTI_API uint64_t fake_cupti_handed_back(uint32_t kind);

// Resources that the profiler holds now, without those of the other user (`holder`).
FAKE_CUPTI_API uint32_t fake_cupti_enabled_kinds(void);
FAKE_CUPTI_API uint32_t fake_cupti_subscribed(void);
FAKE_CUPTI_API uint32_t fake_cupti_buffers_held(void);

// The number of calls of a function ("cuptiActivityEnable"), and the log of all calls in order,
// "cuptiActivityEnable(10)=0\n"; functions that are called per record or per range are not logged.
FAKE_CUPTI_API uint64_t fake_cupti_calls(const char* function);
FAKE_CUPTI_API const char* fake_cupti_log(void);

// Total time in the profiler's callbacks `completed`, in ns.
FAKE_CUPTI_API uint64_t fake_cupti_callback_ns(void);

// Changes the state of the other user of CUPTI (values of `holder`), and returns how many records it has received.
FAKE_CUPTI_API void fake_cupti_holder(const char* state);
FAKE_CUPTI_API uint64_t fake_cupti_holder_records(void);

// Wakes all calls that block in `hang`.
FAKE_CUPTI_API void fake_cupti_end_hangs(void);
// Delivers all buffers that `late` holds back, from CUPTI's thread, and waits for it.
FAKE_CUPTI_API void fake_cupti_deliver_late(void);

// For the other simulated libraries (fake_driver.cc, fake_nvml.cc). fake_cupti_called counts a call and applies the
// scenario's `hang` and `fail`; it returns the code of `fail`, or 0. fake_cupti_violation counts a violation.
FAKE_CUPTI_API uint32_t fake_cupti_called(const char* function);
FAKE_CUPTI_API void fake_cupti_violation(const char* rule, const char* function);

#ifdef __cplusplus
}
#endif
