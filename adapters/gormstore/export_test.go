package gormstore

// ReadAccessSQL lets the plan of the hot read be looked at.
const ReadAccessSQL = readAccess

// LiveClaimsSQL lets the plan of the calendar's read be looked at.
const LiveClaimsSQL = liveClaims

// ClaimSQL lets the plan of an engine's claim be looked at.
func ClaimSQL(engine string, limit int) string {
	if engine == "postgres" {
		return postgresDialect{}.claim(limit)
	}
	return sqliteDialect{}.claim(limit)
}
