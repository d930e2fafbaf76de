#pragma once

#include <pulse/pulseaudio.h>

/// Opens libpulse, which takes longer to load than the rest of the player. To be called once per process.
///
/// Returns NULL if it can be used, else the reason, which is valid until the calling thread uses the loader
/// again. No `pa_` function may be called before this has returned NULL. Those that `table.c` lists are
/// linked, and no others.
const char *cpulse_load(void);
