package ports

// Encrypter encrypts secrets that are kept in the database.
type Encrypter interface {
	Encrypt(plain []byte) []byte
	Decrypt(encrypted []byte) ([]byte, error)
}
