# The style and the scripts of the page become C files of the build.
set(page_sources "")
foreach(file page.css page.js flame.js)
  string(REPLACE "." "_" name ${file})
  set(page ${CMAKE_SOURCE_DIR}/analysis/render/html/markup/${file})
  set(out ${CMAKE_BINARY_DIR}/embedded/${name}.c)
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DIN=${page} -DNAME=vpa_${name} -DOUT=${out}
      -P ${CMAKE_SOURCE_DIR}/analysis/render/html/markup/embed.cmake
    DEPENDS ${page} ${CMAKE_SOURCE_DIR}/analysis/render/html/markup/embed.cmake VERBATIM)
  list(APPEND page_sources ${out})
endforeach()
target_sources(analysis PRIVATE ${page_sources})
