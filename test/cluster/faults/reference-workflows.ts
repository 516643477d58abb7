import type { Workflow } from '../../../crds/schema/workflow.ts';
import type { WorkflowExecutionSpec } from '../../../crds/schema/workflow-execution.ts';
import { anEnd, anUpdate, aQuestion, aScript, aWorkflow, busybox } from '../../builders/workflow-builder.ts';

/** A workflow whose runs must end the same whatever happens meanwhile. */
export interface Reference {
  readonly name: string;
  readonly workflow: Workflow;
  readonly spec: Omit<WorkflowExecutionSpec, 'workflow'>;
  /** The Human state that a person answers with yes. */
  readonly gate?: string;
  /** Pods that an undisturbed run makes, its children's included. */
  readonly pods: number;
}

const chain = aWorkflow('ref-chain')
  .state('first', aScript('echo one; echo warning >&2', { next: 'second' }))
  .state('second', aScript('echo "$BEFORE two"', { env: { BEFORE: '{{trim first.output.stdout}}' } }))
  .with({ output_template: { said: '{{trim second.output.stdout}}', warned: '{{trim first.output.stderr}}' } })
  .build();

const parallel = aWorkflow('ref-parallel')
  .state('all', {
    kind: 'ParallelContainerRun',
    completion: 'any_succeed',
    steps: [
      { name: 'left', image: busybox, command: ['echo', 'left'] },
      { name: 'broken', image: busybox, command: ['sh', '-c', 'echo broken >&2; exit 9'] },
    ],
    transitions: [{ condition: 'on_success', target: 'end' }],
  })
  .state('end', anEnd())
  .with({
    output_template: {
      said: '{{trim all.output.left.stdout}}',
      code: '{{all.output.broken.exit_code}}',
    },
  })
  .build();

const retry = aWorkflow('ref-retry')
  .state('fails', {
    ...aScript('echo tried; exit 4', { retry: { max_attempts: 2, backoff: '1s' } }),
    transitions: [{ condition: 'exit_code', value: '4', target: 'end' }],
  })
  .state('end', anEnd())
  .with({ output_template: { code: '{{fails.output.exit_code}}', said: '{{trim fails.output.stdout}}' } })
  .build();

const human = aWorkflow('ref-human')
  .state('prepare', anUpdate({ topic: 'cats' }, 'ask'))
  .state('ask', aQuestion('More {{blackboard.topic}}?', { yes: 'agreed', no: 'end' }))
  .state('agreed', anUpdate({ answer: '{{human.feedback}}' }, 'end'))
  .state('end', anEnd())
  .with({ output_template: { answer: '{{blackboard.answer}}' } })
  .build();

const child = aWorkflow('ref-child')
  .state('work', aScript('echo "child of $WHO"', { env: { WHO: '{{input.who}}' } }))
  .with({ output_template: { said: '{{trim work.output.stdout}}' } })
  .build();

const parent = aWorkflow('ref-parent')
  .state('call', {
    kind: 'Subworkflow',
    workflow_id: 'ref-child',
    input: '{"who": "parent"}',
    result_key: 'kept',
    transitions: [{ condition: 'on_success', target: 'end' }],
  })
  .state('end', anEnd())
  .with({ output_template: { heard: '{{call.result.said}}' } })
  .build();

/** 600,000 bytes on one stream and 50,000 on the other: far beyond the limit of status. */
const bigOutputs = aWorkflow('ref-big')
  .state(
    'print',
    aScript("i=0; while [ $i -lt 50000 ]; do echo 'eleven_bytes'; i=$((i+1)); done | head -c 600000; seq 9000 >&2", {
      next: 'measure',
    }),
  )
  .state(
    'measure',
    anUpdate({ length: '{{length print.output.stdout}}', first: '{{first_line print.output.stderr}}' }, 'end'),
  )
  .state('end', anEnd())
  .with({ output_template: { length: '{{blackboard.length}}', first: '{{blackboard.first}}' } })
  .build();

/** Workflows that the references call; registered, never run by themselves. */
export const calledWorkflows: readonly Workflow[] = [child];

/** Six: a chain of steps, a parallel state, a retry, a person, a child, outputs too large for status. */
export const references: readonly Reference[] = [
  { name: 'chain', workflow: chain, spec: {}, pods: 2 },
  { name: 'parallel', workflow: parallel, spec: {}, pods: 2 },
  { name: 'retry', workflow: retry, spec: {}, pods: 2 },
  { name: 'human', workflow: human, spec: {}, gate: 'ask', pods: 0 },
  { name: 'parent', workflow: parent, spec: {}, pods: 1 },
  { name: 'big', workflow: bigOutputs, spec: {}, pods: 1 },
];
