// The bytes that the recorder writes: 32-byte records in self-contained chunks. This is the one
// description that the writer (the recorder's inline hot path, recorder.h) and the reader
// (src/wire, src/import) share; src/wire/FORMAT.md draws it with an encoded example.
//
//   chunk (one thread, one window)                                    chunk.size bytes
//   +--------+---------+---------+-- --+            +-- --+----------+-----------+
//   | header | record0 | record1 | ... |  free      | ... | entry 1  |  entry 0  |
//   +--------+---------+---------+-- --+            +-- --+----------+-----------+
//                                 record_count ->      <- side_begin
//
// Records grow upward, names and payloads ("side entries") grow downward from the end. A record
// names its entries by byte offset within its own chunk, so a lost chunk costs only itself.
// A name entry is NameEntry followed by the text; entries are 8-byte aligned.
//
// Order: a scope is written when it ends, so children stand before their parent (post-order), and
// `depth` (number of scopes of the same thread and window that were open around it) rebuilds the
// tree without looking at times. A gap in depth is legal (an asynchronous scope, a record dropped
// at the cap): a record adopts all pending records that are deeper than itself. Where a scope between
// is missing (dropped, asynchronous) a deeper record may also belong further out: it began before the
// one that would adopt it, and is not adopted.
//
// Thread rule: a chunk is written by one thread; `record_count` and `side_begin` are stored together,
// with release order, after everything they cover. A reader loads them with acquire order and then may
// read records [0, record_count) and bytes [side_begin, size); what lies between is not settled.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace opscope {

enum class RecordKind : uint8_t {
  kNone = 0,
  kScope = 1,  // start, value = duration in ticks, depth
  // start, value = identity of the call while it runs (Python: one record per call, one per return), side: maybe a
  // payload with kKeywords
  kEnter = 2,
  kExit = 3,         // start, value = identity of the call that ends
  kAsync = 4,        // like kScope, outside the nesting; may have ended on another thread
  kAllocation = 5,   // start, value = signed bytes, side: payload with kAddress, maybe kTotals
  kCounter = 6,      // start, value = bits of a double
  kInstant = 7,      // start
  kFlowBegin = 8,    // start, value = flow id
  kFlowEnd = 9,      // start, value = flow id
  kDeviceSpan = 10,  // start, value = duration, side: payload with kDevice
  kHostBlock = 11,   // start, value = bytes of a block of the CPU's allocator, 0: unknown; name and side: its address
  kHeld = 12,        // start, value = address of a Python object, side: payload with kHeld: tensors that it holds
  // One record of another recorder, as that made it: `source` says whose, `scope` and the rest by its rules
  // (megengine_event.h). start is not in ticks but in its time, whatever the track's are in.
  kNative = 13,
  // start, value = bytes that an allocator had no memory for; side: none for the CPU's, else a payload with kAddress
  // (address 0) and kTotals
  kOutOfMemory = 14,
};

// Who made the record; selects how `scope` is read.
enum class RecordSource : uint8_t {
  kAnnotation = 0,
  kTorch = 1,
  kPaddle = 2,
  kMegEngine = 3,
  kPython = 4,
  kCuda = 5,
  kOther = 255,  // a source that is not opscope's own; its scopes are operators
};

// What a kEnter or kExit of kPython is of: Record::scope.
enum class CallKind : uint8_t { kPython = 0, kFunction = 1, kModule = 2, kCollector = 3 };

namespace record_flags {
inline constexpr uint8_t kUnfinished = 1;   // still open when the window closed; duration reaches to its end
inline constexpr uint8_t kOtherThread = 2;  // ended on another thread; payload holds kFieldStartThread
inline constexpr uint8_t kStep = 4;         // the range of one training step; name is "ProfilerStep#N" or alike
inline constexpr uint8_t kFinish = 64;      // of kNative: the end of what such a record began
inline constexpr uint8_t kFreed = 16;       // of kHostBlock: it was freed; without it, given out
inline constexpr uint8_t kUnsure = 32;      // of kHostBlock: its bytes may be too many
inline constexpr uint8_t kCrossing = 8;     // kAsync for one reason only: a scope that began inside it ended after it
}  // namespace record_flags

struct Record {
  uint64_t start = 0;  // clock ticks (see Calibration)
  uint64_t value = 0;  // by kind
  uint32_t name = 0;   // byte offset of a NameEntry in this chunk; 0: no name
  uint32_t side = 0;   // byte offset of a PayloadHeader in this chunk; 0: none
  uint16_t depth = 0;
  RecordKind kind = RecordKind::kNone;
  uint8_t flags = 0;
  RecordSource source = RecordSource::kAnnotation;
  uint8_t scope = 0;  // kTorch: at::RecordScope; kPaddle: phi::TracerEventType; kPython: CallKind
  uint16_t reserved = 0;
};
static_assert(sizeof(Record) == 32);

// Whether name and side of a record are offsets of entries in its chunk.
inline bool NamesEntries(const Record& record) {
  return record.kind != RecordKind::kHostBlock;
}
// The address of a kHostBlock, in two words: such a record is one of two per operator and has no name.
inline uint64_t BlockAddress(const Record& record) {
  return uint64_t{record.name} | uint64_t{record.side} << 32;
}

struct NameEntry {
  uint32_t size = 0;  // bytes of text that follow, any bytes, no terminator counted (one NUL is written)
  uint32_t reserved = 0;
};
constexpr uint64_t NameEntryBytes(uint64_t text_bytes) {
  return (sizeof(NameEntry) + text_bytes + 1 + 7) & ~uint64_t{7};
}

// A payload: this header, then the fields whose bits are set, in bit order, then `arg_count`
// encoded arguments. All words are 4 bytes.
struct PayloadHeader {
  uint32_t bytes = 0;      // whole entry, header included, multiple of 8
  uint16_t fields = 0;     // payload_fields
  uint16_t arg_count = 0;  // encoded arguments at the end
};

// JSON members may be preceded by the stack of a script's interpreter: this character, a line for each frame from
// the innermost on, each with its end, this character.
inline constexpr char kFramesMark = '\x01';

namespace payload_fields {
inline constexpr uint16_t kSequence = 1;       // int64 sequence number, uint64 forward thread (logical id)
inline constexpr uint16_t kOverload = 2;       // uint32 name offset of the overload name, uint32 0
inline constexpr uint16_t kStartThread = 4;    // uint32 thread index, uint32 0: where the scope began
inline constexpr uint16_t kAddress = 8;        // uint64 address, uint32 device type, int32 device index
inline constexpr uint16_t kDevice = 16;        // int32 device, int32 stream, uint64 correlation
inline constexpr uint16_t kKeywords = 32;      // uint32 offset of a NameEntry: JSON members (kFramesMark), uint32 0
inline constexpr uint16_t kRecordHandle = 64;  // uint64 "Record function id" of Chrome traces
inline constexpr uint16_t kTotals = 128;       // int64 bytes allocated, int64 bytes reserved, after this allocation
inline constexpr uint16_t kTensors = 256;      // uint32 count, uint32 0, then so many TensorIdentity
inline constexpr uint16_t kHeld = 512;         // uint32 count, uint32 0, then so many HeldTensor
// uint32 offset of another payload of the chunk, uint32 0: the encoded arguments are that one's, which has them itself.
inline constexpr uint16_t kArgumentsOf = 1024;
// Bytes that a payload's field of this one bit takes; of those with entries what is before them. 0: no such field.
constexpr uint32_t BytesOf(uint16_t field) {
  return field == kSequence || field == kAddress || field == kDevice || field == kTotals ? 16
         : field == kOverload || field == kStartThread || field == kKeywords || field == kRecordHandle ||
                 field == kTensors || field == kHeld || field == kArgumentsOf
             ? 8
             : 0;
}
}  // namespace payload_fields

// Which tensor an argument is: one for each encoded kTensor, in their order, those of lists included. Allocators give
// the addresses of tensors out again, so they are numbered; storages are told apart by their allocations and frees.
struct TensorIdentity {
  uint64_t storage = 0;  // address of its bytes, 0: it has none
  uint64_t tensor = 0;   // bits 0..47 number of the tensor object, 0: none was left; 48..55 device type, 56..63 index
};
static_assert(sizeof(TensorIdentity) == 16);
constexpr uint64_t PackTensor(uint64_t number, uint8_t device_type, int8_t device) {
  return (number & 0xffffffffffffu) | uint64_t{device_type} << 48 | uint64_t{static_cast<uint8_t>(device)} << 56;
}

// What a Python object (nn.Module, Optimizer) holds a tensor for.
enum class TensorRole : uint32_t { kParameter = 0, kGradient = 1, kState = 2 };
struct HeldTensor {
  TensorIdentity identity;
  int64_t bytes = -1;  // that sizes and strides span, -1: its layout has none
  TensorRole role = TensorRole::kParameter;
  uint32_t name = 0;  // offset of the NameEntry of its name in the object, 0: none
};
static_assert(sizeof(HeldTensor) == 32);

// An encoded argument is a tag word, then what its kind says. Tag: kind in bits 0..3, element type
// in bits 4..11 (torch's ScalarType number, or kUnknownElement), flags in bits 12..15, count in bits 16..31.
inline constexpr uint32_t kUnknownElement = 255;
enum class ArgKind : uint8_t {
  kOther = 0,        // nothing follows (None, string, device, generator, ...)
  kTensor = 1,       // count = dimensions: sizes, then strides unless kContiguous or kNoStrides (NoStrides)
  kUndefined = 2,    // an undefined (or nested, or symbolic) tensor
  kTensorList = 3,   // count = tensors: that many encoded arguments of kTensor or kUndefined
  kInt = 4,          // 2 words
  kDouble = 5,       // 2 words
  kBool = 6,         // value in the count field
  kIntList = 7,      // count = values: 1 word each, 2 with kWide
  kDoubleList = 8,   // count = values: 2 words each
  kBoolList = 9,     // count = values: 1 word each
  kComplex = 10,     // 4 words: real, imaginary
  kScalarList = 11,  // count = values: that many encoded arguments of scalar kinds
};
namespace arg_flags {
inline constexpr uint32_t kContiguous = 1u << 12;  // strides are those of a dense row-major tensor
inline constexpr uint32_t kWide = 1u << 13;        // sizes and strides (or values) take 2 words, low first
inline constexpr uint32_t kNoStrides = 1u << 14;   // layout without strides (sparse, ...)

// Of a kTensor without strides: the count has 12 bits only, and above them is torch's number of its layout; 0: not
// told.
inline constexpr uint32_t kMostUnstridedSizes = 0xfff;
constexpr uint32_t NoStrides(uint32_t layout) {
  return kNoStrides | (layout & 15u) << 28;
}
constexpr uint32_t LayoutOf(uint32_t tag) {
  return (tag & kNoStrides) != 0 ? tag >> 28 : 0;
}
constexpr uint32_t SizesOf(uint32_t tag) {
  return tag >> 16 & ((tag & kNoStrides) != 0 ? kMostUnstridedSizes : 0xffffu);
}
}  // namespace arg_flags

// Ticks of the recorder's clock and nanoseconds since 1970 that were read together.
struct Calibration {
  uint64_t ticks = 0;
  int64_t unix_ns = 0;
};

inline constexpr uint32_t kChunkMagic = 0x4b48434f;  // "OCHK"
inline constexpr uint16_t kChunkLayout = 1;
// Of ChunkHeader::layout, where the chunk is a track's (opscope_track_open): start is not ticks but nanoseconds since
// 1970, and a duration is nanoseconds.
inline constexpr uint16_t kUnixTimes = 0x100;
inline constexpr uint32_t kChunkBytes = 256 * 1024;

// "Records of this thread and window before this chunk": recorded_before counts those that were written
// into earlier chunks, also into chunks that were recycled since (at the cap, kKeepNewest);
// dropped_before those that were never written and those of recycled chunks.
struct ChunkHeader {
  uint32_t magic = kChunkMagic;
  uint16_t layout = kChunkLayout;  // maybe with kUnixTimes
  uint16_t header_bytes = 0;
  uint32_t size = 0;            // of the whole; kChunkBytes, more for oversize entries, less of many or ended threads
  uint32_t sequence = 0;        // 0, 1, 2, ... per thread and window; a gap is a lost chunk
  uint64_t window = 0;          // generation of the window
  uint64_t os_thread = 0;       // gettid()
  uint32_t thread_index = 0;    // the recorder's own number of the thread, never reused in a process
  uint32_t process = 0;         // getpid()
  uint64_t logical_thread = 0;  // the source's own thread number, 0: none
  uint64_t dropped_before = 0;
  Calibration calibration;  // the newest when the chunk was taken
  char thread_name[32] = {};
  std::atomic<uint32_t> record_count{0};  // published records
  uint32_t side_begin = 0;                // lowest byte used by the side entries of published records
  uint64_t recorded_before = 0;
  uint64_t table_distance = 0;  // in a mapped file: bytes from the beginning of the OpenTable to the chunk
};
static_assert(sizeof(ChunkHeader) == 128);
static_assert(std::atomic<uint32_t>::is_always_lock_free);
static_assert(offsetof(ChunkHeader, record_count) % 8 == 0 &&
              offsetof(ChunkHeader, side_begin) == offsetof(ChunkHeader, record_count) + 4);
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "recordings are little-endian");

// record_count and side_begin as the one word that the writer stores: a reader never sees one of them
// without the other, and publishing costs a single store.
struct PublishedExtent {
  uint32_t record_count = 0;
  uint32_t side_begin = 0;
};
using PublishedWord [[gnu::may_alias]] = uint64_t;

inline void StorePublished(ChunkHeader* chunk, PublishedExtent extent) {
  auto* word = reinterpret_cast<PublishedWord*>(reinterpret_cast<char*>(chunk) + offsetof(ChunkHeader, record_count));
  __atomic_store_n(word, uint64_t{extent.record_count} | uint64_t{extent.side_begin} << 32, __ATOMIC_RELEASE);
}

inline PublishedExtent LoadPublished(const ChunkHeader* chunk) {
  const auto* word = reinterpret_cast<const PublishedWord*>(reinterpret_cast<const char*>(chunk) +
                                                            offsetof(ChunkHeader, record_count));
  const uint64_t both = __atomic_load_n(word, __ATOMIC_ACQUIRE);
  return {static_cast<uint32_t>(both), static_cast<uint32_t>(both >> 32)};
}

// In a file that is written while recording (WindowOptions::record_to) a table of the scopes that are open
// stands before each chunk, so that what a killed or hung program was doing can be read from the file:
//
//   block header | OpenTable | capacity x OpenTableEntry | free | chunk (chunk.size bytes) | ChunkTrailer | free
//
// The entry of a scope stands at its depth and names its entries in the chunk. It is written when the scope
// begins, `start` last. A scope that ends on its own thread leaves it as it is: its record, with the same
// start and depth, in the same chunk says that it has ended. A chunk that follows begins with the entries of
// the scopes that are still open, and its magic is written after them, so of one thread's chunks the one with
// the highest sequence tells what is open. Magic 0: the chunk is not in use.
//
// Somebody who reads while the program records reads forward: an open scope's name was written before its
// table was read, and the record that says that it has ended is read after it. At the cap (kKeepNewest) the
// place may be given to another chunk meanwhile; table, header and trailer then name different ones.
struct OpenTableEntry {
  uint64_t start = 0;   // ticks; 0: none
  uint32_t name = 0;    // as in Record
  uint32_t side = 0;    // likewise
  uint32_t shape = 0;   // depth | kind << 16 | flags << 24
  uint32_t origin = 0;  // source | scope << 8
};
static_assert(sizeof(OpenTableEntry) == 24);

inline constexpr uint32_t kOpenTableMagic = 0x4e45504f;  // "OPEN"
namespace open_table_flags {
inline constexpr uint32_t kLeftTheFile = 1;  // the thread went on in memory: what is open cannot be told
inline constexpr uint32_t kTooDeep = 2;      // scopes deeper than `capacity` began; they have no entry
}  // namespace open_table_flags

struct OpenTable {
  uint32_t magic = kOpenTableMagic;
  uint32_t capacity = 0;      // entries
  uint64_t dropped = 0;       // records of this thread and window that the file will never have
  uint32_t flags = 0;         // open_table_flags
  uint32_t thread_index = 0;  // of the chunk
  uint32_t sequence = 0;      // likewise
  uint32_t chunk_at = 0;      // bytes from here to the chunk
};
static_assert(sizeof(OpenTable) == 32);

struct ChunkTrailer {
  uint32_t thread_index = 0;
  uint32_t sequence = 0;
};

}  // namespace opscope
