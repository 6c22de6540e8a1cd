#include "tureen.h"
