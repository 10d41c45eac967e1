package cases
import ("testing";"maps";"slices")
func runMap(t *testing.T, m map[string]func(*testing.T)) { for _, id := range slices.Sorted(maps.Keys(m)) { t.Run(id, m[id]) } }
func TestPy(t *testing.T) { runMap(t, pyCases()) }
func TestFile(t *testing.T) { runMap(t, fileCases()) }
func TestStop(t *testing.T) { runMap(t, stopCases()) }
func TestEvt(t *testing.T) { runMap(t, evtCases()) }
