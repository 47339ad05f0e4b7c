-- Reads what changed after a number, at one point in time.
--
-- KEYS: threads by change number, tombstones by change number. ARGV: the number; how many of each; what begins the key of
-- a thread.
-- Returns thread, number and row of each that changed; thread and number of each that was deleted.

local function after(key) return redis.call('ZRANGEBYSCORE', key, '(' .. ARGV[1], '+inf', 'WITHSCORES', 'LIMIT', 0, ARGV[2]) end

local changed, rows = after(KEYS[1]), {}
for i = 1, #changed, 2 do
  rows[#rows + 1] = changed[i]
  rows[#rows + 1] = changed[i + 1]
  rows[#rows + 1] = redis.call('HGET', ARGV[3] .. changed[i], 'row')
end
return {rows, after(KEYS[2])}
