#include "tureen_bridge.h"
