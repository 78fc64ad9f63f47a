#pragma once

#include "settings.h"

namespace example {

// What a worker process does until its socket closes: takes calls, makes them in a
// Python of its own, gives their outcomes. Returns what to exit with.
int run_worker(const Settings& settings, int socket);

}  // namespace example
