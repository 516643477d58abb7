import { decide } from '../../controllers/execution/engine/decide.ts';
import type { Action, Decision, Need } from '../../controllers/execution/engine/decision.ts';
import type {
  AgentFact,
  Blockage,
  ChildFact,
  Facts,
  Made,
  ToolCallFact,
  VolumeFact,
} from '../../controllers/execution/engine/facts.ts';
import { bareFailure, refuse } from '../../controllers/execution/engine/refusal.ts';
import { madeKey } from '../../controllers/execution/engine/rest-on.ts';
import { statusProblem } from '../../controllers/execution/engine/status-problem.ts';
import type { Workflow, WorkflowSpec } from '../../crds/schema/workflow.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { WorkflowExecutionStatus } from '../../crds/schema/workflow-execution-status.ts';
import type { WorldBlobs } from './world-blobs.ts';
import type { WorldAgents, WorldToolCalls } from './world-elsewhere.ts';
import type { WorldPods } from './world-pods.ts';

export interface WorldOptions {
  readonly name?: string;
  readonly spec?: Partial<WorkflowExecution['spec']>;
  readonly status?: Partial<WorkflowExecutionStatus>;
  /** Other workflows by name, for Subworkflow states. */
  readonly workflows?: readonly Workflow[];
  /** The execution that this one runs again. */
  readonly origin?: WorkflowExecution;
  /** Bytes that the output store takes in all. */
  readonly budget?: number;
  readonly executionTtlSeconds?: number;
  readonly archiveGraceSeconds?: number;
  /** The route that its end takes. */
  readonly onEnd?: Facts['onEnd'];
  readonly annotations?: Readonly<Record<string, string>>;
}

export type LinkPlan = Extract<Action, { kind: 'create_linked' }>['plan'];

/** The parts of a world that a decision sees. */
interface SeenWorld {
  readonly execution: WorkflowExecution;
  readonly now: number;
  readonly pods: WorldPods;
  readonly children: ReadonlyMap<string, ChildFact>;
  readonly agents: WorldAgents;
  readonly toolCalls: WorldToolCalls;
  readonly volumes: Record<string, VolumeFact>;
  readonly otherVolumes: ReadonlyMap<string, VolumeFact>;
  readonly shown: ReadonlyMap<string, object | undefined>;
  readonly descendants: number | undefined;
  readonly linkPlans: readonly LinkPlan[];
  readonly blobs: WorldBlobs;
  readonly blocked: Blockage | undefined;
  /** The facts of the last decision, with all that it asked for. */
  lastFacts: Facts | undefined;
}

/** Makes the facts of a world, and its decisions, as the controllers do with a cluster. */
export class WorldDecider {
  readonly #world: SeenWorld;
  readonly #spec: WorkflowSpec;
  readonly #options: WorldOptions;

  constructor(world: SeenWorld, spec: WorkflowSpec, options: WorldOptions) {
    this.#world = world;
    this.#spec = spec;
    this.#options = options;
  }

  facts(extra: Partial<Facts> = {}): Facts {
    const definition = {
      name: this.#world.execution.spec.workflow,
      namespace: 'default',
      uid: 'w',
      version: this.#spec.version,
      revision: 'r1',
      spec: this.#spec,
    };
    return {
      execution: this.#world.execution,
      workflow: { kind: 'found', definition },
      workflows: new Map(),
      pods: [...this.#world.pods.values()].flatMap((fact) => this.#shown(fact)),
      children: [...this.#world.children.values()].flatMap((fact) => this.#shown(fact)),
      agents: this.#agents().flatMap((fact) => this.#shown(fact)),
      toolCalls: this.#toolCalls().flatMap((fact) => this.#shown(fact)),
      ...(this.#options.origin === undefined ? {} : { origin: this.#options.origin }),
      volumes: this.#volumes(),
      descendants: this.#world.descendants ?? this.#world.children.size,
      loaded: new Map(),
      settings: {
        executionTtlSeconds: this.#options.executionTtlSeconds ?? 86_400,
        archiveGraceSeconds: this.#options.archiveGraceSeconds ?? 3_600,
      },
      ...(this.#world.blocked === undefined ? {} : { blocked: this.#world.blocked }),
      ...this.#links(),
      ...extra,
    };
  }

  #agents = (): AgentFact[] => [...this.#world.agents.values()].map(({ output: _output, ...fact }) => fact);
  #toolCalls = (): ToolCallFact[] => [...this.#world.toolCalls.values()].map(({ answer: _answer, ...fact }) => fact);

  /** An object as the watch has it. */
  #shown<T extends { readonly name: string }>(fact: T): T[] {
    const { shown } = this.#world;
    if (!shown.has(fact.name)) return [fact];
    const fields = shown.get(fact.name);
    return fields === undefined ? [] : [{ ...fact, ...fields }];
  }

  /** The volumes as the watch has them, and these as they are, by name or by `volume_id`. */
  #volumes(asked: ReadonlySet<string> = new Set()): Facts['volumes'] {
    const { volumes, shown } = this.#world;
    const idOf = (name: string): string | undefined =>
      this.#spec.storage?.shared_volumes?.find((one) => one.name === name)?.volume_id;
    const rows = Object.entries(volumes).flatMap(([name, fact]) => {
      if (asked.has(fact.volume) || asked.has(idOf(name) ?? '') || !shown.has(fact.volume)) return [[name, fact]];
      const fields = shown.get(fact.volume);
      return fields === undefined ? [] : [[name, { ...fact, ...fields }]];
    });
    return Object.fromEntries(rows);
  }

  /** A volume that no workflow declares, as the watch has it. */
  #otherVolume(uid: string): VolumeFact | undefined {
    const fact = this.#world.otherVolumes.get(uid);
    return fact === undefined ? undefined : { ...fact, ...this.#world.shown.get(fact.volume) };
  }

  #otherVolumes({ volumesByUid }: Facts, asked: ReadonlySet<string>): Map<string, VolumeFact | undefined> {
    const isAsked = (fact: VolumeFact | undefined): boolean => fact !== undefined && asked.has(fact.volume);
    const rows = [...(volumesByUid ?? [])];
    return new Map(rows.map(([uid, fact]) => [uid, isAsked(fact) ? this.#world.otherVolumes.get(uid) : fact]));
  }

  /** The facts with these objects as they are, whatever the watch has of them. */
  #ask(facts: Facts, wanted: readonly Made[]): Facts {
    if (wanted.length === 0) return facts;
    const names = new Set(wanted.map(({ name }) => name));
    const withTruth = <T extends { readonly name: string }>(
      known: readonly T[] | undefined,
      all: readonly T[],
    ): T[] => [...(known ?? []).filter(({ name }) => !names.has(name)), ...all.filter(({ name }) => names.has(name))];
    return {
      ...facts,
      asked: new Set([...(facts.asked ?? []), ...wanted.map(madeKey)]),
      volumes: this.#volumes(names),
      volumesByUid: this.#otherVolumes(facts, names),
      pods: withTruth(facts.pods, [...this.#world.pods.values()]),
      children: withTruth(facts.children, [...this.#world.children.values()]),
      agents: withTruth(facts.agents, this.#agents()),
      toolCalls: withTruth(facts.toolCalls, this.#toolCalls()),
    };
  }

  #links(): Pick<Facts, 'onEnd' | 'linked'> {
    const { onEnd } = this.#options;
    const made = this.#world.linkPlans[0];
    return {
      ...(onEnd === undefined ? {} : { onEnd }),
      ...(made === undefined ? {} : { linked: { name: made.name, uid: `uid-${made.name}` } }),
    };
  }

  /** The decision of now, with stored values loaded on demand; its blobs are stored. */
  decision(extra: Partial<Facts> = {}): Decision {
    let facts = this.facts(extra);
    for (let round = 0; round < 100; round += 1) {
      const result = decide(facts, this.#world.now);
      this.#world.lastFacts = facts;
      if (result.kind === 'needs') {
        facts = this.learn(facts, result.needs);
        continue;
      }
      const failure =
        result.kind === 'exceeded' ? result.failure : (statusProblem(result.status) ?? this.#world.blobs.store(result));
      if (result.kind === 'decision' && failure === undefined) return result;
      if (failure !== undefined) {
        const harder = refuse(facts, failure, result.kind === 'exceeded' && result.alone);
        if (harder === undefined) return bareFailure(facts, failure, this.#world.now);
        facts = harder;
      }
    }
    throw new Error('deciding never ends');
  }

  /** The facts with those that deciding turned out to need. */
  learn(facts: Facts, needs: readonly Need[]): Facts {
    const loaded = new Map(facts.loaded);
    const workflows = new Map(facts.workflows);
    const volumesByUid = new Map(facts.volumesByUid);
    const read = new Set(needs.map((need) => ('uid' in need ? need.uid : undefined)));
    const agents =
      facts.agents?.map((fact) => (read.has(fact.uid) ? (this.#world.agents.get(fact.name) ?? fact) : fact)) ?? [];
    const toolCalls =
      facts.toolCalls?.map((fact) => (read.has(fact.uid) ? (this.#world.toolCalls.get(fact.name) ?? fact) : fact)) ??
      [];
    for (const need of needs) {
      if (need.kind === 'volume') volumesByUid.set(need.uid, this.#otherVolume(need.uid));
      if (need.kind === 'blob') loaded.set(need.locator, this.#world.blobs.load(need.locator));
      else if (need.kind === 'workflow') workflows.set(need.workflow, this.find(need.workflow));
    }
    const wanted = needs.flatMap((need) => (need.kind === 'made' ? [need.made] : []));
    return this.#ask({ ...facts, loaded, workflows, volumesByUid, agents, toolCalls }, wanted);
  }

  /** The workflow of a name. */
  find(name: string) {
    const workflow = this.#options.workflows?.find(({ metadata }) => metadata.name === name);
    if (workflow === undefined) {
      const failure = { reason: 'WorkflowNotFound', message: `no Workflow has the name or uid ${name}` } as const;
      return { kind: 'absent', failure } as const;
    }
    const { spec } = workflow;
    const at = { name, namespace: 'default', uid: `uid-${name}`, version: spec.version, revision: `${name}-r1` };
    return { kind: 'found', definition: { ...at, spec } } as const;
  }
}
