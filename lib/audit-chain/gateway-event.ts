/** Events of the gateway: the eight of spec 3 §6, and ours for what those do not name. */
export const gatewayEventTypes = [
  'WorkflowRegistered',
  'WorkflowInvocationStarted',
  'WorkflowStepExecuted',
  'WorkflowInvocationCompleted',
  'WorkflowInvocationFailed',
  'CredentialExchangeCompleted',
  'CredentialExchangeFailed',
  'TenantMismatch',
  'ToolInvocationStarted',
  'ToolInvocationCompleted',
  'ToolInvocationRefused',
  'SessionCreated',
  'SessionRevoked',
  'WorkflowStepStarted',
  'ApiSpecRegistered',
  'ApiSpecDeleted',
  'CliToolRegistered',
  'CliToolDeleted',
  'SecurityContextCreated',
  'SecurityContextUpdated',
  'SecurityContextDeleted',
] as const;
export type GatewayEventType = (typeof gatewayEventTypes)[number];

/** An act of the gateway before it is stored. */
export interface GatewayEvent {
  readonly type: GatewayEventType;
  /** Undefined with the development bypass alone, where no tenant is known (spec 3 §5.3). */
  readonly tenant: string | undefined;
  /** The actor: the subject of the operator's token, or of the session. */
  readonly subject: string;
  /** Ties the intent of a call to its outcome. */
  readonly invocationId?: string;
  /** JSON without secrets, arguments and payloads. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** Events of what has happened: to refuse them undoes nothing, so they wait for the bus. All others hold an act back. */
const outcomes: ReadonlySet<GatewayEventType> = new Set<GatewayEventType>([
  'ToolInvocationCompleted',
  'WorkflowInvocationCompleted',
  'WorkflowInvocationFailed',
  'WorkflowStepExecuted',
  'ToolInvocationRefused',
  'TenantMismatch',
  'SessionRevoked',
  'ApiSpecRegistered',
  'ApiSpecDeleted',
  'CliToolRegistered',
  'CliToolDeleted',
  'SecurityContextCreated',
  'SecurityContextUpdated',
  'SecurityContextDeleted',
]);

export const isOutcome = ({ type }: Pick<GatewayEvent, 'type'>): boolean => outcomes.has(type);
