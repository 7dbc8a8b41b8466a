// The module of a shop beside this repository. A shop elsewhere names the folder of the SDK where it has it.
module shop

go 1.26

require sundry/sdk/go v0.0.0

replace sundry/sdk/go => ../../sdk/go
