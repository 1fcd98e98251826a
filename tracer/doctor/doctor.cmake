# `vptrace doctor`: a program of its own, which `vptrace` runs. It is linked from the library's objects, not from the library, so that
# its answers are those of the code that records, and the library exports nothing for it.
file(GLOB VPT_DOCTOR_SOURCES CONFIGURE_DEPENDS tracer/doctor/*.c)
add_executable(vptrace-doctor ${VPT_DOCTOR_SOURCES}
  tracer/command/analyzer.c tracer/command/page.c tracer/command/places.c tracer/command/say.c tracer/command/marks.c tracer/command/mark_lines.c tracer/command/mark_values.c tracer/command/output.c
  tracer/command/variables.c
  analysis/commands/help.c analysis/commands/options.c)
target_link_libraries(vptrace-doctor PRIVATE tracer)
install(TARGETS vptrace-doctor RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/vptrace)
