package config

// maxFileMB bounds a file: its parts are numbered in five digits.
const maxFileMB = 50_000

// fileFaults checks the settings of creators' files.
func (c Config) fileFaults() (all faultList) {
	all.require(c.FileMaxMB >= 1 && c.FileMaxMB <= maxFileMB, "FILE_MAX_MB must be a number from 1 to %d", maxFileMB)
	all.require(c.FileAccountMB >= c.FileMaxMB, "FILE_ACCOUNT_MB must be at least FILE_MAX_MB")
	for _, part := range []struct{ name, value string }{
		{"S3_BUCKET", c.S3Bucket}, {"S3_ACCESS_KEY_ID", c.S3AccessKeyID}, {"S3_SECRET_ACCESS_KEY", c.S3SecretAccessKey},
	} {
		all.require((part.value != "") == (c.S3Endpoint != ""), "%s and S3_ENDPOINT need each other", part.name)
	}
	if c.S3Endpoint == "" {
		return all
	}
	return append(all, c.serviceFaults(
		"S3_ENDPOINT", c.S3Endpoint, "an address such as https://s3.eu-central-1.amazonaws.com",
	)...)
}
