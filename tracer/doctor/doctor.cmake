# `vptrace doctor`: a program of its own, which `vptrace` runs. It is linked from the library's objects, not from the library, so that
# its answers are those of the code that records, and the library exports nothing for it.
file(GLOB VPT_DOCTOR_SOURCES CONFIGURE_DEPENDS tracer/doctor/*.c tracer/doctor/checks/*.c tracer/doctor/probes/*.c)
add_executable(vptrace-doctor ${VPT_DOCTOR_SOURCES}
  tracer/command/base/run_program.c tracer/command/base/install_places.c tracer/command/base/say.c tracer/command/base/doctor_options.c tracer/command/options/marks.c tracer/command/options/mark_check.c tracer/command/output_check.c
  tracer/command/run_options.c tracer/command/run_variables.c tracer/command/target_program.c)
target_link_libraries(vptrace-doctor PRIVATE tracer cli)
install(TARGETS vptrace-doctor RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/vptrace)
