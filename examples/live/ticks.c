/* Records events on CPUs 0 and 1: `ticks EVENTS MICROSECONDS`, the number on each CPU and the time
 * between two of them. */
#define _GNU_SOURCE
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "ticks.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

static int events, pause_us;

static void *record(void *arg)
{
    int cpu = (int)(long)arg;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
    for (int number = 0; number < events; number++) {
        lttng_ust_tracepoint(lttv_live, tick, cpu, number);
        if (pause_us > 0)
            usleep(pause_us);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    events = atoi(argv[1]);
    pause_us = atoi(argv[2]);
    pthread_t threads[2];
    for (long cpu = 0; cpu < 2; cpu++)
        pthread_create(&threads[cpu], NULL, record, (void *)cpu);
    for (int cpu = 0; cpu < 2; cpu++)
        pthread_join(threads[cpu], NULL);
    return 0;
}
