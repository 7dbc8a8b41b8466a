package cli

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"time"
)

func checkHealth(ctx context.Context, c call) error {
	return healthcheck(ctx, cmp.Or(c.settings.MetricsAddr, c.settings.Addr))
}

// healthcheck asks the process that listens on addr (the form of ADDR and METRICS_ADDR) whether it is ready. A
// container's health check calls it, because its image holds nothing else that could ask.
func healthcheck(ctx context.Context, addr string) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("ADDR: %w", err)
	}
	if ip := net.ParseIP(host); host == "" || (ip != nil && ip.IsUnspecified()) {
		host = "127.0.0.1" // it listens everywhere, so here too
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	address := "http://" + net.JoinHostPort(host, port) + "/readyz"
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return err
	}
	// A transport of its own: an HTTP_PROXY in the environment is not for the loopback address.
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	if err := response.Body.Close(); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("not ready: %s", response.Status)
	}
	return nil
}
