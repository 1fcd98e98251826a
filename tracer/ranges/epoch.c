/* epoch.c - defines the words; at first no capture runs. */
#include "tracer/ranges/epoch.h"

_Atomic uint64_t vtr_epoch_word;
_Atomic uint64_t vtr_capture_start_ns;
_Atomic uint64_t vtr_capture_stop_ns;
