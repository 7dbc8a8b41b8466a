package bootstrap

import (
	"path/filepath"

	"sundry/adapters/filestore"
	"sundry/adapters/jobs"
	"sundry/modules/access"
	"sundry/modules/files"
	"sundry/ports"
)

const megabyte = 1 << 20

func (a *App) wireFiles(grants *access.Service) *files.Service {
	module := files.New(files.Config{
		BaseURL: a.cfg.BaseURL, MaxFile: int64(a.cfg.FileMaxMB) * megabyte,
		MaxAccount: int64(a.cfg.FileAccountMB) * megabyte, LinkKeys: a.keys.Links("files"),
	}, files.Deps{
		Store: a.store, Clock: a.clock, IDs: a.ids, Storage: a.adapters.Files, Access: grants, Limiter: a.limiter,
	})
	on(a.bus, module.OnCustomerErased)
	a.mux.HandleFairly(files.TaskDelete, jobs.Default, module.DeleteBytes)
	return module
}

// fileStorage is the configured bucket, or a folder of the data directory.
func (a *App) fileStorage() (ports.FileStorage, error) {
	if a.cfg.S3Endpoint != "" {
		return filestore.NewBucket(filestore.BucketConfig{
			Endpoint: a.cfg.S3Endpoint, Region: a.cfg.S3Region, Bucket: a.cfg.S3Bucket,
			AccessKeyID: a.cfg.S3AccessKeyID, SecretAccess: a.cfg.S3SecretAccessKey,
		})
	}
	return filestore.NewFolder(filepath.Join(a.cfg.DataDir, "files")), nil
}
