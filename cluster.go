package troupe

import _ "embed"

//go:embed cluster.yaml
var clusterYAML string

// ExampleConfig gives the complete, commented cluster.yaml that comes with
// this package. It runs as it stands with the variables OPENAI_API_KEY,
// OPENAI_BASE_URL and OPENAI_MODEL.
func ExampleConfig() string { return clusterYAML }
