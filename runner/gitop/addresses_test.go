package gitop

import (
	"encoding/json"
	"net/netip"
	"os"
	"testing"
)

// The same verdicts as those of lib/tools/web/address-policy.test.ts.
func TestAddressesAreJudgedAsThoseOfPages(t *testing.T) {
	text, err := os.ReadFile("testdata/addresses.json")
	if err != nil {
		t.Fatal(err)
	}
	var verdicts []struct {
		Address         string
		Opened, Cluster []string
		Permitted       bool
	}
	if err := json.Unmarshal(text, &verdicts); err != nil || len(verdicts) == 0 {
		t.Fatal("no verdicts", err)
	}
	for _, v := range verdicts {
		p := policy{prefixes(v.Opened...), prefixes(v.Cluster...)}
		if got := p.permits(netip.MustParseAddr(v.Address)); got != v.Permitted {
			t.Errorf("%s with %v opened and %v of the cluster: %v", v.Address, v.Opened, v.Cluster, got)
		}
	}
}
