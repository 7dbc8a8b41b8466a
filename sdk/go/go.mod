module sundry/sdk/go

go 1.26
