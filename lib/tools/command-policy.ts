import { isJsonObject } from '../json-object.ts';
import { ownMember } from '../own-member.ts';
import type { ToolArguments, ToolCaller, ToolRefusal } from './tool.ts';

/** The node configuration of `cmd.run` (spec 3 §10.5). */
export interface CommandCeilings {
  readonly maxOutputBytes: number;
  readonly timeoutSeconds: number;
}

export const defaultCeilings: CommandCeilings = { maxOutputBytes: 524_288, timeoutSeconds: 300 };

type Allowlist = Readonly<Record<string, unknown>>;

/** The settings that the manifest's entry gives to the tool: its own name wins over the short one. */
function settingsOf({ agent }: ToolCaller): Readonly<Record<string, unknown>> | undefined {
  const entries = agent?.spec.tools ?? [];
  const entry = ['cmd.run', 'cmd'].map((name) => entries.find((tool) => tool.name === name && tool.config));
  return entry.find((found) => found !== undefined)?.config;
}

/** Lists that all have to permit a command: the manifest's, and the SecurityContext's where it has one. */
function allowlistsOf(caller: ToolCaller): readonly Allowlist[] {
  const { subcommand_allowlist: ofContext } = caller.security;
  const own = settingsOf(caller)?.['subcommand_allowlist'];
  if (caller.agent === undefined) return [ofContext ?? {}];
  const ofManifest = isJsonObject(own) ? own : {};
  return ofContext === undefined ? [ofManifest] : [ofManifest, ofContext];
}

/** Seconds that the manifest wants a command to have at most; undefined: as many as the node permits. */
export function wantedSeconds(caller: ToolCaller): number | undefined {
  const seconds = settingsOf(caller)?.['timeout_secs'];
  return typeof seconds === 'number' && seconds > 0 ? Math.ceil(seconds) : undefined;
}

/**
 * Why a command may not run. The base command and its first argument have to be listed; without arguments it runs only
 * where its list is empty (requirements AMB-138). Arguments of the wrong type are left to the check of arguments.
 */
export function commandProblem(
  caller: ToolCaller,
  args: ToolArguments,
  ceilings: CommandCeilings,
): ToolRefusal | undefined {
  const wanted = wantedSeconds(caller) ?? 0;
  if (wanted > ceilings.timeoutSeconds)
    return refusal(
      'ExecTimeoutCeilingExceeded',
      `timeout_secs of the tool's config is ${wanted}; this installation permits ${ceilings.timeoutSeconds}; lower it`,
    );
  const { command, args: rest } = args;
  if (typeof command !== 'string' || command === '') return undefined;
  const first = Array.isArray(rest) ? (rest as unknown[])[0] : undefined;
  for (const list of allowlistsOf(caller)) {
    const problem = listProblem(list, command, first);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function listProblem(list: Allowlist, command: string, first: unknown): ToolRefusal | undefined {
  const permitted = ownMember(list, command);
  if (!Array.isArray(permitted))
    return refusal(
      'CommandNotAllowed',
      `${command} is not a key of subcommand_allowlist; add it to permit the command`,
    );
  const isPermitted = first === undefined ? permitted.length === 0 : permitted.includes(first);
  if (isPermitted) return undefined;
  const shown = first === undefined ? 'no argument' : `the first argument ${JSON.stringify(first)}`;
  return refusal(
    'SubcommandNotAllowed',
    `${command} may not run with ${shown}; subcommand_allowlist does not list it; add it there`,
  );
}

const refusal = (code: string, message: string): ToolRefusal => ({
  kind: 'policy',
  code,
  message,
});
