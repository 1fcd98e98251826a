# The demangler of the compiler's C++ runtime becomes part of vptrace-analyze, where its archive is there; else libstdc++ is loaded for it.
execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=libsupc++.a OUTPUT_VARIABLE demangler OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(IS_ABSOLUTE "${demangler}" AND EXISTS "${demangler}")
  include(CheckCSourceCompiles)
  set(CMAKE_REQUIRED_LIBRARIES ${demangler})
  check_c_source_compiles("
    char *__cxa_demangle(const char *, char *, unsigned long *, int *);
    int main(void) { int status; return __cxa_demangle(\"_Z1fv\", 0, 0, &status) == 0; }" VPT_HAVE_DEMANGLER)
  unset(CMAKE_REQUIRED_LIBRARIES)
endif()
if(VPT_HAVE_DEMANGLER)
  target_link_options(vptrace-analyze PRIVATE -Wl,-u,__cxa_demangle) # which is a weak symbol of ours
  target_link_libraries(vptrace-analyze PRIVATE ${demangler})
endif()
