package filestore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"sundry/core/file"
	"sundry/ports"
)

const (
	// bucketTimeout bounds one request, its body included.
	bucketTimeout = 25 * time.Second
	// tries bounds how often a request is made while the storage is busy or away.
	tries = 3
	// firstPause is the pause before the second try; each further one is twice as long.
	firstPause = 200 * time.Millisecond
	// maxRefusal bounds what is read of a refusal.
	maxRefusal = 300
)

// BucketConfig names a bucket. It must exist.
type BucketConfig struct {
	// Endpoint is the address of the storage, such as https://s3.eu-central-1.amazonaws.com. The bucket is the first part
	// of the path.
	Endpoint, Region, Bucket  string
	AccessKeyID, SecretAccess string
}

// Bucket keeps each part as an object of an S3-compatible storage.
type Bucket struct {
	cfg    BucketConfig
	at     *url.URL
	client *http.Client
	signer *v4.Signer
}

var _ ports.FileStorage = (*Bucket)(nil)

// NewBucket returns the bucket behind the configuration. It asks for nothing yet.
func NewBucket(cfg BucketConfig) (*Bucket, error) {
	at, err := url.Parse(cfg.Endpoint)
	if err != nil || at.Host == "" {
		return nil, errors.New("the endpoint of the file storage is no address")
	}
	return &Bucket{
		cfg: cfg, at: at.JoinPath(cfg.Bucket), client: &http.Client{Timeout: bucketTimeout},
		signer: v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true }), // S3 signs paths as they are
	}, nil
}

// Put implements ports.FileStorage.
func (b *Bucket) Put(ctx context.Context, key string, part []byte) error {
	_, err := b.do(ctx, http.MethodPut, key, part)
	return err
}

// Get implements ports.FileStorage.
func (b *Bucket) Get(ctx context.Context, key string) ([]byte, error) {
	return b.do(ctx, http.MethodGet, key, nil)
}

// Delete implements ports.FileStorage.
func (b *Bucket) Delete(ctx context.Context, key string) error {
	_, err := b.do(ctx, http.MethodDelete, key, nil)
	if errors.Is(err, ports.ErrNotFound) {
		return nil
	}
	return err
}

// do makes a request until the storage accepts or refuses it.
func (b *Bucket) do(ctx context.Context, method, key string, body []byte) (content []byte, err error) {
	for n, pause := 1, firstPause; ; n, pause = n+1, 2*pause {
		again := false
		if content, again, err = b.once(ctx, method, key, body); err == nil {
			return content, nil
		}
		if !again || n == tries {
			return nil, fmt.Errorf("%s %s: %w", strings.ToLower(method), key, err)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, fmt.Errorf("%s %s: %w", strings.ToLower(method), key, errors.Join(ctx.Err(), err))
		}
	}
}

// once makes a request once. again means that it may succeed later.
func (b *Bucket) once(ctx context.Context, method, key string, body []byte) (content []byte, again bool, err error) {
	request, err := http.NewRequestWithContext(ctx, method, b.at.JoinPath(key).String(), bytes.NewReader(body))
	if err != nil {
		return nil, false, err
	}
	if err := b.sign(ctx, request, body); err != nil {
		return nil, false, err
	}
	response, err := b.client.Do(request)
	if err != nil {
		return nil, ctx.Err() == nil, err
	}
	defer func() { _ = response.Body.Close() }() // it was read
	switch {
	case response.StatusCode == http.StatusNotFound:
		return nil, false, ports.ErrNotFound
	case response.StatusCode/100 != 2:
		why, _ := io.ReadAll(io.LimitReader(response.Body, maxRefusal)) // what there is of it
		again = response.StatusCode >= 500 || response.StatusCode == http.StatusTooManyRequests
		return nil, again, fmt.Errorf("the file storage responds %d: %s", response.StatusCode, why)
	}
	content, err = io.ReadAll(io.LimitReader(response.Body, file.PartSize+1))
	return content, err != nil, err
}

// sign signs a request with the body's hash (Signature Version 4).
func (b *Bucket) sign(ctx context.Context, request *http.Request, body []byte) error {
	sum := sha256.Sum256(body)
	hash := hex.EncodeToString(sum[:])
	request.Header.Set("X-Amz-Content-Sha256", hash)
	return b.signer.SignHTTP(
		ctx, aws.Credentials{AccessKeyID: b.cfg.AccessKeyID, SecretAccessKey: b.cfg.SecretAccess}, request, hash, "s3",
		b.cfg.Region, time.Now(),
	)
}
