// Command client prints the code of a refusal, and how many events the account has, as a client sees them that is
// generated from the document for clients.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	client, err := NewClientWithResponses(os.Getenv("BASE_URL"),
		WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
			r.Header.Set("Authorization", "Bearer "+os.Getenv("SECRET_KEY"))
			return nil
		}))
	if err != nil {
		return err
	}
	refused, err := client.GetCheckoutSessionWithResponse(ctx, "cs_00000000000000000000000000", nil)
	if err != nil {
		return err
	}
	events, err := client.ListEventsWithResponse(ctx, &ListEventsParams{})
	if err != nil {
		return err
	}
	if refused.JSONDefault == nil || events.JSON200 == nil {
		return fmt.Errorf("responded with %s and %s", refused.Body, events.Body)
	}
	_, err = fmt.Printf("%s %d\n", refused.JSONDefault.Code, len(events.JSON200.Data))
	return err
}
