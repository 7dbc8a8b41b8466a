package telemetry

import (
	"context"
	"errors"
	"net"
	"strconv"

	"github.com/redis/go-redis/v9"

	"sundry/ports"
)

// RedisHook traces the commands of a client by their names. Keys and values stay out of it.
func RedisHook(t ports.Tracer) redis.Hook { return redisHook{t} }

type redisHook struct{ t ports.Tracer }

var redisSystem = ports.Attribute{Key: "db.system.name", Value: "redis"}

// DialHook implements redis.Hook.
func (redisHook) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		return next(ctx, network, address)
	}
}

// ProcessHook implements redis.Hook.
func (h redisHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, command redis.Cmder) error {
		ctx, span := h.t.Begin(ctx, ports.CallSpan, "redis "+command.Name(), redisSystem)
		err := next(ctx, command)
		span.End(redisFailure(err))
		return err
	}
}

// ProcessPipelineHook implements redis.Hook.
func (h redisHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, commands []redis.Cmder) error {
		ctx, span := h.t.Begin(ctx, ports.CallSpan, "redis pipeline", redisSystem,
			ports.Attribute{Key: "db.operation.batch.size", Value: strconv.Itoa(len(commands))})
		err := next(ctx, commands)
		span.End(redisFailure(err))
		return err
	}
}

// redisFailure is ports.ErrorType, where a missing key is no failure.
func redisFailure(err error) string {
	if errors.Is(err, redis.Nil) {
		return ""
	}
	return ports.ErrorType(err)
}
