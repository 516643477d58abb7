import { describe, expect, it } from 'vitest';
import { limits } from '../../../crds/limits.ts';
import type { State } from '../../../crds/schema/state.ts';
import { nested } from '../../../test/bad-manifests/rows/words.ts';
import { after, begin } from '../../../test/builders/execution-builder.ts';
import { anEnd, anUpdate, aQuestion, aScript, aWorkflow } from '../../../test/builders/workflow-builder.ts';
import { World } from '../../../test/builders/world.ts';
import { anOutcome } from '../../../test/builders/world-pods.ts';
import { decide } from './decide.ts';

const loop = (fields: object, rules: State['transitions'] = [{ target: 'again' }]): State =>
  ({ kind: 'System', command: 'finalize', transitions: rules, ...fields }) as State;

describe('limits', () => {
  it.each([
    { visits: 1, most: 1 },
    { visits: 5, most: undefined },
    { visits: 20, most: 20 },
  ])(
    'WF-STATE-02 WF-STATE-03 WF-RUN-09 AMB-068 visit $visits of max_state_visits $most is the last one',
    ({ visits, most }) => {
      const fields = most === undefined ? {} : { max_state_visits: most };
      const world = new World(aWorkflow('w').state('again', loop(fields)).with({ max_total_transitions: 100 }).build());
      world.settle();
      expect(world.visits()).toHaveLength(visits);
      expect(world.status).toMatchObject({
        phase: 'failed',
        reason: 'MaxStateVisitsExceeded',
        visits: { again: visits },
      });
      expect(world.status.message).toContain(`entered ${visits + 1} times`);
    },
  );

  it.each([
    { most: undefined, taken: 50 },
    { most: 49, taken: 49 },
    { most: 1, taken: 1 },
    { most: 100, taken: 100 },
  ])(
    'WF-MAN-17 WF-MAN-18 WF-RUN-10 AMB-068 transition $taken is the last with max_total_transitions $most',
    ({ most, taken }) => {
      const builder = aWorkflow('w').with(most === undefined ? {} : { max_total_transitions: most });
      for (let i = 0; i < 10; i += 1) {
        builder.state(`s${i}`, loop({ max_state_visits: 20 }, [{ target: `s${(i + 1) % 10}` }]));
      }
      const world = new World(builder.build()).settle();
      expect(world.status).toMatchObject({ phase: 'failed', reason: 'MaxTransitionsExceeded', transitions: taken });
      expect(world.visits()).toHaveLength(taken + 1);
    },
  );

  it('WF-RUN-10 the limit itself may be reached: a workflow of exactly that many transitions completes', () => {
    const chain = aWorkflow('w').state('a', anUpdate({}, 'b')).state('b', anUpdate({}, 'c')).state('c', anEnd());
    expect(new World(chain.with({ max_total_transitions: 2 }).build()).settle().status.phase).toBe('completed');
    expect(new World(chain.with({ max_total_transitions: 1 }).build()).settle().status.phase).toBe('failed');
  });
});

describe('Events', () => {
  const eventsOf = (world: World) => world.happenings.map(({ type, reason }) => `${type} ${reason}`);

  it('tell of the end of a run that took its time, and of every failure', () => {
    const slow = new World(aWorkflow('w').state('a', aScript('x')).build()).settle().end('a').settle();
    expect(eventsOf(slow)).toEqual(['Normal Completed']);
    const bad = aWorkflow('w').state('again', loop({ max_state_visits: 1 }));
    expect(eventsOf(new World(bad.build()).settle())).toEqual(['Warning MaxStateVisitsExceeded']);
  });

  it('do not repeat the status of a run that was over at once', () => {
    expect(eventsOf(new World(aWorkflow('w').state('a', anEnd()).build()).settle())).toEqual([]);
  });
});

describe('ends', () => {
  it('WF-RUN-08 an empty transitions list ends the execution as completed', () => {
    const world = new World(aWorkflow('w').state('a', anEnd()).build()).settle();
    expect(world.status).toMatchObject({ phase: 'completed', reason: 'Completed', finished_at: after(0) });
    expect(world.status.conditions).toMatchObject([
      { type: 'Succeeded', status: 'True', reason: 'Completed' },
      { type: 'Finished', status: 'True', reason: 'Completed' },
    ]);
  });

  const finishedOf = ({ status }: World) => status.conditions?.find(({ type }) => type === 'Finished');

  it.each([
    ['Completed', (world: World) => world.end('a')],
    ['Failed', (world: World) => world.end('a', { exitCode: 1 })],
    ['Cancelled', (world: World) => world.cancel()],
  ])('WF-RUN-08 the condition Finished is True at whatever end: %s', (reason, end) => {
    const rules: State['transitions'] = [{ condition: 'on_success', target: 'b' }];
    const flow = aWorkflow('w')
      .state('a', { ...aScript('x'), transitions: rules })
      .state('b', anEnd());
    const world = new World(flow.build()).settle();
    expect(finishedOf(world)).toMatchObject({ status: 'False', reason: 'InProgress' });
    end(world).settle();
    expect(finishedOf(world)).toMatchObject({ status: 'True', reason });
  });

  it('AMB-069 a terminal state that failed leaves the execution completed and the failure on the Blackboard', () => {
    const world = new World(aWorkflow('w').state('a', aScript('false')).build()).settle();
    world.end('a', { exitCode: 1 }).settle();
    expect(world.status.phase).toBe('completed');
    expect(world.board()['a']).toMatchObject({ status: 'failed', exit_code: 1 });
  });

  it('AMB-169 a terminal state that failed says so: reason, condition and a Warning event', () => {
    const world = new World(aWorkflow('w').state('a', aScript('false')).build()).settle();
    world.end('a', { exitCode: 1 }).settle();
    const message = 'terminal state a failed: ExitCode: exit code 1';
    expect(world.status).toMatchObject({ phase: 'completed', reason: 'LastStateFailed', message });
    expect(world.status.conditions).toMatchObject([
      { type: 'Succeeded', status: 'False', reason: 'LastStateFailed' },
      { type: 'Finished', status: 'True', reason: 'Completed' },
    ]);
    expect(world.happenings).toContainEqual({ type: 'Warning', reason: 'LastStateFailed', message });
  });

  it('AMB-159 where no rule matches a state that failed, the reason of the state counts', () => {
    const only = aScript('x', { transitions: [{ condition: 'on_success', target: 'a' }] });
    const world = new World(aWorkflow('w').state('a', only).build()).settle().end('a', { exitCode: 9 }).settle();
    expect(world.status).toMatchObject({ phase: 'failed', reason: 'ExitCode' });
    expect(world.status.message).toContain('state a: exit code 9');
  });

  it('AMB-013 where no rule matches the execution fails and names the state', () => {
    const only = aScript('x', { transitions: [{ condition: 'on_failure', target: 'a' }] });
    const world = new World(aWorkflow('w').state('a', only).build()).settle().end('a').settle();
    expect(world.status).toMatchObject({ phase: 'failed', reason: 'NoMatchingTransition' });
    expect(world.status.message).toContain('state a');
  });

  it('AMB-014 a cancelled execution stops its pod and is cancelled with who did it', () => {
    const world = new World(aWorkflow('w').state('a', aScript('x')).build()).settle();
    world.cancel('enough').settle();
    expect(world.status).toMatchObject({
      phase: 'cancelled',
      reason: 'Cancelled',
      message: 'cancelled by ann: enough',
    });
    expect(world.running()).toEqual([]);
    expect([...world.pods.values()].every(({ held }) => !held)).toBe(true);
  });

  it('AMB-032 an execution that is cut short keeps the visit that it was in, so that its history has no gap', () => {
    const world = new World(aWorkflow('w').state('a', aScript('x')).build()).settle();
    const { current } = world.status;
    world.cancel('enough').settle();
    expect(current).toMatchObject({ state: 'a', visit: 1, attempt: 1 });
    expect(world.status).toMatchObject({ interrupted: current });
    expect(world.status).not.toHaveProperty('current');
  });

  it('AMB-014 an execution may be cancelled before it begins', () => {
    const world = new World(aWorkflow('w').state('a', aScript('x')).build()).cancel().settle();
    expect(world.status.phase).toBe('cancelled');
    expect(world.pods.size).toBe(0);
  });

  it.each([
    { seconds: 59, gone: false },
    { seconds: 60, gone: true },
    { seconds: 61, gone: true },
  ])('a finished execution is deleted after its ttl: $seconds s of 60 → $gone', ({ seconds, gone }) => {
    const workflow = aWorkflow('w').state('a', anEnd()).build();
    const world = new World(workflow, { spec: { ttl_seconds_after_finished: 60 } }).settle();
    expect(world.decisions.at(-1)?.wakeAt).toBe(begin + 60_000);
    world.pass(seconds * 1_000).step();
    expect(world.deleted).toBe(gone);
  });
});

describe('the Blackboard', () => {
  it('WF-RUN-01 WF-RUN-02 AMB-088 begins with the context and the pairs of the caller, who wins', () => {
    const workflow = aWorkflow('w')
      .state('a', aScript('x'))
      .with({ context: { a: 1, b: 'author' } })
      .build();
    const world = new World(workflow, { spec: { blackboard: { b: 'caller', c: [null] } } }).settle();
    expect(world.board()).toEqual({ a: 1, b: 'caller', c: [null] });
  });

  it('WF-RUN-03 WF-RUN-06 a state writes its output before its rules are tested, and again at each visit', () => {
    const a = aScript('x', {
      transitions: [{ condition: 'custom', expression: '{{a.output.exit_code}} == 3', target: 'end' }, { target: 'a' }],
    });
    const world = new World(aWorkflow('w').state('a', a).state('end', anEnd()).build()).settle();
    world.end('a', { exitCode: 1, stdout: 'one' }).settle().end('a', { exitCode: 3, stdout: 'two' }).settle();
    expect(world.visits()).toEqual(['a', 'a', 'end']);
    expect(world.board()['a']).toMatchObject({ stdout: 'two', output: { stdout: 'two', exit_code: 3 } });
    expect(world.status.history?.[0]?.output).toMatchObject({ value: { stdout: 'one' } });
  });

  it('WF-RUN-05 WF-MAN-13 WF-MAN-14 the input is visible and no part of the Blackboard', () => {
    const workflow = aWorkflow('w').state('a', aScript('{{input.who}} {{blackboard.who}}')).build();
    const world = new World(workflow, { spec: { input: { who: 'Ada' } } }).settle();
    expect(world.planOf('a').argv.at(-1)).toBe('Ada [missing: blackboard.who]');
    expect(world.board()).toEqual({});
  });

  it('WF-RUN-07 WF-COND-03 WF-TPL-20 feedback of the rule taken is what the next state reads, and no later one', () => {
    const world = new World(
      aWorkflow('w')
        .state('a', aScript('x', { transitions: [{ target: 'b', feedback: 'exit {{a.output.exit_code}}' }] }))
        .state('b', aScript('[{{state.feedback}}]', { next: 'c' }))
        .state('c', aScript('[{{state.feedback}}]'))
        .build(),
    ).settle();
    world.end('a', { exitCode: 7 }).settle();
    expect(world.planOf('b').argv.at(-1)).toBe('[exit 7]');
    world.end('b').settle();
    expect(world.planOf('c').argv.at(-1)).toBe('[]');
  });

  it('AMB-005 WF-CR-19 an entry has its keys at the top and under output', () => {
    const world = new World(
      aWorkflow('w')
        .state('a', aScript('x', { next: 'end' }))
        .state('end', anEnd())
        .build(),
    ).settle();
    world.end('a', { exitCode: 2, stdout: 'o', stderr: 'e', durationMs: 12 }).settle();
    const keys = { exit_code: 2, stdout: 'o', stderr: 'e', duration_ms: 12 };
    expect(world.board()['a']).toEqual({ ...keys, status: 'failed', output: keys });
  });

  it('AMB-079 WF-CR-20 WF-CR-21 an output that was cut says so', () => {
    const world = new World(aWorkflow('w').state('a', aScript('x')).build()).settle();
    world.end('a', { stdoutTruncated: true }).settle();
    expect(world.board()['a']).toMatchObject({ truncated: true, stdout_truncated: true, stderr_truncated: false });
  });
});

describe('System states', () => {
  it('WF-SYS-02 AMB-075 update_context merges its rendered env into the Blackboard', () => {
    const workflow = aWorkflow('w')
      .state('a', anUpdate({ x: '{{input.n}}', y: 'z' }))
      .build();
    const world = new World(workflow, { spec: { input: { n: 4 } } }).settle();
    expect(world.board()).toMatchObject({
      x: '4',
      y: 'z',
      a: { status: 'success', exit_code: 0, output: { exit_code: 0 } },
    });
    expect(world.pods.size).toBe(0);
  });

  it.each(['{{json blackboard}}', '{{blackboard}}'])(
    'WF-SYS-02 WF-TPL-19 %s of a later state in the same turn has what the one before wrote',
    (form) => {
      const workflow = aWorkflow('w')
        .state('a', anUpdate({ first: '1', early: form }, 'b'))
        .state('b', anUpdate({ second: '2', later: form }, 'c'))
        .state('c', aScript('x', { env: { ALL: form } }));
      const world = new World(workflow.build()).settle();
      const { early, later } = world.board();
      expect(JSON.parse(String(early))).toEqual({});
      expect(JSON.parse(String(later))).toMatchObject({ first: '1', early, a: { status: 'success' } });
      const all: unknown = JSON.parse(world.planOf('c').env?.['ALL'] ?? '');
      expect(all).toMatchObject({ first: '1', second: '2', later, b: { status: 'success' } });
    },
  );

  it('WF-SYS-03 AMB-075 finalize succeeds without a process', () => {
    const world = new World(aWorkflow('w').state('a', anEnd()).build()).settle();
    expect(world.pods.size).toBe(0);
    expect(world.board()['a']).toMatchObject({ status: 'success', exit_code: 0 });
  });

  it('WF-SYS-01 WF-SYS-04 WF-SYS-05 WF-SYS-06 AMB-076 any other command runs in a pod by sh -c', () => {
    const state: State = { kind: 'System', command: 'echo {{input.a}}', env: { K: '{{input.a}}' }, transitions: [] };
    const world = new World(aWorkflow('w').state('a', state).build(), { spec: { input: { a: 'v' } } }).settle();
    expect(world.planOf('a')).toMatchObject({ argv: ['sh', '-c', 'echo v'], env: { K: 'v' }, workdir: '/workspace' });
    expect(world.planOf('a').image).toBeUndefined();
    world.end('a', { stdout: 'v\n' }).settle();
    expect(world.board()['a']).toMatchObject({ output: { stdout: 'v\n', stderr: '', exit_code: 0 } });
  });

  it('AMB-076 the workspace is mounted at /workspace where the workflow has one', () => {
    const state: State = { kind: 'System', command: 'ls', transitions: [] };
    const workflow = aWorkflow('w')
      .state('a', state)
      .with({ storage: { workspace: {} } })
      .build();
    const world = new World(workflow);
    world.volumes['workspace'] = { volume: 'v', phase: 'ready', claim: 'c' };
    world.settle();
    expect(world.planOf('a').mounts).toEqual([{ claim: 'c', mountPath: '/workspace', readOnly: false }]);
  });
});

describe('ContainerRun states', () => {
  it('WF-CR-05 WF-CR-06 elements are templates and stay single arguments', () => {
    const state = aScript('x', { command: ['echo', '{{input.a}}', '$HOME && x'] });
    const world = new World(aWorkflow('w').state('a', state).build(), { spec: { input: { a: 'b c' } } }).settle();
    expect(world.planOf('a').argv).toEqual(['echo', 'b c', '$HOME && x']);
  });

  it('WF-CR-07 AMB-077 with shell, elements are joined by single blanks and go to sh -c', () => {
    const state = aScript('x', { command: ['echo', '{{input.a}}', '| cat'], shell: true });
    const world = new World(aWorkflow('w').state('a', state).build(), { spec: { input: { a: 'b' } } }).settle();
    expect(world.planOf('a').argv).toEqual(['sh', '-c', 'echo b | cat']);
  });

  it('WF-CR-03 WF-CR-04 WF-CR-08 WF-CR-09 WF-CR-13 WF-CR-14 WF-CR-15 WF-CR-16 every field reaches the plan', () => {
    const state = aScript('x', {
      name: 'label',
      image_pull_policy: 'Always',
      env: { A: '{{input.a}}' },
      workdir: '/data',
      resources: { cpu: 250, memory: '64Mi', timeout: '90s' },
      registry_credentials: 'pull-secret',
    });
    const world = new World(aWorkflow('w').state('a', state).build(), { spec: { input: { a: 1 } } }).settle();
    expect(world.planOf('a')).toMatchObject({
      imagePullPolicy: 'Always',
      env: { A: '1' },
      workdir: '/data',
      cpuMillis: 250,
      memory: '64Mi',
      timeoutMs: 90_000,
      registryCredentials: 'pull-secret',
    });
  });

  it('WF-CR-04 WF-CR-09 WF-CR-15 defaults: IfNotPresent, /workspace, 5m', () => {
    const world = new World(
      aWorkflow('w')
        .state('a', aScript('x', { timeout: '1h' }))
        .build(),
    ).settle();
    expect(world.planOf('a')).toMatchObject({
      imagePullPolicy: 'IfNotPresent',
      workdir: '/workspace',
      timeoutMs: 300_000,
    });
  });

  it('WF-CR-10 WF-CR-11 WF-CR-12 AMB-080 volumes are mounted where asked, and read-only wins', () => {
    const volumes = [
      { name: 'workspace', mount_path: '/a' },
      { name: 'data', mount_path: '/b' },
      { name: 'data', mount_path: '/c', read_only: true },
    ];
    const storage = { workspace: {}, shared_volumes: [{ name: 'data' }] };
    const world = new World(aWorkflow('w').state('a', aScript('x', { volumes })).with({ storage }).build());
    world.volumes['workspace'] = { volume: 'w', phase: 'ready', claim: 'cw' };
    world.volumes['data'] = { volume: 'd', phase: 'ready', claim: 'cd' };
    world.settle();
    expect(world.planOf('a').mounts).toEqual([
      { claim: 'cw', mountPath: '/a', readOnly: false },
      { claim: 'cd', mountPath: '/b', readOnly: true },
      { claim: 'cd', mountPath: '/c', readOnly: true },
    ]);
  });

  it('WF-STOR-11 a state that mounts a volume which has expired fails with VolumeExpired', () => {
    const a = aScript('x', { next: 'b' });
    const b = aScript('x', { volumes: [{ name: 'workspace', mount_path: '/a' }] });
    const workflow = aWorkflow('w')
      .state('a', a)
      .state('b', b)
      .with({ storage: { workspace: {} } })
      .build();
    const world = new World(workflow);
    world.volumes['workspace'] = { volume: 'w', phase: 'ready', claim: 'cw' };
    world.settle();
    world.volumes['workspace'] = { volume: 'w', phase: 'expired', claim: 'cw' };
    world.end('a').settle();
    expect(world.status.history?.at(-1)).toMatchObject({ state: 'b', status: 'failed', reason: 'VolumeExpired' });
  });

  it.each([
    { attempts: undefined, tries: 1 },
    { attempts: 1, tries: 1 },
    { attempts: 3, tries: 3 },
  ])('WF-CR-17 AMB-078 max_attempts $attempts gives $tries attempts in all', ({ attempts, tries }) => {
    const retry = attempts === undefined ? {} : { retry: { max_attempts: attempts } };
    const world = new World(aWorkflow('w').state('a', aScript('x', retry)).build()).settle();
    for (let i = 0; i < tries; i += 1) world.end('a', { exitCode: 1 }).settle();
    expect(world.status).toMatchObject({ phase: 'completed', history: [{ attempts: tries, status: 'failed' }] });
    expect(world.pods.size).toBe(tries);
  });

  it('WF-CR-17 an attempt that succeeds is the last one', () => {
    const world = new World(
      aWorkflow('w')
        .state('a', aScript('x', { retry: { max_attempts: 5 } }))
        .build(),
    ).settle();
    world.end('a', { exitCode: 1 }).settle().end('a').settle();
    expect(world.status.history).toMatchObject([{ attempts: 2, status: 'success' }]);
    expect(world.pods.size).toBe(2);
  });

  it('WF-CR-18 AMB-078 the delay doubles: backoff · 2^(k−2) before attempt k', () => {
    const retry = { max_attempts: 4, backoff: '10s' };
    const world = new World(aWorkflow('w').state('a', aScript('x', { retry })).build()).settle();
    for (const seconds of [10, 20, 40]) {
      world.end('a', { exitCode: 1 }).settle();
      expect(world.running()).toEqual([]);
      expect(world.decisions.at(-1)?.wakeAt).toBe(world.now + seconds * 1_000);
      world.pass(seconds * 1_000 - 1).settle();
      expect(world.running()).toEqual([]);
      world.pass(1).settle();
      expect(world.running()).toEqual(['a']);
    }
  });

  it('WF-STATE-04 WF-RUN-13 AMB-070 AMB-078 the state timeout bounds all attempts and fails the state', () => {
    const a = aScript('x', {
      timeout: '30s',
      retry: { max_attempts: 9, backoff: '20s' },
      transitions: [{ condition: 'on_failure', target: 'end' }],
    });
    const world = new World(aWorkflow('w').state('a', a).state('end', anEnd()).build()).settle();
    world.end('a', { exitCode: 1 }).settle().wake().settle().pass(10_000).settle();
    expect(world.status).toMatchObject({ phase: 'completed', history: [{ reason: 'StateTimeout' }, {}] });
    expect(world.running()).toEqual([]);
  });

  it.each([
    { ms: 299_999, over: false },
    { ms: 300_000, over: true },
    { ms: 300_001, over: true },
  ])('WF-STATE-04 the default timeout is 300s: after $ms ms stopped is $over', ({ ms, over }) => {
    const world = new World(aWorkflow('w').state('a', aScript('x')).build()).settle();
    world.pass(ms).settle();
    expect(world.running()).toEqual(over ? [] : ['a']);
  });

  it('AMB-160 the exit code is 124 after a timeout and -1, with an error, where nothing ran', () => {
    const world = new World(
      aWorkflow('w')
        .state('a', aScript('x', { timeout: '5s' }))
        .build(),
    );
    expect(world.settle().pass(5_000).settle().board()['a']).toMatchObject({ exit_code: 124, status: 'failed' });
    const failure = { reason: 'ImagePullFailed', message: 'no such image' } as const;
    const never = new World(aWorkflow('w').state('a', aScript('x')).build()).settle();
    never.end('a', { exitCode: -1, failure }).settle();
    expect(never.board()['a']).toMatchObject({ exit_code: -1, error: 'ImagePullFailed: no such image' });
  });

  it('an exit code without its output is kept, marked and warned of, and costs no attempt', () => {
    const a = aScript('x', { retry: { max_attempts: 3 } });
    const world = new World(aWorkflow('w').state('a', a).build()).settle();
    world.end('a', { lost: 'the kubelet does not answer' }).settle();
    expect(world.status).toMatchObject({ phase: 'completed', history: [{ status: 'success', attempts: 1 }] });
    expect(world.board()['a']).toMatchObject({ exit_code: 0, output_lost: true, output: { output_lost: true } });
    const text = 'a: exit code 0, and its output is lost: the kubelet does not answer';
    expect(world.status.warnings).toEqual([text]);
    expect(world.happenings).toContainEqual({ type: 'Warning', reason: 'CaptureFailed', message: text });
  });

  it('WF-RUN-13 an outcome that arrived between two turns counts even after the deadline', () => {
    const world = new World(
      aWorkflow('w')
        .state('a', aScript('x', { timeout: '1s' }))
        .build(),
    ).settle();
    world.end('a').pass(10_000).settle();
    expect(world.status.history).toMatchObject([{ status: 'success' }]);
  });

  it.each([
    { kind: 'one attempt', state: aScript('x', { timeout: '1s' }) },
    {
      kind: 'a step',
      state: { kind: 'ParallelContainerRun', timeout: '1s', steps: [{ name: 'x', image: 'i', command: ['x'] }] },
    },
  ])('WF-RUN-13 a pod of $kind that ended in time is not given up while its log is read', ({ state }) => {
    const world = new World(
      aWorkflow('w')
        .state('a', { transitions: [], ...state } as State)
        .build(),
    ).settle();
    const [pod] = world.pods.values();
    if (pod === undefined) throw new Error('no pod was made');
    world.pods.set(pod.name, { ...pod, ended: true });
    world.pass(600_000).settle();
    expect(world.status.phase).toBe('running');
    expect(world.pods.get(pod.name)).toMatchObject({ deleting: false, held: true });
    world.pods.set(pod.name, { ...pod, ended: true, outcome: anOutcome({ stdout: 'in time' }) });
    world.settle();
    expect(world.status.history).toMatchObject([{ status: 'success' }]);
  });
});

describe('ParallelContainerRun states', () => {
  const steps = (...names: string[]) => names.map((name) => ({ name, image: 'i', command: ['x', name] }));
  const parallel = (fields: object = {}): State =>
    ({ kind: 'ParallelContainerRun', steps: steps('a', 'b', 'c'), transitions: [], ...fields }) as State;

  it('WF-PCR-01 WF-PCR-06 all steps start in one decision and the state waits for all', () => {
    const world = new World(aWorkflow('w').state('p', parallel()).build()).settle();
    expect(world.running()).toEqual(['p/a', 'p/b', 'p/c']);
    world.end('p/a').end('p/c').settle();
    expect(world.status.phase).toBe('running');
    world.end('p/b').settle();
    expect(world.status.phase).toBe('completed');
  });

  it('WF-PCR-07 WF-TPL-10 the entry has one key for each step', () => {
    const world = new World(aWorkflow('w').state('p', parallel()).build()).settle();
    world.end('p/a', { stdout: 'A' }).end('p/b', { exitCode: 4 }).end('p/c').settle();
    const entry = world.board()['p'];
    expect(entry).toMatchObject({
      a: { stdout: 'A', exit_code: 0 },
      b: { exit_code: 4 },
      output: { a: { stdout: 'A' } },
    });
  });

  it.each([
    { completion: undefined, failed: [], want: 'success' },
    { completion: undefined, failed: ['a'], want: 'failed' },
    { completion: 'all_succeed', failed: ['a'], want: 'failed' },
    { completion: 'any_succeed', failed: ['a', 'b'], want: 'success' },
    { completion: 'any_succeed', failed: ['a', 'b', 'c'], want: 'failed' },
    { completion: 'best_effort', failed: ['a', 'b', 'c'], want: 'success' },
  ])('WF-PCR-03 WF-PCR-04 WF-PCR-05 $completion with failed steps $failed is $want', ({ completion, failed, want }) => {
    const fields = completion === undefined ? {} : { completion };
    const world = new World(aWorkflow('w').state('p', parallel(fields)).build()).settle();
    for (const step of ['a', 'b', 'c']) world.end(`p/${step}`, { exitCode: failed.includes(step) ? 1 : 0 });
    world.settle();
    expect(world.status.history).toMatchObject([{ status: want }]);
  });

  it('a step whose output is lost is warned of once, and marked', () => {
    const world = new World(aWorkflow('w').state('p', parallel()).build()).settle();
    world.end('p/a', { lost: 'cut' }).settle().wake().settle();
    world.end('p/b').end('p/c').settle();
    expect(world.status.warnings).toEqual(['p/a: exit code 0, and its output is lost: cut']);
    expect(world.board()['p']).toMatchObject({ a: { exit_code: 0, output_lost: true } });
  });

  it('WF-PCR-06 a finished step is written down after two seconds and survives the loss of its pod', () => {
    const world = new World(aWorkflow('w').state('p', parallel()).build()).settle();
    world.end('p/a', { stdout: 'kept' }).settle();
    expect(world.status.current?.steps).toBeUndefined();
    world.wake().settle();
    expect(world.status.current?.steps).toMatchObject({ a: { status: 'success' } });
    world.pods.delete([...world.pods.values()].find(({ slot }) => slot.step === 'a')?.name ?? '');
    world.end('p/b').end('p/c').settle();
    expect(world.board()['p']).toMatchObject({ a: { stdout: 'kept' } });
    expect(world.pods.size).toBe(2);
  });

  it.each([
    { completion: 'all_succeed', want: { status: 'failed', reason: 'StepsFailed' } },
    { completion: 'any_succeed', want: { status: 'success' } },
    { completion: 'best_effort', want: { status: 'success' } },
  ])('WF-PCR-04 WF-PCR-05 $completion judges a step whose template cannot be rendered', ({ completion, want }) => {
    const steps = [
      { name: 's', image: 'i', command: ['echo', '{{input.big}}'.repeat(60)] },
      { name: 'ok', image: 'i', command: ['true'] },
    ];
    const p = parallel({ completion, steps });
    const world = new World(aWorkflow('w').state('p', p).build(), { spec: { input: { big: 'x'.repeat(100_000) } } });
    world.settle().end('p/ok', { stdout: 'kept' }).settle();
    expect(world.status.history).toMatchObject([want]);
    const s = { exit_code: -1, error: expect.stringMatching(/^TemplateFailed: /) };
    expect(world.board()['p']).toMatchObject({ s, ok: { exit_code: 0, stdout: 'kept' } });
  });

  it('WF-PCR-05 steps that ended in time are judged by themselves, however late the next turn is', () => {
    const world = new World(
      aWorkflow('w')
        .state('p', parallel({ timeout: '5s', completion: 'best_effort' }))
        .build(),
    );
    world.settle().end('p/a', { exitCode: 1 }).end('p/b').end('p/c').pass(60_000).settle();
    expect(world.status.history).toMatchObject([{ status: 'success' }]);
  });

  it.each([
    { completion: 'all_succeed', inTime: ['a', 'b'], want: { status: 'failed', reason: 'StateTimeout' } },
    { completion: 'all_succeed', inTime: ['a', 'b', 'c'], want: { status: 'success' } },
    { completion: 'any_succeed', inTime: [], want: { status: 'failed', reason: 'StateTimeout' } },
    { completion: 'any_succeed', inTime: ['b'], want: { status: 'success' } },
    { completion: 'best_effort', inTime: [], want: { status: 'success' } },
    { completion: 'best_effort', inTime: ['c'], want: { status: 'success' } },
  ])(
    'WF-PCR-04 WF-PCR-05 AMB-168 at the timeout of its state $completion judges what ended in time: $inTime',
    (row) => {
      const p = parallel({ timeout: '5s', completion: row.completion });
      const world = new World(aWorkflow('w').state('p', p).build()).settle();
      for (const step of row.inTime) world.end(`p/${step}`);
      world.pass(5_000).settle();
      expect(world.status.history).toMatchObject([row.want]);
      const codes = ['a', 'b', 'c'].map((step) => [step, { exit_code: row.inTime.includes(step) ? 0 : 124 }]);
      expect(world.board()['p']).toMatchObject(Object.fromEntries(codes));
      expect(world.running()).toEqual([]);
    },
  );

  const short = aScript('x', { timeout: '5s' });
  it.each<[kind: string, state: State, what: string]>([
    ['a ContainerRun', short, 'p'],
    ['a step', parallel({ timeout: '5s', steps: [{ name: 'a', image: 'i', command: ['x'] }] }), 'p/a'],
  ])(
    'AMB-070 AMB-168 a pod of %s that ended in time keeps its outcome where it is drained afterwards',
    (_, p, what) => {
      const world = new World(aWorkflow('w').state('p', p).build()).settle();
      world.pass(1_000).end(what, { stdout: 'done' }).drain().pass(60_000).settle();
      expect(world.status.history).toMatchObject([{ status: 'success' }]);
      expect(JSON.stringify(world.board()['p'])).toContain('"exit_code":0');
    },
  );

  const drained = { reason: 'PodDrained', message: 'why' } as const;
  it.each([
    { what: 'ended with 0 at the deadline', ms: 5_000, fields: {}, reason: undefined },
    { what: 'ended with 0 after the deadline', ms: 5_001, fields: {}, reason: 'StateTimeout' },
    { what: 'failed by itself before', ms: 4_999, fields: { exitCode: 3 }, reason: 'ExitCode' },
    { what: 'was drained before', ms: 4_999, fields: { exitCode: 143, failure: drained }, reason: 'StateTimeout' },
  ])('AMB-070 of a pod that is deleted and $what the state ends with $reason', ({ ms, fields, reason }) => {
    const world = new World(aWorkflow('w').state('p', short).build()).settle();
    world.pass(ms).end('p', fields).drain().pass(60_000).settle();
    expect(world.status.history?.[0]?.reason).toBe(reason);
  });

  it('AMB-070 a pod that is deleted counts as stopped at the deadline where its end is unknown', () => {
    const world = new World(aWorkflow('w').state('p', short).build()).settle().end('p').drain();
    for (const [name, pod] of world.pods) world.pods.set(name, { ...pod, endedAt: undefined });
    world.pass(60_000).settle();
    expect(world.status.history).toMatchObject([{ status: 'failed', reason: 'StateTimeout' }]);
  });

  it('WF-RUN-13 a timeout stops the steps that still run', () => {
    const world = new World(
      aWorkflow('w')
        .state('p', parallel({ timeout: '5s' }))
        .build(),
    ).settle();
    world.end('p/a').pass(5_000).settle();
    expect(world.running()).toEqual([]);
    expect(world.status.history).toMatchObject([{ status: 'failed', reason: 'StateTimeout' }]);
    expect(world.board()['p']).toMatchObject({ a: { exit_code: 0 }, b: { exit_code: 124 } });
  });
});

describe('Human states', () => {
  const ask = (fields: object = {}): State => ({
    ...aQuestion('Ship {{input.v}}?', { yes: 'ship', no: 'stop' }),
    ...fields,
  });
  const workflow = (fields: object = {}) =>
    aWorkflow('w').state('ask', ask(fields)).state('ship', anEnd()).state('stop', anEnd()).build();

  it('WF-HUMAN-01 waits with its rendered prompt and holds no pod', () => {
    const world = new World(workflow(), { spec: { input: { v: '2.0' } } }).settle();
    expect(world.status).toMatchObject({ phase: 'waiting', current: { prompt: 'Ship 2.0?' } });
    expect(world.pods.size).toBe(0);
  });

  it('WF-HUMAN-04 stays suspended without a pod when controllers start anew, until a user decides', () => {
    const before = new World(workflow(), { spec: { input: { v: '2.0' } } }).settle();
    const stored = JSON.parse(JSON.stringify(before.execution)) as typeof before.execution;
    const later = new World(workflow(), { spec: stored.spec, status: stored.status });
    later.pass(24 * 3_600_000).settle();
    expect(later.status).toEqual(before.status);
    expect([later.pods.size, later.decisions.flatMap(({ actions }) => actions)]).toEqual([0, []]);
    later.signal('ask', 'yes').settle();
    expect(later.status.phase).toBe('completed');
  });

  it.each([8_191, 8_192])('HUMAN-API-03 shows a prompt of %i characters whole', (length) => {
    const v = 'x'.repeat(length - 'Ship ?'.length);
    const { current } = new World(workflow(), { spec: { input: { v } } }).settle().status;
    expect(current?.prompt).toBe(`Ship ${v}?`);
    expect(current?.prompt_ref).toBeUndefined();
  });

  it('HUMAN-API-03 shows the beginning of a prompt of 8193 characters, and stores the whole', () => {
    const v = 'x'.repeat(8_193 - 'Ship ?'.length);
    const world = new World(workflow(), { spec: { input: { v } } }).settle();
    const { prompt, prompt_ref: ref } = world.status.current ?? {};
    expect(prompt).toMatch(/^Ship x{8187}… \(8193 characters\)$/);
    expect(ref).toMatchObject({ path: '', bytes: 8_193, encoding: 'text' });
    expect(Buffer.from(world.blobs.get(ref?.ref ?? '') ?? []).toString()).toBe(`Ship ${v}?`);
  });

  it('WF-HUMAN-02 AMB-007 without a timeout it waits for ever and never asks to be woken', () => {
    const world = new World(workflow()).settle();
    expect(world.decisions.at(-1)?.wakeAt).toBeUndefined();
    world.pass(10 * 365 * 24 * 3_600_000).settle();
    expect(world.status.phase).toBe('waiting');
  });

  it.each([
    { response: 'approved', end: 'ship' },
    { response: ' YES ', end: 'ship' },
    { response: 'rejected', end: 'stop' },
  ])('WF-RUN-11 WF-COND-22..24 the signal $response leads to $end', ({ response, end }) => {
    const world = new World(workflow()).settle();
    world.signal('ask', response).settle();
    expect(world.visits()).toEqual(['ask', end]);
    expect(world.status.history?.[0]?.signal).toMatchObject({ by: 'ann', response });
  });

  it('WF-HUMAN-05 WF-TPL-21 AMB-035 human.feedback is the feedback, and the response where there is none', () => {
    const say = (world: World) => world.board()['say'];
    const flow = aWorkflow('w')
      .state('ask', ask({ transitions: [{ target: 'u' }] }))
      .state('u', anUpdate({ say: '{{human.feedback}}' }))
      .build();
    expect(say(new World(flow).settle().signal('ask', 'approved', { feedback: 'looks good' }).settle())).toBe(
      'looks good',
    );
    expect(say(new World(flow).settle().signal('ask', 'approved').settle())).toBe('approved');
  });

  it.each([
    { ms: 59_999, phase: 'waiting' },
    { ms: 60_000, phase: 'completed' },
    { ms: 60_001, phase: 'completed' },
  ])('WF-HUMAN-03 WF-RUN-12 after $ms of 60 s default_response is the signal: $phase', ({ ms, phase }) => {
    const world = new World(workflow({ timeout: '1m', default_response: 'no' })).settle();
    world.pass(ms).settle();
    expect(world.status.phase).toBe(phase);
    expect(world.visits()).toEqual(phase === 'completed' ? ['ask', 'stop'] : []);
  });

  const failedAsk = { state: 'ask', status: 'failed', reason: 'StateTimeout' };

  it.each<[rules: State['transitions'], end: string[]]>([
    [
      [{ condition: 'input_equals_yes', target: 'ship' }, { target: 'stop' }],
      ['ask', 'stop'],
    ],
    [[{ condition: 'custom', expression: "ask.status == 'failed'", target: 'stop' }], ['ask', 'stop']],
  ])('AMB-171 a timeout without default_response fails the state, and %j lead on', (rules, end) => {
    const world = new World(workflow({ timeout: '1m', transitions: rules })).settle().pass(60_000).settle();
    expect(world.visits()).toEqual(end);
    expect(world.status).toMatchObject({ phase: 'completed', history: [failedAsk, {}] });
  });

  it.each<[rules: State['transitions']]>([
    [[{ condition: 'input_equals_yes', target: 'ship' }]],
    [[{ condition: 'custom', expression: "ask.status == 'success'", target: 'stop' }]],
  ])('AMB-171 without a match among %j the execution fails with StateTimeout', (rules) => {
    const world = new World(workflow({ timeout: '1m', transitions: rules })).settle().pass(60_000).settle();
    expect(world.status).toMatchObject({ phase: 'failed', reason: 'StateTimeout', history: [failedAsk] });
  });

  const readsFeedback = (yes: string, fields: object = {}): State =>
    ask({
      transitions: [
        { condition: 'custom', expression: '{{human.feedback}} == "yes"', target: yes },
        { condition: 'custom', expression: '{{human.feedback}} == "no"', target: 'stop' },
      ],
      ...fields,
    });

  it.each<[how: string, fields: object, reason: string]>([
    ['has no answer in time', { timeout: '1h' }, 'StateTimeout'],
    ['has a prompt that cannot be rendered', { prompt: '{{input.big}}'.repeat(60) }, 'TemplateFailed'],
  ])('WF-HUMAN-05 AMB-171 the answer to one gate does not pass the next, which %s', (_, fields, reason) => {
    const gates = aWorkflow('w')
      .state('ask', readsFeedback('second'))
      .state('second', readsFeedback('ship', fields))
      .state('ship', anEnd())
      .state('stop', anEnd())
      .build();
    const world = new World(gates, { spec: { input: { big: 'x'.repeat(100_000) } } }).settle();
    world.signal('ask', 'yes').settle().pass(3_600_000).settle();
    expect(world.visits()).toEqual(['ask', 'second']);
    expect(world.status).toMatchObject({ phase: 'failed', reason });
  });

  it('WF-HUMAN-05 AMB-171 the answer to one visit of a gate does not pass the next visit', () => {
    const gate = readsFeedback('ask', { timeout: '10s' });
    const world = new World(aWorkflow('w').state('ask', gate).state('stop', anEnd()).build()).settle();
    world.signal('ask', 'yes').settle();
    for (let round = 0; round < 5; round += 1) world.pass(10_000).settle();
    expect(world.visits()).toEqual(['ask', 'ask']);
    expect(world.status).toMatchObject({ phase: 'failed', reason: 'StateTimeout' });
  });

  it('AMB-170 a response that matches no rule changes nothing but the message, and a later one decides', () => {
    const world = new World(workflow()).settle().signal('ask', 'aproved').settle();
    expect(world.status).toMatchObject({
      phase: 'waiting',
      reason: 'WaitingForSignal',
      message:
        "state ask waits for a decision; the response 'aproved' of ann matches no rule; it takes approved, rejected",
      current: { signals_refused: 1, answers: ['approved', 'rejected'] },
    });
    const eventsOf = () => world.happenings.filter(({ reason }) => reason === 'UnmatchedResponse');
    expect(eventsOf()).toMatchObject([{ type: 'Warning', message: expect.stringContaining("'aproved' of ann") }]);
    world.pass(1_000).settle().signal('ask', 'approved').settle();
    expect(eventsOf()).toHaveLength(1);
    expect(world.visits()).toEqual(['ask', 'ship']);
    expect(world.status.history?.[0]?.signal).toMatchObject({ id: 's1', response: 'approved' });
  });

  it.each<[string, string, number]>([
    ['of 1970 is that of the question', '1970-01-01T00:00:00Z', 0],
    ['of a millisecond before the question is that of the question', '', -1],
    ['of the question stays', '', 0],
    ['within the visit stays', '', 500],
    ['of now stays', '', 1_000],
    ['of a millisecond after now is now', '', 1_001],
    ['of 2999 is now', '2999-01-01T00:00:00Z', 1_000],
  ])('the time of a signal %s, in history and on the Blackboard', (_what, given, offset) => {
    const world = new World(workflow()).settle();
    const asked = Date.parse(world.status.current?.entered_at ?? '');
    const at = given === '' ? new Date(asked + offset).toISOString() : given;
    world.pass(1_000).signal('ask', 'approved', { at }).settle();
    const want = new Date(asked + Math.min(Math.max(offset, 0), 1_000)).toISOString();
    expect(world.status.history?.[0]?.signal?.at).toBe(want);
    expect(world.status.blackboard?.['ask']).toMatchObject({ value: { at: want } });
  });

  it.each([
    ['api', 'api'],
    ['cli', 'kubernetes'],
    [undefined, 'kubernetes'],
  ])('history says of a signal via %s that %s knows who decided', (via, want) => {
    const world = new World(workflow())
      .settle()
      .signal('ask', 'approved', via === undefined ? {} : { via })
      .settle();
    expect(world.status.history?.[0]?.signal?.via).toBe(want);
  });

  it('AMB-170 of many responses at once the first that matches decides, also where one names its visit', () => {
    const world = new World(workflow()).settle();
    world.signal('ask', 'x', { visit: 1 }).signal('ask', 'y').signal('ask', 'no').signal('ask', 'yes').settle();
    expect(world.visits()).toEqual(['ask', 'stop']);
  });

  it('AMB-170 a valid answer before the deadline counts where its turn comes after the deadline', () => {
    const world = new World(workflow({ timeout: '1m', default_response: 'no' })).settle();
    world.signal('ask', 'aproved').signal('ask', 'approved').pass(60_000);
    const failure = { reason: 'StatusTooLarge', message: 'why' } as const;
    const first = world.decision({ refused: { failure, consequence: 'one_state' } });
    expect(first).toMatchObject({ status: { current: { signals_refused: 1 } }, wakeAt: world.now });
    world.accept(first);
    world.settle();
    expect(world.visits()).toEqual(['ask', 'ship']);
    expect(world.status.history?.[0]?.signal).toMatchObject({ id: 's1', response: 'approved' });
  });

  it.each([
    { expression: "ask.response == 'later'", response: 'later', end: ['ask', 'ship'] },
    { expression: "ask.response == 'later'", response: 'sooner', end: [] },
    { expression: "human.feedback == 'later'", response: 'later', end: ['ask', 'ship'] },
  ])('AMB-170 $expression is tested on $response: $end', ({ expression, response, end }) => {
    const rules: State['transitions'] = [{ condition: 'custom', expression, target: 'ship' }];
    const world = new World(workflow({ transitions: rules })).settle().signal('ask', response).settle();
    expect(world.visits()).toEqual(end);
  });

  it.each([
    { count: 499, fields: {}, want: { phase: 'waiting' } },
    { count: 500, fields: {}, want: { phase: 'failed', reason: 'SignalsFull' } },
    { count: 500, fields: { timeout: '1m' }, want: { phase: 'failed', reason: 'SignalsFull' } },
    { count: 500, fields: { timeout: '1m', default_response: 'no' }, want: { phase: 'waiting' } },
    { count: 500, fields: { default_response: 'no' }, want: { phase: 'failed', reason: 'SignalsFull' } },
  ])('AMB-170 after $count answers that match nothing a gate with $fields is $want', ({ count, fields, want }) => {
    const world = new World(workflow(fields)).settle();
    for (let index = 0; index < count; index += 1) world.signal('ask', 'hm');
    expect(world.settle().status).toMatchObject(want);
  });

  it('AMB-170 the last answer that there is room for decides like any other', () => {
    const world = new World(workflow()).settle();
    for (let index = 0; index < 499; index += 1) world.signal('ask', 'hm');
    expect(world.signal('ask', 'yes').settle().visits()).toEqual(['ask', 'ship']);
  });

  it('AMB-170 always takes every response, and so does a terminal gate', () => {
    const always = new World(workflow({ transitions: [{ target: 'ship' }] })).settle().signal('ask', 'hm').settle();
    expect(always.visits()).toEqual(['ask', 'ship']);
    const terminal = new World(workflow({ transitions: [] })).settle().signal('ask', 'hm').settle();
    expect(terminal.status.phase).toBe('completed');
  });

  it('AMB-170 AMB-171 a default_response that an expression refuses is as good as none', () => {
    const rules: State['transitions'] = [
      { condition: 'custom', expression: "ask.response == 'yes'", target: 'ship' },
      { condition: 'custom', expression: "ask.status == 'failed'", target: 'stop' },
    ];
    const fields = { timeout: '1m', default_response: 'no', transitions: rules };
    expect(new World(workflow(fields)).settle().pass(60_000).settle().visits()).toEqual(['ask', 'stop']);
  });

  it('the first of two signals decides, and the second does not answer a later visit', () => {
    const again = aWorkflow('w')
      .state('ask', ask({ transitions: [{ target: 'ask' }] }))
      .build();
    const world = new World(again).settle();
    world.signal('ask', 'first').signal('ask', 'second').settle();
    expect(world.status).toMatchObject({ phase: 'waiting', current: { visit: 2 } });
    world.signal('ask', 'third').settle();
    expect(world.status.history?.map(({ signal }) => signal?.response)).toEqual(['first', 'third']);
  });

  it('a signal that names a visit answers that visit alone, also ahead of time', () => {
    const again = aWorkflow('w')
      .state('ask', ask({ transitions: [{ target: 'ask' }] }))
      .build();
    const world = new World(again).settle();
    world.signal('ask', 'two', { visit: 2 }).settle();
    expect(world.status.current?.visit).toBe(1);
    world.signal('ask', 'one', { visit: 1 }).settle();
    expect(world.status.history?.map(({ signal }) => signal?.response)).toEqual(['one', 'two']);
    expect(world.status.current?.visit).toBe(3);
  });
});

describe('Subworkflow states', () => {
  const child = aWorkflow('child')
    .state('c', anEnd())
    .with({ input_schema: { type: 'object', required: ['n'] } })
    .build();
  const sub = (fields: object = {}): State =>
    ({ kind: 'Subworkflow', workflow_id: 'child', input: '{"n": 1}', transitions: [], ...fields }) as State;
  const rules = [
    { condition: 'on_success', target: 'good' },
    { condition: 'on_failure', target: 'bad' },
  ] as const;
  const world = (fields: object = {}, options: object = {}) =>
    new World(
      aWorkflow('w')
        .state('s', sub({ transitions: rules, ...fields }))
        .state('good', anEnd())
        .state('bad', anEnd())
        .build(),
      { workflows: [child], ...options },
    );

  it('WF-SUB-01 a child may be called whatever a workflow may, own included', () => {
    const w = world({ workflow_id: 'own' }).settle();
    expect(w.status.history?.[0]?.message).toBe('no Workflow has the name or uid own');
  });

  it('WF-SUB-01 WF-SUB-04 a child is started with the rendered input and the intent, one level deeper', () => {
    const w = world({ input: '{"n": {{input.n}}}' }, { spec: { input: { n: 5 }, intent: 'why' } }).settle();
    expect([...w.children.values()]).toMatchObject([
      { spec: { workflow: 'child', input: { n: 5 }, intent: 'why', parent: { state: 's', visit: 1, depth: 1 } } },
    ]);
  });

  it('WF-SUB-02 WF-SUB-05 WF-SUB-07 blocking: waits, then has status, result and child_execution_id', () => {
    const w = world().settle();
    expect(w.status.phase).toBe('running');
    w.endChild({ phase: 'completed', result: { answer: 42 } }).settle();
    expect(w.board()['s']).toMatchObject({
      status: 'success',
      result: { answer: 42 },
      child_execution_id: expect.any(String),
    });
    expect(w.visits()).toEqual(['s', 'good']);
  });

  it.each(['failed', 'cancelled'] as const)('WF-SUB-07 WF-COND-11 a child that %s leads to on_failure', (phase) => {
    const w = world()
      .settle()
      .endChild({ phase, failure: { reason: 'X', message: 'why' } })
      .settle();
    expect(w.visits()).toEqual(['s', 'bad']);
    expect(w.status.history?.[0]).toMatchObject({ reason: 'SubworkflowFailed' });
  });

  it('WF-SUB-03 result_key holds the final Blackboard of a blocking child', () => {
    const w = world({ result_key: 'kid' })
      .settle()
      .endChild({ phase: 'completed', blackboard: { x: 1 } })
      .settle();
    expect(w.board()['kid']).toEqual({ x: 1 });
  });

  it('WF-SUB-03 WF-SUB-06 WF-SUB-08 fire_and_forget continues at once and ignores result_key', () => {
    const w = world({ mode: 'fire_and_forget', result_key: 'kid' }).settle();
    expect(w.visits()).toEqual(['s', 'good']);
    expect(w.board()['s']).toMatchObject({ status: 'success', child_execution_id: expect.any(String) });
    expect(w.board()).not.toHaveProperty('kid');
  });

  it('WF-SUB-09 a timeout of the parent state cancels the child', () => {
    const w = world({ timeout: '10s' }).settle().pass(10_000).settle();
    expect([...w.children.values()]).toMatchObject([{ cancelled: true }]);
    expect(w.visits()).toEqual(['s', 'bad']);
  });

  it.each([
    { depth: undefined, starts: true },
    { depth: 9, starts: true },
    { depth: 10, starts: false },
  ])('WF-SUB-10 AMB-085 at depth $depth another child starts: $starts', ({ depth, starts }) => {
    const parent = depth === undefined ? {} : { parent: { name: 'p', uid: 'u', state: 's', visit: 1, depth } };
    const w = world({}, { spec: parent }).settle();
    expect(w.children.size).toBe(starts ? 1 : 0);
    expect(w.status.history?.[0]?.reason).toBe(starts ? undefined : 'SubworkflowDepthExceeded');
  });

  it('WF-SUB-11 an unknown workflow_id fails the state at entry and is named', () => {
    const w = world({ workflow_id: 'nobody' }).settle();
    expect(w.status.history?.[0]).toMatchObject({
      reason: 'WorkflowNotFound',
      message: expect.stringContaining('nobody'),
    });
    expect(w.visits()).toEqual(['s', 'bad']);
  });

  it.each([
    { input: '{"a": {"b": {{input.n}}}}', want: { a: { b: 5 } } },
    { input: 'two {{input.n}}', want: { input: 'two 5' } },
    { input: '[1]', want: { input: '[1]' } },
    { input: '', want: { input: '' } },
    { input: undefined, want: {} },
  ])('WF-SUB-04 AMB-163 input $input becomes $want', ({ input, want }) => {
    const any = aWorkflow('child').state('c', anEnd()).build();
    const w = world({ input }, { workflows: [any], spec: { input: { n: 5 } } }).settle();
    expect([...w.children.values()]).toMatchObject([{ spec: { input: want } }]);
  });

  it('AMB-163 result_key is written whether the child completed or failed', () => {
    const w = world({ result_key: 'kid' })
      .settle()
      .endChild({ phase: 'failed', blackboard: { x: 1 } })
      .settle();
    expect(w.board()['kid']).toEqual({ x: 1 });
  });

  it.each(['{"m": 1}', 'no json'])('WF-SUB-12 input %j breaks the input_schema of the child: no child', (input) => {
    const w = world({ input }).settle();
    expect(w.children.size).toBe(0);
    expect(w.status.history?.[0]).toMatchObject({ reason: 'InvalidSubworkflowInput' });
  });

  it('cancelling the parent cancels a blocking child', () => {
    const w = world().settle().cancel().settle();
    expect([...w.children.values()]).toMatchObject([{ cancelled: true }]);
  });

  it('cancelling the parent leaves a fire_and_forget child alone', () => {
    const w = world({ mode: 'fire_and_forget' }).settle().cancel().settle();
    expect([...w.children.values()]).toMatchObject([{ cancelled: false }]);
  });

  it.each([
    { when: 'its state timed out', leave: (w: World) => w.pass(10_000) },
    { when: 'its parent was cancelled', leave: (w: World) => w.cancel() },
  ])('WF-SUB-09 a wish to cancel that got lost after $when is made again', ({ leave }) => {
    const w = leave(world({ timeout: '10s' }).settle());
    w.step(({ kind }) => kind !== 'cancel_child');
    expect([...w.children.values()]).toMatchObject([{ cancelled: false }]);
    w.settle();
    expect([...w.children.values()]).toMatchObject([{ cancelled: true }]);
  });

  it.each(['completed', 'failed', 'cancelled'] as const)('a child that has %s is not cancelled', (phase) => {
    const w = world().settle().endChild({ phase }).cancel().settle();
    expect([...w.children.values()]).toMatchObject([{ cancelled: false }]);
  });

  it('a child that was deleted before it ended fails its state and is not started again', () => {
    const w = world().settle();
    const [child] = w.children.values();
    w.children.clear();
    w.settle();
    expect(w.children.size).toBe(0);
    expect(w.visits()).toEqual(['s', 'bad']);
    expect(w.status.history?.[0]).toMatchObject({ reason: 'SubworkflowFailed' });
    expect(w.board()['s']).toMatchObject({ status: 'failed', child_execution_id: child?.uid });
  });
});

describe('the workflow', () => {
  const missing = { kind: 'absent', failure: { reason: 'WorkflowNotFound', message: 'no Workflow w' } } as const;
  const decisionAfter = (ms: number) => {
    const world = new World(aWorkflow('w').state('a', anEnd()).build()).pass(ms);
    return world.decision({ workflow: missing });
  };

  it.each([
    { ms: 4_999, phase: 'pending' },
    { ms: 5_000, phase: 'failed' },
    { ms: 5_001, phase: 'failed' },
  ])('that does not exist may come within five seconds: after $ms ms the execution is $phase', ({ ms, phase }) => {
    expect(decisionAfter(ms).status).toMatchObject({ phase, reason: 'WorkflowNotFound' });
  });

  it('an execution that waits for it looks again when the time is over', () => {
    expect(decisionAfter(0).wakeAt).toBe(begin + 5_000);
  });
});

describe('the input', () => {
  const schema = { type: 'object', required: ['a', 'b'], properties: { a: { type: 'integer' } } };
  const workflow = aWorkflow('w').state('a', anEnd()).with({ input_schema: schema }).build();

  it('WF-API-09 WF-MAN-09 an input that breaks input_schema fails the execution, every path named', () => {
    const world = new World(workflow, { spec: { input: { a: 'x' } } }).settle();
    expect(world.status).toMatchObject({ phase: 'failed', reason: 'InvalidInput' });
    expect(world.status.message).toMatch(/input\.a.*input\.b|input\.b.*input\.a/);
    expect(world.visits()).toEqual([]);
  });

  const refused = (message: string) => ({ phase: 'failed', reason: 'InvalidInput', message });
  it.each([
    ['input', 64, { input: { a: nested(63) } }, { phase: 'completed' }],
    ['input', 65, { input: { a: nested(64) } }, refused('input: is nested deeper than 64 levels')],
    ['blackboard', 64, { blackboard: { a: nested(64) } }, { phase: 'completed' }],
    ['blackboard', 65, { blackboard: { a: nested(65) } }, refused('blackboard.a: is nested deeper than 64 levels')],
  ])('WF-RUN-02 an %s of %i levels is taken, or refused by its name', (_field, _levels, spec, want) => {
    const open = aWorkflow('w').state('a', anEnd()).build();
    expect(new World(open, { spec: spec as object }).settle().status).toMatchObject(want);
  });

  it('WF-API-10 without input_schema any input is accepted', () => {
    const open = aWorkflow('w').state('a', anEnd()).build();
    expect(new World(open, { spec: { input: { anything: [1, null] } } }).settle().status.phase).toBe('completed');
  });
});

describe('the final output', () => {
  it('WF-API-03 AMB-073 is the rendered template with the types of output_schema', () => {
    const workflow = aWorkflow('w')
      .state('a', anUpdate({ n: '7', t: 'text' }))
      .with({
        output_template: { count: '{{blackboard.n}}', text: '{{blackboard.t}}' },
        output_schema: { type: 'object', properties: { count: { type: 'integer' }, text: { type: 'string' } } },
      })
      .build();
    expect(new World(workflow).settle().status.final_output).toEqual({ count: 7, text: 'text' });
  });

  it('WF-API-04 WF-API-05 is absent without a template, and until the execution has completed', () => {
    const plain = aWorkflow('w').state('a', anEnd());
    expect(new World(plain.build()).settle().status.final_output).toBeUndefined();
    const failing = aWorkflow('w').state(
      'a',
      aScript('x', { transitions: [{ condition: 'on_failure', target: 'a' }] }),
    );
    const world = new World(failing.with({ output_template: { x: 'y' } }).build()).settle();
    expect(world.status.final_output).toBeUndefined();
    world.end('a').settle();
    expect(world.status).toMatchObject({ phase: 'failed' });
    expect(world.status.final_output).toBeUndefined();
  });

  it('the store keeps a final output too large for status', () => {
    const workflow = aWorkflow('w')
      .state('a', aScript('x'))
      .with({ output_template: { all: '{{a.output.stdout}}' } })
      .build();
    const world = new World(workflow)
      .settle()
      .end('a', { stdout: 'x'.repeat(limits.inlineFinalOutputBytes) })
      .settle();
    expect(world.status.final_output).toBeUndefined();
    const ref = world.status.final_output_ref;
    expect(JSON.parse(Buffer.from(world.blobs.get(ref?.ref ?? '') ?? '').toString())).toMatchObject({
      all: expect.any(String),
    });
  });
});

describe('volumes', () => {
  const storage = {
    workspace: { ttl_hours: 2, size_limit_mb: 5 },
    shared_volumes: [{ name: 'keep', storage_class: 'persistent' as const }],
  };
  const workflow = aWorkflow('w').state('a', anEnd()).with({ storage }).build();

  it('WF-STOR-01 WF-STOR-03 WF-STOR-04 WF-STOR-10 are asked for and ready before any state runs', () => {
    const world = new World(workflow);
    world.step();
    expect(world.created).toEqual([
      { storage_class: 'ephemeral', size_limit_mb: 5, expires_at: new Date(begin + 7_200_000).toISOString() },
      { storage_class: 'persistent' },
    ]);
    expect(world.status).toMatchObject({ phase: 'pending', reason: 'VolumesPending' });
    expect(world.status.current).toBeUndefined();
    world.volumes['workspace'] = { volume: 'w', phase: 'ready', claim: 'c' };
    world.volumes['keep'] = { volume: 'k', phase: 'ready', claim: 'd' };
    expect(world.settle().status.phase).toBe('completed');
  });

  it.each([
    { volume: {}, owned: true },
    { volume: { ttl_hours: 1 }, owned: false },
    { volume: { storage_class: 'persistent' as const }, owned: false },
  ])('WF-STOR-03 AMB-173 the object of the execution owns the volume $volume: $owned', ({ volume, owned }) => {
    const one = aWorkflow('w')
      .state('a', anEnd())
      .with({ storage: { workspace: volume } })
      .build();
    expect(new World(one).step().actions).toMatchObject([{ kind: 'create_volume', owned }]);
  });

  it.each([
    { ms: 3_599_999, want: { phase: 'pending', reason: 'VolumesPending' } },
    { ms: 3_600_000, want: { phase: 'failed', reason: 'NeverStarted' } },
    { ms: 3_600_001, want: { phase: 'failed', reason: 'NeverStarted' } },
  ])('AMB-190 a volume that is refused is awaited for an hour, and its cause shown: after $ms ms', ({ ms, want }) => {
    const world = new World(workflow);
    world.volumes['keep'] = { volume: 'k', phase: 'ready', claim: 'd' };
    world.volumes['workspace'] = { volume: 'w', phase: 'pending', message: 'exceeded quota: few', isRefused: true };
    expect(world.step().wakeAt).toBe(begin + 3_600_000);
    world.pass(ms).settle();
    expect(world.status).toMatchObject(want);
    expect(world.status.message).toMatch(/volumes workspace.*; workspace: exceeded quota: few$/);
    world.volumes['workspace'] = { volume: 'w', phase: 'ready', claim: 'c' };
    expect(world.settle().status.phase).toBe(want.phase === 'pending' ? 'completed' : 'failed');
  });

  it('WF-STOR-09 a volume_id that names no Volume fails the execution', () => {
    const id = '7d444840-9dc0-11d1-b245-5ffdce74fad2';
    const named = { shared_volumes: [{ name: 'old', storage_class: 'persistent' as const, volume_id: id }] };
    const world = new World(aWorkflow('w').state('a', anEnd()).with({ storage: named }).build()).settle();
    expect(world.status).toMatchObject({ phase: 'failed', reason: 'VolumeNotFound' });
    expect(world.created).toEqual([]);
  });
});

describe('large outputs', () => {
  const mib = 'é'.repeat(limits.outputStreamBytes / 2);

  it('AMB-022 are in the store, and templates that use them read them from there', () => {
    const next = aScript('[{{length a.output.stdout}}] {{a.output.exit_code}}');
    const world = new World(
      aWorkflow('w')
        .state('a', aScript('x', { next: 'b' }))
        .state('b', next)
        .build(),
    ).settle();
    world.end('a', { stdout: mib, stderr: `${mib}!` }).settle();
    expect(JSON.stringify(world.status).length).toBeLessThan(4_096);
    expect(world.planOf('b').argv.at(-1)).toBe(`[${mib.length}] 0`);
    expect(world.board()['a']).toMatchObject({ stdout: mib, stderr: `${mib}!` });
  });

  it('AMB-022 a state whose template needs one that is gone for good fails and says which', () => {
    const b = aScript('use {{a.output.stdout}}', { transitions: [{ condition: 'on_failure', target: 'c' }] });
    const workflow = aWorkflow('w')
      .state('a', aScript('x', { transitions: [{ target: 'ask' }] }))
      .state('ask', aQuestion('go?', { yes: 'b', no: 'c' }))
      .state('b', b)
      .state('c', anEnd());
    const world = new World(workflow.build()).settle();
    world
      .end('a', { stdout: 'x'.repeat(10_000) })
      .settle()
      .signal('ask', 'yes');
    const needs = decide(world.facts(), world.now);
    const locators =
      needs.kind === 'needs' ? needs.needs.map((need) => (need.kind === 'blob' ? need.locator : '')) : [];
    expect(locators).toHaveLength(1);
    const unreadable = new Map(locators.map((locator) => [locator, `stored output ${locator} is gone`]));
    const { history } = world.decision({ unreadable }).status;
    expect(history?.map(({ state }) => state)).toEqual(['a', 'ask', 'b', 'c']);
    expect(history?.[2]).toMatchObject({ status: 'failed', reason: 'OutputLost' });
    expect(history?.[2]?.message).toContain(locators[0]);
  });

  it('AMB-022 status stays below 256 KiB with 100 transitions of 2 MiB each', () => {
    const builder = aWorkflow('w').with({ max_total_transitions: 100 });
    for (let i = 0; i < 10; i += 1) {
      builder.state(`s${i}`, aScript('x', { next: `s${(i + 1) % 10}`, max_state_visits: 20 }));
    }
    const world = new World(builder.build()).settle();
    for (let i = 0; i <= 100; i += 1) world.end(`s${i % 10}`, { stdout: `${i}${mib}`, stderr: `${mib}${i}` }).settle();
    expect(world.status).toMatchObject({ reason: 'MaxTransitionsExceeded', transitions: 100 });
    expect(Buffer.byteLength(JSON.stringify(world.status))).toBeLessThan(limits.statusBytes);
  });

  it.each([2_047, 2_048])('status stays below 256 KiB where every output of 100 transitions is %i bytes', (bytes) => {
    const builder = aWorkflow('w').with({ max_total_transitions: 100 });
    for (let i = 0; i < 100; i += 1) builder.state(`s${i}`, aScript('x', { next: `s${(i + 1) % 100}` }));
    const world = new World(builder.build()).settle();
    for (let i = 0; i <= 100; i += 1) world.end(`s${i % 100}`, { stdout: 'x'.repeat(bytes) }).settle();
    expect(Buffer.byteLength(JSON.stringify(world.status))).toBeLessThan(limits.statusBytes);
  });

  it('OutputBudgetExceeded fails the state and loses nothing that was stored before', () => {
    const rules = [{ condition: 'on_failure' as const, target: 'end' }, { target: 'b' }];
    const workflow = aWorkflow('w')
      .state('a', aScript('x', { next: 'b' }))
      .state('b', aScript('x', { transitions: rules }))
      .state('end', anEnd());
    const world = new World(workflow.build(), { budget: 3_000_000 }).settle();
    world.end('a', { stdout: mib, stderr: `${mib}a` }).settle();
    world.end('b', { stdout: `b${mib}`, stderr: `${mib}b` }).settle();
    expect(world.status).toMatchObject({ phase: 'completed', history: [{}, { reason: 'OutputBudgetExceeded' }, {}] });
    expect(world.board()['a']).toMatchObject({ stdout: mib, stderr: `${mib}a` });
  });
});
