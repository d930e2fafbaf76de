#pragma once

#include <pulse/pulseaudio.h>

/// Opens libpulse, which takes longer to load than the rest of the player (see `csystem_open_library`).
const char *cpulse_load(void);
