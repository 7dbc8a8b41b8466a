package bootstrap

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
	"golang.org/x/time/rate"

	"sundry/adapters/httpapi"
	"sundry/adapters/mail"
	"sundry/adapters/memlock"
	"sundry/adapters/memratelimit"
	"sundry/adapters/redislock"
	"sundry/adapters/redisratelimit"
	"sundry/adapters/telemetry"
	"sundry/ports"
)

// openTelemetry begins to trace, and prepares to send metrics, where the configuration names a collector.
func (a *App) openTelemetry(ctx context.Context) error {
	to := telemetry.Config{
		URL: a.cfg.TracesURL(), Headers: a.cfg.OTLPHeaderMap(), Service: "sundry", Version: Build().Version,
		Instance: rand.Text(),
	}
	if to.URL != "" {
		tracer, err := telemetry.New(ctx, to, a.log)
		if err != nil {
			return err
		}
		a.tracer = tracer
		a.closers = append(a.closers, tracer.Close)
	}
	if to.URL = a.cfg.MetricsURL(); to.URL != "" {
		var err error
		a.exported, err = telemetry.NewMetrics(ctx, to, a.cfg.MetricInterval(), a.metrics, a.log)
		return err
	}
	return nil
}

// openRedis connects to REDIS_URL where there is one. Redis only makes things faster and shared: one that does not
// respond now must not stop the start.
func (a *App) openRedis() error {
	if a.cfg.RedisURL == "" {
		return nil
	}
	redisLog.Do(func() {
		redis.SetLogger(&redisLogger{log: a.log, seldom: rate.Sometimes{First: 1, Interval: time.Minute}})
	})
	var err error
	if a.redis, err = redisClient(a.cfg.RedisURL); err != nil {
		return errors.New("REDIS_URL is not a valid Redis address") // err would print the password
	}
	if a.tracer != nil {
		a.redis.AddHook(telemetry.RedisHook(a.tracer))
	}
	a.metrics.MustRegister(a.redisUp())
	a.closers = append(a.closers, a.redis.Close)
	return nil
}

// redisClient connects to the Redis at an address or, where that has master_name, to the primary of that name that the
// Sentinels at the address and at each addr of its query agree on.
func redisClient(address string) (*redis.Client, error) {
	const dialTimeout, dials = time.Second, 1 // commands are retried, which is enough
	if at, err := url.Parse(address); err == nil && at.Query().Get("master_name") != "" {
		options, err := redis.ParseFailoverURL(address)
		if err != nil {
			return nil, err
		}
		options.DialTimeout, options.DialerRetries = dialTimeout, dials
		options.ContextTimeoutEnabled = true // callers bound how long they wait
		return redis.NewFailoverClient(options), nil
	}
	options, err := redis.ParseURL(address)
	if err != nil {
		return nil, err
	}
	options.DialTimeout, options.DialerRetries = dialTimeout, dials
	options.ContextTimeoutEnabled = true
	return redis.NewClient(options), nil
}

// redisLog sets the library's one logger for the process.
var redisLog sync.Once

// redisLogger brings the library's messages into the log. During an outage there are many a second.
type redisLogger struct {
	log    *slog.Logger
	seldom rate.Sometimes
}

// Printf implements the library's logger.
func (l *redisLogger) Printf(ctx context.Context, format string, args ...any) {
	l.seldom.Do(func() { l.log.WarnContext(ctx, "redis logs", slog.String("message", fmt.Sprintf(format, args...))) })
}

// rateLimiter counts attempts in Redis where there is one, else in this process.
func (a *App) rateLimiter() ports.RateLimiter {
	local := memratelimit.New(a.clock.Real)
	if a.redis == nil {
		return local
	}
	return redisratelimit.New(a.redis, a.redisPrefix(), local, a.log)
}

// mailer hands mail to the server of SMTP_URL where there is one, else writes it into files.
func (a *App) mailer() ports.Mailer {
	server, ok := a.cfg.MailServer()
	if !ok {
		return mail.NewFiles(filepath.Join(a.cfg.DataDir, "mail"), a.cfg.Sender())
	}
	return mail.NewSMTP(mail.Server{
		Host: server.Host, Port: server.Port, TLS: server.TLS, STARTTLS: mail.STARTTLS(server.STARTTLS),
		Username: server.Username, Password: server.Password,
	}, a.cfg.Sender())
}

// slotLocks are in Redis where there is one, else in this process.
func (a *App) slotLocks() ports.SlotLocks {
	if a.redis == nil {
		return memlock.New(a.clock.Real)
	}
	return redislock.New(a.redis, a.redisPrefix())
}

// redisPrefix begins every key, queue and channel of this cell, so that several may share a Redis.
func (a *App) redisPrefix() string {
	prefix := "sundry-" + hex.EncodeToString(a.keys.Lasting("redis-prefix")[:4])
	if a.cfg.Cell != 0 {
		prefix += "-" + strconv.Itoa(a.cfg.Cell)
	}
	return prefix
}

// ready reports how the database and Redis do. They are asked at once: waiting for a database that is locked must not
// look like a Redis that is away.
func (a *App) ready(ctx context.Context) httpapi.Readiness {
	found := httpapi.Readiness{Outdated: a.isOutdated()}
	var both sync.WaitGroup
	both.Go(func() { found.Database = a.store.Writable(ctx) })
	if a.redis != nil {
		found.Redis = httpapi.RedisUnavailable
		if a.redisResponds() {
			found.Redis = httpapi.RedisOK
		}
	}
	both.Wait()
	return found
}

// redisTimeout bounds how long a check waits for Redis.
const redisTimeout = time.Second

func (a *App) redisResponds() bool {
	ctx, cancel := context.WithTimeout(context.Background(), redisTimeout)
	defer cancel()
	return a.redis.Ping(ctx).Err() == nil
}

// redisUp is the metric to set an alarm on, because no request fails without Redis.
func (a *App) redisUp() prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "sundry_redis_up", Help: "1 while Redis responds, 0 while it does not.",
	}, func() float64 {
		if a.redisResponds() {
			return 1
		}
		return 0
	})
}
