package mail

import (
	"context"
	"errors"
	"fmt"
	"io"
	stdmail "net/mail"
	"os"
	"path/filepath"

	"sundry/ports"
)

// Files writes each message into a folder, as <id>.eml: any mail program opens it. It is the sandbox's mail server.
type Files struct {
	folder string
	from   stdmail.Address
}

var _ ports.Mailer = (*Files)(nil)

// NewFiles returns a mailer over a folder, which is made when the first message comes.
func NewFiles(folder string, from stdmail.Address) *Files { return &Files{folder, from} }

// Send implements ports.Mailer. A reader sees the whole message or none; a repeat takes the place of the first. It is
// not forced to the disk: a power cut may take the last messages.
func (f *Files) Send(_ context.Context, m ports.Message) error {
	msg, err := compose(f.from, m)
	if err != nil {
		return err
	}
	if err := f.write(m.ID+".eml", msg); err != nil {
		return fmt.Errorf("write the mail into a file: %w", withoutPath(err))
	}
	return nil
}

func (f *Files) write(name string, content io.WriterTo) error {
	if err := os.MkdirAll(f.folder, 0o700); err != nil {
		return err
	}
	temporary, err := os.CreateTemp(f.folder, ".mail-*") // for its owner's eyes only: 0600
	if err != nil {
		return err
	}
	_, writeErr := content.WriteTo(temporary)
	err = errors.Join(writeErr, temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), filepath.Join(f.folder, name))
	}
	if err != nil {
		return errors.Join(err, os.Remove(temporary.Name()))
	}
	return nil
}

// withoutPath leaves the operator's folders out of what accounts are shown.
func withoutPath(err error) error {
	if path, ok := errors.AsType[*os.PathError](err); ok {
		return path.Err
	}
	if link, ok := errors.AsType[*os.LinkError](err); ok {
		return link.Err
	}
	return err
}
