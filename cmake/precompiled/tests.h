#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core.h"

#include "wire/format.h"
#include "wire/writer.h"
