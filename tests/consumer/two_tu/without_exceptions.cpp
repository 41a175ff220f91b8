#define UNIT without_exceptions
#include "unit.hpp"
