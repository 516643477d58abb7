import { limits } from '../../crds/limits.ts';
import type { EdgeGroupSpec, EdgeSelector } from '../../crds/schema/edge-group.ts';
import type { FleetTarget } from '../../crds/schema/fleet-run.ts';
import { AppError } from '../errors.ts';
import { createLoopTurns } from '../loop-turns.ts';

/** spec 2 §2.1. */
export type FleetHostState = 'Connected' | 'Disconnected' | 'Unhealthy' | 'Revoked';

/** A host as far as a target can tell hosts apart. */
export interface FleetHost {
  readonly nodeId: string;
  /** uid of its EdgeHost. */
  readonly uid: string;
  readonly name: string;
  readonly status: FleetHostState;
  /** It takes no new commands. */
  readonly isDraining?: boolean;
  readonly os?: string | undefined;
  readonly tools: readonly string[];
  readonly tags: readonly string[];
  readonly label: (name: string) => string | undefined;
}

type SkipReason = Exclude<FleetHostState, 'Connected'> | 'Draining' | 'NotFound';

export interface SkippedHost {
  readonly node_id: string;
  readonly reason: SkipReason;
}

/** Both lists in the order of node ids, each host once. */
export interface ResolvedTarget {
  readonly resolved: readonly FleetHost[];
  readonly skipped: readonly SkippedHost[];
}

type Members = Pick<EdgeGroupSpec, 'selector' | 'pinned_members'>;

/** The hosts and groups of one tenant: nothing else can be a target. */
interface FleetWorld {
  readonly hosts: Iterable<FleetHost>;
  /** By id; undefined where the tenant has no such group. */
  group(id: string): Members | undefined;
}

/**
 * Which hosts a target means now (spec 2 §2.3, §2.4): connected ones are resolved, the others skipped with the reason. A
 * revoked host counts only where it is named. It takes turns of the event loop for many hosts, and sees each as it is then.
 * @throws AppError `not_found` for an unknown group, `limit_exceeded` for more hosts than a run takes.
 */
export async function resolveTarget(target: FleetTarget, world: FleetWorld): Promise<ResolvedTarget> {
  const { matches, terms, named } = membersOf(target, world);
  const missing = new Set(named);
  const resolved = new Map<string, FleetHost>();
  const skipped = new Map<string, SkipReason>();
  const spend = createLoopTurns(namesPerTurn);
  for (const host of world.hosts) {
    await spend(terms + workOf(host));
    const isNamed = missing.delete(host.nodeId);
    if (!isNamed && (host.status === 'Revoked' || matches === undefined || !matches(host))) continue;
    const reason = whySkipped(host);
    if (reason === undefined) resolved.set(host.nodeId, host);
    else skipped.set(host.nodeId, reason);
  }
  for (const nodeId of missing) skipped.set(nodeId, 'NotFound');
  checkSize(resolved.size);
  return {
    resolved: [...resolved.values()].sort((a, b) => byText(a.nodeId, b.nodeId)),
    skipped: [...skipped]
      .map(([nodeId, reason]) => ({ node_id: nodeId, reason }))
      .sort((a, b) => byText(a.node_id, b.node_id))
      .slice(0, limits.fleetTargets),
  };
}

/** Why a host gets no command; undefined where it gets one. */
function whySkipped({ status, isDraining = false }: FleetHost): SkipReason | undefined {
  if (status !== 'Connected') return status;
  return isDraining ? 'Draining' : undefined;
}

/** The members of a group now, of whatever status but revoked ones that only its selector names (spec 2 §2.3). */
export async function groupMembers(group: Members, hosts: Iterable<FleetHost>): Promise<FleetHost[]> {
  const { has, terms } = membershipOf(group);
  const spend = createLoopTurns(namesPerTurn);
  const members: FleetHost[] = [];
  for (const host of hosts) {
    await spend(terms + workOf(host));
    if (has(lookOnce(host))) members.push(host);
  }
  return members.sort((a, b) => byText(a.nodeId, b.nodeId));
}

/** Names that one turn of the event loop looks at: some milliseconds. */
const namesPerTurn = 100_000;
/** To make a host of its object takes as long as some names. */
const hostWork = 32;
const workOf = ({ tools, tags }: FleetHost): number => hostWork + tools.length + tags.length;

/** Counts the members of many groups, host by host: the tools and tags of one host alone are held by name. */
interface MemberCounter {
  /** Counts a host in each group that it is in. Gives the work that this took: terms and names looked at, at most. */
  readonly add: (host: FleetHost) => number;
  /** In the order of the groups. */
  readonly counts: readonly number[];
}

export function createMemberCounter(groups: readonly Members[]): MemberCounter {
  const memberships = groups.map(membershipOf);
  const termsOfAll = memberships.reduce((sum, { terms }) => sum + 1 + terms, 0);
  const counts = groups.map(() => 0);
  return {
    counts,
    add(host) {
      const look = lookAt(host);
      for (const [at, { has }] of memberships.entries()) if (has(look)) counts[at] = (counts[at] ?? 0) + 1;
      return termsOfAll + host.tools.length + host.tags.length;
    },
  };
}

function membershipOf({ pinned_members: named, selector }: Members): Membership {
  const pinned = new Set(named);
  const { matches, terms } = selector === undefined ? noMatcher : lookMatcherOf(selector);
  return {
    terms,
    has: (look) => pinned.has(look.host.nodeId) || (look.host.status !== 'Revoked' && matches?.(look) === true),
  };
}

interface Membership {
  readonly has: (look: Look) => boolean;
  /** How many things a host is asked for. */
  readonly terms: number;
}

/** A host that selectors are held against. */
interface Look {
  readonly host: FleetHost;
  readonly hasTools: (wanted: WantedNames) => boolean;
  readonly hasTags: (wanted: WantedNames) => boolean;
}

/** For many selectors: its tools and tags by name, each made where a selector asks for the first of them. */
function lookAt(host: FleetHost): Look {
  let [tools, tags]: [tools?: ReadonlySet<string>, tags?: ReadonlySet<string>] = [];
  return {
    host,
    hasTools: ({ names }) => names.every((tool) => (tools ??= new Set(host.tools)).has(tool)),
    hasTags: ({ names }) => names.every((tag) => (tags ??= new Set(host.tags)).has(tag)),
  };
}

/** For one selector: a set of all names of a host would cost more than to look for a few. */
const lookOnce = (host: FleetHost): Look => ({
  host,
  hasTools: (wanted) => wanted.areAmong(host.tools),
  hasTags: (wanted) => wanted.areAmong(host.tags),
});

/** Names that are looked for one after the other. */
const fewNames = 4;

/** Names that a selector asks for, each once. Their look-up is made once for all hosts. */
class WantedNames {
  readonly names: readonly string[];
  /** By name, the last host that was seen to have it. */
  readonly #seenOf: Map<string, number>;
  #host = 0;

  constructor(given: readonly string[]) {
    this.#seenOf = new Map(given.map((name) => [name, this.#host]));
    this.names = [...this.#seenOf.keys()];
  }

  /** Whether all are among the names of a host, which may have one twice. */
  areAmong(own: readonly string[]): boolean {
    if (own.length < this.names.length) return false;
    if (this.names.length <= fewNames) return this.names.every((name) => own.includes(name));
    this.#host += 1;
    let missing = this.names.length;
    for (const name of own) {
      const last = this.#seenOf.get(name);
      if (last === undefined || last === this.#host) continue;
      this.#seenOf.set(name, this.#host);
      missing -= 1;
      if (missing === 0) return true;
    }
    return false;
  }
}

type Matches = (host: FleetHost) => boolean;

interface Meant {
  /** Undefined: none but those that are named. */
  readonly matches: Matches | undefined;
  /** How many things a host is asked for. */
  readonly terms: number;
  readonly named: readonly string[];
}

function membersOf(target: FleetTarget, world: FleetWorld): Meant {
  if (target.Node !== undefined) return { ...noMatcher, named: [target.Node] };
  if (target.Selector !== undefined) return { ...matcherOf(target.Selector), named: [] };
  if (target.Group === undefined) return { matches: () => true, terms: 0, named: [] };
  const group = world.group(target.Group);
  if (group === undefined) {
    throw new AppError('not_found', `target.Group: there is no group ${target.Group}; GET /v1/edge/groups lists them`, {
      reason: 'GroupNotFound',
    });
  }
  const { selector, pinned_members: named = [] } = group;
  return { ...(selector === undefined ? noMatcher : matcherOf(selector)), named };
}

const noMatcher = { matches: undefined, terms: 0 } as const;

/** All that a selector gives must hold; an empty one matches every host (requirements AMB-101). `matches` looks at a host once. */
export function matcherOf(selector: EdgeSelector): { readonly matches: Matches; readonly terms: number } {
  const { matches, terms } = lookMatcherOf(selector);
  return { matches: (host) => matches(lookOnce(host)), terms };
}

/** The hosts that a selector matches, of whatever status, in turns of the event loop for many. `seen` makes each as it is seen. */
export async function matchingHosts<T>(
  hosts: Iterable<T>,
  seen: (host: T) => FleetHost,
  selector: EdgeSelector,
): Promise<T[]> {
  const { matches, terms } = matcherOf(selector);
  const spend = createLoopTurns(namesPerTurn);
  const found: T[] = [];
  for (const one of hosts) {
    const host = seen(one);
    await spend(terms + workOf(host));
    if (matches(host)) found.push(one);
  }
  return found;
}

interface LookMatcher {
  readonly matches: (look: Look) => boolean;
  /** How many things a host is asked for. */
  readonly terms: number;
}

/** A tool or tag that is given twice is one. */
function lookMatcherOf(selector: EdgeSelector): LookMatcher {
  const { os, tools = [], tags = [], labels = [] } = selector;
  const ofTags = tags.flatMap(({ AllOf: all = [], Has: has }) => (has === undefined ? all : [...all, has]));
  const [wantedTools, wantedTags] = [new WantedNames(tools), new WantedNames(ofTags)];
  const pairs = labels.flatMap(({ Equals: equals }) => Object.entries(equals));
  return {
    terms: wantedTools.names.length + wantedTags.names.length + pairs.length,
    matches: (look) =>
      (os === undefined || look.host.os === os) &&
      look.hasTools(wantedTools) &&
      look.hasTags(wantedTags) &&
      pairs.every(([name, value]) => look.host.label(name) === value),
  };
}

function checkSize(hosts: number): void {
  if (hosts <= limits.fleetTargets) return;
  const message = `target: ${hosts} hosts are meant; a run takes at most ${limits.fleetTargets}`;
  throw new AppError('limit_exceeded', message, { reason: 'TooManyTargets' });
}

/** By code units: the same on every machine, whatever its locale. */
const byText = (left: string, right: string): number => (left < right ? -1 : Number(left > right));
