import { createBlocked } from '../../../controllers/execution/blocked.ts';
import { createBugs } from '../../../controllers/execution/bugs.ts';
import type { Decision } from '../../../controllers/execution/engine/decision.ts';
import type { Facts } from '../../../controllers/execution/engine/facts.ts';
import { type SettleDeps, settle } from '../../../controllers/execution/settle.ts';
import { createTurnGate, type TurnGate } from '../../../controllers/runtime/turn-gate.ts';
import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import type { ToolCall } from '../../../crds/schema/tool-call.ts';
import type { Volume } from '../../../crds/schema/volume.ts';
import type { Workflow } from '../../../crds/schema/workflow.ts';
import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import { createCache } from '../../../lib/informer/cache.ts';
import type { Pod } from '../../../lib/kube/index.ts';
import type { OutputStore } from '../../../lib/output-store/output-store.ts';
import { packAll } from '../../../lib/output-store/packed.ts';
import { World, type WorldOptions } from '../../builders/world.ts';
import { slowness, turnMs, watchTurns } from './turns.ts';

/** How often a turn above its limit is taken again: what a collection of garbage or a cold function cost is not there twice. */
const repeats = 10;

/**
 * One execution that runs through the engine as in the controllers: `settle` with a gate of its own, stored outputs,
 * and the patch of its status. It measures the turns of the event loop meanwhile, in thread CPU time. Deciding is
 * pure, so a turn above its limit is taken again from the same facts, and the shortest time counts, beside a reference of
 * the same moment.
 */
export class Arena {
  readonly world: World;
  longestMs = 0;
  turns = 0;

  readonly #repeats: number;

  /** With "untimed" no turn is taken again, for tests that do not look at their length. */
  constructor(workflow: Workflow, options: WorldOptions = {}, timing: 'timed' | 'untimed' = 'timed') {
    this.world = new World(workflow, options);
    this.#repeats = timing === 'timed' ? repeats : 1;
  }

  /** Decides once and makes it true. */
  async step(): Promise<Decision> {
    const facts = this.world.facts();
    let [decision, ms] = await this.#measure(facts);
    for (let again = 1; again < this.#repeats && ms >= turnMs; again += 1) {
      const [repeated, repeatedMs] = await this.#measure(facts);
      decision = repeated;
      ms = Math.min(ms, repeatedMs);
    }
    this.turns += 1;
    this.longestMs = Math.max(this.longestMs, ms >= turnMs && this.#repeats > 1 ? ms / slowness() : ms);
    this.world.accept(decision);
    return decision;
  }

  /** Decides until nothing changes without outside help, or as often as given. */
  async run(steps = 500): Promise<this> {
    for (let step = 0; step < steps; step += 1) {
      const before = JSON.stringify(this.world.status);
      const { actions, wakeAt } = await this.step();
      const isQuiet = actions.length === 0 && JSON.stringify(this.world.status) === before;
      if (isQuiet && (wakeAt === undefined || wakeAt > this.world.now)) return this;
    }
    throw new Error(`the execution does not come to rest within ${steps} decisions`);
  }

  async #measure(facts: Facts): Promise<[Decision, number]> {
    const turns = createTurnGate();
    const watch = watchTurns();
    const { decision } = await settle(settleDeps(this.world, turns), facts, this.world.now);
    await turns.enter('');
    watch.stop();
    return [decision, watch.longestMs];
  }
}

/** Dependencies of the engine; the API server takes its patches. */
function settleDeps(world: World, turns: TurnGate): SettleDeps {
  const { execution } = world;
  const none = () => [];
  const caches = {
    executions: createCache<WorkflowExecution, 'parentUid' | 'workflow'>({
      indexes: { parentUid: none, workflow: none },
    }),
    pods: createCache<Pod, 'ownerUid' | 'owner'>({ indexes: { ownerUid: none, owner: none } }),
    volumes: createCache<Volume>(),
    agents: createCache<AgentExecution, 'parentUid'>({ indexes: { parentUid: none } }),
    toolCalls: createCache<ToolCall, 'parentUid'>({ indexes: { parentUid: none } }),
  };
  return {
    turns,
    store: storeOf(world),
    bugs: createBugs(),
    observe: { outcomeOf: () => undefined },
    clock: { now: () => world.now },
    unstored: createBlocked(),
    onUnstored: () => undefined,
    caches,
    wholeAgents: { whole: async () => undefined },
    wholeToolCalls: { whole: async () => undefined },
    wholes: { whole: async () => undefined, weight: () => 0, use: async (_slim, work) => work(undefined) },
    findWorkflow: { current: async ({ workflow }) => world.find(workflow), pinned: async () => world.find('') },
    onWaiting: () => undefined,
    events: { record: () => undefined, flush: async () => undefined },
    kube: {
      get: async () => execution as never,
      list: async () => ({ metadata: {}, items: [] }),
      listAll: async () => ({ metadata: {}, items: [] }),
      jsonPatch: async () => execution as never,
      jsonPatchStatus: async (_resource, _ref, patch) => {
        JSON.stringify(patch);
        return execution as never;
      },
    },
  };
}

/** Outputs in memory, packed as every store packs them. */
function storeOf(world: World): OutputStore {
  return {
    async put(_owner, blobs) {
      const packed = await packAll(blobs);
      for (const { ref, data } of blobs) world.blobs.set(ref, data);
      return packed.reduce((sum, { data }) => sum + data.byteLength, 0);
    },
    adopt: async () => [],
    async get(_namespace, { ref }) {
      const data = world.blobs.get(ref);
      if (data === undefined) throw new Error(`blob ${ref} was never stored`);
      return data;
    },
  };
}
