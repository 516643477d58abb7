/** What kind of client stands behind a token (spec 1 §5.2). */
type IdentityKind = 'consumer' | 'operator' | 'service-account';

/** Who calls, and for which tenant: the token's claims after they were checked, with `X-Tenant-Id` taken into account. */
export interface Caller {
  /** Claim `sub`: who is written down as the author of decisions and cancellations. */
  readonly subject: string;
  readonly kind: IdentityKind;
  /** Slug of the tenant that the call is scoped to. It need not exist: an unknown tenant is an empty one. */
  readonly tenant: string;
  /** Values of the role claim, such as `svc:operator`. */
  readonly roles: readonly string[];
  /** Those of the roles that name a scope, such as `svc.edge.hosts.read`. */
  readonly scopes: readonly string[];
  /** When the token ends, in milliseconds since the Unix epoch, clocks that differ included: streams end with it. */
  readonly until: number;
}
