import { anEnd, aScript, aWorkflow, busybox } from '../../builders/workflow-builder.ts';

/** Asks for a name, and greets. */
export const greeting = aWorkflow('hello')
  .with({
    description: 'Greets',
    input_schema: {
      type: 'object',
      properties: { name: { type: 'string' } },
      required: ['name'],
      additionalProperties: false,
    },
    output_template: { greeting: '{{trim greet.output.stdout}}' },
  })
  .state('greet', aScript('echo "Hello, $NAME!"; echo aside >&2', { env: { NAME: '{{input.name}}' } }))
  .build();

export const failing = aWorkflow('failing')
  .state('break', { ...aScript('exit 3'), transitions: [{ condition: 'on_success', target: 'done' }] })
  .state('done', anEnd())
  .build();

/** Writes for two seconds, then on two sides at once. */
export const slow = aWorkflow('slow')
  .state(
    'count',
    aScript('for i in 1 2 3 4; do echo "line $i"; sleep 0.5; done; printf "no newline"', { next: 'both' }),
  )
  .state('both', {
    kind: 'ParallelContainerRun',
    steps: [
      { name: 'left', image: busybox, command: ['echo', 'from the left'] },
      { name: 'right', image: busybox, command: ['sh', '-c', 'sleep 1; echo from the right'] },
    ],
    transitions: [],
  })
  .build();

export const sleeping = aWorkflow('sleeping').state('sleep', aScript('sleep 300')).build();
