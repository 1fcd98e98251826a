# The style and the script of the page become C files of the build.
set(page_sources "")
foreach(kind css js)
  set(page ${CMAKE_SOURCE_DIR}/analysis/render/html/page.${kind})
  set(out ${CMAKE_BINARY_DIR}/embedded/page_${kind}.c)
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DIN=${page} -DNAME=vpa_page_${kind} -DOUT=${out}
      -P ${CMAKE_SOURCE_DIR}/analysis/render/html/embed.cmake
    DEPENDS ${page} ${CMAKE_SOURCE_DIR}/analysis/render/html/embed.cmake VERBATIM)
  list(APPEND page_sources ${out})
endforeach()
target_sources(analysis PRIVATE ${page_sources})
