/**
 * Lua scripts for swarms in Redis. Each call runs one script, which Redis executes atomically. Times are read from
 * Redis's clock. All keys have the same hash tag. For each swarm:
 *
 * - `seen`: sorted set of its peers by the time of their last announce
 * - `peers`: hash of its peers' records
 * - `counts`: hash with the number of seeders and the number of completed downloads
 * - `group:<group>`: set of the peers with the same kind, role and reach
 *
 * For limits and totals, three kinds of sorted sets cover all swarms. They are also sorted by the time of the last
 * announce: `all` (the peers of all swarms), `network:<network>` (the peers in one network) and `swarms`.
 *
 * A member is the key of a peer (`toPeerKey`). A record is `<group> <network> <peer ID> <address> <port or channel>`.
 */
const common = `
local prefix = KEYS[1]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local silentMs = tonumber(ARGV[1])
local oldest = '(' .. (now - silentMs)
local function key(swarm, name) return prefix .. 'swarm:' .. swarm .. ':' .. name end
local function parse(record) return string.match(record, '^(%S+) (%S+) (%S+) (%S+) (.+)$') end
local function isSeeder(group) return string.find(group, '-seeder-', 1, true) ~= nil end

local function forget(swarm, member)
  local record = redis.call('HGET', key(swarm, 'peers'), member)
  redis.call('ZREM', key(swarm, 'seen'), member)
  if record then
    local group, network = parse(record)
    redis.call('HDEL', key(swarm, 'peers'), member)
    redis.call('SREM', key(swarm, 'group:' .. group), member)
    if isSeeder(group) then redis.call('HINCRBY', key(swarm, 'counts'), 'seeders', -1) end
    redis.call('ZREM', prefix .. 'all', swarm .. ' ' .. member)
    redis.call('ZREM', prefix .. 'network:' .. network, swarm .. ' ' .. member)
  end
  if redis.call('EXISTS', key(swarm, 'seen')) == 0 then
    redis.call('DEL', key(swarm, 'counts'))
    redis.call('ZREM', prefix .. 'swarms', swarm)
  end
end

local function forgetSilent(swarm)
  local silent = redis.call('ZRANGEBYSCORE', key(swarm, 'seen'), '-inf', oldest, 'LIMIT', 0, 1000)
  for _, member in ipairs(silent) do forget(swarm, member) end
end

local function counts(swarm)
  local found = redis.call('HMGET', key(swarm, 'counts'), 'seeders', 'completed')
  local size = redis.call('ZCARD', key(swarm, 'seen'))
  return tonumber(found[1]) or 0, size, tonumber(found[2]) or 0
end
`

/**
 * ARGV: silentMs; swarm; member; record; the maximum numbers of peers in total, per swarm and per network; the number
 * of wanted peers; a random seed; and the groups from which peers are drawn. Each peer in these groups is drawn with
 * equal probability. Returns why the peer was not stored (`Refusal`), or an empty text if it was; the numbers of seeders,
 * peers and completed downloads; and, for each drawn peer, the time of its last announce and its record. The drawn peers
 * are joined by line breaks, because one text is parsed much faster than 50.
 */
const announce = `${common}
local swarm, member, record = ARGV[2], ARGV[3], ARGV[4]
local maxPeers, maxPerSwarm, maxPerNetwork = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local wanted = tonumber(ARGV[8])
local group, network, _, address, channel = parse(record)
local isBrowser = string.sub(group, 1, 7) == 'browser'
local place = swarm .. ' ' .. member
local networkKey = prefix .. 'network:' .. network
forgetSilent(swarm)

local refusal = ''
local known = redis.call('HGET', key(swarm, 'peers'), member)
local knownGroup, knownNetwork
if known then
  local knownAddress, knownChannel
  knownGroup, knownNetwork, _, knownAddress, knownChannel = parse(known)
  if isBrowser and knownChannel ~= channel and knownAddress ~= address then refusal = 'peer_id' end
else
  redis.call('ZREMRANGEBYSCORE', prefix .. 'all', '-inf', oldest)
  redis.call('ZREMRANGEBYSCORE', prefix .. 'swarms', '-inf', oldest)
  redis.call('ZREMRANGEBYSCORE', networkKey, '-inf', oldest)
  if redis.call('ZCARD', prefix .. 'all') >= maxPeers then refusal = 'total'
  elseif redis.call('ZCARD', key(swarm, 'seen')) >= maxPerSwarm then refusal = 'swarm'
  elseif redis.call('ZCARD', networkKey) >= maxPerNetwork then refusal = 'network' end
end

if refusal == '' then
  if knownGroup ~= group then
    if knownGroup then redis.call('SREM', key(swarm, 'group:' .. knownGroup), member) end
    local wasSeeder = knownGroup ~= nil and isSeeder(knownGroup)
    local change = (isSeeder(group) and 1 or 0) - (wasSeeder and 1 or 0)
    if change ~= 0 then redis.call('HINCRBY', key(swarm, 'counts'), 'seeders', change) end
    if knownGroup and change == 1 then redis.call('HINCRBY', key(swarm, 'counts'), 'completed', 1) end
    redis.call('SADD', key(swarm, 'group:' .. group), member)
  end
  if knownNetwork and knownNetwork ~= network then
    redis.call('ZREM', prefix .. 'network:' .. knownNetwork, place)
  end
  if known ~= record then redis.call('HSET', key(swarm, 'peers'), member, record) end
  redis.call('ZADD', key(swarm, 'seen'), now, member)
  redis.call('ZADD', prefix .. 'all', now, place)
  redis.call('ZADD', networkKey, now, place)
  redis.call('ZADD', prefix .. 'swarms', now, swarm)
  for _, name in ipairs({'seen', 'peers', 'counts', 'group:' .. group}) do
    redis.call('PEXPIRE', key(swarm, name), 2 * silentMs)
  end
  redis.call('PEXPIRE', networkKey, 2 * silentMs)
end

local seeders, size, completed = counts(swarm)
local records = {}
local left, drawn, total = {}, {}, 0
for index = 10, #ARGV do
  left[index] = redis.call('SCARD', key(swarm, 'group:' .. ARGV[index]))
  drawn[index] = 0
  total = total + left[index]
end
math.randomseed(tonumber(ARGV[9]))
-- Two more than wanted: the asker itself may be among them, with an IPv4 and an IPv6 address.
local toDraw = wanted > 0 and math.min(wanted + 2, total) or 0
for count = 1, toDraw do
  local ticket = math.random(total - count + 1)
  for index = 10, #ARGV do
    if ticket <= left[index] then
      left[index] = left[index] - 1
      drawn[index] = drawn[index] + 1
      break
    end
    ticket = ticket - left[index]
  end
end
for index = 10, #ARGV do
  if drawn[index] > 0 then
    local members = redis.call('SRANDMEMBER', key(swarm, 'group:' .. ARGV[index]), drawn[index])
    local found = redis.call('HMGET', key(swarm, 'peers'), unpack(members))
    for at, one in ipairs(found) do
      if one then
        local seenAt = redis.call('ZSCORE', key(swarm, 'seen'), members[at])
        records[#records + 1] = (seenAt or '0') .. ' ' .. one
      end
    end
  end
end
return {refusal, seeders, size, completed, table.concat(records, '\\n')}
`

/** ARGV: silentMs, swarm, member, and the channel or peer ID that the member's record must have. Returns the counts. */
const leave = `${common}
local swarm, member = ARGV[2], ARGV[3]
forgetSilent(swarm)
local record = redis.call('HGET', key(swarm, 'peers'), member)
if record then
  local group, _, peerId, _, channel = parse(record)
  local isBrowser = string.sub(group, 1, 7) == 'browser'
  if (isBrowser and channel or peerId) == ARGV[4] then forget(swarm, member) end
end
return {counts(swarm)}
`

/** ARGV: silentMs, swarm. Returns the number of seeders, peers and completed downloads. */
const count = `${common}
forgetSilent(ARGV[2])
return {counts(ARGV[2])}
`

/** ARGV: silentMs, and the swarms. Returns the number of seeders in each swarm. */
const countSeeders = `${common}
local seeders = {}
for index = 2, #ARGV do
  forgetSilent(ARGV[index])
  seeders[index - 1] = counts(ARGV[index])
end
return seeders
`

/** ARGV: silentMs, swarm, member. Returns the member's record. */
const find = `${common}
forgetSilent(ARGV[2])
return redis.call('HGET', key(ARGV[2], 'peers'), ARGV[3])
`

/** ARGV: silentMs. Returns the number of swarms and of peers. */
const totals = `${common}
redis.call('ZREMRANGEBYSCORE', prefix .. 'all', '-inf', oldest)
redis.call('ZREMRANGEBYSCORE', prefix .. 'swarms', '-inf', oldest)
return {redis.call('ZCARD', prefix .. 'swarms'), redis.call('ZCARD', prefix .. 'all')}
`

export const swarmScripts = { announce, leave, count, countSeeders, find, totals }
