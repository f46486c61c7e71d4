module refused

go 1.19
