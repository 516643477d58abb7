import type { KeyObject } from 'node:crypto';
import { argsHash, type CommandClaims, readCommandToken } from '../../lib/edge/index.ts';
import { isTooDeep } from '../../lib/nesting.ts';
import type { InvokeTool } from '../../proto/generated/windlass/node/v1/node.ts';
import type { CommandProblem } from './results.ts';

/** The keys that the enrollment pinned, and the time by this host's clock. */
export interface ProofFacts {
  readonly commandKey: KeyObject;
  readonly tenant: string;
  readonly nodeId: string;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
}

/** A command that its author is proven to have asked for. */
interface ProvenCommand {
  readonly claims: CommandClaims;
  readonly args: Readonly<Record<string, unknown>>;
}

/**
 * Checks the inner envelope (design §14): the pinned key has signed a token, and its time is not over. The token is for
 * this tenant, this host, this command, this tool with these arguments, and this security context. The relay cannot
 * make one.
 */
export async function proveCommand(
  invoke: InvokeTool,
  { commandKey, tenant, nodeId, now }: ProofFacts,
): Promise<ProvenCommand | CommandProblem> {
  const { sealEnvelope: envelope, args = {} } = invoke;
  if (envelope === undefined) return unproven('seal_envelope is missing');
  if (envelope.tenantId !== tenant) return unproven('seal_envelope.tenant_id is not the tenant of this host');
  if (isTooDeep(args)) return unproven('args are nested too deep');
  const claims = await readCommandToken(commandKey, envelope.userSecurityToken, now);
  if (claims === undefined)
    return unproven(
      'the command token is not valid, or its time is over by the clock of this host; check the clock, and send the command again',
    );
  const wrong =
    mismatch(claims, invoke, { tenant, nodeId }) ??
    (claims.ah === argsHash(invoke.toolName, args) ? undefined : 'args');
  return wrong === undefined ? { claims, args } : unproven(`the command token is for another ${wrong}`);
}

function mismatch(
  claims: CommandClaims,
  { commandId, toolName, securityContextName }: InvokeTool,
  { tenant, nodeId }: Pick<ProofFacts, 'tenant' | 'nodeId'>,
): string | undefined {
  const pairs: readonly (readonly [name: string, claimed: string, found: string])[] = [
    ['tenant', claims.tid, tenant],
    ['host', claims.node, nodeId],
    ['command', claims.commandId, commandId],
    ['tool', claims.tool, toolName],
    ['security context', claims.context, securityContextName],
  ];
  return pairs.find(([, claimed, found]) => claimed !== found)?.[0];
}

const unproven = (problem: string): CommandProblem => ({ code: 'CommandUnproven', message: problem });
