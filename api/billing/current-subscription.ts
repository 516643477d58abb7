import type { ProviderSubscription } from './payment-provider.ts';

/**
 * Statuses under which a tenant has what it bought, best first. `past_due` is among them: the provider is still trying
 * to collect, and ends in `unpaid` or `canceled` when it gives up.
 */
const entitling: readonly string[] = ['active', 'trialing', 'past_due'];

/** Statuses of a subscription that never began, or is over for good; another one may be bought beside it. */
const over: readonly string[] = ['canceled', 'incomplete', 'incomplete_expired'];

export const isEntitling = ({ status }: ProviderSubscription): boolean => entitling.includes(status);

/** Whether a second subscription beside this one would be paid twice. */
export const isOngoing = ({ status }: ProviderSubscription): boolean => !over.includes(status);

/** The one that counts: the best that entitles, else the newest; undefined when there never was any. */
export function currentSubscription(all: readonly ProviderSubscription[]): ProviderSubscription | undefined {
  return all.toSorted((a, b) => rank(a) - rank(b) || b.created - a.created)[0];
}

/** An unknown status comes last, with all that entitle to nothing. */
function rank({ status }: ProviderSubscription): number {
  const index = entitling.indexOf(status);
  return index === -1 ? entitling.length : index;
}
