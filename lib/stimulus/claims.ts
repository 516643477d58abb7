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
 * The form under which a source is claimed. `my-ci` and `my.ci` have one secret (AMB-044), so whoever may sign for one
 * may sign for both: they are one claim, although each has a route of its own.
 */
export function claimKey(source: string): string {
  return isWebhookSource(source) ? source.replaceAll('.', '-') : source;
}

/** The claims that a router makes by its routes. */
export const claimKeysOf = ({ spec }: StimulusRouter): string[] => [
  ...new Set(Object.keys(spec.routes ?? {}).map(claimKey)),
];

/**
 * The router whose tenant gets the webhooks of a source; undefined where none of those given routes a source of that
 * claim (requirements AMB-144). The claim that was recorded first wins, so that nobody takes a source over by editing an
 * older router. Where none is recorded yet the oldest router wins, and of equally old ones the first by namespace and name.
 */
export function claimantOf(source: string, routers: Iterable<StimulusRouter>): StimulusRouter | undefined {
  const key = claimKey(source);
  const claims = (router: StimulusRouter): boolean => isThere(router) && claimKeysOf(router).includes(key);
  return firstOf(routers, claims, (router) => orderOf(router, (candidate) => claimKey(candidate) === key));
}

/** The router that a source has inside one tenant: in the same order, of those that route exactly this source. */
export function ownerOf(source: string, routers: Iterable<StimulusRouter>): StimulusRouter | undefined {
  return firstOf(
    routers,
    (router) => isThere(router) && ownMember(router.spec.routes, source) !== undefined,
    (router) => orderOf(router, (candidate) => candidate === source),
  );
}

function firstOf(
  routers: Iterable<StimulusRouter>,
  counts: (router: StimulusRouter) => boolean,
  order: (router: StimulusRouter) => readonly string[],
): StimulusRouter | undefined {
  let first: StimulusRouter | undefined;
  for (const router of routers) {
    if (counts(router) && (first === undefined || before(order(router), order(first)))) first = router;
  }
  return first;
}

/** One on its way out routes nothing. */
const isThere = ({ metadata }: StimulusRouter): boolean => metadata.deletionTimestamp === undefined;

/** When a router claimed a source; undefined where that is not recorded. */
export function claimedAt(router: StimulusRouter, source: string): string | undefined {
  return recorded(router, (candidate) => candidate === source);
}

/**
 * The first record of such sources. No claim is older than its router: where no admission policy guards a status, it
 * may say anything.
 */
function recorded({ status, metadata }: StimulusRouter, is: (source: string) => boolean): string | undefined {
  const times = status?.claims?.filter(({ source }) => is(source)).map(({ since }) => since) ?? [];
  const [first] = times.toSorted((a, b) => Date.parse(a) - Date.parse(b));
  const born = metadata.creationTimestamp;
  if (first === undefined || born === undefined || Date.parse(first) >= Date.parse(born)) return first;
  return born;
}

/** Later than any time that can be written. */
const never = '~';

function orderOf(router: StimulusRouter, is: (source: string) => boolean): readonly string[] {
  const { creationTimestamp = never, namespace = '', name } = router.metadata;
  return [recorded(router, is) ?? never, creationTimestamp, namespace, name];
}

function before(left: readonly string[], right: readonly string[]): boolean {
  const index = left.findIndex((part, at) => part !== right[at]);
  return index >= 0 && (left[index] ?? '') < (right[index] ?? '');
}

/** The routers in the order of their age: the order in which they are asked for what a tenant has once. */
export function byAge(routers: Iterable<StimulusRouter>): readonly StimulusRouter[] {
  const age = ({ metadata }: StimulusRouter): readonly string[] => [
    metadata.creationTimestamp ?? never,
    metadata.namespace ?? '',
    metadata.name,
  ];
  return [...routers]
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .toSorted((a, b) => (before(age(a), age(b)) ? -1 : 1));
}
