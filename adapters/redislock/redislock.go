// Package redislock keeps slot locks in Redis, for every process of the deployment together.
package redislock

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"sundry/core/slot"
	"sundry/ports"
)

// maxWait bounds a call of Redis: a lock is not worth more of a request's time.
const maxWait = 250 * time.Millisecond

var _ ports.SlotLocks = (*Locks)(nil)

// Locks implements ports.SlotLocks with one hash per creator: holder → "until|from,until;from,until…", in milliseconds.
type Locks struct {
	client *redis.Client
	prefix string
	wait   time.Duration // bounds a call of Redis
}

// New returns locks over the client, their keys beginning with prefix.
func New(client *redis.Client, prefix string) *Locks { return &Locks{client, prefix, maxWait} }

// enter is the whole rule in one step: forget what has ended, refuse what overlaps another holder's, else lock all.
var enter = redis.NewScript(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local wanted = {}
for from, to in string.gmatch(ARGV[3], '(-?%d+),(-?%d+)') do
  wanted[#wanted + 1] = {tonumber(from), tonumber(to)}
end
local all = redis.call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
  local ends, intervals = string.match(all[i + 1], '^(%d+)|(.*)$')
  if not ends or tonumber(ends) <= now then
    redis.call('HDEL', KEYS[1], all[i])
  elseif all[i] ~= ARGV[1] then
    for from, to in string.gmatch(intervals, '(-?%d+),(-?%d+)') do
      for _, w in ipairs(wanted) do
        if tonumber(from) < w[2] and w[1] < tonumber(to) then return 0 end
      end
    end
  end
end
redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f', now + ARGV[2]) .. '|' .. ARGV[3])
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 1
`)

// TryLock implements ports.SlotLocks.
func (l *Locks) TryLock(ctx context.Context, creatorID, holder string, wanted []slot.Interval,
	lifetime time.Duration) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, l.wait)
	defer cancel()
	entered, err := enter.Run(ctx, l.client, []string{l.key(creatorID)}, holder, lifetime.Milliseconds(),
		packed(wanted)).Bool()
	if err != nil {
		return false, fmt.Errorf("lock time of %s: %w", creatorID, err)
	}
	return entered, nil
}

// Unlock implements ports.SlotLocks.
func (l *Locks) Unlock(ctx context.Context, creatorID, holder string) error {
	ctx, cancel := context.WithTimeout(ctx, l.wait)
	defer cancel()
	if err := l.client.HDel(ctx, l.key(creatorID), holder).Err(); err != nil {
		return fmt.Errorf("unlock time of %s: %w", creatorID, err)
	}
	return nil
}

func (l *Locks) key(creatorID string) string { return l.prefix + ":slots:" + creatorID }

func packed(intervals []slot.Interval) string {
	parts := make([]string, len(intervals))
	for i, in := range intervals {
		parts[i] = strconv.FormatInt(in.From.UnixMilli(), 10) + "," + strconv.FormatInt(in.Until.UnixMilli(), 10)
	}
	return strings.Join(parts, ";")
}
