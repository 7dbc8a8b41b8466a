package bootstrap

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sundry/adapters/encrypter"
	"sundry/adapters/gormstore"
	"sundry/adapters/keyring"
	"sundry/config"
)

// openKeys opens the keys of the deployment, and lets the database belong to it. A database that still belongs to the
// secret before this one does so until sundry secrets rotate.
func (a *App) openKeys(ctx context.Context) error {
	secret, err := loadSecret(a.cfg, func() (bool, error) { return a.store.HasDeployment(ctx) })
	if err != nil {
		return err
	}
	ring := keyring.Config{Store: a.store, Secret: secret, Recorded: secret, Now: time.Now}
	deployment := gormstore.Deployment{
		Environment: string(a.cfg.Environment), Cell: a.cfg.Cell, SecretCheck: checkOf(secret),
	}
	if a.cfg.AppSecretPrevious != "" {
		ring.Previous = []byte(a.cfg.AppSecretPrevious)
		deployment.PreviousCheck = checkOf(ring.Previous)
	}
	if err := a.store.BelongTo(ctx, deployment); err != nil {
		return err
	}
	recorded, err := a.store.RecordedSecretCheck(ctx)
	if err != nil {
		return err
	}
	if recorded != deployment.SecretCheck {
		ring.Recorded = ring.Previous
	}
	a.keys, err = keyring.Open(ctx, ring)
	return err
}

func checkOf(secret []byte) string { return hex.EncodeToString(keyring.Check(secret)) }

// keepKeys reads the keys that other processes have stored, and replaces those of access tokens in time, until
// stopping.
func (a *App) keepKeys(stopping <-chan struct{}) {
	every := time.NewTicker(keyring.ReloadEvery)
	defer every.Stop()
	for {
		select {
		case <-stopping:
			return
		case <-every.C:
		}
		ctx, cancel := context.WithTimeout(context.Background(), keyring.ReloadEvery/2)
		err := a.keys.Reload(ctx)
		if err == nil {
			err = a.keys.Maintain(ctx)
		}
		cancel()
		if err != nil {
			a.log.WarnContext(ctx, "keys not read again", slog.Any("error", err))
		}
	}
}

// encrypter encrypts what is stored for a purpose; gormstore.Reencrypt has the columns.
func (a *App) encrypter(purpose string) encrypter.Encrypter {
	return encrypter.New(a.keys.Sealing(purpose))
}

// renew encrypts a stored value of a purpose again.
func (a *App) renew() keyring.Renew {
	all := map[string]encrypter.Encrypter{}
	return func(purpose string, encrypted []byte) ([]byte, error) {
		if _, ok := all[purpose]; !ok {
			all[purpose] = a.encrypter(purpose)
		}
		return all[purpose].Renew(encrypted)
	}
}

// RotateSecrets replaces the keys of the deployment, which every process has to know after the overlap, and encrypts
// what is stored again. report gets a line for each step.
func (a *App) RotateSecrets(ctx context.Context, overlap time.Duration, report func(line string)) error {
	return a.keys.Rotate(ctx, overlap, a.renew(), report)
}

// RetireSecrets deletes the keys before the ones in use: links that they made open nothing from then on.
func (a *App) RetireSecrets(ctx context.Context, report func(line string)) error {
	return a.keys.Retire(ctx, a.renew(), report)
}

// loadSecret takes APP_SECRET or, in the sandbox, the one generated on first start under DATA_DIR. It generates none
// for a database that has been started with one: used is asked for that, where it matters.
func loadSecret(cfg config.Config, used func() (bool, error)) ([]byte, error) {
	if cfg.AppSecret != "" {
		return []byte(cfg.AppSecret), nil
	}
	path := filepath.Join(cfg.DataDir, "app_secret")
	raw, err := os.ReadFile(path) //nolint:gosec // the operator's own folder
	if errors.Is(err, fs.ErrNotExist) {
		taken, err := used()
		if err != nil {
			return nil, err
		}
		if taken {
			return nil, fmt.Errorf("this database belongs to a secret that is not here: "+
				"set APP_SECRET, or put the file app_secret that belongs to it at %s", path)
		}
		return generateSecret(path)
	}
	if err != nil {
		return nil, fmt.Errorf("read the app secret: %w", err)
	}
	root := strings.TrimSpace(string(raw))
	if len(root) < 32 {
		return nil, fmt.Errorf("%s holds fewer than 32 bytes; delete it to have a new one made (open sessions and "+
			"sign-ins end)", path)
	}
	return []byte(root), nil
}

// generateSecret writes a new secret so that two processes starting at once end up with the same one.
func generateSecret(path string) ([]byte, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make the data folder: %w", err)
	}
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails: crypto/rand aborts the program instead
	root := hex.EncodeToString(b)
	temporary, err := os.CreateTemp(filepath.Dir(path), "app_secret-*")
	if err != nil {
		return nil, fmt.Errorf("write the app secret: %w", err)
	}
	defer func() { _ = os.Remove(temporary.Name()) }()
	_, writeErr := temporary.WriteString(root + "\n")
	if err := errors.Join(writeErr, temporary.Sync(), temporary.Close()); err != nil {
		return nil, fmt.Errorf("write the app secret: %w", err)
	}
	if err := os.Link(temporary.Name(), path); errors.Is(err, fs.ErrExist) {
		raw, err := os.ReadFile(path) //nolint:gosec // the operator's own folder
		return []byte(strings.TrimSpace(string(raw))), err
	} else if err != nil {
		return nil, fmt.Errorf("write the app secret: %w", err)
	}
	return []byte(root), nil
}
