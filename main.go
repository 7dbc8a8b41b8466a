// Command sundry is the whole service in one binary: API, pages and workers.
package main

import (
	"os"

	"sundry/bootstrap"
)

func main() { os.Exit(bootstrap.Main(bootstrap.Options{})) }
