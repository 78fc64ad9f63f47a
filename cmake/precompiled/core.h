// Headers that most sources of waybill::core, the command and their tests include.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "waybill/envelope.h"
#include "waybill/policy.h"
#include "waybill/signature.h"
