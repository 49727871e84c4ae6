// The part of DuckDB's C API that opscope calls, as functions of a library that is loaded at run time.
//
// DuckDB's API is public and only added to, so its declarations are repeated here instead of being included: opscope
// builds without DuckDB. A type or function `x` of this file is `duckdb_x` of duckdb.h.
//
// Thread rule: LoadDuckdb: any thread; the functions: those of DuckDB.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "opscope/arrow.h"
#include "opscope/result.h"

namespace opscope::duckdb {

// Handles. `destroy_x` and `close` take a pointer to one and set it to null.
using database = struct DatabaseHandle*;
using connection = struct ConnectionHandle*;
using config = struct ConfigHandle*;
using extracted_statements = struct ExtractedHandle*;
using prepared_statement = struct PreparedHandle*;
using data_chunk = struct ChunkHandle*;
using vector = struct VectorHandle*;
using logical_type = struct TypeHandle*;
using value = struct ValueHandle*;
using table_function = struct FunctionHandle*;
using bind_info = struct BindHandle*;
using init_info = struct InitHandle*;
using function_info = struct CallHandle*;
using arrow_options = struct ArrowOptionsHandle*;
using error_data = struct ErrorHandle*;

using idx_t = uint64_t;
enum state : int { kSuccess = 0, kError = 1 };

struct result {
  idx_t unused_counts[3];
  void* unused_columns;
  char* unused_message;
  void* internal_data;
};
// A text within a vector: up to 12 bytes in place, else its first 4 and where all are.
struct string_t {
  uint32_t length;
  char prefix[4];
  union {
    char rest[8];
    const char* pointer;
  };
};
struct list_entry {
  uint64_t offset;
  uint64_t length;
};
struct hugeint {
  uint64_t lower;
  int64_t upper;
};
struct interval {
  int32_t months;
  int32_t days;
  int64_t micros;
};
struct bytes {
  const void* data;
  idx_t size;
};
struct date {
  int32_t days;
};
// Every time but a date: a number whose unit is that of its type.
struct time {
  int64_t count;
};

// What kind of statement a prepared statement is; those that are not named here are refused.
enum statement_type : int { kSelect = 1, kExplain = 4 };

// The numbers of the types.
enum type : int {
  kBoolean = 1,
  kTinyint,
  kSmallint,
  kInteger,
  kBigint,
  kUtinyint,
  kUsmallint,
  kUinteger,
  kUbigint,
  kFloat,
  kDouble,
  kTimestamp,
  kDate,
  kTime,
  kInterval,
  kHugeint,
  kVarchar,
  kBlob,
  kDecimal,
  kTimestampS,
  kTimestampMs,
  kTimestampNs,
  kEnum,
  kList,
  kStruct,
  kMap,
  kUuid,
  kUnion,
  kBit,
  kTimeTz,
  kTimestampTz,
  kUhugeint,
  kArray,
  kSqlNull = 36,
};

// F(type of the result, name, parameters)
#define OPSCOPE_DUCKDB_FUNCTIONS(F)                                                                     \
  F(state, create_config, (config*))                                                                    \
  F(state, set_config, (config, const char*, const char*))                                              \
  F(void, destroy_config, (config*))                                                                    \
  F(state, open_ext, (const char*, database*, config, char**))                                          \
  F(void, close, (database*))                                                                           \
  F(state, connect, (database, connection*))                                                            \
  F(void, disconnect, (connection*))                                                                    \
  F(void, interrupt, (connection))                                                                      \
  F(void, free, (void*))                                                                                \
  F(const char*, library_version, ())                                                                   \
  F(state, query, (connection, const char*, result*))                                                   \
  F(idx_t, extract_statements, (connection, const char*, extracted_statements*))                        \
  F(const char*, extract_statements_error, (extracted_statements))                                      \
  F(void, destroy_extracted, (extracted_statements*))                                                   \
  F(state, prepare_extracted_statement, (connection, extracted_statements, idx_t, prepared_statement*)) \
  F(const char*, prepare_error, (prepared_statement))                                                   \
  F(int, prepared_statement_type, (prepared_statement))                                                 \
  F(idx_t, nparams, (prepared_statement))                                                               \
  F(void, destroy_prepare, (prepared_statement*))                                                       \
  F(state, execute_prepared_streaming, (prepared_statement, result*))                                   \
  F(const char*, result_error, (result*))                                                               \
  F(idx_t, rows_changed, (result*))                                                                     \
  F(void, destroy_result, (result*))                                                                    \
  F(idx_t, column_count, (result*))                                                                     \
  F(const char*, column_name, (result*, idx_t))                                                         \
  F(logical_type, column_logical_type, (result*, idx_t))                                                \
  F(data_chunk, fetch_chunk, (result))                                                                  \
  F(void, destroy_data_chunk, (data_chunk*))                                                            \
  F(idx_t, data_chunk_get_size, (data_chunk))                                                           \
  F(void, data_chunk_set_size, (data_chunk, idx_t))                                                     \
  F(vector, data_chunk_get_vector, (data_chunk, idx_t))                                                 \
  F(idx_t, vector_size, ())                                                                             \
  F(void*, vector_get_data, (vector))                                                                   \
  F(uint64_t*, vector_get_validity, (vector))                                                           \
  F(void, vector_ensure_validity_writable, (vector))                                                    \
  F(vector, list_vector_get_child, (vector))                                                            \
  F(state, list_vector_set_size, (vector, idx_t))                                                       \
  F(state, list_vector_reserve, (vector, idx_t))                                                        \
  F(vector, struct_vector_get_child, (vector, idx_t))                                                   \
  F(vector, array_vector_get_child, (vector))                                                           \
  F(logical_type, create_logical_type, (int))                                                           \
  F(logical_type, create_list_type, (logical_type))                                                     \
  F(void, destroy_logical_type, (logical_type*))                                                        \
  F(int, get_type_id, (logical_type))                                                                   \
  F(char*, logical_type_get_alias, (logical_type))                                                      \
  F(uint8_t, decimal_width, (logical_type))                                                             \
  F(uint8_t, decimal_scale, (logical_type))                                                             \
  F(int, decimal_internal_type, (logical_type))                                                         \
  F(int, enum_internal_type, (logical_type))                                                            \
  F(uint32_t, enum_dictionary_size, (logical_type))                                                     \
  F(char*, enum_dictionary_value, (logical_type, idx_t))                                                \
  F(logical_type, list_type_child_type, (logical_type))                                                 \
  F(logical_type, array_type_child_type, (logical_type))                                                \
  F(idx_t, array_type_array_size, (logical_type))                                                       \
  F(logical_type, map_type_key_type, (logical_type))                                                    \
  F(logical_type, map_type_value_type, (logical_type))                                                  \
  F(idx_t, struct_type_child_count, (logical_type))                                                     \
  F(char*, struct_type_child_name, (logical_type, idx_t))                                               \
  F(logical_type, struct_type_child_type, (logical_type, idx_t))                                        \
  F(idx_t, union_type_member_count, (logical_type))                                                     \
  F(char*, union_type_member_name, (logical_type, idx_t))                                               \
  F(logical_type, union_type_member_type, (logical_type, idx_t))                                        \
  F(value, create_date, (date))                                                                         \
  F(value, create_time, (time))                                                                         \
  F(value, create_time_tz_value, (time))                                                                \
  F(value, create_timestamp, (time))                                                                    \
  F(value, create_timestamp_s, (time))                                                                  \
  F(value, create_timestamp_ms, (time))                                                                 \
  F(value, create_timestamp_ns, (time))                                                                 \
  F(value, create_timestamp_tz, (time))                                                                 \
  F(value, create_interval, (interval))                                                                 \
  F(value, create_blob, (const uint8_t*, idx_t))                                                        \
  F(value, create_bit, (bytes))                                                                         \
  F(char*, get_varchar, (value))                                                                        \
  F(void, destroy_value, (value*))                                                                      \
  F(void, connection_get_arrow_options, (connection, arrow_options*))                                   \
  F(void, destroy_arrow_options, (arrow_options*))                                                      \
  F(error_data, to_arrow_schema, (arrow_options, logical_type*, const char**, idx_t, ArrowSchema*))     \
  F(error_data, data_chunk_to_arrow, (arrow_options, data_chunk, ArrowArray*))                          \
  F(bool, error_data_has_error, (error_data))                                                           \
  F(const char*, error_data_message, (error_data))                                                      \
  F(void, destroy_error_data, (error_data*))                                                            \
  F(table_function, create_table_function, ())                                                          \
  F(void, destroy_table_function, (table_function*))                                                    \
  F(void, table_function_set_name, (table_function, const char*))                                       \
  F(void, table_function_set_extra_info, (table_function, void*, void (*)(void*)))                      \
  F(void, table_function_set_bind, (table_function, void (*)(bind_info)))                               \
  F(void, table_function_set_init, (table_function, void (*)(init_info)))                               \
  F(void, table_function_set_local_init, (table_function, void (*)(init_info)))                         \
  F(void, table_function_set_function, (table_function, void (*)(function_info, data_chunk)))           \
  F(void, table_function_supports_projection_pushdown, (table_function, bool))                          \
  F(state, register_table_function, (connection, table_function))                                       \
  F(void*, bind_get_extra_info, (bind_info))                                                            \
  F(void, bind_add_result_column, (bind_info, const char*, logical_type))                               \
  F(void, bind_set_cardinality, (bind_info, idx_t, bool))                                               \
  F(void*, init_get_extra_info, (init_info))                                                            \
  F(idx_t, init_get_column_count, (init_info))                                                          \
  F(idx_t, init_get_column_index, (init_info, idx_t))                                                   \
  F(void, init_set_init_data, (init_info, void*, void (*)(void*)))                                      \
  F(void, init_set_max_threads, (init_info, idx_t))                                                     \
  F(void*, function_get_init_data, (function_info))                                                     \
  F(void*, function_get_local_init_data, (function_info))

struct Api {
#define OPSCOPE_DUCKDB_MEMBER(type, name, parameters) type(*name) parameters = nullptr;
  OPSCOPE_DUCKDB_FUNCTIONS(OPSCOPE_DUCKDB_MEMBER)
#undef OPSCOPE_DUCKDB_MEMBER
};

// Loads DuckDB from the first of: the file that OPSCOPE_DUCKDB_LIB names (then no other is tried), libduckdb.so beside
// the program, libduckdb.so of the loader's path, `python_module` (the extension module of the Python package; "":
// none). The first library that could be loaded stays, and serves every later call of the process. kUnsupported: there
// is none; the message says what to install.
Result<const Api*> LoadDuckdb(const std::string& python_module);

// The loaded library, for functions that DuckDB calls. REQUIRES: LoadDuckdb has succeeded.
const Api& LoadedDuckdb();

// Destroys a handle at the end of a scope: Owned<data_chunk> chunk(api.destroy_data_chunk, handle).
template <typename Handle>
class Owned {
 public:
  explicit Owned(void (*destroy)(Handle*), Handle handle = nullptr) : destroy_(destroy), handle_(handle) {}
  Owned(Owned&& other) noexcept : destroy_(other.destroy_), handle_(other.handle_) { other.handle_ = nullptr; }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (handle_ != nullptr) destroy_(&handle_);
  }
  Handle get() const { return handle_; }
  Handle* out() { return &handle_; }

 private:
  void (*destroy_)(Handle*);
  Handle handle_;
};

}  // namespace opscope::duckdb
