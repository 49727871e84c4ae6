// Calls virtual functions of MegEngine's device events, whose headers no wheel has. The declaration below has the same
// functions in the same order; the compiler's C++ ABI numbers them by order alone.
// SPDX-License-Identifier: Apache-2.0
#include "sources/megengine/device_event.h"

// MegEngine's mgb::CompNode::Event, whose functions are found by their order alone. Not in an unnamed namespace: a
// compiler that sees all of such a type sees no object of it, and takes the calls for unreachable.
namespace opscope::megengine {

struct NativeDevice {
  const void* node;
};
struct NativeDeviceEvent {
  virtual ~NativeDeviceEvent();
  virtual void record();
  virtual bool finished();
  virtual void host_wait();
  virtual double elapsed_time_until(NativeDeviceEvent& end);  // seconds
  virtual void device_wait_by(NativeDevice node);
  virtual NativeDevice comp_node() const;
};

const void* DeviceOf(void* event) {
  try {
    return static_cast<const NativeDeviceEvent*>(event)->comp_node().node;
  } catch (...) {
    return nullptr;
  }
}

bool ElapsedBetween(void* first, void* event, int64_t* nanoseconds) {
  try {
    auto* to = static_cast<NativeDeviceEvent*>(event);
    to->host_wait();
    *nanoseconds = static_cast<int64_t>(static_cast<NativeDeviceEvent*>(first)->elapsed_time_until(*to) * 1e9);
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace opscope::megengine
