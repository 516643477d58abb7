/** Keys that mean the prototype of a JavaScript object; refused wherever a key comes from a definition. */
export const prototypeKeys = ['__proto__', 'constructor', 'prototype'] as const;

/** Words at which a template path begins (spec 1 §2.6, "Template variables"). */
const templateRoots = ['intent', 'input', 'workflow', 'blackboard', 'state', 'human', 'execution'] as const;

/** The helpers of spec 1 §2.6 that give a value. */
export const helperNames = ['length', 'upper', 'lower', 'trim', 'json', 'first_line', 'default'] as const;
export type HelperName = (typeof helperNames)[number];

/** The blocks of spec 1 §2.6. */
export const blockNames = ['if', 'each'] as const;

/** Helpers and blocks that Handlebars brings and the specification does not name. */
const otherHelpers = ['unless', 'with', 'lookup', 'log', 'helperMissing', 'blockHelperMissing'] as const;

/** Words that the template syntax reads as something else than a name. */
const syntaxWords = ['else', 'this', 'as', 'true', 'false', 'null', 'undefined'] as const;

/** Names that no state may have: a template would take them for something else (requirements AMB-061). */
export const reservedStateNames: readonly string[] = [
  ...templateRoots,
  ...helperNames,
  ...blockNames,
  ...otherHelpers,
  ...syntaxWords,
  ...prototypeKeys,
];

/** Names that no step of a ParallelContainerRun may have: its Blackboard entry has these keys already (AMB-005). */
export const reservedStepNames: readonly string[] = ['output', 'status', ...prototypeKeys];

/** Names of a state, a step or a `result_key` (requirements AMB-061). */
export const stateNamePattern = '^[A-Za-z_][A-Za-z0-9_-]{0,62}$';

/** Names of a shared volume: any text without `/` and control characters (requirements AMB-179). */
export const volumeNamePattern = '^[^/\\x00-\\x1f\\x7f-\\x9f]{1,63}$';

/** Object names of workflows that are made of a hash: of an unusual name (`wf-`), of a user and a name (`wu-`). */
export const derivedWorkflowNamePattern = '^w[fu]-[0-9a-f]{40}$';
export const userWorkflowNamePattern = '^wu-[0-9a-f]{40}$';

/** Object names of the workflows of CLI tools, which the tool gateway makes of a hash of the tool's uid. */
export const cliToolWorkflowNamePattern = '^cli-tool-[0-9a-f]{40}$';

/** Object names of the workflows that file tools of volumes run, of a hash (ADR 0090). */
export const fileToolWorkflowNamePattern = '^volume-files-[0-9a-f]{32}$';

/** Names of executions that follow from an Idempotency-Key or from a stimulus, and ids, which never mean a name (ADR 0050). */
export const reservedExecutionNamePattern =
  '^(start-[0-9a-f]{32}|(stimulus-)?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$';

/**
 * Names of executions of agents that follow from an Idempotency-Key, from the answer that one judges (ADR 0112), and
 * from the stimulus that one routes. An execution of another user under such a name would stop the start, the execution
 * that is judged, or the routing.
 */
export const reservedAgentExecutionNamePattern =
  '^(start-[0-9a-f]{32}|judge-[0-9a-f]{16}-[0-9]{1,10}|route-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$';

/** Names of fleet runs that follow from an Idempotency-Key and its caller: a run of another user there would stop the start. */
export const reservedFleetRunNamePattern = '^fleet-[0-9a-f]{32}$';
