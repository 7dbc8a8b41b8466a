// Command sundry is the whole service in one binary: API, pages and workers.
package main

func main() {}
