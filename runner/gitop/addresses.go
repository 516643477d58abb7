package gitop

import "net/netip"

// Networks that a public server never is in, as web.fetch vets them (lib/tools/web/address-policy.ts).
var internal = prefixes("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
	"192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24",
	"203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
	"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")

// public6 is all of IPv6 that is public.
var public6 = netip.MustParsePrefix("2000::/3")

func prefixes(texts ...string) []netip.Prefix {
	all := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		all[i] = netip.MustParsePrefix(text)
	}
	return all
}

// isPermitted: public addresses, and those of the networks that the operator opened. IPv4 within IPv6 is not public.
func isPermitted(address netip.Addr, opened []netip.Prefix) bool {
	if address.Zone() != "" {
		return false
	}
	if holds(opened, address) {
		return true
	}
	if holds(internal, address) {
		return false
	}
	return address.Is4() || public6.Contains(address)
}

func holds(networks []netip.Prefix, address netip.Addr) bool {
	for _, network := range networks {
		if network.Contains(address) {
			return true
		}
	}
	return false
}
