/* count.h - the number of an array's elements. */
#ifndef VPT_FORMATS_BASE_COUNT_H
#define VPT_FORMATS_BASE_COUNT_H

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#endif
