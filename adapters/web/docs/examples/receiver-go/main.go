package main

import (
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

func main() {
	hook, err := standardwebhooks.NewWebhook(os.Getenv("SUNDRY_WEBHOOK_SECRET"))
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var event struct {
			Type string
			Data struct{ ExternalCustomerID string }
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil || hook.Verify(body, r.Header) != nil || json.Unmarshal(body, &event) != nil {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if event.Type != "customer.access_changed" {
			return // a test, say
		}
		snapshot := os.Getenv("SUNDRY_URL") + "/v1/customer-access/" + url.PathEscape(event.Data.ExternalCustomerID)
		read, _ := http.NewRequest(http.MethodGet, snapshot, nil)
		read.Header.Set("Authorization", "Bearer "+os.Getenv("SUNDRY_KEY"))
		response, err := http.DefaultClient.Do(read)
		if err != nil || response.StatusCode != http.StatusOK {
			w.WriteHeader(http.StatusBadGateway) // anything but 2xx: the event comes again
			return
		}
		defer response.Body.Close()
		io.Copy(os.Stdout, response.Body) // keep it: it is what the customer may use from now on
	})))
}
