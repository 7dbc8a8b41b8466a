package config

import (
	"errors"
	"fmt"
	"net/url"
)

// maxFileMB bounds a file: its parts are numbered in five digits.
const maxFileMB = 50_000

// fileFaults checks the settings of creators' files.
func (c Config) fileFaults() []error {
	var all []error
	if c.FileMaxMB < 1 || c.FileMaxMB > maxFileMB {
		all = append(all, fmt.Errorf("FILE_MAX_MB must be a number from 1 to %d", maxFileMB))
	}
	if c.FileAccountMB < c.FileMaxMB {
		all = append(all, errors.New("FILE_ACCOUNT_MB must be at least FILE_MAX_MB"))
	}
	parts := map[string]string{
		"S3_BUCKET": c.S3Bucket, "S3_ACCESS_KEY_ID": c.S3AccessKeyID, "S3_SECRET_ACCESS_KEY": c.S3SecretAccessKey,
	}
	for _, name := range []string{"S3_BUCKET", "S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY"} {
		if (parts[name] != "") != (c.S3Endpoint != "") {
			all = append(all, fmt.Errorf("%s and S3_ENDPOINT need each other", name))
		}
	}
	if c.S3Endpoint == "" {
		return all
	}
	if u, err := url.Parse(c.S3Endpoint); err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" ||
		u.User != nil {
		all = append(all, errors.New("S3_ENDPOINT must be an address such as https://s3.eu-central-1.amazonaws.com"))
	} else if c.Live() && u.Scheme != "https" && !thisMachine(u.Hostname()) {
		all = append(all, errors.New("S3_ENDPOINT must be https when ENVIRONMENT=live, but to this machine"))
	}
	return all
}
