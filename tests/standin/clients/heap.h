/* heap.h - what libstandin_heap.so exports besides the functions that it wraps. */
#ifndef VPT_STANDIN_HEAP_H
#define VPT_STANDIN_HEAP_H

#include <stddef.h>
#include <stdint.h>

void standin_heap_guard(int on); /* of the calling thread */
uint64_t standin_heap_calls(void);

void *memalign(size_t alignment, size_t size);

#endif
