// A stand-in for libcupti with a simulated GPU behind it, for machines without one: OPSCOPE_CUPTI_LIB names it. The
// program under test calls the simulated CUDA (fake_cuda.h), the profiler under test finds the functions of CUPTI by
// dlsym.
//
// It is as strict as the real library: what CUPTI forbids, or answers with a crash, a hang or a spoilt session, is
// counted as a violation by its rule's name (fake_cupti_violation_text) beside the answer that CUPTI would give. Its
// callbacks run under its lock, so that a tool that holds a lock of its own across a call is found out (rule
// `deadlock`) instead of hanging now and then.
//
// Scenario: "key=value;key=value", in the environment variable OPSCOPE_FAKE_CUPTI when the library is first used, or
// given to fake_cupti_scenario. What is not named is as on a healthy machine. A key or value that is not known ends the
// process with a message.
//
//   version=12.1|12.9|13.0|13.5|99  what it is: functions, structs, kinds, ways; 99: longer structs than any known
//   (13.0) driver=none                     no driver, as the real libraries behave then devices=N simulated GPUs (1)
//   missing=FUNCTION,..             dlsym does not find these (it answers null; dlerror has no word for it)
//   fail=FUNCTION[(KIND)]:CODE[@N[+]],..
//                                   the function answers CODE, (for that kind alone), at its Nth call (from the Nth on)
//   hang=FUNCTION:SECONDS[@N],..    it does not come back before, (at its Nth call alone)
//   holder=none|idle|recording      another user of CUPTI: subscribed; recording: with kinds enabled and buffers, too
//   deliver=thread|inline|flush     who hands back full buffers: CUPTI's own thread, the thread that filled it, a flush
//   flush=caller|thread             which thread hands buffers back while ActivityFlushAll waits
//   late=MS|never                   what a flush should hand back comes from CUPTI's thread, so much after it
//   thread_buffers=0|1              records of calls go into a buffer per thread (from 12.3 on), or all into one
//   order=completion|reversed|shuffled|device_first
//                                   of records: within what a flush or a full queue collects; device_first: the kernel
//                                   before the call that launched it
//   correlation=N                   the first correlation id; after 4294967295 comes 1
//   drop=N                          CUPTI has no room for every Nth record
//   early=NS                        the device's clock is behind: its records begin so much before their call
//   incomplete=N                    every Nth record of a device has start and end 0
//   unknown=N                       after every Nth record one of kind 777
//   longer=BYTES                    each record is longer than its struct, by a multiple of 8
//   after_disable=N                 after the last kind is disabled, N records of kernels come in a buffer of their own
//   nested_driver=0|1               calls of the runtime make records of the driver call within, of the same
//   correlation queue=N                         launches that wait on a stream before the next one blocks (1024)
//   latency=NS                      from a call to the begin of its work on an idle stream (2000)
//
// Thread rule: any thread. A text that is returned lives until the next call of the function on that thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#define FAKE_CUPTI_API __attribute__((visibility("default")))

// Forgets everything and begins anew; no thread may be inside the library, and none of its threads is left afterwards.
FAKE_CUPTI_API void fake_cupti_scenario(const char* scenario);

// Other faults from here on: nothing is forgotten, and nobody's buffers are lost. `version`, `longer` and
// `devices` stay as they were.
FAKE_CUPTI_API void fake_cupti_change(const char* scenario);

// How often rules were broken, and "RULE COUNT: FUNCTION\n" for each rule ("" if none was).
FAKE_CUPTI_API uint64_t fake_cupti_violations(void);
FAKE_CUPTI_API const char* fake_cupti_violation_text(void);

// Records of a kind (0: of all): that there were; that CUPTI had no room for; that were handed back in buffers of the
// one who registered last. issued = dropped + handed back + still in CUPTI's hands.
FAKE_CUPTI_API uint64_t fake_cupti_issued(uint32_t kind);
FAKE_CUPTI_API uint64_t fake_cupti_dropped(uint32_t kind);
FAKE_CUPTI_API uint64_t fake_cupti_handed_back(uint32_t kind);

// What the profiler holds now. The holder's (see `holder`) does not count.
FAKE_CUPTI_API uint32_t fake_cupti_enabled_kinds(void);
FAKE_CUPTI_API uint32_t fake_cupti_subscribed(void);
FAKE_CUPTI_API uint32_t fake_cupti_buffers_held(void);

// Calls of a function ("cuptiActivityEnable"), and all calls but those made per record or per range, in order:
// "cuptiActivityEnable(10)=0\n".
FAKE_CUPTI_API uint64_t fake_cupti_calls(const char* function);
FAKE_CUPTI_API const char* fake_cupti_log(void);

// Time spent in completed callbacks, ns in all, and records in their buffers.
FAKE_CUPTI_API uint64_t fake_cupti_callback_ns(void);

// The other user of CUPTI comes, begins or ends recording, or goes: the words of `holder`. And the records it was
// given.
FAKE_CUPTI_API void fake_cupti_holder(const char* state);
FAKE_CUPTI_API uint64_t fake_cupti_holder_records(void);

FAKE_CUPTI_API void fake_cupti_end_hangs(void);  // whoever hangs comes back
FAKE_CUPTI_API void fake_cupti_deliver_late(
    void);  // hands over now, from CUPTI's thread, what `late` holds back; waits

// For the other libraries that go with it (fake_driver.cc, fake_nvml.cc): a call of a function, with the scenario's
// `hang` and `fail`, whose code it returns, or 0; a broken rule.
FAKE_CUPTI_API uint32_t fake_cupti_called(const char* function);
FAKE_CUPTI_API void fake_cupti_violation(const char* rule, const char* function);

#ifdef __cplusplus
}
#endif
