package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// originAt returns the origin of a process that listens on addr, for callers on the same machine: 127.0.0.1 for a
// process that listens everywhere, which has no address that a browser could open.
func originAt(addr string) string {
	host, port, _ := net.SplitHostPort(addr)
	if !isListenAddress(addr) {
		return "" // the start refuses ADDR
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// addressFaults checks the addresses to listen on and to connect to. Messages repeat none of them: some hold a
// password.
func (c Config) addressFaults() (all faultList) {
	all.require(isListenAddress(c.Addr), "ADDR must be host:port, such as 127.0.0.1:8080 or :8080")
	if c.MetricsAddr != "" {
		all.require(isListenAddress(c.MetricsAddr), "METRICS_ADDR must be host:port, such as 127.0.0.1:9090")
		all.require(c.MetricsAddr != c.Addr, "METRICS_ADDR must not be ADDR: it is for a listener of its own")
	}
	all.require(c.BaseURL == "" || isOrigin(c.BaseURL),
		"BASE_URL must be an origin such as https://pay.example.com, without a path")
	if c.DatabaseURL != "" {
		path, embedded := strings.CutPrefix(c.DatabaseURL, "sqlite:")
		all.require(embedded || isURL(c.DatabaseURL, "postgres", "postgresql"),
			"DATABASE_URL must begin with sqlite: or postgres:// and be a valid address")
		all.require(!embedded || path != "" && path != ":memory:", "DATABASE_URL needs a path after sqlite:")
	}
	all.require(c.RedisURL == "" || isURL(c.RedisURL, "redis", "rediss"),
		"REDIS_URL must begin with redis:// or rediss:// and be a valid address")
	return all
}

// serviceFaults checks the address of a service, to which live sends secrets by https only. A fault says what was
// expected.
func (c Config) serviceFaults(variable, address, expected string) (all faultList) {
	u, err := url.Parse(address)
	if err != nil || !oneOf(u.Scheme, "http", "https") || u.Host == "" || u.User != nil {
		all.require(false, "%s must be %s", variable, expected)
		return all
	}
	all.require(!c.Live() || u.Scheme == "https" || thisMachine(u.Hostname()),
		"%s must be https when ENVIRONMENT=live, but to this machine", variable)
	return all
}

func isListenAddress(addr string) bool {
	_, port, err := net.SplitHostPort(addr)
	return err == nil && isPort(port)
}

func isPort(s string) bool {
	n, err := strconv.Atoi(s)
	return err == nil && n >= 0 && n <= 65535
}

func isURL(text string, schemes ...string) bool {
	u, err := url.Parse(text)
	return err == nil && oneOf(u.Scheme, schemes...) && strings.HasPrefix(text, u.Scheme+"://")
}

func isOrigin(text string) bool {
	u, err := url.Parse(text)
	return err == nil && isURL(text, "http", "https") && u.Hostname() != "" && (u.Port() == "" || isPort(u.Port())) &&
		u.Scheme+"://"+u.Host == text
}

// variableFault names the variable, not the field, and the values that it takes.
func variableFault(variable, kind string, err error) error {
	expected := map[string]string{"bool": "true or false", "*bool": "true or false", "int": "a whole number",
		"int64": "a whole number", "*int": "a whole number"}[kind]
	var number *strconv.NumError
	if expected == "" || !errors.As(err, &number) {
		return fmt.Errorf("%s cannot be read", variable)
	}
	return fmt.Errorf("%s must be %s, not %q", variable, expected, number.Num)
}
