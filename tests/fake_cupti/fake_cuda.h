// The simulated CUDA API that test programs call. Each function is one call of the runtime (or driver) API, with its
// record, and with the work that it submits to the device. Streams run their work in order, on the clock CLOCK_REALTIME
// as real devices report it; a synchronous call blocks for that time.
//
// Ids: devices count from 0, the default stream of device d is 7 + 1000 * d, created ones follow. All return the
// correlation id of the call where nothing else is said; 0 where the stream, event or graph does not exist.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdint.h>

#include "fake_cupti.h"

#ifdef __cplusplus
extern "C" {
#endif

enum FakeCudaCall {
  kFakeRuntimeLaunch = 0,    // cudaLaunchKernel
  kFakeRuntimeLaunchEx = 1,  // cudaLaunchKernelExC
  kFakeDriverLaunch = 2,     // cuLaunchKernel
};

struct FakeCudaLaunch {
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t registers;
  uint32_t static_shared_memory;
  uint32_t dynamic_shared_memory;
  uint32_t call;  // FakeCudaCall
};

// `name` must live on, as a kernel's in its module does. fake_cuda_launch: grid and block in x alone.
FAKE_CUPTI_API uint32_t fake_cuda_launch(uint32_t stream, const char* name, uint64_t duration_ns, uint32_t grid,
                                         uint32_t block);
FAKE_CUPTI_API uint32_t fake_cuda_launch_shaped(uint32_t stream, const char* name, uint64_t duration_ns,
                                                const struct FakeCudaLaunch* launch);
// `count` launches of one name, as quickly as the simulation can.
FAKE_CUPTI_API void fake_cuda_launch_many(uint32_t stream, const char* name, uint64_t duration_ns, uint64_t count);

// `copy_kind`: CUPTI's (1 host to device, 2 device to host, 8 device to device); memory kinds: CUPTI's (1 pageable,
// 2 pinned, 3 device). 25 GB/s. Not `async`: the call waits.
FAKE_CUPTI_API uint32_t fake_cuda_memcpy(uint32_t stream, uint32_t copy_kind, uint32_t source_kind,
                                         uint32_t destination_kind, uint64_t bytes, uint32_t async);
FAKE_CUPTI_API uint32_t fake_cuda_memcpy_peer(uint32_t stream, uint32_t source_device, uint32_t destination_device,
                                              uint64_t bytes);
FAKE_CUPTI_API uint32_t fake_cuda_memset(uint32_t stream, uint32_t value, uint64_t bytes);

FAKE_CUPTI_API uint32_t fake_cuda_stream_create(uint32_t device, uint32_t priority);  // returns the stream
FAKE_CUPTI_API uint32_t fake_cuda_stream_synchronize(uint32_t stream);
FAKE_CUPTI_API uint32_t fake_cuda_device_synchronize(uint32_t device);

// cuCtxSynchronize, a call of the driver: all that the devices have to do. 0: no context has been made.
FAKE_CUPTI_API uint32_t fake_cuda_context_synchronize(void);

FAKE_CUPTI_API uint32_t fake_cuda_event_create(void);  // returns the event
FAKE_CUPTI_API uint32_t fake_cuda_event_record(uint32_t event, uint32_t stream);
FAKE_CUPTI_API uint32_t fake_cuda_event_synchronize(uint32_t event);
FAKE_CUPTI_API uint32_t fake_cuda_stream_wait_event(uint32_t stream, uint32_t event);

FAKE_CUPTI_API uint64_t fake_cuda_malloc(uint32_t device, uint64_t bytes);  // returns the address
FAKE_CUPTI_API uint32_t fake_cuda_free(uint64_t address);

// A graph's nodes run one after the other. Node ids: graph << 32 | number from 1.
FAKE_CUPTI_API uint32_t fake_cuda_graph_create(void);  // returns the graph
FAKE_CUPTI_API uint64_t fake_cuda_graph_add_kernel(uint32_t graph, const char* name, uint64_t duration_ns);
FAKE_CUPTI_API uint64_t fake_cuda_graph_add_memcpy(uint32_t graph, uint32_t copy_kind, uint64_t bytes);
FAKE_CUPTI_API uint64_t fake_cuda_graph_add_memset(uint32_t graph, uint64_t bytes);
FAKE_CUPTI_API uint64_t fake_cuda_graph_add_event(uint32_t graph);  // records an event
FAKE_CUPTI_API uint64_t fake_cuda_graph_add_wait(uint32_t graph);   // waits for one: does nothing on the device
// Calls a function on the CPU, on a thread of the driver's (fake_cuda_host_thread). As with the real library its record
// has the number of the launch only where no earlier launch still ran on the stream, else 0.
FAKE_CUPTI_API uint64_t fake_cuda_graph_add_host(uint32_t graph, uint64_t duration_ns);
FAKE_CUPTI_API uint32_t fake_cuda_host_thread(void);
// Clones the graph, with other numbers of its nodes, as what is launched is one. Returns the clone.
FAKE_CUPTI_API uint32_t fake_cuda_graph_instantiate(uint32_t graph);
FAKE_CUPTI_API void fake_cuda_graph_destroy(uint32_t graph);
FAKE_CUPTI_API uint32_t fake_cuda_graph_launch(uint32_t graph, uint32_t stream);

// From the scenario: the number of devices, 0 without a driver; the version, 13000 for version=13.0. And whether a
// context exists.
FAKE_CUPTI_API uint32_t fake_cuda_devices(void);
FAKE_CUPTI_API uint32_t fake_cuda_driver_version(void);
FAKE_CUPTI_API uint32_t fake_cuda_has_context(void);

// Any call that does nothing on the device. `domain`: 1 driver, 2 runtime; `cbid` CUPTI's.
FAKE_CUPTI_API uint32_t fake_cuda_call(uint32_t domain, uint32_t cbid, uint64_t duration_ns);
// Emits a sensor reading of the device. `kind`: CUPTI's (1 clocks, 2 temperature, 3 power, 4 fan); `first`, `second`:
// the first members of its record.
FAKE_CUPTI_API void fake_cuda_sense(uint32_t device, uint32_t kind, uint32_t first, uint32_t second);
// Emits an overhead record: CUPTI or the driver's compiler delayed this thread, starting now. `overhead_kind`: CUPTI's.
FAKE_CUPTI_API void fake_cuda_overhead(uint32_t overhead_kind, uint64_t duration_ns);

#ifdef __cplusplus
}
#endif
