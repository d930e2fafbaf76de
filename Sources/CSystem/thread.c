#define _GNU_SOURCE
#include "CSystem.h"

#include <pthread.h>
#include <string.h>

void csystem_name_thread(const char *name) {
    char bounded[16] = {0};
    strncpy(bounded, name, sizeof bounded - 1);
    pthread_setname_np(pthread_self(), bounded);
}
