# cmake -DINPUT=FILE -DOUTPUT=FILE.cc -DNAME=kName -P EmbedText.cmake
# Writes a C++ source that defines `const std::string_view NAME` with the content of a text file, so that the library
# needs no file at run time.
file(READ ${INPUT} content)
if(content MATCHES "\\)opscope_text\"")
  message(FATAL_ERROR "${INPUT} has the end of a raw string in it")
endif()
file(WRITE ${OUTPUT}.new
     "#include <string_view>\n\nnamespace opscope {\n\nextern const std::string_view ${NAME};\n"
     "const std::string_view ${NAME} = R\"opscope_text(" "${content}" ")opscope_text\";\n\n}  // namespace opscope\n")
file(RENAME ${OUTPUT}.new ${OUTPUT})
