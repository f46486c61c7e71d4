module allowed.test/modules

go 1.18

require (
	github.com/google/uuid v1.6.0
	github.com/spf13/cobra v1.8.0
	rsc.io/quote v1.5.2
)

require (
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/spf13/pflag v1.0.5 // indirect
	golang.org/x/text v0.0.0-20170915032832-14c0d48ead0c // indirect
	rsc.io/sampler v1.3.0 // indirect
)
