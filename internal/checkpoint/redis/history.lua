-- Reads the steps of a thread after one, in order, at one point in time.
--
-- KEYS: steps, records, states. ARGV: the step to begin after; how many; how many bytes are enough; 1 with states.
-- Returns step, member, record and, or false, state of each.

local steps = redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. ARGV[1], '+inf', 'WITHSCORES', 'LIMIT', 0, ARGV[2])
local page, bytes = {}, 0
for i = 1, #steps, 2 do
  local record = redis.call('HGET', KEYS[2], steps[i + 1])
  local state = ARGV[4] == '1' and redis.call('HGET', KEYS[3], steps[i + 1])
  page[#page + 1] = steps[i + 1]
  page[#page + 1] = steps[i]
  page[#page + 1] = record
  page[#page + 1] = state
  bytes = bytes + #(record or '') + #(state or '')
  if bytes >= tonumber(ARGV[3]) then break end
end
return page
