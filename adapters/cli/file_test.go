package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

func TestWriteFile_KeepsTheFormerFile(t *testing.T) {
	t.Parallel()
	errFull := errors.New("no space left on device")
	for name, broken := range map[string]bool{"a whole file": false, "one that breaks off": true} {
		folder := t.TempDir()
		file, link := filepath.Join(folder, "file"), filepath.Join(folder, "link")
		if err := errors.Join(os.WriteFile(file, []byte("former"), 0o600), os.Symlink(file, link)); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{file, link} {
			err := writeFile(path, func(out io.Writer) error {
				_, err := io.WriteString(out, "new")
				if broken {
					err = errFull
				}
				return err
			})
			if errors.Is(err, errFull) != broken {
				t.Errorf("%s: got %v", name, err)
			}
			want := "new"
			if broken {
				want = "former"
			}
			if got, err := os.ReadFile(file); err != nil || string(got) != want {
				t.Errorf("%s: the file is %q, %v; want %q", name, got, err, want)
			}
		}
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: the file is %v, %v; want one for its owner alone", name, info, err)
		}
		if left, err := os.ReadDir(folder); err != nil || len(left) != 2 {
			t.Errorf("%s: left %v, %v; want the file and the link alone", name, left, err)
		}
	}
}

func TestWriteFile_ToAPipe(t *testing.T) {
	t.Parallel()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reader.Close() }()
	err = writeFile(filepath.Join("/dev/fd", strconv.Itoa(int(writer.Fd()))), func(out io.Writer) error {
		_, err := io.WriteString(out, "text")
		return err
	})
	if err := errors.Join(err, writer.Close()); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(reader); err != nil || string(got) != "text" {
		t.Errorf("the pipe got %q, %v; want text", got, err)
	}
}
