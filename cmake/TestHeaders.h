/* Precompiled once for all unit tests. */
#include "cmake/Headers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
