/* Time for the Lua side: a monotonic clock, and an alarm that makes the bridge's descriptor readable. */
#include "tureen_break.h"
#include "tureen_bridge_internal.h"
#include "tureen_limits.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static long long now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int tureen_clock_open(tureen_bridge *bridge) {
  struct epoll_event readable = {.events = EPOLLIN};
  bridge->alarm = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  bridge->either = epoll_create1(EPOLL_CLOEXEC);
  if (bridge->alarm >= 0 && bridge->either >= 0 &&
      epoll_ctl(bridge->either, EPOLL_CTL_ADD, bridge->host.wait_fd(bridge->host.context), &readable) == 0 &&
      epoll_ctl(bridge->either, EPOLL_CTL_ADD, bridge->alarm, &readable) == 0)
    return 1;
  int reason = errno;
  tureen_clock_close(bridge);
  errno = reason;
  return 0;
}

void tureen_clock_close(tureen_bridge *bridge) {
  if (bridge->alarm >= 0) close(bridge->alarm);
  if (bridge->either >= 0) close(bridge->either);
  bridge->alarm = bridge->either = -1;
}

/* now() -> milliseconds of a monotonic clock                                                            [-0, +1, -] */
int tureen_clock_now(lua_State *L) {
  lua_pushinteger(L, (lua_Integer)now_ms());
  return 1;
}

/* alarm(at): the descriptor becomes readable when `now` reaches `at`; nil: never.                       [-1, +0, e] */
int tureen_clock_alarm(lua_State *L) {
  tureen_bridge *bridge = tureen_bridge_self(L);
  struct itimerspec when;
  memset(&when, 0, sizeof when);
  if (!lua_isnoneornil(L, 1)) {
    lua_Integer at = luaL_checkinteger(L, 1);
    if (at < 1) at = 1; /* zero would disarm the timer */
    when.it_value.tv_sec = (time_t)(at / 1000);
    when.it_value.tv_nsec = (long)(at % 1000) * 1000000;
  }
  if (timerfd_settime(bridge->alarm, TFD_TIMER_ABSTIME, &when, NULL) != 0)
    return luaL_error(L, "timerfd_settime: %s", strerror(errno));
  return 0;
}

/* wait(timeoutMs): waits until the descriptor is readable, without limit if negative. Raises at the script's time limit.
 *                                                                                                        [-1, +0, e] */
int tureen_clock_wait(lua_State *L) {
  tureen_bridge *bridge = tureen_bridge_self(L);
  lua_Number timeout = luaL_checknumber(L, 1);
  struct pollfd descriptors[] = {{.fd = bridge->host.wait_fd(bridge->host.context), .events = POLLIN},
                                 {.fd = bridge->alarm, .events = POLLIN}};
  long long limit = timeout < 0 ? -1 : timeout > 1e15 ? (long long)1e15 : (long long)timeout;
  int64_t script_left = tureen_meter_left_ms(L);
  if (script_left >= 0 && (limit < 0 || limit > script_left)) limit = script_left;
  long long end = limit < 0 ? 0 : now_ms() + limit;
  for (;;) {
    long long left = limit < 0 ? INT_MAX : end - now_ms();
    int count = poll(descriptors, 2, left < 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left);
    tureen_break_came_back();
    if (count > 0) return 0;
    if (count < 0 && errno != EINTR) return luaL_error(L, "poll: %s", strerror(errno));
    if (limit >= 0 && now_ms() >= end) {
      tureen_meter_check(L);
      return 0;
    }
  }
}

/* fd() -> the descriptor for a program's own event loop                                                 [-0, +1, e] */
int tureen_clock_fd(lua_State *L) {
  lua_pushinteger(L, tureen_bridge_self(L)->either);
  return 1;
}
