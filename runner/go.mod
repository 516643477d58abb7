module windlass.dev/runner

go 1.26
