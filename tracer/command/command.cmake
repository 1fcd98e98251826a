# The command `vptrace`. libc, and libzstd to write rings: what it shares with the library and the analyzer is compiled in.
file(GLOB VPT_LAUNCHER_SOURCES CONFIGURE_DEPENDS tracer/command/*.c tracer/command/base/*.c tracer/command/options/*.c tracer/command/processes/*.c)
add_executable(vptrace-command ${VPT_LAUNCHER_SOURCES}
  tracer/files/capture_file.c tracer/guest/environment.c tracer/guest/system_file.c tracer/flight/dead_ring_reader.c tracer/flight/flight_file.c tracer/flight/flight_image.c
  tracer/settings/amounts.c tracer/settings/capture_options.c tracer/settings/monitors.c tracer/settings/output_name.c tracer/settings/rank.c tracer/guest/quiet.c tracer/settings/ring_options.c tracer/settings/tags.c tracer/files/run_list.c tracer/settings/trigger.c)
target_link_libraries(vptrace-command PRIVATE cli formats Threads::Threads)
set_target_properties(vptrace-command PROPERTIES OUTPUT_NAME vptrace)
target_include_directories(vptrace-command PRIVATE ${ZSTD_INCLUDE})
# Where the installation has what it looks for, from its own folder.
foreach(name LIBDIR DATADIR LIBEXECDIR)
  file(RELATIVE_PATH folder ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_${name}})
  set(VPT_FROM_BIN_${name} ${folder})
endforeach()
target_compile_definitions(vptrace-command PRIVATE
  VPT_LIBRARY_FOLDER="${VPT_FROM_BIN_LIBDIR}" VPT_DATA_FOLDER="${VPT_FROM_BIN_DATADIR}"
  VPT_LIBEXEC_FOLDER="${VPT_FROM_BIN_LIBEXECDIR}")
install(TARGETS vptrace-command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
