-- What coroutines do: the same under `tureen run`, which notes which one runs, as in stock Lua.
local function closing(fn) return setmetatable({}, { __close = fn }) end

local failing = coroutine.create(function(a, b) error("c is " .. coroutine.yield(a + b)) end)
for _, value in ipairs { 1, 5, 0 } do print(coroutine.resume(failing, value, 2)) end
print(coroutine.status(failing))

-- Wrong arguments.
print(pcall(coroutine.resume))
print(pcall(coroutine.resume, 5))
print(pcall(coroutine.wrap, 5))

-- Values in and out, nil among them.
local echo = coroutine.wrap(function(...)
  print(select("#", ...), ...)
  print(select("#", coroutine.yield(nil, 2, nil)))
  error { 1 }
end)
print(echo(1, nil, nil))
print(select("#", pcall(echo, nil, nil)))
print(pcall(echo))
print(select("#", coroutine.resume(coroutine.create(function(...) return ... end), table.unpack({}, 1, 200))))

-- What an error leaves open is closed, and an error in that takes its place.
for _, second in ipairs { false, true } do
  local wrapped = coroutine.wrap(function()
    local guard <close> = closing(function(_, err)
      print("closed", err)
      if second then error("second", 0) end
    end)
    error(guard and "boom")
  end)
  print(pcall(wrapped))
  print(pcall(wrapped))
end

-- Yields across pcall, loops, and coroutines inside coroutines.
local across = coroutine.wrap(function()
  print(pcall(coroutine.yield, 7))
  return "end"
end)
print(across())
print(across("v"))
for i in coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i) end end) do print(i) end
local function nest(depth)
  return depth == 0 and 0 or 1 + coroutine.wrap(nest)(depth - 1)
end
print(nest(100), (pcall(nest, 1000)))
local own
own = coroutine.create(function() return coroutine.resume(own) end)
print(coroutine.resume(own))
print(coroutine.isyieldable(), select(2, coroutine.running()))
