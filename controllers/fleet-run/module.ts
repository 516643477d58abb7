import { readFileSync } from 'node:fs';
import type { FleetRun } from '../../crds/schema/fleet-run.ts';
import { aborted } from '../../lib/aborted.ts';
import { createEdgeResults, createRecentCommands } from '../../lib/edge/index.ts';
import { edgeHosts } from '../../lib/kinds.ts';
import { loadEdgeKey } from '../../lib/keys/edge-key.ts';
import { createConfigMapStore } from '../../lib/output-store/config-map-store.ts';
import { AppError } from '../../lib/errors.ts';
import { createFleetCapable } from '../../lib/tools/fleet-capable.ts';
import { defineModule, type Services } from '../runtime/module.ts';
import { onGone } from '../runtime/on-gone.ts';
import { createServerReads, verdictBounds } from '../../lib/server-reads.ts';
import { wakeUnseen } from '../runtime/wakes.ts';
import type { InformerChange } from '../../lib/informer/index.ts';
import { createHostLists } from './begin/ask-surroundings.ts';
import { createCommandSender } from './commands/command-sender.ts';
import type { CommandSender } from './commands/command.ts';
import { createKeepArgs } from './commands/run-arguments.ts';
import { abandon } from './deletion.ts';
import type { DriveDeps } from './drive/drive.ts';
import { edgeGroupInformer, edgeHostInformer, fleetRunInformer } from './informers.ts';
import { createFleetPools, type FleetPools } from './pools.ts';
import { createFleetRunReconcile } from './reconcile.ts';
import type { RecordStore } from './record/record-parts.ts';
import { createNewsReader } from './view/news-reader.ts';
import { OpenViews } from './view/open-views.ts';
import { serveOpenRecords } from './view/serve-records.ts';

export const fleetRunModule = defineModule({
  kind: 'FleetRun',
  informers: { runs: fleetRunInformer, hosts: edgeHostInformer, groups: edgeGroupInformer },
  wakes: { runs: (change: InformerChange<FleetRun>) => wakeUnseen(change) },
  reconcile(context) {
    const { kube, clock, logger, events, facts, tenants, readTenant, bus, informers, whileLeading } = context;
    // Kubernetes collects the records with their run, whichever store keeps the outputs of executions (ADR 0071).
    const pools = createFleetPools(context);
    const records: RecordStore = { store: createConfigMapStore(kube), heapBudget: pools.heapBudget };
    const views = viewsOf(context, records, pools);
    const leaving = new Map<string, number>();
    // A process that no longer leads has an outdated view of a run.
    whileLeading(async (stop) => {
      await aborted(stop);
      await views.closeAll();
      leaving.clear();
    });
    const sender = senderOf(context);
    const drive = driveOf(context, sender ?? noSender, pools);
    onGone(informers.runs, (uid) => {
      leaving.delete(uid);
      void abandon({ ...drive, views, kube }, uid);
    });
    return createFleetRunReconcile({
      ...drive,
      kube,
      logger,
      events,
      facts,
      tenants,
      runs: informers.runs.cache,
      hosts: informers.hosts.cache,
      groups: informers.groups,
      readTenant,
      readHost: createServerReads({ kube, clock, resource: edgeHosts, bounds: verdictBounds }),
      listHosts: createHostLists(kube),
      ...records,
      ...(sender === undefined ? { problem: noKey } : {}),
      fleetCapable: createFleetCapable({ bus }),
      views,
      leaving,
    });
  },
});

function viewsOf(
  { kube, bus, clock, turns, wake }: Services & { readonly wake: (key: string) => void },
  records: RecordStore,
  { outputs, onTheWay, rooms }: FleetPools,
): OpenViews {
  return new OpenViews({
    ...records,
    clock,
    newsReader: createNewsReader({ bus, clock, turns }),
    outputs,
    keepArgs: createKeepArgs({ kube, heapBudget: records.heapBudget, onTheWay }),
    rooms,
    serveRecords: serveOpenRecords(bus),
    wake,
  });
}

function driveOf(
  { bus, clock }: Pick<Services, 'bus' | 'clock'>,
  sender: CommandSender,
  { launches, cancels }: FleetPools,
): DriveDeps {
  return {
    clock,
    sender,
    news: createEdgeResults({ bus, clock }),
    recent: createRecentCommands({ bus }),
    launches,
    cancels,
  };
}

const noKey = {
  reason: 'EdgeKeyMissing',
  message: 'WINDLASS_EDGE_KEY is not set in the controllers: commands cannot be signed',
};

function senderOf({ bus, clock, config, guard }: Services): CommandSender | undefined {
  const key = loadEdgeKey(config, (path) => readFileSync(path, 'utf8'));
  return key === undefined ? undefined : createCommandSender({ bus, clock, edgeKey: key.privateKey, guard });
}

const refuse = async (): Promise<never> => {
  throw new AppError('unavailable', noKey.message, { reason: noKey.reason });
};

const noSender: CommandSender = {
  claim: refuse,
  roomFor: refuse,
  recordOf: refuse,
  seal: refuse,
  send: refuse,
  cancel: refuse,
};
