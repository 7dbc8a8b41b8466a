package main

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
)

func TestFirstOf(t *testing.T) {
	t.Parallel()
	refuse := func(why string) func(context.Context) (string, error) {
		return func(context.Context) (string, error) { return "", errors.New(why) }
	}
	t.Run("the first way that works is taken and the later ones are left alone", func(t *testing.T) {
		t.Parallel()
		value, how, err := firstOf(t.Context(), []way{
			{"found", refuse("absent")},
			{"installed", func(context.Context) (string, error) { return "here", nil }},
			{"never", func(context.Context) (string, error) { t.Error("tried"); return "", nil }},
		})
		if value != "here" || how != "installed" || err != nil {
			t.Errorf("got %q, %q, %v", value, how, err)
		}
	})
	t.Run("when none works there is one line for each", func(t *testing.T) {
		t.Parallel()
		_, _, err := firstOf(t.Context(), []way{{"found", refuse("absent")}, {"installed", refuse("no\nroot")}})
		if want := "not to be had; tried\n  found: absent\n  installed: no root"; err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	})
	t.Run("an interruption ends the search", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		_, _, err := firstOf(ctx, []way{
			{"found", func(context.Context) (string, error) { cancel(); return "", ctx.Err() }},
			{"never", func(context.Context) (string, error) { t.Error("tried"); return "", nil }},
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

func TestCloseRunsEveryCleanupOnceLastFirst(t *testing.T) {
	t.Parallel()
	b := &bench{out: io.Discard}
	var order []int
	for i := range 3 {
		b.later(func() error { order = append(order, i); return errors.New("refused") })
	}
	b.close()
	b.close()
	if want := []int{2, 1, 0}; !slices.Equal(order, want) {
		t.Errorf("ran %v, want %v", order, want)
	}
}

// Not parallel: it sets variables of the process.
func TestTheTestsSeeOurVariablesAndNotTheProducts(t *testing.T) {
	notOurs := []string{"DATABASE_URL", "SELLER_NAME", "APP_SECRET_FILE", "CREDENTIALS_DIRECTORY"}
	for _, name := range notOurs {
		t.Setenv(name, "somebody/else")
	}
	t.Setenv("TEST_REDIS_URL", "redis://old")
	t.Setenv("TEST_CHROMIUM", "/old")
	t.Setenv("KEPT", "yes")
	t.Setenv("GOFLAGS", "-mod=mod")
	env := (&bench{env: map[string]string{"TEST_REDIS_URL": "redis://new", "TEST_CHROMIUM": ""}}).environ()
	var got []string
	for _, pair := range env {
		name, _, _ := strings.Cut(pair, "=")
		if slices.Contains(append(notOurs, "TEST_REDIS_URL", "TEST_CHROMIUM", "KEPT", "GOFLAGS"), name) {
			got = append(got, pair)
		}
	}
	if want := []string{"KEPT=yes", "GOFLAGS=-mod=mod -trimpath", "TEST_REDIS_URL=redis://new"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
