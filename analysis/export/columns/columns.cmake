# The program that python3 runs becomes a C file of the build.
set(program ${CMAKE_SOURCE_DIR}/analysis/export/columns/write_columns.py)
set(out ${CMAKE_BINARY_DIR}/embedded/write_columns_py.c)
add_custom_command(OUTPUT ${out}
  COMMAND ${CMAKE_COMMAND} -DIN=${program} -DNAME=vpa_write_columns_py -DOUT=${out}
    -P ${CMAKE_SOURCE_DIR}/analysis/render/html/markup/embed.cmake
  DEPENDS ${program} ${CMAKE_SOURCE_DIR}/analysis/render/html/markup/embed.cmake VERBATIM)
target_sources(analysis PRIVATE ${out})
