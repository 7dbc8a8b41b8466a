package e2e_test

import (
	"regexp"
	"testing"

	"sundry/tests/harness"
)

var placeholder = regexp.MustCompile(`\{[A-Za-z]+\}`)

// once replaces the first match only.
func once(with string) func(string) string {
	done := false
	return func(match string) string {
		if done {
			return match
		}
		done = true
		return with
	}
}

func TestEveryOperationAcceptsItsValidRequest(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newWorld(t, app)
		for _, op := range harness.Operations(t) {
			t.Run(op.OperationID, func(t *testing.T) {
				if answer := app.Ask(t, w.request(t, op)); answer.Status >= 300 {
					t.Errorf("%s refused a valid request: %d %s", op.Line(), answer.Status, answer.Body)
				}
			})
		}
	})
}
