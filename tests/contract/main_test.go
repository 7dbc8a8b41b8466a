package contract_test

import (
	"flag"
	"os"
	"testing"
)

// TestMain lets more tests run at a time than there are cores: they mostly wait for databases and clocks.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err) // go test always has this flag
	}
	os.Exit(m.Run())
}
