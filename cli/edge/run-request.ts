import type { InvokeFleetRequest } from '../../client/index.ts';
import { parseTimeout } from '../duration.ts';
import { CliError } from '../exit-codes.ts';
import type { EdgeBackend } from '../backends/backend.ts';
import { parsePairs } from '../parse-pairs.ts';
import { groupIdOf, hostIdOf } from './names.ts';
import { selectorOf, type SelectorOptions } from './selector.ts';

export interface TargetOptions extends SelectorOptions {
  readonly host?: string;
  readonly group?: string;
  readonly all?: boolean;
}

export interface PolicyOptions {
  readonly sequential?: boolean;
  readonly batch?: string;
  readonly concurrency?: string;
  readonly failFast?: boolean;
  readonly stopAfter?: string;
  readonly minHosts?: string;
  readonly deadline?: string;
}

type Body = InvokeFleetRequest['body'];
export type RunTarget = Body['target'];

/** The one target that the options name. Throws a usage error for none and for several. */
export async function targetOf(edge: EdgeBackend, options: TargetOptions): Promise<RunTarget> {
  const { host, group, all } = options;
  const selector = selectorOf(options);
  const given = [host, group, all, selector].filter((value) => value !== undefined);
  if (given.length !== 1) {
    const message = given.length === 0 ? 'nothing says which hosts are meant' : 'several targets are given';
    throw new CliError(
      'usage',
      message,
      'Give one of --host, --group and --all, or --os, --tag, --label and --has-tool.',
    );
  }
  if (host !== undefined) return { Node: await hostIdOf(edge, host) };
  if (group !== undefined) return { Group: await groupIdOf(edge, group) };
  return selector === undefined ? { All: null } : { Selector: selector };
}

/** The policy of the options; what is left out has the defaults of the server. */
export function policyOf(options: PolicyOptions): Policy {
  const { concurrency, minHosts, deadline } = options;
  return {
    ...modeOf(options),
    ...failurePolicyOf(options),
    ...(concurrency !== undefined && { max_concurrency: count(concurrency, '--concurrency') }),
    ...(minHosts !== undefined && { require_min_targets: count(minHosts, '--min-hosts') }),
    ...(deadline !== undefined && { per_target_deadline_secs: Math.max(1, Math.ceil(parseTimeout(deadline) / 1_000)) }),
  };
}

type Policy = NonNullable<Body['policy']>;

function modeOf({ sequential, batch }: PolicyOptions): Pick<Policy, 'mode'> {
  if (sequential === true && batch !== undefined) throw excluding('--sequential', '--batch');
  if (sequential === true) return { mode: 'Sequential' };
  return batch === undefined ? {} : { mode: { Rolling: { batch: count(batch, '--batch') } } };
}

function failurePolicyOf({ failFast, stopAfter }: PolicyOptions): Pick<Policy, 'failure_policy'> {
  if (failFast === true && stopAfter !== undefined) throw excluding('--fail-fast', '--stop-after');
  if (failFast === true) return { failure_policy: 'FailFast' };
  return stopAfter === undefined ? {} : { failure_policy: { StopAfter: count(stopAfter, '--stop-after') } };
}

function count(text: string, flag: string): number {
  if (/^[1-9][0-9]{0,5}$/.test(text)) return Number(text);
  throw new CliError('usage', `${flag} '${text}' is not a number of hosts`, `Write it as ${flag} 5.`);
}

const excluding = (a: string, b: string): CliError =>
  new CliError('usage', `${a} and ${b} exclude each other`, 'Keep one of them.');

interface ToolOptions {
  readonly tool?: string;
  readonly arg?: readonly string[];
}

/** The tool and its arguments: a command behind `--` is the tool `cmd.run`. */
export function callOf(
  command: readonly string[],
  { tool, arg = [] }: ToolOptions,
): Required<Pick<Body, 'tool' | 'args'>> {
  const [program, ...args] = command;
  if (program !== undefined) {
    if (tool === undefined && arg.length === 0) return { tool: 'cmd.run', args: { command: program, args } };
    throw new CliError('usage', 'a command is the tool cmd.run', 'Leave out --tool and --arg, or the command.');
  }
  if (tool !== undefined) return { tool, args: parsePairs(arg, '--arg') };
  throw new CliError(
    'usage',
    'nothing is to be run',
    'Write a command behind --, or give --tool NAME and --arg KEY=VALUE.',
  );
}
