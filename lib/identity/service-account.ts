import { claimAt, textClaim } from './claims.ts';

/** Claims that distinguish a machine's token from a person's. */
export interface ServiceAccountRule {
  readonly kindClaim: string;
  readonly usernameClaim: string;
  /** A username that begins so is a machine's; undefined: no username says so. */
  readonly usernamePrefix: string | undefined;
}

const kinds = new Set<unknown>(['service_account', 'service-account']);

/** Spec 3 §2.1, requirements AMB-146: what the kind says counts; only without it does the username. */
export function isServiceAccount(claims: Readonly<Record<string, unknown>>, rule: ServiceAccountRule): boolean {
  const kind = claimAt(claims, rule.kindClaim);
  if (kind !== undefined && kind !== null) return kinds.has(kind);
  return (
    rule.usernamePrefix !== undefined && (textClaim(claims, rule.usernameClaim) ?? '').startsWith(rule.usernamePrefix)
  );
}
