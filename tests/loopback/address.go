// Package loopback finds addresses on this machine for the processes that tests start.
package loopback

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
)

// The ports below those that systems give to clients: a connection of somebody else never takes one between its choice
// and its use.
const (
	lowestPort  = 15_000
	highestPort = 32_000
)

// attempts bounds the ports that are tried.
const attempts = 100

// FreeAddress returns a loopback address that nobody listens on, for a process that gets it as its setting. No other
// test gets the same one.
func FreeAddress(ctx context.Context) (string, error) {
	var err error
	for range attempts {
		port := lowestPort + rand.IntN(highestPort-lowestPort) //nolint:gosec // any free port will do
		if err = reserve(ctx, port); err == nil {
			return address(port), nil
		}
	}
	return "", err
}

// FreePorts returns a multiple of 100 that is free with each of the offsets added, as FreeAddress is.
func FreePorts(ctx context.Context, offsets ...int) (int, error) {
	var err error
	for range attempts {
		begin := lowestPort + 100*rand.IntN((highestPort-lowestPort)/100) //nolint:gosec // any free port will do
		ports := make([]int, len(offsets))
		for i, offset := range offsets {
			ports[i] = begin + offset
		}
		if err = reserve(ctx, ports...); err == nil {
			return begin, nil
		}
	}
	return 0, err
}

func address(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }

// reserved holds a UDP socket on each port that was given out, until this process ends: other test processes see that
// the port is taken, and TCP is free for the process that gets it.
var reserved struct {
	sync.Mutex
	held []net.PacketConn
}

// reserve takes ports that nobody has, all or none.
func reserve(ctx context.Context, ports ...int) (err error) {
	var holds []net.PacketConn
	defer func() {
		if err != nil {
			for _, hold := range holds {
				err = errors.Join(err, hold.Close())
			}
		}
	}()
	for _, port := range ports {
		hold, err := (&net.ListenConfig{}).ListenPacket(ctx, "udp", address(port))
		if err != nil {
			return err
		}
		holds = append(holds, hold)
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address(port))
		if err != nil {
			return err
		}
		if err := listener.Close(); err != nil {
			return err
		}
	}
	reserved.Lock()
	defer reserved.Unlock()
	reserved.held = append(reserved.held, holds...)
	return nil
}
