module windlass.dev/dev/images

go 1.26.0
