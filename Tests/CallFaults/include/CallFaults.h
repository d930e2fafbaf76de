#pragma once
// Nothing is called from Swift: the library is preloaded into the program under test. See calls.c.
