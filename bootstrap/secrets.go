package bootstrap

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"sundry/config"
)

// secrets derives every key of the program from one secret, so that none is used for two purposes.
type secrets struct{ root []byte }

// derive returns the 32-byte key for a purpose. Changing a purpose's name invalidates everything made with it.
func (s secrets) derive(purpose string) []byte {
	key, err := hkdf.Key(sha256.New, s.root, nil, "sundry/"+purpose, 32)
	if err != nil {
		panic("bootstrap: hkdf refused 32 bytes: " + err.Error()) // impossible below 8160 bytes
	}
	return key
}

// loadSecrets takes APP_SECRET or, in the sandbox, the one generated on first start under DATA_DIR. It generates none
// for a database that has been started with one: used is asked for that, where it matters.
func loadSecrets(cfg config.Config, used func() (bool, error)) (secrets, error) {
	if cfg.AppSecret != "" {
		return secrets{[]byte(cfg.AppSecret)}, nil
	}
	path := filepath.Join(cfg.DataDir, "app_secret")
	raw, err := os.ReadFile(path) //nolint:gosec // the operator's own folder
	if errors.Is(err, fs.ErrNotExist) {
		taken, err := used()
		if err != nil {
			return secrets{}, err
		}
		if taken {
			return secrets{}, fmt.Errorf("this database was first started with a secret that is not here: "+
				"set APP_SECRET, or put the file app_secret that belongs to it at %s", path)
		}
		return generateSecret(path)
	}
	if err != nil {
		return secrets{}, fmt.Errorf("read the app secret: %w", err)
	}
	root := strings.TrimSpace(string(raw))
	if len(root) < 32 {
		return secrets{}, fmt.Errorf("%s holds fewer than 32 bytes; delete it to have a new one made (open sessions and "+
			"sign-ins end)", path)
	}
	return secrets{[]byte(root)}, nil
}

// generateSecret writes a new secret so that two processes starting at once end up with the same one.
func generateSecret(path string) (secrets, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return secrets{}, fmt.Errorf("make the data folder: %w", err)
	}
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails: crypto/rand aborts the program instead
	root := hex.EncodeToString(b)
	temporary, err := os.CreateTemp(filepath.Dir(path), "app_secret-*")
	if err != nil {
		return secrets{}, fmt.Errorf("write the app secret: %w", err)
	}
	defer func() { _ = os.Remove(temporary.Name()) }()
	_, writeErr := temporary.WriteString(root + "\n")
	if err := errors.Join(writeErr, temporary.Sync(), temporary.Close()); err != nil {
		return secrets{}, fmt.Errorf("write the app secret: %w", err)
	}
	if err := os.Link(temporary.Name(), path); errors.Is(err, fs.ErrExist) {
		raw, err := os.ReadFile(path) //nolint:gosec // the operator's own folder
		return secrets{[]byte(strings.TrimSpace(string(raw)))}, err
	} else if err != nil {
		return secrets{}, fmt.Errorf("write the app secret: %w", err)
	}
	return secrets{[]byte(root)}, nil
}
