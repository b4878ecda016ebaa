package ofi

// Name of the driver.
const Name = "ofi"

// EnvProvider is the variable of the environment that names the provider.
const EnvProvider = "PM2_OFI_PROVIDER"
