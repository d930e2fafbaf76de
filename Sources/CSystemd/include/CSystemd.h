#pragma once

// The functions of libsystemd's sd-bus that are used, found with `dlopen`: without the library, the player
// has no remote control. Nothing of it is needed to build: the list below states its interface (sd-bus.h,
// unchanged since systemd 221). A negative result is an `errno`.

#include "CSystem.h"

#include <stdint.h>

typedef struct sd_bus sd_bus;
typedef struct sd_bus_slot sd_bus_slot;
typedef struct sd_bus_message sd_bus_message;

typedef struct {
    const char *name;
    const char *message;
    int needs_free;
} sd_bus_error;

/// Handles a call of a method, or a signal. Returns 1 if it has been answered, 0 if it is not known.
typedef int (*sd_bus_message_handler_t)(sd_bus_message *message, void *context, sd_bus_error *error);

#define CSYSTEMD_FUNCTIONS(X) \
    X(int, sd_bus_open_user, (sd_bus **bus), (bus)) \
    X(int, sd_bus_open_system, (sd_bus **bus), (bus)) \
    X(sd_bus *, sd_bus_flush_close_unref, (sd_bus *bus), (bus)) \
    X(int, sd_bus_request_name, (sd_bus *bus, const char *name, uint64_t flags), (bus, name, flags)) \
    X(int, sd_bus_add_object, \
      (sd_bus *bus, sd_bus_slot **slot, const char *path, sd_bus_message_handler_t handler, void *context), \
      (bus, slot, path, handler, context)) \
    X(int, sd_bus_add_match, \
      (sd_bus *bus, sd_bus_slot **slot, const char *rule, sd_bus_message_handler_t handler, void *context), \
      (bus, slot, rule, handler, context)) \
    X(int, sd_bus_call, \
      (sd_bus *bus, sd_bus_message *message, uint64_t microseconds, sd_bus_error *error, sd_bus_message **reply), \
      (bus, message, microseconds, error, reply)) \
    X(int, sd_bus_process, (sd_bus *bus, sd_bus_message **message), (bus, message)) \
    X(int, sd_bus_get_fd, (sd_bus *bus), (bus)) \
    X(int, sd_bus_get_events, (sd_bus *bus), (bus)) \
    X(int, sd_bus_get_timeout, (sd_bus *bus, uint64_t *microseconds), (bus, microseconds)) \
    X(int, sd_bus_send, (sd_bus *bus, sd_bus_message *message, uint64_t *cookie), (bus, message, cookie)) \
    X(const char *, sd_bus_message_get_interface, (sd_bus_message *message), (message)) \
    X(const char *, sd_bus_message_get_member, (sd_bus_message *message), (message)) \
    X(int, sd_bus_message_peek_type, (sd_bus_message *message, char *type, const char **contents), \
      (message, type, contents)) \
    X(int, sd_bus_message_read_basic, (sd_bus_message *message, char type, void *value), (message, type, value)) \
    X(int, sd_bus_message_enter_container, (sd_bus_message *message, char type, const char *contents), \
      (message, type, contents)) \
    X(int, sd_bus_message_exit_container, (sd_bus_message *message), (message)) \
    X(int, sd_bus_message_new_method_call, \
      (sd_bus *bus, sd_bus_message **message, const char *destination, const char *path, \
       const char *interface, const char *member), \
      (bus, message, destination, path, interface, member)) \
    X(int, sd_bus_message_set_auto_start, (sd_bus_message *message, int starts), (message, starts)) \
    X(int, sd_bus_message_new_method_return, (sd_bus_message *call, sd_bus_message **message), (call, message)) \
    X(int, sd_bus_message_new_method_error, \
      (sd_bus_message *call, sd_bus_message **message, const sd_bus_error *error), (call, message, error)) \
    X(int, sd_bus_message_new_signal, \
      (sd_bus *bus, sd_bus_message **message, const char *path, const char *interface, const char *member), \
      (bus, message, path, interface, member)) \
    X(int, sd_bus_message_append_basic, (sd_bus_message *message, char type, const void *value), \
      (message, type, value)) \
    X(int, sd_bus_message_open_container, (sd_bus_message *message, char type, const char *contents), \
      (message, type, contents)) \
    X(int, sd_bus_message_close_container, (sd_bus_message *message), (message)) \
    X(sd_bus_message *, sd_bus_message_unref, (sd_bus_message *message), (message))

// Not exported: libsystemd itself, which libpulse loads too, must go on calling its own functions of these
// names.
#pragma GCC visibility push(hidden)
#define CSYSTEMD_DECLARATION(result, name, parameters, arguments) result name parameters;
CSYSTEMD_FUNCTIONS(CSYSTEMD_DECLARATION)
#pragma GCC visibility pop

/// Opens libsystemd (see `csystem_open_library`).
const char *csystemd_load(void);
