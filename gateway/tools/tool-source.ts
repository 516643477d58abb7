import type { SecurityContextSpec } from '../../crds/schema/security-context.ts';
import type { ToolRefusal } from '../../lib/tools/tool.ts';

/** On whose behalf a tool is called, after every check of the envelope has passed (spec 3 §5.2). */
export interface GatewayCaller {
  /** Slug; undefined in the development bypass only (spec 3 §5.3). */
  readonly tenant: string | undefined;
  /** Names the caller in audit events: the agent id of the session. */
  readonly subject: string;
  readonly executionId: string;
  readonly security: SecurityContextSpec;
  /** Scopes of tools of hosts that the maker of the session held. */
  readonly scopes: readonly string[];
  /** An operator made the session, so that its execution id proves no agent. False for a session of an attestation. */
  readonly registered: boolean;
  /** Namespace of the tenant; undefined in the bypass. */
  readonly namespace: string | undefined;
}

/** JSON that came as an object. */
export type JsonObject = Readonly<Record<string, unknown>>;

type ToolSourceName = 'workflow' | 'cli' | 'builtin' | 'mcp';

export interface GatewayCallContext {
  /** Aborts when the client is gone, when the call is out of time, or when the process gives up its work (`isServerStopping`). */
  readonly signal: AbortSignal;
  /** UUID of the invocation, the same in every audit event of the call. */
  readonly invocationId: string;
  /**
   * Settles when the audit of the intent is stored, or cannot be. A tool with `awaitsIntent` is called before that. Default:
   * it is stored.
   */
  readonly intent?: Promise<void>;
  /**
   * Takes the storing of a tool's last events in place of the tool's wait for it: the caller gets the answer when it is done,
   * and an error where it fails. Events of the call's own end are stored meanwhile.
   */
  readonly closing?: (stored: Promise<void>) => void;
}

export type GatewayAnswer = ValueAnswer | JsonAnswer;

/** An answer of which the text is a JSON, and the structured content as well. */
export interface JsonAnswer {
  readonly json: readonly Buffer[];
  readonly isError: false;
  /** Counts its memory until the answer of the call does. */
  readonly held: Disposable;
}

export interface ValueAnswer {
  /** Text of the JSON-RPC result. */
  readonly content: string;
  readonly json?: never;
  /** Given as `structuredContent` of the result. */
  readonly structured?: unknown;
  /** The tool ran and failed (requirements AMB-130). */
  readonly isError: boolean;
}

/** One tool of the unified listing (requirements AMB-196). */
export interface GatewayTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema with `type: object`. `required` is in the order in which absent fields are named. */
  readonly input_schema: JsonObject;
  /** Reads its schema where `input_schema` is not the whole of it; undefined where the tool is gone. */
  readonly readSchema?: () => Promise<JsonObject | undefined>;
  readonly source: ToolSourceName;
  readonly skip_judge: boolean;
  readonly fleet_capable: boolean;
  /** `call` waits for `intent` itself before anything of it leaves the process for an upstream or a store of credentials. */
  readonly awaitsIntent?: true;
  /** Why no caller of the gateway can call it, although it is listed; absent: callers can. */
  readonly refusal?: ToolRefusal;
  /** Why the controllers refuse what is registered: operators see it, and no list of callers has the tool. */
  readonly notReady?: string;
  /** The object that it needs may be ready in a moment: an agent waits for that rather than work without the tool. */
  readonly isSettling?: boolean;
  /**
   * Runs the tool once: the lane has checked the envelope, the policy and the arguments, and has stored the intent, unless the
   * tool has `awaitsIntent`.
   * @throws AppError for answers with a status (spec 3 §7.1): `invalid` 400 Validation, `not_found` 404 NotFound.
   */
  call(caller: GatewayCaller, args: JsonObject, context: GatewayCallContext): Promise<GatewayAnswer>;
}

/** Tools of one kind, read from caches: no method waits. Without a tenant only shared tools are seen. */
export interface ToolSource {
  list(tenant: string | undefined): Iterable<GatewayTool>;
  find(tenant: string | undefined, name: string): GatewayTool | undefined;
  /** Names the unread part where `find` may give this name later, or `list` more tools; undefined where neither can. */
  unread?(tenant: string | undefined, name?: string): string | undefined;
}
