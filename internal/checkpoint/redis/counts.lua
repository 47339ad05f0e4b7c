-- Counts threads, at one point in time.
--
-- KEYS: threads by the end of their lease, those with unapplied answers, then the threads of each phase. ARGV: now or '';
-- what begins the key of a thread.
-- Returns how many there are in each phase, then the rows of those whose status may be another: leased or answered.

local counts, special = {}, {}
for i = 3, #KEYS do counts[#counts + 1] = redis.call('ZCARD', KEYS[i]) end

local now = ARGV[1]
if now == '' then
  local t = redis.call('TIME')
  now = string.format('%.0f', t[1] * 1000000 + t[2])
end
for _, thread in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. now, '+inf')) do special[thread] = true end
for _, thread in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do special[thread] = true end

local rows = {}
for thread in pairs(special) do rows[#rows + 1] = redis.call('HGET', ARGV[2] .. thread, 'row') end
return {counts, rows, now}
