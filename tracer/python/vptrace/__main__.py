"""`python -m vptrace` is the command `vptrace`, where the folder of pip's commands is not on PATH."""

from ._command import main

main()
