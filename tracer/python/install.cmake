# What `pip install ./tracer/python` brings: the module as a package, with the library beside it, and the analyzer.
if(SKBUILD)
  install(FILES tracer/python/vptrace.py RENAME __init__.py DESTINATION ${SKBUILD_PLATLIB_DIR}/vptrace COMPONENT python)
  install(FILES $<TARGET_FILE:vptrace> RENAME libvptrace.so DESTINATION ${SKBUILD_PLATLIB_DIR}/vptrace COMPONENT python)
  install(TARGETS vptrace-analyze RUNTIME DESTINATION ${SKBUILD_SCRIPTS_DIR} COMPONENT python)
endif()
