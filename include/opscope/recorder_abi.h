// The recorder's binary interface: the layouts and functions of libopscope_recorder. recorder.h adds the
// inline hot path over them.
//
// There is one recorder per process, however many programs, extensions and adapters use it; they all
// link the shared library and find the same state. The layouts below change only together with
// kRecorderAbi.
//
// The parts
//   Window     one recording, from open to close; has a slot (0..63) while open and a generation
//              that is never reused. Several may be open at once.
//   Thread     one thread of the process; reached by the 8-byte thread-local `opscope_tls`.
//   Stream     one thread in one window: its current chunk, name cache and open scopes. Written by
//              that thread alone.
//   OpenScope  a scope that has begun and not ended. Slots belong to a Thread, are recycled by a
//              free list and never unmapped, so a late end can always look at its own slot.
//
// Invariants
//   1. Every open scope's name and side entry lie in its stream's current chunk: when a chunk is
//      full the slow path copies them into the next one. So no record refers to another chunk.
//      Hence a payload must be completely written before OpenScopeOn is given its offset.
//   2. A scope's slot stays taken until ReleaseScope, even after it was closed: a framework may
//      destroy its context (which lives in the slot) later than the end of the range.
//   3. A closed window's streams have generation 0; a late end compares and does nothing.
//   4. Close order: the scope's record is published, its slot gets start 0, then it leaves the list. The
//      thread that closes a window reads the record count, then the list of open slots, then the count
//      again. What had left the list or has start 0 is among the records; a slot of the list with a
//      start has ended exactly when its record is among those from the one before the first count to
//      the second count. So a scope is never reported as both finished and unfinished, nor as neither.
//   5. Hot path: no allocation, lock, system call, formatting, or read-modify-write on shared memory.
//   6. Threads, streams and slots are recycled and never unmapped, so every pointer to one stays
//      readable; whose it is now is told by generations and by OpenScope::owner.
//   7. A thread's current chunk of a closed window stays mapped until that thread has let go of it: a
//      writer that was interrupted in the hot path finishes its store into memory that nobody reads.
//   8. Signal handlers may record. While a thread changes its stream, its Thread::free_slots holds a
//      WritingMark; a handler that interrupts it there finds no slot, its events are refused and counted
//      as dropped. Nothing that an event can reach calls malloc or takes a lock that its own thread holds.
//
// Thread rule: a Stream is touched by its own thread alone unless a function says otherwise.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "opscope/record.h"

#define OPSCOPE_RECORDER_API __attribute__((visibility("default")))
#define OPSCOPE_UNLIKELY(x) __builtin_expect(!!(x), 0)

namespace opscope {

inline constexpr uint32_t kRecorderAbi = 2;
inline constexpr uint32_t kMaxWindows = 64;
inline constexpr uint32_t kNameCacheBits = 9;
inline constexpr uint32_t kNameCacheEntries = 1u << kNameCacheBits;

struct Window;  // opaque
struct Thread;
struct Stream;

// Fields that another thread may read while the owner works are atomics; on x86 and with the orders
// used here they cost what plain ones cost.
struct alignas(64) OpenScope {
  uint64_t context[2];                  // the opener's own
  std::atomic<uint64_t> start{0};       // ticks; 0: not open
  std::atomic<uint32_t> name{0};        // as in Record, within stream->chunk
  std::atomic<uint32_t> side{0};        // also written together with name
  std::atomic<uint32_t> shape{0};       // depth | kind << 16 | flags << 24
  std::atomic<uint32_t> origin{0};      // source | scope << 8; also written together with shape
  std::atomic<uint64_t> generation{0};  // of the window; compared with stream->generation
  std::atomic<OpenScope*> outer{nullptr};
  Stream* stream = nullptr;
  OpenScope* next_free = nullptr;
  OpenScope* sibling = nullptr;  // the same native scope in the next window of this thread; null in free slots
  Thread* owner = nullptr;       // never changes
};
static_assert(offsetof(OpenScope, name) % 8 == 0 && offsetof(OpenScope, side) == offsetof(OpenScope, name) + 4);
static_assert(offsetof(OpenScope, shape) % 8 == 0 && offsetof(OpenScope, origin) == offsetof(OpenScope, shape) + 4);

// Names of the current chunk by address; emptied with every new chunk.
struct NameCacheEntry {
  const char* text = nullptr;
  uint32_t offset = 0;
  uint32_t payload = 0;  // of the chunk too, the last one that may serve for more records of this name; 0: none
};

// The first 64 bytes are what the hot path touches.
struct alignas(64) Stream {
  Record* next = nullptr;        // where the next record goes; next == limit: no room (or no chunk: at the cap)
  char* limit = nullptr;         // lowest byte used by side entries
  ChunkHeader* chunk = nullptr;  // null: none could be had, records are counted as dropped
  uint64_t published = 0;        // records in the chunk | offset of `limit` << 32: what StorePublished stores
  std::atomic<uint64_t> generation{0};
  std::atomic<OpenScope*> top{nullptr};
  std::atomic<uint64_t> taking{0};       // the generation while events are taken; 0: closed, or at the cap for good
  OpenTableEntry* open_table = nullptr;  // in the file, behind an OpenTable; null: the chunk lies in memory
  uint32_t chunk_sequence = 0;
  uint32_t open_capacity = 0;                // entries of open_table
  std::atomic<uint32_t> ended_elsewhere{0};  // scopes of `top`'s list that other threads have ended; slow paths only
  std::atomic<uint64_t> dropped{0};          // written by the owner only
  Thread* thread = nullptr;
  Window* window = nullptr;
  Stream* next_native = nullptr;                   // the next window that takes this thread's native scopes
  void* internal = nullptr;                        // the recorder's own
  NameCacheEntry stable_names[kNameCacheEntries];  // InternStable: the address proves the text
  NameCacheEntry copied_names[kNameCacheEntries];  // InternText: the address is a guess
};

// End of a list of free slots. Odd, so that the hot path tells it and a WritingMark from a slot with one test.
inline OpenScope* NoSlot() {
  return reinterpret_cast<OpenScope*>(uintptr_t{1});
}

struct Thread {
  uint64_t gate = 0;         // value of opscope_gate for which `native` is right
  Stream* native = nullptr;  // null: no open window takes this thread's native scopes
  // Linked by next_free, ended by NoSlot(). Odd: there is no slot to be had, for want of one or because
  // the thread is writing.
  OpenScope* free_slots = NoSlot();
  std::atomic<OpenScope*> freed_elsewhere{nullptr};
  uint32_t index = 0;  // unique in the process
  uint32_t reserved = 0;
  uint64_t os_thread = 0;
  void* internal = nullptr;
  Stream* streams[kMaxWindows] = {};  // by window slot; may be of a closed window: compare generations
};

enum class AtCap : uint32_t { kStop = 0, kKeepNewest = 1 };

// Which threads' native scopes (OPSCOPE_SCOPE and the like) a window takes.
enum class NativeThreads : uint32_t {
  kAll = 0,       // every thread of the process
  kAttached = 1,  // the thread that opens the window, and those that a source has attached to it
  kNone = 2,
};

struct WindowOptions {
  uint32_t abi = kRecorderAbi;
  AtCap at_cap = AtCap::kStop;
  NativeThreads native_threads = NativeThreads::kAll;
  uint32_t reserved = 0;
  // For chunks of this window, and what is kept of threads that ended; never exceeded by more than a chunk per
  // live thread. Under kKeepNewest chunks are the smaller the more threads there are: two are a thread's share.
  uint64_t max_bytes = uint64_t{1} << 30;
  const char* metadata_json = nullptr;  // members of a JSON object, copied ("\"a\":1,\"b\":2"); may be null
  // A source's own number of the calling thread (logical_thread of opscope_stream_attach). Asked when a
  // native scope attaches a thread before the source does; cheap, without locks. May be null.
  uint64_t (*thread_number)() = nullptr;
  // Path of a file that the chunks lie in while recording (FORMAT.md, "mapped files"), so that whatever was
  // recorded is there however the process ends. Null: chunks lie in memory. A file that is there is replaced.
  // What the file cannot take is recorded in memory; opscope_window_file tells.
  const char* record_to = nullptr;
};

// In which time the records of a track are given.
enum class TrackClock : uint32_t { kTicks = 0, kUnixNs = 1 };

// Until when records may be appended to a track.
enum class TrackEnd : uint32_t {
  kAtClose = 0,  // of the window
  kAtRead = 1,   // the close leaves it open: until opscope_track_close, or the first opscope_window_read
};

struct TrackOptions {
  const char* name = nullptr;   // as a thread's; copied, cut to 31 bytes; may be null
  uint64_t os_thread = 0;       // whose records they are; 0: of no thread
  uint64_t logical_thread = 0;  // the source's own number for that, 0: none
  TrackClock clock = TrackClock::kTicks;
  TrackEnd end = TrackEnd::kAtClose;
};

struct WindowCounts {
  uint64_t recorded = 0;  // kept records
  uint64_t dropped = 0;   // recorded + dropped = issued
  uint64_t bytes = 0;     // held, of those that max_bytes is for
  uint32_t threads = 0;
  uint32_t chunks = 0;
};

// How it stands with WindowOptions::record_to.
struct WindowFile {
  uint64_t bytes = 0;             // of the file; 0: there is none
  uint32_t chunks_in_memory = 0;  // of which the file has no copy: all of them while recording, fewer after the close
  int error = 0;                  // errno of the first refusal, 0: none
  const char* step = nullptr;     // what was refused, static text ("while growing the file")
};

}  // namespace opscope

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wreturn-type-c-linkage"  // WindowCounts: its users are all C++
#endif
extern "C" {

// 0: no window takes native scopes. Changes with every open and close.
OPSCOPE_RECORDER_API extern std::atomic<uint64_t> opscope_gate;
// Generation of the open window in each slot, 0: none.
OPSCOPE_RECORDER_API extern std::atomic<uint64_t> opscope_window_generation[opscope::kMaxWindows];
// __thread and not thread_local: the latter makes every access from another library a function call.
OPSCOPE_RECORDER_API extern __thread opscope::Thread* opscope_tls __attribute__((tls_model("initial-exec")));
// 0: ReadTicks reads the TSC. Set while the library is loaded, never changed later.
OPSCOPE_RECORDER_API extern uint32_t opscope_clock_is_slow;

OPSCOPE_RECORDER_API uint32_t opscope_recorder_abi();
// What a first window would otherwise do while it opens: touches the chunk pool, makes the calling
// thread's Thread. May be called at any time, also not at all.
OPSCOPE_RECORDER_API void opscope_prepare();
OPSCOPE_RECORDER_API uint64_t opscope_read_slow_clock();

// The calling thread's Thread, made at first use. Null when memory is short or the thread is past
// its end; callers then record nothing.
OPSCOPE_RECORDER_API opscope::Thread* opscope_thread();
// Brings thread->native up to date with opscope_gate (attaches and lets go of streams).
OPSCOPE_RECORDER_API opscope::Thread* opscope_thread_sync();
// The calling thread's stream in the open window of `slot`; attaches the thread when it has none.
// Null when the window is closed. logical_thread: the source's own number for this thread, 0: none.
OPSCOPE_RECORDER_API opscope::Stream* opscope_stream_attach(uint32_t slot, uint64_t logical_thread);
// A stream of a track that no thread of its own has, for records that a source holds finished (another recorder's, a
// device's): interned names and AppendRecord in recorder.h write to it, from any one thread at a time. It is a thread
// of the window like others: under the cap, in dumps and in mapped files. Null: the window is closed, or memory is
// short. With TrackEnd::kAtRead it takes records after the window's close as before it, and a mapped file is ended when
// the last of such tracks is; until then it is read as that of a process that was killed is, without a loss.
OPSCOPE_RECORDER_API opscope::Stream* opscope_track_open(opscope::Window* window, const opscope::TrackOptions* options);
// Nothing more will be written: what comes all the same is in no recording. Before or after the window's close, read or
// end.
OPSCOPE_RECORDER_API void opscope_track_close(opscope::Stream* stream);
// A module (program, plugin) that recorded with names of its own is being unloaded: other names may come to
// lie where they lay, so no thread takes an address for a name that it saw there. Threads act on it at
// their next native scope.
OPSCOPE_RECORDER_API void opscope_names_go();
// Text that the calling thread's chunks carry as its name from now on (cut to 31 bytes).
OPSCOPE_RECORDER_API void opscope_set_thread_name(const char* name);

// Slow paths of the inline functions below; the calling thread must own the stream.
// When Thread::free_slots is odd: makes slots and takes one (free_slots is then the rest of them). Null
// when memory is short or the calling thread is writing already (invariant 8), counted as dropped.
OPSCOPE_RECORDER_API opscope::OpenScope* opscope_take_slot(opscope::Stream* stream);
// The same question for records that need no slot: true when free_slots is odd for want of slots only.
OPSCOPE_RECORDER_API bool opscope_may_write(opscope::Stream* stream);
OPSCOPE_RECORDER_API uint32_t opscope_intern_slow(opscope::Stream* stream, const char* text, uint64_t size);
// Makes room for one record and `side_bytes` of side entries: takes the next chunk when this one has
// not enough, and obeys the policy at the cap. False: no room, the record will be counted as dropped.
OPSCOPE_RECORDER_API bool opscope_make_room(opscope::Stream* stream, uint64_t side_bytes);
// Takes scopes that other threads have ended out of the stream's list; returns what is innermost then.
OPSCOPE_RECORDER_API opscope::OpenScope* opscope_drop_ended(opscope::Stream* stream);
// Writes the innermost scope, which has begun just now, into open_table; when it is deeper than that has
// entries, goes on to a chunk with a larger one.
OPSCOPE_RECORDER_API void opscope_note_open_scope(opscope::Stream* stream);
OPSCOPE_RECORDER_API void opscope_close_slow(opscope::OpenScope* scope, uint64_t now);
OPSCOPE_RECORDER_API void opscope_release_slow(opscope::OpenScope* scope);

// Opens a window. Null with a sentence in *error (static text) when all slots are taken or memory is
// short. Any thread; a few hundred microseconds more at the first use, when the chunk pool is touched
// and the cost of an event is measured.
OPSCOPE_RECORDER_API opscope::Window* opscope_window_open(const opscope::WindowOptions* options, const char** error);
OPSCOPE_RECORDER_API uint32_t opscope_window_slot(const opscope::Window* window);
OPSCOPE_RECORDER_API uint64_t opscope_window_id(const opscope::Window* window);  // its generation
// Ends the window: from here on nothing is added, but by tracks of TrackEnd::kAtRead. Completes the scopes that are
// still open as kUnfinished records. Any thread, also another than the one that opened it; a second call does nothing.
OPSCOPE_RECORDER_API void opscope_window_close(opscope::Window* window);
OPSCOPE_RECORDER_API opscope::WindowCounts opscope_window_counts(const opscope::Window* window);
OPSCOPE_RECORDER_API opscope::WindowFile opscope_window_file(const opscope::Window* window);
// Adds members to the window's metadata (JSON text as above). Any thread, until the window is freed.
OPSCOPE_RECORDER_API void opscope_window_add_metadata(opscope::Window* window, const char* metadata_json);
// Adds members to what the window says about the cost of one event ("own_cost" in src/wire/FORMAT.md): a source
// tells what its events take. Native events are there already. Any thread, until the window is freed.
OPSCOPE_RECORDER_API void opscope_window_add_own_cost(opscope::Window* window, const char* members_json);
// Calls `sink` once per block: first one block_types::kWindowInfo, then every chunk, ordered by thread
// and sequence. The bytes stay valid until opscope_window_free. No call at all: memory is short. Ends the tracks that
// the close has left open. REQUIRES: closed.
OPSCOPE_RECORDER_API void opscope_window_read(const opscope::Window* window,
                                              void (*sink)(void* context, uint16_t block_type, const void* data,
                                                           uint64_t bytes),
                                              void* context);
// The window as it is now, while its threads go on recording: calls `sink` once per chunk, newest first, with
// the scopes that are open as kUnfinished records, and once with block_types::kWindowInfo, whose member "dump"
// holds `about_json` (members of a JSON object; may be null). Of each thread it has the newest records without
// a gap; those before them count as dropped. Bytes are valid during the call of `sink`; between the records
// and the side entries of a chunk they are of any content. False: the sink said so, memory is short, or the
// window is of the process that this one was forked from. Any thread, also while the window closes or after;
// several dumps of a window take turns. The caller sees to it that the window is not freed meanwhile.
OPSCOPE_RECORDER_API bool opscope_window_dump(opscope::Window* window, const char* about_json,
                                              bool (*sink)(void* context, uint16_t block_type, const void* data,
                                                           uint64_t bytes),
                                              void* context);
// Gives the memory back. Closes first when open. Threads that still hold a stream of it let go of it
// at their next event or at their end.
OPSCOPE_RECORDER_API void opscope_window_free(opscope::Window* window);

}  // extern "C"
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

namespace opscope {

// Block types of a recording (src/wire/FORMAT.md); the recorder produces these.
namespace block_types {
inline constexpr uint16_t kWindowInfo = 1;  // JSON text: options, process, calibrations, threads with counts, metadata
inline constexpr uint16_t kRawChunk = 2;    // one chunk as described in record.h
inline constexpr uint16_t kLiveChunk = 3;   // a chunk that lies in the file while it is written, and its OpenTable
}  // namespace block_types

}  // namespace opscope
