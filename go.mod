module github.com/troupe-go/troupe

go 1.26.0
