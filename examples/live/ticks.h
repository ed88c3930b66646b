/* The tracepoint of ticks.c. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER lttv_live

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./ticks.h"

#if !defined(TICKS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define TICKS_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(lttv_live, tick,
    LTTNG_UST_TP_ARGS(int, cpu, int, number),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_integer(int, cpu, cpu)
        lttng_ust_field_integer(int, number, number)))

#endif

#include <lttng/tracepoint-event.h>
