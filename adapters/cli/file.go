package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// writeFile writes a file that takes its name once it is complete, so that a failure leaves the former one as it was.
// What is no regular file, such as /dev/stdout, is written to as it is.
func writeFile(name string, write func(out io.Writer) error) error {
	former, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return replaceFile(name, 0o666, write)
	case err != nil:
		return err
	case former.Mode().IsRegular():
		if name, err = filepath.EvalSymlinks(name); err != nil {
			return err
		}
		return replaceFile(name, former.Mode().Perm(), write)
	}
	file, err := os.OpenFile(name, os.O_WRONLY, 0) //nolint:gosec // the caller names the file
	if err != nil {
		return err
	}
	return errors.Join(write(file), file.Close())
}

// reportTo returns the output for what a command says about a file that it has written: Err where that is a pipe or a
// device, such as /dev/stdout, whose reader expects the file alone.
func reportTo(c call, name string) io.Writer {
	if written, err := os.Stat(name); err == nil && !written.Mode().IsRegular() {
		return c.Err
	}
	return c.Out
}

// replaceFile lets no file that it makes be more open than mode.
func replaceFile(name string, mode os.FileMode, write func(out io.Writer) error) error {
	partial := name + ".part"
	file, err := os.OpenFile(partial, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode) //nolint:gosec // as above
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(partial) }() // it has the file's name if all went well
	err = write(file)
	if err == nil {
		err = file.Sync() // a power cut leaves one of both files whole
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return os.Rename(partial, name)
}
