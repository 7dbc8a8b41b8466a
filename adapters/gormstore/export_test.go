package gormstore

// ReadAccessSQL lets the plan of the hot read be looked at.
const ReadAccessSQL = readAccess
