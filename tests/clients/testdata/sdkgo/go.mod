module lifecycle

go 1.26

require sundry/sdk/go v0.0.0
