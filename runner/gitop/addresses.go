package gitop

import "net/netip"

// Networks that a public server never is in, as lib/tools/web/address-policy.ts has them. testdata/addresses.json holds
// verdicts on which both policies agree (ADR 0134).
var internal = prefixes("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "168.63.129.16/32", "169.254.0.0/16",
	"172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24",
	"203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
	"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")

// guardedNetworks are those that no wider one opens: of this host, of a link, of groups, IPv4 within IPv6, and addresses of
// metadata services that are no link-local ones (ADR 0110).
var guardedNetworks = prefixes("0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "240.0.0.0/4",
	"168.63.129.16/32", "100.100.100.200/32", "192.0.0.192/32",
	"::/8", "64:ff9b::/96", "64:ff9b:1::/48", "2001::/32", "2002::/16", "fe80::/10", "ff00::/8",
	"fd00:ec2::/32", "fd20:ce::254/128")

// public6 is all of IPv6 that is public.
var public6 = netip.MustParsePrefix("2000::/3")

func prefixes(texts ...string) []netip.Prefix {
	all := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		all[i] = netip.MustParsePrefix(text)
	}
	return all
}

// policy has the networks that the operator named.
type policy struct {
	opened []netip.Prefix
	// cluster has those of nodes, pods and Services, which are guarded.
	cluster []netip.Prefix
}

// permits public addresses, and those of the opened networks. IPv4 within IPv6 is not public. An address of a guarded
// network is permitted by an opened network that lies within the guarded one alone.
func (p policy) permits(address netip.Addr) bool {
	if address.Zone() != "" {
		return false
	}
	if naming := holding(p.opened, address); len(naming) > 0 {
		return areWithin(naming, holding(guardedNetworks, address)) && areWithin(naming, holding(p.cluster, address))
	}
	if len(holding(internal, address)) > 0 || len(holding(p.cluster, address)) > 0 {
		return false
	}
	return address.Is4() || public6.Contains(address)
}

// areWithin says whether each guard has one of the networks within it.
func areWithin(networks, guards []netip.Prefix) bool {
	for _, guard := range guards {
		if !hasWithin(networks, guard) {
			return false
		}
	}
	return true
}

func hasWithin(networks []netip.Prefix, guard netip.Prefix) bool {
	for _, network := range networks {
		if network.Bits() >= guard.Bits() && guard.Contains(network.Addr()) {
			return true
		}
	}
	return false
}

func holding(networks []netip.Prefix, address netip.Addr) []netip.Prefix {
	var found []netip.Prefix
	for _, network := range networks {
		if network.Contains(address) {
			found = append(found, network)
		}
	}
	return found
}
