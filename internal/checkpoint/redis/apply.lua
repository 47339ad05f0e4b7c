-- Applies a write on a thread, whole or not at all. Runs under a first line that apply.go adds.
--
-- KEYS: the thread, the tombstones, the change number, threads by change number, tombstones by change number; then the
-- keys of the commands.
-- ARGV: the thread's id; the id of the last write as it was read, '' where there was no thread; the id of this write; the
-- end of the lease it is under or '', for arrive the tombstone that goes or ''; now or ''; quiet, change, delete or arrive,
-- which is the change with which a whole thread comes; the channel. Then the commands: name, index of
-- the key, number of further arguments, arguments.
--
-- Returns the change number, 0 for a quiet write, -1 when nothing was applied because what was read holds no more, or -2
-- because a key that was to be renamed has expired.

local thread, seen, id, ending, now, kind = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]

if (redis.call('HGET', KEYS[1], 'write') or '') ~= seen then return -1 end
if kind == 'arrive' then
  if (redis.call('HGET', KEYS[2], thread) or '') ~= ending then return -1 end
  local at = 8
  while at <= #ARGV do
    if ARGV[at] == 'RENAME' and redis.call('EXISTS', KEYS[tonumber(ARGV[at + 1])]) == 0 then return -2 end
    at = at + 3 + tonumber(ARGV[at + 2])
  end
elseif seen == '' and redis.call('HEXISTS', KEYS[2], thread) == 1 then
  return -1
end
if ending ~= '' and kind ~= 'arrive' then
  if now == '' then
    local t = redis.call('TIME')
    now = t[1] * 1000000 + t[2]
  end
  if tonumber(now) >= tonumber(ending) then return -1 end
end

local seq = 0
if kind ~= 'quiet' then seq = redis.call('INCR', KEYS[3]) end
if kind == 'delete' then
  redis.call('ZREM', KEYS[4], thread)
  redis.call('ZADD', KEYS[5], seq, thread)
else
  redis.call('HSET', KEYS[1], 'write', id)
end
if kind == 'arrive' and ending ~= '' then
  redis.call('HDEL', KEYS[2], thread)
  redis.call('ZREM', KEYS[5], thread)
end
if kind == 'change' or kind == 'arrive' then
  redis.call('HSET', KEYS[1], 'seq', seq)
  redis.call('ZADD', KEYS[4], seq, thread)
end

local at = 8
while at <= #ARGV do
  local count = tonumber(ARGV[at + 2])
  redis.call(ARGV[at], KEYS[tonumber(ARGV[at + 1])], unpack(ARGV, at + 3, at + 2 + count))
  at = at + 3 + count
end

-- A user who may not publish still writes; watchers then look for themselves now and then.
if kind ~= 'quiet' then redis.pcall('PUBLISH', ARGV[7], seq) end
return seq
