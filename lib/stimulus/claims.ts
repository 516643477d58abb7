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
 * The router that a source belongs to, of those given that route it; undefined where none does (requirements AMB-144).
 * The claim that was recorded first wins, so that nobody takes a source over by editing an older router. Where none is
 * recorded yet the oldest router wins, and of equally old ones the first by namespace and name.
 */
export function ownerOf(source: string, routers: Iterable<StimulusRouter>): StimulusRouter | undefined {
  let first: StimulusRouter | undefined;
  for (const router of routers) {
    if (!routes(router, source)) continue;
    if (first === undefined || before(orderOf(router, source), orderOf(first, source))) first = router;
  }
  return first;
}

/** One on its way out routes nothing. */
function routes({ metadata, spec }: StimulusRouter, source: string): boolean {
  return metadata.deletionTimestamp === undefined && ownMember(spec.routes, source) !== undefined;
}

/** When a router claimed a source; undefined where that is not recorded. */
export function claimedAt({ status }: StimulusRouter, source: string): string | undefined {
  return status?.claims?.find((claim) => claim.source === source)?.since;
}

/** Later than any time that can be written. */
const never = '~';

function orderOf(router: StimulusRouter, source: string): readonly string[] {
  const { creationTimestamp = never, namespace = '', name } = router.metadata;
  return [claimedAt(router, source) ?? never, creationTimestamp, namespace, name];
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
