import type { StimulusRouter } from '../../crds/schema/stimulus-router.ts';
import { webhookSourcePattern } from '../../crds/stimulus-source.ts';
import { ownMember } from '../own-member.ts';

const webhookSource = new RegExp(webhookSourcePattern);

/**
 * Whether a webhook can have this source (requirements AMB-043). Only such a source is claimed, because only a webhook
 * does not say which tenant it is for; `http_api` and the like are each tenant's own.
 */
export function isWebhookSource(source: string): boolean {
  return webhookSource.test(source);
}

/**
 * The form under which a source is claimed. `my-ci` and `my.ci` have one secret (AMB-044), so a sender that may sign
 * for one may sign for both. They are one claim, although each has a route of its own.
 */
export function sourceKey(source: string): string {
  return isWebhookSource(source) ? source.replaceAll('.', '-') : source;
}

/** The claims of one version of a router; computed once, since each of its rivals asks for them. */
interface ClaimBook {
  readonly keys: ReadonlySet<string>;
  /** The first record of a claim, by key and by source. */
  readonly firstOfKey: ReadonlyMap<string, string>;
  readonly firstOfSource: ReadonlyMap<string, string>;
}

const books = new WeakMap<StimulusRouter, ClaimBook>();

function bookOf(router: StimulusRouter): ClaimBook {
  const known = books.get(router);
  if (known !== undefined) return known;
  const firstOfKey = new Map<string, string>();
  const firstOfSource = new Map<string, string>();
  for (const { source, since } of router.status?.claims ?? []) {
    const time = notBefore(router, since);
    keepFirst(firstOfKey, sourceKey(source), time);
    keepFirst(firstOfSource, source, time);
  }
  const keys = new Set(Object.keys(router.spec.routes ?? {}).map(sourceKey));
  const book = { keys, firstOfKey, firstOfSource };
  books.set(router, book);
  return book;
}

/** No claim is older than its router: where no admission policy guards a status, it may say anything. */
function notBefore({ metadata: { creationTimestamp: born } }: StimulusRouter, since: string): string {
  return born === undefined || Date.parse(since) >= Date.parse(born) ? since : born;
}

function keepFirst(times: Map<string, string>, name: string, time: string): void {
  const known = times.get(name);
  if (known === undefined || Date.parse(time) < Date.parse(known)) times.set(name, time);
}

/** The claims that a router makes by its routes. */
export const sourceKeysOf = (router: StimulusRouter): string[] => [...bookOf(router).keys];

/**
 * The router whose tenant gets the webhooks of a source; undefined where none of those given routes a source of that
 * claim (requirements AMB-144). The claim that was recorded first wins, so that no tenant takes a source over by
 * editing an older router. Where none is recorded yet the oldest router wins, and of equally old ones the first by
 * namespace and name.
 */
export function claimantOf(source: string, routers: Iterable<StimulusRouter>): StimulusRouter | undefined {
  const key = sourceKey(source);
  return firstOf(
    routers,
    (router) => bookOf(router).keys.has(key),
    (router) => bookOf(router).firstOfKey.get(key),
  );
}

/** The router that a source has inside one tenant: in the same order, of those that route exactly this source. */
export function routerOfSource(source: string, routers: Iterable<StimulusRouter>): StimulusRouter | undefined {
  return firstOf(
    routers,
    ({ spec }) => ownMember(spec.routes, source) !== undefined,
    (router) => claimedAt(router, source),
  );
}

function firstOf(
  routers: Iterable<StimulusRouter>,
  counts: (router: StimulusRouter) => boolean,
  since: (router: StimulusRouter) => string | undefined,
): StimulusRouter | undefined {
  let first: StimulusRouter | undefined;
  for (const router of routers) {
    if (!isThere(router) || !counts(router)) continue;
    if (first === undefined || isBefore(router, first, since)) first = router;
  }
  return first;
}

/** One on its way out routes nothing. */
const isThere = ({ metadata }: StimulusRouter): boolean => metadata.deletionTimestamp === undefined;

/** When a router claimed a source; undefined where that is not recorded. */
export const claimedAt = (router: StimulusRouter, source: string): string | undefined =>
  bookOf(router).firstOfSource.get(source);

/** Later than any time that can be written. */
const never = '~';

function isBefore(
  left: StimulusRouter,
  right: StimulusRouter,
  since: (router: StimulusRouter) => string | undefined,
): boolean {
  const [leftSince, rightSince] = [since(left) ?? never, since(right) ?? never];
  return leftSince === rightSince ? isOlder(left, right) : leftSince < rightSince;
}

/** By creation, then by namespace and name. */
function isOlder({ metadata: left }: StimulusRouter, { metadata: right }: StimulusRouter): boolean {
  const [born, rightBorn] = [left.creationTimestamp ?? never, right.creationTimestamp ?? never];
  if (born !== rightBorn) return born < rightBorn;
  const [place, rightPlace] = [left.namespace ?? '', right.namespace ?? ''];
  return place === rightPlace ? left.name < right.name : place < rightPlace;
}

/** The routers in the order of their age: the order in which they are asked for what a tenant has once. */
export function byAge(routers: Iterable<StimulusRouter>): readonly StimulusRouter[] {
  return [...routers].filter(isThere).toSorted((a, b) => (isOlder(a, b) ? -1 : 1));
}
