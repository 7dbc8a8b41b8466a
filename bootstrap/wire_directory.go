package bootstrap

import (
	"context"

	"sundry/adapters/directory"
	"sundry/adapters/jobs"
	names "sundry/modules/directory"
)

// openDirectory connects to DIRECTORY_URL where there are several cells.
func (a *App) openDirectory(ctx context.Context) error {
	if a.cfg.DirectoryURL == "" {
		return nil
	}
	opened, err := directory.Open(ctx, a.cfg.DirectoryURL, a.ids.Cell())
	if err != nil {
		return err
	}
	a.directory = opened
	a.closers = append(a.closers, opened.Close)
	return nil
}

func (a *App) wireDirectory() *names.Service {
	module := names.New(names.Deps{
		Store: a.store, Clock: a.clock, Directory: a.directory, Cell: a.ids.Cell(), Log: a.log,
	})
	a.mux.Handle(names.SettleTask, jobs.Default, module.Settle)
	return module
}
