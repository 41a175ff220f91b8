#define CL_HPP_ENABLE_EXCEPTIONS
#define UNIT with_exceptions
#include "unit.hpp"
