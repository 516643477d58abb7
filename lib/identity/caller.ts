/** Kind of the client that a token is for (spec 1 §5.2). */
type IdentityKind = 'consumer' | 'operator' | 'service-account';

/** A tenant of a team that a bearer belongs to. */
export interface Team {
  /** Slug of the team's tenant. */
  readonly tenant: string;
  readonly isAdmin: boolean;
}

/** The caller and its tenant: the token's claims after their check, with `X-Tenant-Id` taken into account. */
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
  /** From the claim of team memberships; absent: none. */
  readonly teams?: readonly Team[];
  /** The one of them that a person named by `X-Tenant-Id`: it counts only for operations of edge hosts (ADR 0072). */
  readonly team?: Team;
  /** Uid of the execution whose tool call it is, of an agent or of a workflow; absent: it is the call of a person or service. */
  readonly callingExecution?: string;
  /** Set for our own tools, which run workflows that no caller sees (ADR 0090). */
  readonly seesHelpers?: true;
  /** When the token ends, in milliseconds since the Unix epoch, clocks that differ included: streams end with it. */
  readonly until: number;
}
