import type { Lease, ObjectRef } from '../../lib/kube/index.ts';

/** The candidate for the lease, and its purpose. */
interface Claim {
  readonly ref: ObjectRef;
  readonly identity: string;
  readonly leaseMs: number;
}

/** A Lease to be created by its first holder. */
export function newLease({ ref, identity, leaseMs }: Claim, now: number): Lease {
  return {
    metadata: { namespace: ref.namespace, name: ref.name },
    spec: {
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(leaseMs / 1000),
      acquireTime: microTime(now),
      renewTime: microTime(now),
      leaseTransitions: 0,
    },
  };
}

/** The Lease as taken over by another holder; keeps the version, so that only one candidate's replace succeeds. */
export function takenOver(lease: Lease, { identity, leaseMs }: Claim, now: number): Lease {
  return {
    ...lease,
    spec: {
      ...lease.spec,
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(leaseMs / 1000),
      acquireTime: microTime(now),
      renewTime: microTime(now),
      leaseTransitions: (lease.spec?.leaseTransitions ?? 0) + 1,
    },
  };
}

export function renewed(lease: Lease, now: number): Lease {
  return { ...lease, spec: { ...lease.spec, renewTime: microTime(now) } };
}

/** Free for every process at once, instead of after its duration. */
export function released(lease: Lease, now: number): Lease {
  return { ...lease, spec: { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: microTime(now) } };
}

/** How long the holder may go without renewing, milliseconds; the holder's own figure, not ours. */
export function durationOf(lease: Lease, fallbackMs: number): number {
  const seconds = lease.spec?.leaseDurationSeconds;
  return seconds ? seconds * 1000 : fallbackMs;
}

/** RFC 3339 with the six digits that a MicroTime must have. */
export function microTime(now: number): string {
  return new Date(now).toISOString().replace('Z', '000Z');
}
