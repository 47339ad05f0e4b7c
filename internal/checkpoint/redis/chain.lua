-- Reads a step with all that its state is built from, at one point in time.
--
-- KEYS: steps, records, states. ARGV: the step.
-- Returns false where there is no such step, else its record, then member and state of each step from the keyframe on.

local newest = ARGV[1]
local members = redis.call('ZRANGEBYSCORE', KEYS[1], newest, newest)
if #members == 0 then return false end

local chain, offset = {}, 0
while #members > 0 do
  members = redis.call('ZREVRANGEBYSCORE', KEYS[1], newest, '-inf', 'WITHSCORES', 'LIMIT', offset, 25)
  for i = 1, #members, 2 do
    table.insert(chain, 1, redis.call('HGET', KEYS[3], members[i + 1]))
    table.insert(chain, 1, members[i])
    if string.sub(members[i], 1, 9) == 'keyframe ' then members = {} break end
  end
  offset = offset + 25
end
table.insert(chain, 1, redis.call('HGET', KEYS[2], newest))
return chain
