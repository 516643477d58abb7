import { describe, expect, it } from 'vitest';
import { stateKinds } from '../../crds/schema/state-kinds.ts';
import { checkDefinition, type Problem } from '../../lib/definition/check.ts';
import { fullWorkflow } from '../bad-manifests/full-workflow.ts';
import { badWorkflow, type Edit } from '../bad-manifests/row.ts';
import { nested } from '../bad-manifests/rows/words.ts';
import { badManifests } from '../bad-manifests/rows.ts';

const check = (...edits: Edit[]): readonly Problem[] =>
  checkDefinition((badWorkflow({ edits }) as { spec: unknown }).spec);
const errors = (...edits: Edit[]): string[] =>
  check(...edits)
    .filter(({ severity }) => severity === 'error')
    .map(({ path }) => path);
const warnings = (...edits: Edit[]): [string, string][] =>
  check(...edits)
    .filter(({ severity }) => severity === 'warning')
    .map(({ path, rule }) => [path, rule]);

describe('a bad definition is refused with its path', () => {
  for (const row of badManifests) {
    it(`${row.requirements.join(' ')} ${row.name}`, () => {
      const found = check(...row.edits).filter(({ severity }) => severity === 'error');
      expect(found.map(({ path, rule }) => `${path} ${rule}`)).toContain(`${row.path} ${row.rule}`);
      for (const { message } of found) expect(message).not.toBe('');
    });
  }
});

describe('a good definition', () => {
  it('WF-MAN-12 with every field has neither error nor warning', () => {
    expect(checkDefinition(fullWorkflow().spec)).toEqual([]);
  });

  it('WF-STATE-01 uses all kinds', () => {
    expect(new Set(Object.values(fullWorkflow().spec.states).map(({ kind }) => kind))).toEqual(new Set(stateKinds));
  });

  const boundaries: [ids: string, ...Edit][] = [
    ['WF-MAN-18', 'spec.max_total_transitions', 1],
    ['WF-MAN-18', 'spec.max_total_transitions', 100],
    ['WF-STATE-03', 'spec.states.agent.max_state_visits', 20],
    ['WF-COND-08', 'spec.states.agent.transitions.1.min', 0.9],
    ['WF-PAR-15', 'spec.states.panel.consensus.confidence_weighting.agreement_factor', 0.6000000005],
    ['WF-MAN-19', 'spec.context.deep', nested(63)],
    ['WF-MAN-19', 'spec.context.deep', nested(64)],
    ['AMB-084', 'spec.states.panel.consensus.n', 1],
    ...['1.5Gi', '512M', '512Mi', '1e9', '2G', '+1Gi', '.5Gi', '8388608', '9000000000m', '1Ti'].map(
      (memory): [string, ...Edit] => ['WF-CR-14 AMB-192', 'spec.states.container.resources.memory', memory],
    ),
    ...[
      'a',
      'busybox:1.36',
      'docker.io/library/busybox',
      'localhost:5000/a_b/c__d/e-f:V1.0_x',
      'Registry.Example.org:443/team/app',
      '[fd00::1]:5000/app:1',
      `app@sha256:${'0'.repeat(64)}`,
      `app:1@sha256:${'f'.repeat(64)}`,
    ].map((image): [string, ...Edit] => ['WF-CR-03', 'spec.states.container.image', image]),
    ...['registry', 'team.registry', 'registry/.dockerconfigjson', 'registry/.dockercfg'].map(
      (secret): [string, ...Edit] => ['WF-CR-16 AMB-180', 'spec.states.container.registry_credentials', secret],
    ),
    ['AMB-061', `spec.states.${'x'.repeat(63)}`, { kind: 'System', command: 'finalize', transitions: [] }],
  ];
  it.each(boundaries)('%s %s may be %j', (_ids, ...edit) => expect(errors(edit)).toEqual([]));
});

describe('all problems are reported at once', () => {
  it('a slip in one state hides no problem of another', () => {
    const found = errors(
      ['spec.states.agent.timeout', '5'],
      ['spec.states.system.transitions.0.target', 'nope'],
      ['spec.states.approval.prompt', '{{#if x}}'],
      ['spec.version', 'one'],
    );
    expect(found.toSorted()).toEqual([
      'spec.states.agent.timeout',
      'spec.states.approval.prompt',
      'spec.states.system.transitions[0].target',
      'spec.version',
    ]);
  });

  it('a slip in storage makes no mount wrong', () => {
    expect(errors(['spec.storage.workspace.ttl_hours', 'long'])).toEqual(['spec.storage.workspace.ttl_hours']);
  });

  it.each([undefined, null, 1, 'text', []])('%j is no definition', (spec) => {
    expect(checkDefinition(spec).some(({ severity }) => severity === 'error')).toBe(true);
  });
});

const yesAndNo = [
  { condition: 'input_equals_yes', target: 'done' },
  { condition: 'input_equals_no', target: 'agent' },
];

describe('a typing error in a template', () => {
  const messages = (...edits: Edit[]) => check(...edits).map(({ message }) => message);

  it.each([
    ['WF-TPL-31 of a state', '{{sytem.output}}', "'sytem' is neither a state nor a variable; did you mean system?"],
    ['WF-TPL-31 of a root', '{{inpt.branch}}', "'inpt' is neither a state nor a variable; did you mean input?"],
    ['WF-TPL-31 of an input', '{{input.brnch}}', 'input_schema has no property brnch; did you mean branch?'],
  ])('%s is a warning that says what is meant', (_name, command, want) => {
    expect(messages(['spec.states.system.command', command])).toContain(want);
  });

  it('WF-TPL-31 of a helper is refused with what is meant', () => {
    const [message] = messages(['spec.states.system.command', '{{jsn input.branch}}']);
    expect(message).toContain("unknown helper 'jsn'; did you mean json?");
  });
});

describe('warnings', () => {
  const done = { kind: 'System', command: 'finalize', transitions: [] };
  const cases: [name: string, edits: Edit[], want: [string, string]][] = [
    ['a state that nothing leads to', [['spec.states.lonely', done]], ['spec.states.lonely', 'unreachable_state']],
    [
      'WF-COND-26 a rule behind one that always matches',
      [['spec.states.approval.transitions.4', { target: 'agent' }]],
      ['spec.states.approval.transitions[4]', 'unreachable_rule'],
    ],
    [
      'a threshold that the condition does not read',
      [['spec.states.system.transitions.0.threshold', 0.5]],
      ['spec.states.system.transitions[0].threshold', 'no_effect'],
    ],
    [
      'WF-COND-14 a value that no exit code equals',
      [['spec.states.system.transitions.1.value', 'two']],
      ['spec.states.system.transitions[1].value', 'never_matches'],
    ],
    [
      'WF-SUB-03 a result_key without a waiting state',
      [['spec.states.child.mode', 'fire_and_forget']],
      ['spec.states.child.result_key', 'no_effect'],
    ],
    [
      'a result_key that is a state',
      [['spec.states.child.result_key', 'agent']],
      ['spec.states.child.result_key', 'overwrites_state'],
    ],
    [
      'an n that the strategy does not read',
      [['spec.states.panel.consensus.strategy', 'majority']],
      ['spec.states.panel.consensus.n', 'no_effect'],
    ],
    [
      'a template that reads no state',
      [['spec.states.system.command', 'echo {{sytem.output}}']],
      ['spec.states.system.command', 'unknown_reference'],
    ],
    [
      'an expression that reads no state',
      [['spec.states.child.transitions.0.expression', 'chld.status']],
      ['spec.states.child.transitions[0].expression', 'unknown_reference'],
    ],
    [
      'WF-MAN-14 a context key that does not exist',
      [['spec.states.system.command', '{{workflow.context.nope}}']],
      ['spec.states.system.command', 'unknown_reference'],
    ],
    [
      'WF-MAN-13 an input that the schema rules out',
      [['spec.states.system.command', '{{input.nope}}']],
      ['spec.states.system.command', 'unknown_reference'],
    ],
    [
      'AMB-192 a memory in thousandths of a byte',
      [['spec.states.container.resources.memory', '512m']],
      ['spec.states.container.resources.memory', 'too_small'],
    ],
    [
      'AMB-192 a memory with which no container starts',
      [['spec.states.container.resources.memory', '6291455']],
      ['spec.states.container.resources.memory', 'too_small'],
    ],
    [
      'AMB-169 a terminal state that can fail',
      [['spec.states.done.command', 'exit 1']],
      ['spec.states.done', 'terminal_can_fail'],
    ],
    [
      'AMB-193 a retry whose attempts may take as long as the state',
      [['spec.states.container.timeout', '10m']],
      ['spec.states.container.retry', 'retry_without_time'],
    ],
    [
      'AMB-193 AMB-183 votes of a panel that leave out a judge which did not complete',
      [
        [
          'spec.states.panel.transitions',
          [
            { condition: 'any_rejected', target: 'approval' },
            { condition: 'all_approved', target: 'child' },
          ],
        ],
      ],
      ['spec.states.panel.transitions', 'judge_left_out'],
    ],
    [
      'AMB-193 a state that no rule leads to',
      [['spec.states.lonely', { kind: 'System', command: 'finalize', transitions: [] }]],
      ['spec.states.lonely', 'unreachable_state'],
    ],
    ...(
      [
        [[{ condition: 'on_success' }, { condition: 'on_success' }], 1],
        [[{ condition: 'on_success' }, { condition: 'exit_code_zero' }], 1],
        [[{ condition: 'exit_code_non_zero' }, { condition: 'exit_code', value: '2' }], 1],
        [
          [
            { condition: 'on_failure' },
            { condition: 'on_success' },
            { condition: 'custom', expression: 'input.branch' },
          ],
          2,
        ],
      ] as const
    ).map(([rules, index]): [string, Edit[], [string, string]] => [
      `AMB-193 a condition that can never match: rule ${index} of ${JSON.stringify(rules)}`,
      [['spec.states.container.transitions', rules.map((rule) => ({ ...rule, target: 'approval' }))]],
      [`spec.states.container.transitions[${index}]`, 'never_matches'],
    ]),
    [
      'AMB-193 an input_equals behind the rule that takes it',
      [
        [
          'spec.states.approval.transitions',
          [...yesAndNo, { condition: 'input_equals', value: 'yes', target: 'done' }],
        ],
      ],
      ['spec.states.approval.transitions[2]', 'never_matches'],
    ],
    [
      'AMB-170 a gate that approve cannot answer',
      [['spec.states.approval.transitions', [{ condition: 'input_equals_no', target: 'done' }]]],
      ['spec.states.approval.transitions', 'unmatched_response'],
    ],
    [
      'AMB-170 a gate that takes other answers only',
      [
        ['spec.states.approval.transitions', [{ condition: 'input_equals', value: 'blue', target: 'done' }]],
        ['spec.states.approval.default_response', 'blue'],
      ],
      ['spec.states.approval.transitions', 'unmatched_response'],
    ],
    [
      'AMB-035 a gate whose expression reads the note of an answer',
      [
        [
          'spec.states.approval.transitions',
          [...yesAndNo, { condition: 'custom', expression: '{{human.feedback}} == "later"', target: 'done' }],
        ],
      ],
      ['spec.states.approval.transitions[2].expression', 'feedback_decides'],
    ],
    [
      'AMB-193 a default_response that never applies',
      [['spec.states.approval.timeout', undefined]],
      ['spec.states.approval.default_response', 'no_effect'],
    ],
    [
      'an output_schema without output_template',
      [['spec.output_template', undefined]],
      ['spec.output_schema', 'no_effect'],
    ],
  ];
  it.each(cases)('%s', (_name, edits, want) => {
    expect(warnings(...edits)).toContainEqual(want);
    expect(errors(...edits)).toEqual([]);
  });
});

describe('the value of exit_code', () => {
  it.each([
    ['-2', true],
    ['-1', false],
    ['0', false],
    ['255', false],
    ['256', true],
    ['01', true],
    ['abc', true],
  ])('AMB-193 %s is warned of as one that no command has: %s', (value, want) => {
    const rules = [{ condition: 'exit_code', value, target: 'approval' }];
    const found = warnings(['spec.states.container.transitions', rules]).map(([path]) => path);
    expect(found.includes('spec.states.container.transitions[0].value')).toBe(want);
  });
});

describe('registry_credentials', () => {
  it.each(['secret/registry', 'registry/config.json', 'registry/', 'Registry'])(
    'WF-CR-16 AMB-180 %s is refused, and the message says why',
    (secret) => {
      const problems = check(['spec.states.container.registry_credentials', secret]);
      expect(problems.map(({ message }) => message)).toContainEqual(
        'must be NAME or NAME/KEY of a Secret, and KEY .dockerconfigjson or .dockercfg, for kubelets read no other key',
      );
    },
  );
});
