import { celList } from '../rules/cel-text.ts';

/** User names, as the API server sees them, that may say things on behalf of others. */
export interface Identities {
  /** May write status, set `spec.parent`, and cancel in the name of a user. */
  readonly controllers: readonly string[];
  /** Processes that have checked a token themselves and write decisions in the name of its subject. */
  readonly trustedWriters: readonly string[];
  /** Those of them that act for callers on agents, edge hosts and fleet runs; they alone say how a conversation ended. */
  readonly apis: readonly string[];
  /** Processes that hold the streams of edge hosts; they make EdgeHosts and write their status, and nothing else. */
  readonly relays: readonly string[];
  /** Jobs of the chart that label the release's own namespace, and by RBAC no other. */
  readonly labellers: readonly string[];
}

/** CEL variables `user`, `isController`, `isTrusted` and `isRelay`. The chart puts accounts of its values into these lists. */
export const accountVariables = ({
  controllers,
  trustedWriters,
  relays,
}: Identities): Readonly<Record<string, string>> => ({
  user: 'request.userInfo.username',
  isController: `variables.user in ${celList(controllers)}`,
  isTrusted: `variables.isController || variables.user in ${celList(trustedWriters)}`,
  isRelay: `variables.user in ${celList(relays)}`,
});
