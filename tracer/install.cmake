# What a program that is traced needs, put in place by `cmake --install`: the library, its headers, and what pkg-config and
# find_package(vptrace) read. Both find it wherever it was moved to.
include(CMakePackageConfigHelpers)
set(VPT_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/vptrace)

target_include_directories(libvptrace INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
install(TARGETS libvptrace EXPORT vptrace-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES tracer/vptrace.h tracer/vptrace_nvtx.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

# One object with the public functions alone: its constructor is never left out, and no name of ours meets a program's.
if(VPT_STATIC)
  set(joined ${CMAKE_CURRENT_BINARY_DIR}/vptrace-joined.o)
  add_custom_command(OUTPUT ${joined}
    COMMAND ${CMAKE_C_COMPILER} -r -nostdlib -o ${joined}
      -Wl,--whole-archive $<TARGET_FILE:tracer> $<TARGET_FILE:formats> -Wl,--no-whole-archive
    COMMAND ${CMAKE_OBJCOPY} --localize-hidden ${joined}
    DEPENDS tracer formats VERBATIM)
  add_library(vptrace_static STATIC ${joined})
  set_target_properties(vptrace_static PROPERTIES LINKER_LANGUAGE C OUTPUT_NAME vptrace)
  target_include_directories(vptrace_static INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(vptrace_static INTERFACE zstd Threads::Threads ${CMAKE_DL_LIBS})
  install(TARGETS vptrace_static EXPORT vptrace-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()

# ---- find_package(vptrace) ----
install(EXPORT vptrace-targets NAMESPACE vptrace:: DESTINATION ${VPT_CMAKE_DIR})
configure_package_config_file(tracer/vptrace-config.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/vptrace-config.cmake
  INSTALL_DESTINATION ${VPT_CMAKE_DIR})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/vptrace-config-version.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/vptrace-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/vptrace-config-version.cmake
  DESTINATION ${VPT_CMAKE_DIR})

# ---- pkg-config: relative to its own file, unless a folder was named by an absolute path ----
set(VPT_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
if(NOT IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
  file(RELATIVE_PATH up /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
  string(REGEX REPLACE "/$" "" up "${up}")
  set(VPT_PC_PREFIX "\${pcfiledir}/${up}")
endif()
foreach(name LIBDIR INCLUDEDIR)
  set(VPT_PC_${name} ${CMAKE_INSTALL_${name}})
  if(NOT IS_ABSOLUTE ${CMAKE_INSTALL_${name}})
    set(VPT_PC_${name} "\${prefix}/${CMAKE_INSTALL_${name}}")
  endif()
endforeach()
configure_file(tracer/vptrace.pc.in vptrace.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/vptrace.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# ---- manual pages; each function of the headers has a page that is its header's ----
foreach(header vptrace vptrace_nvtx)
  configure_file(tracer/${header}.3.in man3/${header}.3 @ONLY)
  file(STRINGS tracer/${header}.h lines REGEX "^(VPTRACE_API|static inline void) .*\\);")
  foreach(line ${lines})
    string(REGEX REPLACE ".*[ *](vptrace_[a-z_]+)\\(.*" "\\1" function "${line}")
    file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/man3/${function}.3 ".so man3/${header}.3\n")
  endforeach()
endforeach()
install(DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/man3 DESTINATION ${CMAKE_INSTALL_MANDIR})
