package ports

import (
	"errors"

	"sundry/core/fault"
)

// Missing turns ErrNotFound into NOT_FOUND with the name of the object. Any other error stays.
func Missing(err error, what string) error {
	if errors.Is(err, ErrNotFound) {
		return fault.NotFound(what)
	}
	return err
}

// Visible returns an object that was loaded with err. One that the caller must not see, such as another account's, is
// missing like one that does not exist.
func Visible[T any](loaded T, err error, visible bool, what string) (T, error) {
	if err == nil && !visible {
		err = ErrNotFound
	}
	if err != nil {
		var none T
		return none, Missing(err, what)
	}
	return loaded, nil
}
