package ports_test

import (
	"testing"
	"time"

	"sundry/ports"
)

func TestAnUnknownOutcomeIsAskedForMoreAndMoreSeldom(t *testing.T) {
	t.Parallel()
	const first = 5 * time.Second
	for age, want := range map[time.Duration]time.Duration{
		0: first, -time.Minute: first, 10 * time.Second: first, 12 * time.Second: 6 * time.Second,
		2 * time.Hour: time.Hour, 1000 * time.Hour: time.Hour,
	} {
		if got := ports.RecheckPause(age, first); got != want {
			t.Errorf("at an age of %v the pause is %v, want %v", age, got, want)
		}
	}
}
