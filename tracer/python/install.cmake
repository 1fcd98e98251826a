# The package, its marks, and the folder that `vptrace run` puts on PYTHONPATH, as they lie in the sources.
set(PYTHON_KINDS FILES_MATCHING PATTERN "*.py" PATTERN "*.marks" PATTERN "__pycache__" EXCLUDE)
if(SKBUILD)
  # What `pip install ./tracer/python` brings: the package with the library and the programs in it, its marks, the analyzer, and
  # the folder for PYTHONPATH where the command looks for it. The command `vptrace` is a script that runs the program.
  install(DIRECTORY tracer/python/vptrace tracer/python/vptrace_marks DESTINATION ${SKBUILD_PLATLIB_DIR} COMPONENT python ${PYTHON_KINDS})
  install(FILES $<TARGET_FILE:libvptrace> RENAME libvptrace.so DESTINATION ${SKBUILD_PLATLIB_DIR}/vptrace COMPONENT python)
  install(TARGETS vptrace_tables LIBRARY DESTINATION ${SKBUILD_PLATLIB_DIR}/vptrace COMPONENT python)
  install(TARGETS vptrace-analyze RUNTIME DESTINATION ${SKBUILD_SCRIPTS_DIR} COMPONENT python)
  install(TARGETS vptrace-command vptrace-doctor vptrace-analyze RUNTIME DESTINATION ${SKBUILD_PLATLIB_DIR}/vptrace COMPONENT python)
  install(FILES tracer/python/site/sitecustomize.py DESTINATION ${SKBUILD_PLATLIB_DIR}/vptrace_site COMPONENT python)
  set(PYTHON_HOME ${SKBUILD_DATA_DIR}/share/vptrace/python)
else()
  set(PYTHON_HOME ${CMAKE_INSTALL_DATADIR}/vptrace/python)
endif()
install(FILES tracer/python/README.md DESTINATION ${PYTHON_HOME} COMPONENT python)
install(FILES tracer/python/site/sitecustomize.py DESTINATION ${PYTHON_HOME}/site COMPONENT python)
install(DIRECTORY tracer/python/vptrace tracer/python/vptrace_marks DESTINATION ${PYTHON_HOME} COMPONENT python ${PYTHON_KINDS})
