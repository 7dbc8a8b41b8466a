package contract_test

import (
	"flag"
	"os"
	"testing"

	"sundry/tests/testenv"
)

// TestMain lets more tests run at a time than there are cores: they mostly wait for databases and clocks. On Citus each
// database is on all nodes, and more would wait for a lock longer than a transaction does.
func TestMain(m *testing.M) {
	flag.Parse()
	parallel := "8"
	if testenv.Get(testenv.Citus) != "" {
		parallel = "2"
	}
	if err := flag.Set("test.parallel", parallel); err != nil {
		panic(err) // go test always has this flag
	}
	os.Exit(m.Run())
}
