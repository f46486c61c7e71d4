module fence.test/goclient

go 1.19
