package gormstore

// ReadAccessSQL lets the plan of the hot read be looked at.
const ReadAccessSQL = readAccess

// LiveClaimsSQL lets the plan of the calendar's read be looked at.
const LiveClaimsSQL = liveClaims
