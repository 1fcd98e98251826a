/* mark_values.h - whether a value of a mark can be read.
 *
 * The value is an expression of Python, which vptrace_marks reads with Python's own parser (values.py). This is
 * a parser of the same expressions, so that `vptrace run` can refuse a mistake before the command
 * runs. Python has more expressions, and which of them are in order depends on its version: they are left to it. */
#ifndef VPTRACE_TRACER_COMMAND_MARKS_MARK_VALUES_H
#define VPTRACE_TRACER_COMMAND_MARKS_MARK_VALUES_H

/* `text` is ASCII. NULL: it is a value, or, as *is_unsure says, something that only Python can judge. Otherwise what
 * was expected instead, in the words of values.py: a constant. */
const char *vtr_mark_value_mistake(const char *text, int *is_unsure);

#endif
