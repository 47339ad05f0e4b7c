-- Looks whether the user may do all that writes consist of, so that no script ends in its middle for want of permission.
--
-- KEYS: a key of the store. ARGV: the channel.
-- Returns the commands that are not permitted.

local key, denied = KEYS[1], {}
for _, command in ipairs({
  {'HGET', key, 'f'}, {'HEXISTS', key, 'f'}, {'HSET', key, 'f', 'v'}, {'HDEL', key, 'f'}, {'HINCRBY', key, 'f', '1'}, {'INCR', key},
  {'ZADD', key, '1', 'm'}, {'ZREM', key, 'm'}, {'RPUSH', key, 'v'}, {'UNLINK', key}, {'RENAME', key, key}, {'PERSIST', key}, {'EXISTS', key},
  {'TIME'}, {'PUBLISH', ARGV[1], 'm'},
}) do
  if not redis.acl_check_cmd(unpack(command)) then denied[#denied + 1] = command[1] end
end
return denied
