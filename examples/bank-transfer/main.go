// Command bank-transfer is Sundry with a payment provider of its own: buyers transfer the money, and somebody who reads
// the bank statement confirms by hand what has arrived.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"sundry/bootstrap"
	"sundry/ports"
)

func main() {
	if len(os.Args) == 3 && (os.Args[1] == "confirm" || os.Args[1] == "reject") {
		os.Exit(decide(os.Args[2], os.Args[1] == "confirm"))
	}
	os.Exit(bootstrap.Main(bootstrap.Options{Providers: []ports.OpenProvider{Open}}))
}

// decide records that a transfer, refund or payout has arrived, or that it never will.
func decide(id string, arrived bool) int {
	dataDir := os.Getenv("DATA_DIR")
	if dataDir == "" {
		dataDir = "./data"
	}
	if err := (Transfers{filepath.Join(dataDir, folder)}).Decide(id, arrived); err != nil {
		fmt.Fprintln(os.Stderr, "bank-transfer:", err)
		return 1
	}
	return 0
}
