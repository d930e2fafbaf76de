#pragma once

#include <pulse/pulseaudio.h>

/// Loads libpulse once per process, from any thread: it and its twenty dependencies take longer to load than the
/// rest of the player, which a session without an audio server never needs.
///
/// Returns NULL when it can be used, else the loader's reason, which lives as long as the process. No `pa_`
/// function may be called before this has returned NULL. Those that `table.c` lists are linked, and no others.
const char *cpulse_load(void);
