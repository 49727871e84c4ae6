# cmake -DINPUT=FILE[,FILE...] -DOUTPUT=FILE.cc -DNAME=kName -P EmbedText.cmake
# Writes a C++ source that defines `const std::string_view NAME` with the content of a text file, so that the library
# needs no file at run time. Several files are one text, each behind a line `-- @file NAME`.
string(REPLACE "," ";" files "${INPUT}")
list(LENGTH files count)
set(content)
foreach(file IN LISTS files)
  file(READ ${file} text)
  get_filename_component(name ${file} NAME)
  if(count GREATER 1)
    string(APPEND content "-- @file ${name}\n")
  endif()
  string(APPEND content "${text}")
endforeach()
if(content MATCHES "\\)opscope_text\"")
  message(FATAL_ERROR "${INPUT} has the end of a raw string in it")
endif()
file(WRITE ${OUTPUT}.new
     "#include <string_view>\n\nnamespace opscope {\n\nextern const std::string_view ${NAME};\n"
     "const std::string_view ${NAME} = R\"opscope_text(" "${content}" ")opscope_text\";\n\n}  // namespace opscope\n")
file(RENAME ${OUTPUT}.new ${OUTPUT})
