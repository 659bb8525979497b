#include "lib/Transforms/Passes.h"
