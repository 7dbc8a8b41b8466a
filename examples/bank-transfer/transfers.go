package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"sundry/core/money"
	"sundry/ports"
)

// folder holds the transfers, under DATA_DIR, which all processes share.
const folder = "transfers"

// State is the state of a transfer.
type State string

// The states. A transfer that was decided stays as it is.
const (
	Awaited  State = "awaited"
	Arrived  State = "arrived"
	Rejected State = "rejected"
)

// Transfers keeps transfers of money as files: <id>.json orders one, <id>.decided says how it ended. A file is written
// whole or not at all and never changed, so a crash or a second process leaves nothing half done.
type Transfers struct{ dir string }

// Order makes sure that a transfer is awaited, and returns its state. Ordering it again changes nothing.
func (t Transfers) Order(id string, amount money.Amount) (State, error) {
	if err := t.write(id+".json", amount); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	return t.State(id)
}

// State returns the state of a transfer. ports.ErrNotFound for one that was neither ordered nor decided.
func (t Transfers) State(id string) (State, error) {
	var decided State
	err := t.read(id+".decided", &decided)
	if errors.Is(err, fs.ErrNotExist) {
		decided, err = Awaited, t.read(id+".json", new(money.Amount))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("transfer %s: %w", id, ports.ErrNotFound)
	}
	return decided, err
}

// Decide ends a transfer. The first decision stays: another is an error.
func (t Transfers) Decide(id string, arrived bool) error {
	if _, err := t.State(id); err != nil {
		return err
	}
	if err := t.end(id, arrived); errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("transfer %s was decided before, and that stays", id)
	} else if err != nil {
		return err
	}
	return nil
}

// Reject ends a transfer even before it was ordered, unless it was decided.
func (t Transfers) Reject(id string) error {
	if err := t.end(id, false); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

func (t Transfers) end(id string, arrived bool) error {
	decision := Rejected
	if arrived {
		decision = Arrived
	}
	return t.write(id+".decided", decision)
}

// write writes a new file at once. fs.ErrExist when there is one.
func (t Transfers) write(name string, v any) error {
	content, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(t.dir, 0o700); err != nil {
		return err
	}
	temporary, err := os.CreateTemp(t.dir, "new-*")
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name()) //nolint:errcheck // a leftover is never read
	_, err = temporary.Write(content)
	if err = errors.Join(err, temporary.Sync(), temporary.Close()); err != nil {
		return err
	}
	return os.Link(temporary.Name(), filepath.Join(t.dir, name))
}

func (t Transfers) read(name string, v any) error {
	content, err := os.ReadFile(filepath.Join(t.dir, filepath.Base(name)))
	if err != nil {
		return err
	}
	return json.Unmarshal(content, v)
}
