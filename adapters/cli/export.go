package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

const exportUsage = `usage: sundry export [--customer cus_…] [--api URL] [--key sk_…] FILE

Writes everything of the account, or what it has about one customer, to FILE as JSON Lines; "-" is standard output. A
file is written whole or not at all.

  --customer cus_…   only this customer's data
  --api URL          address of the service; SUNDRY_URL, else http://127.0.0.1:8080
  --key sk_…         secret key with the scope read; SUNDRY_KEY`

func exportRow() command {
	return command{
		name: "export", parse: parseExport, help: text(exportUsage),
		lines: []line{{"FILE", "write everything of an account, or of a customer, as JSON Lines (export --help)"}},
	}
}

func parseExport(args []string) (action, error) {
	flags := flag.NewFlagSet("export", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	api := apiFlags(flags)
	api.client = &http.Client{} // the context ends it: an export takes as long as it is
	customer := flags.String("customer", "", "")
	if err := flags.Parse(args); err != nil {
		return nil, fmt.Errorf("%w\n\n%s", err, exportUsage)
	}
	if flags.NArg() != 1 || flags.Arg(0) == "" {
		return nil, errors.New(exportUsage)
	}
	path := "/v1/export"
	if *customer != "" {
		path = "/v1/customers/" + url.PathEscape(*customer) + "/export"
	}
	return func(ctx context.Context, c call) error { return api.export(ctx, path, flags.Arg(0), c) }, api.check()
}

func (a *publicAPI) export(ctx context.Context, path, file string, c call) error {
	if file == "-" {
		_, err := a.copyLines(ctx, path, c.Out)
		return err
	}
	var count int
	err := writeFile(file, func(out io.Writer) (err error) {
		count, err = a.copyLines(ctx, path, out)
		return err
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(reportTo(c, file), "%s: %d lines\n", file, count)
	return err
}

// copyLines writes the lines of an export, and fails unless its last line says that it is complete.
func (a *publicAPI) copyLines(ctx context.Context, path string, out io.Writer) (count int, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, a.url+path, nil)
	if err != nil {
		return 0, err
	}
	request.Header.Set("Authorization", "Bearer "+a.key)
	response, err := a.client.Do(request)
	if err != nil {
		return 0, err
	}
	defer func() { _ = response.Body.Close() }() // it was read, or the export failed already
	if response.StatusCode != http.StatusOK {
		raw, err := io.ReadAll(response.Body)
		if err != nil {
			return 0, err
		}
		return 0, refusalOf(response.StatusCode, raw)
	}
	lines := bufio.NewReader(response.Body)
	var last []byte
	for {
		text, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return count, fmt.Errorf("the export broke off after %d lines: %w", count, err)
		}
		if _, err := out.Write(text); err != nil {
			return count, err
		}
		count, last = count+1, text
	}
	var end struct {
		Type string `json:"type"`
		Data struct {
			Lines int `json:"lines"`
		} `json:"data"`
	}
	if err := json.Unmarshal(bytes.TrimSpace(last), &end); err != nil || end.Type != "end" || end.Data.Lines != count-1 {
		return count, fmt.Errorf("the export broke off after %d lines: it has no end", count)
	}
	return count, nil
}
