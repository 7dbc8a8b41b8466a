package mail

import (
	"context"
	stdmail "net/mail"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"sundry/tests/contract"
)

var sender = stdmail.Address{Name: "Sundry", Address: "no-reply@sundry.example"}

func TestFilesContract(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "data", "mail") // made by the first message
	contract.Mailer(t, NewFiles(folder, sender), func(t *testing.T, mailID string) [][]byte {
		t.Helper()
		raw, err := os.ReadFile(filepath.Join(folder, mailID+".eml"))
		if os.IsNotExist(err) {
			return nil
		}
		if err != nil {
			t.Fatal(err)
		}
		return [][]byte{raw}
	})
}

func TestAFileIsThereWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	files := NewFiles(folder, sender)
	m := contract.Message('x')
	m.Text = strings.Repeat("A line of many.\n", 20_000)
	path := filepath.Join(folder, m.ID+".eml")
	var writing sync.WaitGroup
	for range 4 {
		writing.Go(func() {
			for range 10 {
				if err := files.Send(context.Background(), m); err != nil {
					t.Error(err)
				}
			}
		})
	}
	written := make(chan struct{})
	go func() { writing.Wait(); close(written) }()
	for reading := true; reading; {
		select {
		case <-written:
			reading = false
		default:
		}
		if raw, err := os.ReadFile(path); err == nil && len(raw) < len(m.Text) {
			t.Fatalf("a reader saw %d bytes of a message", len(raw))
		}
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 1 || entries[0].Name() != m.ID+".eml" {
		t.Fatalf("the folder holds %v, %v", entries, err)
	}
	if info, err := entries[0].Info(); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file's mode is %v, %v", info.Mode(), err)
	}
}

func TestUnwritableFolderErrorOmitsItsPath(t *testing.T) {
	t.Parallel()
	occupied := filepath.Join(t.TempDir(), "mail")
	if err := os.WriteFile(occupied, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := NewFiles(occupied, sender).Send(context.Background(), contract.Message('x')); err == nil ||
		strings.Contains(err.Error(), occupied) {
		t.Errorf("%v", err)
	}
}
