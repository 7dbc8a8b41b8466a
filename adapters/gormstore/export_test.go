package gormstore

// ClaimSQL lets the plan of an engine's claim be looked at.
func ClaimSQL(engine string, limit int) string {
	if engine == "postgres" {
		return postgresDialect{}.claimSQL(limit)
	}
	return sqliteDialect{}.claimSQL(limit)
}
