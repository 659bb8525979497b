#include "lib/Conversion/Passes.h"
