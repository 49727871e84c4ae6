// How entries are found: dl_iterate_phdr lists the loaded libraries; the dynamic section of each leads to its
// relocations (JUMP_SLOT for calls through the PLT, GLOB_DAT for addresses), and a relocation names a symbol by index
// and an address in the GOT. The index of each wanted symbol is looked up first, in the GNU hash table, so that
// relocations are compared by index; comparing names would be a million comparisons for libtorch_cpu.
// SPDX-License-Identifier: Apache-2.0
#include "sources/got/got_entries.h"

#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

namespace opscope {
namespace {

#if defined(__x86_64__)
constexpr uint32_t kJumpSlot = R_X86_64_JUMP_SLOT;
constexpr uint32_t kAddressSlot = R_X86_64_GLOB_DAT;
#elif defined(__aarch64__)
constexpr uint32_t kJumpSlot = R_AARCH64_JUMP_SLOT;
constexpr uint32_t kAddressSlot = R_AARCH64_GLOB_DAT;
#else
#error "opscope knows the linker's tables of x86-64 and of aarch64"
#endif

// The tables that a dynamic section points to. The loader has relocated its addresses, except in the read-only section
// of the kernel's vDSO, where they are relative to the base.
struct Tables {
  const ElfW(Rela) * calls = nullptr;
  const ElfW(Rela) * others = nullptr;
  size_t calls_bytes = 0, others_bytes = 0;
  size_t relative = 0;  // number of leading `others` that name no symbol; in libtorch_cpu nearly all
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  const uint32_t* hashes = nullptr;
};

Tables ReadTables(const ElfW(Dyn) * entry, uintptr_t base) {
  Tables tables;
  for (; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    const auto address = entry->d_un.d_ptr < base ? base + entry->d_un.d_ptr : entry->d_un.d_ptr;
    switch (entry->d_tag) {
      case DT_JMPREL:
        tables.calls = reinterpret_cast<const ElfW(Rela)*>(address);
        break;
      case DT_PLTRELSZ:
        tables.calls_bytes = entry->d_un.d_val;
        break;
      case DT_RELA:
        tables.others = reinterpret_cast<const ElfW(Rela)*>(address);
        break;
      case DT_RELASZ:
        tables.others_bytes = entry->d_un.d_val;
        break;
      case DT_RELACOUNT:
        tables.relative = entry->d_un.d_val;
        break;
      case DT_SYMTAB:
        tables.symbols = reinterpret_cast<const ElfW(Sym)*>(address);
        break;
      case DT_STRTAB:
        tables.names = reinterpret_cast<const char*>(address);
        break;
      case DT_GNU_HASH:
        tables.hashes = reinterpret_cast<const uint32_t*>(address);
        break;
      default:
        break;
    }
  }
  return tables;
}

struct Library {
  uintptr_t base = 0;
  Tables tables;
  Segment relro;  // the pages of PT_GNU_RELRO, which become read-only after relocation
};

// The loader protects whole pages. Where they are larger than the linker assumed (64 KiB on aarch64), the last one also
// holds variables and stays writable.
Segment ProtectedPages(uintptr_t begin, uintptr_t end) {
  const uintptr_t in_page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE)) - 1;
  return {begin & ~in_page, end & ~in_page, false};
}

bool HasFileName(const dl_phdr_info* info, std::string_view begin) {
  std::string_view file = info->dlpi_name;
  file.remove_prefix(file.rfind('/') + 1);
  return file.starts_with(begin);
}

Library ReadLibrary(const dl_phdr_info* info) {
  Library library{.base = info->dlpi_addr, .tables = {}, .relro = {}};
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) & header = info->dlpi_phdr[i];
    const uintptr_t begin = info->dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_DYNAMIC) {
      library.tables = ReadTables(reinterpret_cast<const ElfW(Dyn)*>(begin), info->dlpi_addr);
    }
    if (header.p_type == PT_GNU_RELRO) library.relro = ProtectedPages(begin, begin + header.p_memsz);
  }
  return library;
}

// The symbol's index in the library's symbol table; 0: the table lacks it. The hash table has the symbols that the
// library defines. Those that it imports precede them in the symbol table, which is searched linearly.
uint32_t SymbolIndex(const char* symbol, const Tables& tables) {
  const uint32_t buckets = tables.hashes[0], first = tables.hashes[1], bloom_words = tables.hashes[2];
  const uint32_t* bucket = tables.hashes + 4 + bloom_words * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
  const uint32_t* chain = bucket + buckets;
  const auto is_it = [&](uint32_t index) {
    return std::strcmp(tables.names + tables.symbols[index].st_name, symbol) == 0;
  };
  uint32_t hash = 5381;
  for (const char* c = symbol; *c != '\0'; ++c)
    hash = hash * 33 + static_cast<unsigned char>(*c);
  for (uint32_t i = buckets != 0 ? bucket[hash % buckets] : 0; i >= first && i != 0; ++i) {
    const uint32_t each = chain[i - first];
    if ((each | 1) == (hash | 1) && is_it(i)) return i;
    if ((each & 1) != 0) break;
  }
  for (uint32_t i = 1; i < first; ++i) {
    if (is_it(i)) return i;
  }
  return 0;
}

template <typename Found>
struct Search {
  std::string_view library;
  std::vector<Found>* found;
  std::span<const char* const> symbols;
};

int SearchLibrary(dl_phdr_info* info, size_t /*size*/, void* context) {
  const auto* search = static_cast<const Search<GotEntry>*>(context);
  if (!HasFileName(info, search->library)) return 0;
  const Library library = ReadLibrary(info);
  const Tables& tables = library.tables;
  if (tables.symbols == nullptr || tables.names == nullptr || tables.hashes == nullptr) return 0;
  std::vector<uint32_t> indexes;
  for (const char* symbol : search->symbols)
    indexes.push_back(SymbolIndex(symbol, tables));
  if (std::ranges::all_of(indexes, [](uint32_t index) { return index == 0; })) return 0;
  const auto scan = [&](const ElfW(Rela)* entries, size_t first, size_t bytes, uint32_t type) {
    for (size_t i = first; entries != nullptr && i < bytes / sizeof(*entries); ++i) {
      if (ELF64_R_TYPE(entries[i].r_info) != type) continue;
      const uint64_t index = ELF64_R_SYM(entries[i].r_info);
      for (size_t symbol = 0; symbol < indexes.size(); ++symbol) {
        if (index != indexes[symbol] || index == 0) continue;
        auto** address = reinterpret_cast<void**>(library.base + entries[i].r_offset);
        search->found->push_back({address, library.relro.Contains(address), symbol});
      }
    }
  };
  scan(tables.calls, 0, tables.calls_bytes, kJumpSlot);
  scan(tables.others, tables.relative, tables.others_bytes, kAddressSlot);
  return 0;
}

int CollectSegments(dl_phdr_info* info, size_t /*size*/, void* context) {
  const auto* search = static_cast<const Search<Segment>*>(context);
  if (!HasFileName(info, search->library)) return 0;
  const Segment relro = ReadLibrary(info).relro;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) & header = info->dlpi_phdr[i];
    if (header.p_type != PT_LOAD) continue;
    Segment segment{info->dlpi_addr + header.p_vaddr, 0, (header.p_flags & PF_W) != 0};
    segment.end = segment.begin + header.p_memsz;
    AppendParts(segment, relro, search->found);
  }
  return 0;
}

constinit Mutex got_mutex;
std::array<void (*)(), 8> in_children OPSCOPE_GUARDED_BY(got_mutex){};
size_t watchers OPSCOPE_GUARDED_BY(got_mutex) = 0;

}  // namespace

std::vector<GotEntry> FindGotEntries(const char* library, std::span<const char* const> symbols) {
  std::vector<GotEntry> found;
  Search<GotEntry> search{library, &found, symbols};
  dl_iterate_phdr(&SearchLibrary, &search);
  return found;
}

bool WriteGotEntry(const GotEntry& entry, void* target, ProtectPages protect) {
  const auto page_bytes = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  void* page = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(entry.address) & ~(page_bytes - 1));
  if (entry.is_protected && protect(page, page_bytes, PROT_READ | PROT_WRITE) != 0) return false;
  __atomic_store_n(entry.address, target, __ATOMIC_RELEASE);
  if (entry.is_protected) protect(page, page_bytes, PROT_READ);
  return true;
}

Mutex& GotLock() {
  return got_mutex;
}

void CallInForkedChild(void (*in_child)()) {
  const MutexLock lock(got_mutex);
  if (watchers == 0) {
    pthread_atfork([]() OPSCOPE_UNCHECKED_LOCKS { got_mutex.lock(); },
                   []() OPSCOPE_UNCHECKED_LOCKS { got_mutex.unlock(); },
                   []() OPSCOPE_UNCHECKED_LOCKS {
                     for (size_t i = 0; i < watchers; ++i)
                       in_children[i]();
                     got_mutex.unlock();
                   });
  }
  if (watchers < in_children.size()) in_children[watchers++] = in_child;
}

std::vector<Segment> SegmentsOf(const char* library) {
  std::vector<Segment> found;
  Search<Segment> search{library, &found, {}};
  dl_iterate_phdr(&CollectSegments, &search);
  return found;
}

void AppendParts(Segment segment, const Segment& relro, std::vector<Segment>* parts) {
  if (segment.is_writable && relro.begin < segment.end && relro.end > segment.begin) {
    const uintptr_t end = std::min(relro.end, segment.end);
    parts->push_back({segment.begin, end, false});
    if (end == segment.end) return;
    segment.begin = end;
  }
  parts->push_back(segment);
}

const Segment* FindSegment(const void* address, const std::vector<Segment>& segments) {
  const auto found = std::ranges::find_if(segments, [=](const Segment& each) { return each.Contains(address); });
  return found == segments.end() ? nullptr : &*found;
}

}  // namespace opscope
