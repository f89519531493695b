module example/conformance

go 1.19
