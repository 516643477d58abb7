import type { SecurityContextSpec } from '../../crds/schema/security-context.ts';
import { AppError } from '../errors.ts';
import { isJsonObject } from '../json-object.ts';
import type { ToolAnswer, ToolArguments } from './tool.ts';

/** Addresses on the bus under which the API runs built-in tools for the gateway. */
export const builtinCallsService = 'api.tools';
export const builtinListService = 'api.tools.list';
/** Every replica hears of a call that its caller has given up. */
export const builtinStopService = 'api.tools.stop';

/** A call that the gateway has checked; the API checks its policy and its arguments again. */
export interface BuiltinCall {
  readonly invocation_id: string;
  readonly tenant: string;
  readonly execution_id: string;
  readonly subject: string;
  readonly security: SecurityContextSpec;
  /** Scopes of tools of hosts that the maker of the session held. Absent, as older gateways say it: none. */
  readonly scopes?: readonly string[];
  /**
   * An operator made the session, which may name any execution: it never has the rights of that execution's agent. Absent,
   * as older gateways say it: true.
   */
  readonly registered?: boolean;
  readonly tool: string;
  readonly args: ToolArguments;
}

const parse = (bytes: Uint8Array): unknown => JSON.parse(Buffer.from(bytes).toString());
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every((text) => typeof text === 'string');
const broken = (what: string): AppError => new AppError('internal', `${what} is not of its form`);

/** The answer of the API. @throws AppError `internal`. */
export function readBuiltinAnswer(bytes: Uint8Array): ToolAnswer {
  const answer = parse(bytes);
  if (!isJsonObject(answer)) throw broken('the answer of a built-in tool');
  const { content, isError } = answer;
  if (typeof content !== 'string' || typeof isError !== 'boolean') throw broken('the answer of a built-in tool');
  return { content, isError };
}

/** Names of the tools that the API runs. @throws AppError `internal`. */
export function readBuiltinNames(bytes: Uint8Array): readonly string[] {
  const names = parse(bytes);
  if (!Array.isArray(names)) throw broken('the list of built-in tools');
  return names.filter((name) => typeof name === 'string');
}

/** A call of the gateway. @throws AppError `invalid`. */
export function readBuiltinCall(bytes: Uint8Array): BuiltinCall {
  const call = parse(bytes);
  const texts = ['invocation_id', 'tenant', 'execution_id', 'subject', 'tool'];
  const isCall =
    isJsonObject(call) &&
    texts.every((name) => typeof call[name] === 'string') &&
    isJsonObject(call['security']) &&
    isTexts(call['scopes'] ?? []) &&
    typeof (call['registered'] ?? true) === 'boolean' &&
    isJsonObject(call['args']);
  if (!isCall) throw new AppError('invalid', 'the call of a built-in tool is not of its form');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- of our own gateway, over the bus that only ours reach
  return call as unknown as BuiltinCall;
}
