import type { EventSink } from '../../lib/bus/event-bus.ts';
import type { Clock } from '../../lib/clock.ts';
import { AppError, messageOf } from '../../lib/errors.ts';
import type { NewId } from '../../lib/ids.ts';
import type { KubeClient } from '../../lib/kube/index.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Stimulus } from '../../lib/stimulus/stimulus.ts';
import type { Executions, Workflows } from '../cluster/index.ts';
import type { Classifier } from './classifier.ts';
import { assertFits } from './content.ts';
import type { Deliveries, Remembered, Signed } from './deliveries.ts';
import { HeldStimulus } from './held-stimulus.ts';
import type { Ingest, Ingested, Submission } from './ingest.ts';
import { IngestError } from './ingest-error.ts';
import { withoutCredentials } from './keep-headers.ts';
import { reservationKey } from './reservation.ts';
import { ContestedKeyError, type Hold, type Reservations } from './reservations.ts';
import { routeStimulus, routingInterrupted, startsNothing } from './route-stimulus.ts';
import type { Destination, RoutingTable } from './routing-table.ts';
import type { Settler } from './settler.ts';
import { assertStarts, createExecution, outcomeUnknown, planOf } from './start-execution.ts';
import { createWaitingStimuli, type WaitingStimuli } from './waiting-stimuli.ts';
import { stimulusReceived, stimulusRejected } from '../../lib/stimulus/stimulus-events.ts';

interface IngestDeps {
  readonly kube: Pick<KubeClient, 'create' | 'get'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Gives UUIDs. */
  readonly newStimulusId: NewId;
  readonly table: RoutingTable;
  readonly workflows: Pick<Workflows, 'find'>;
  readonly executions: Pick<Executions, 'remember'>;
  readonly reservations: Reservations;
  readonly deliveries: Deliveries;
  readonly settler: Settler;
  readonly events: EventSink;
  readonly classifier?: Classifier;
}

/**
 * Idempotency, routing, start, events: in the order of spec 1 §7.2, behind whichever transport has authenticated the sender.
 *
 *   find the route ─▶ reserve the key ─▶ StimulusReceived ─▶ StimulusClassified ─▶ create the execution ─▶ settle the key
 *        │ none              │ taken                              │ unsure                │ refused
 *        ▼                   ▼                                    ▼                       ▼
 *   one event, no key    duplicate                         release the key         release the key
 *
 * Trouble of ours at either of the last two keeps the key.
 *
 * The table of routes is asked first, since the answer leaves nothing behind in the store that tenants share. A replica
 * that dies on the way leaves a reservation, and under it an execution or none. The sender's next attempt finds out
 * which, for the execution's name follows from the stimulus that is reserved.
 */
export function createIngest(given: IngestDeps): Ingest {
  const deps = { ...given, waits: createWaitingStimuli(given.clock) };
  // Nothing but the stimulus has the content from here on, so that it can be let go.
  return ({ content, headers, receivedAt, ...order }) =>
    takeIn(deps, order, stimulusOf(deps, { content, headers, receivedAt, ...order }));
}

interface Deps extends IngestDeps {
  readonly waits: WaitingStimuli;
}

/** A submission without what its stimulus has. */
type Order = Omit<Submission, 'content' | 'headers' | 'receivedAt'>;

async function takeIn(deps: Deps, order: Order, stimulus: HeldStimulus): Promise<Ingested> {
  const { source, tenant, memory } = order;
  const destination = await deps.table.find(source.name, tenant);
  assertFits(Buffer.byteLength(JSON.stringify(stimulus.content)));
  if (await isRefused(deps, order, destination)) await routeStimulus(deps, stimulus, destination);
  const { hold, remembered } = await admit(deps, order, destination, stimulus);
  const named = hold === undefined ? stimulus : stimulus.named(hold.stimulusId);
  return advance(deps, { stimulus: named, destination, hold, remembered, memory });
}

/** The reservations of a submission, which its refusal gives back. */
interface Taken {
  /** Absent without an idempotency key. */
  readonly hold: Hold | undefined;
  /** Absent without a signature, and where another submission wrote it down. */
  readonly remembered: Remembered | undefined;
}

interface Work extends Taken, Pick<Submission, 'memory'> {
  readonly stimulus: HeldStimulus;
  readonly destination: Destination;
}

function stimulusOf({ newStimulusId }: IngestDeps, submission: Submission): HeldStimulus {
  const { source, content, idempotencyKey, headers, receivedAt } = submission;
  return new HeldStimulus({
    id: newStimulusId(),
    source,
    content,
    idempotencyKey,
    headers: withoutCredentials(headers),
    receivedAt: new Date(receivedAt).toISOString(),
  });
}

/** Whether it is refused before it takes a key. A key that is taken makes it a duplicate, whatever became of its route. */
async function isRefused(deps: IngestDeps, submission: Order, destination: Destination): Promise<boolean> {
  if (!(await startsNothing(deps, destination))) return false;
  const key = keyOf(submission, destination);
  return key === undefined || !(await deps.reservations.isTaken(key));
}

/** A tenant that is not set up has no routes: nothing will run, so nothing can run twice. */
function keyOf({ idempotencyKey, source }: Order, { tenant, namespace }: Destination): string | undefined {
  if (idempotencyKey === undefined || namespace === undefined) return undefined;
  return reservationKey(tenant, source.name, idempotencyKey);
}

/** Both at once: each is a question to the store. A key that was taken for a replay is given back. */
async function admit(
  deps: IngestDeps,
  submission: Order,
  destination: Destination,
  stimulus: Stimulus,
): Promise<Taken> {
  const { signed, idempotencyKey, source } = submission;
  if (signed === undefined) {
    return { hold: await reserve(deps, submission, destination, stimulus), remembered: undefined };
  }
  const tenant = destination.namespace ?? '';
  const delivery = { ...signed, idempotencyKey, source: source.name, tenant };
  const [held, accepted] = await Promise.allSettled([
    reserve(deps, submission, destination, stimulus),
    deps.deliveries.accept(delivery),
  ]);
  if (accepted.status === 'rejected') {
    if (held.status === 'fulfilled' && held.value !== undefined) await release(deps, { hold: held.value });
    throw accepted.reason;
  }
  if (held.status === 'rejected') throw held.reason;
  return { hold: held.value, remembered: accepted.value ?? (await acceptAgain(deps, held.value, delivery)) };
}

/** The submission that had the key before may have been refused since, and have released the signature with the key. */
async function acceptAgain(
  deps: IngestDeps,
  hold: Hold | undefined,
  delivery: Signed,
): Promise<Remembered | undefined> {
  if (hold === undefined) return undefined;
  try {
    return await deps.deliveries.accept(delivery);
  } catch (error) {
    await release(deps, { hold });
    throw error;
  }
}

async function reserve(
  { reservations, events, clock }: IngestDeps,
  submission: Order,
  destination: Destination,
  { id }: Stimulus,
): Promise<Hold | undefined> {
  const { tenant, namespace } = destination;
  const key = keyOf(submission, destination);
  if (key === undefined || namespace === undefined) return undefined;
  const acquired = await reservations.acquire({ key, namespace, stimulusId: id, signal: submission.signal });
  if (acquired.kind === 'held') return acquired.hold;
  const time = new Date(clock.now()).toISOString();
  events.raise(stimulusRejected({ stimulusId: id, tenant, time }, 'IdempotentDuplicate'));
  const { originalStimulusId } = acquired;
  throw new IngestError('idempotent_duplicate', 'a stimulus with this key was accepted before', { originalStimulusId });
}

async function advance(deps: Deps, work: Work): Promise<Ingested> {
  const { stimulus, destination } = work;
  const { clock, events, logger, settler } = deps;
  const time = new Date(clock.now()).toISOString();
  events.raise(stimulusReceived({ stimulusId: stimulus.id, tenant: destination.tenant, time }, stimulus));
  try {
    const { execution, lease } = await start(deps, work);
    const { uid = '', name } = execution.metadata;
    if (lease !== undefined) await settler.settle(lease, uid);
    const { source } = stimulus;
    logger.debug(
      { stimulusId: stimulus.id, source: source.name, tenant: destination.tenant, execution: name },
      'stimulus routed',
    );
    return { stimulusId: stimulus.id, workflowExecutionId: uid };
  } catch (error) {
    if (isFinal(error)) await release(deps, work);
    throw error;
  }
}

async function start(deps: Deps, { stimulus, destination, hold, memory }: Work) {
  const { namespace, tenant } = destination;
  using wait = deps.waits.of(stimulus, tenant, memory);
  const letGo = (): void => wait.letGo();
  const { workflow, name: workflowName } = await routeStimulus(deps, stimulus, destination, letGo);
  await wait.takeBack();
  if (namespace === undefined) throw new IngestError('workflow_error', 'the tenant has no namespace');
  const reservation = hold === undefined ? {} : { reservation: hold.key };
  const plan = planOf({ stimulus, namespace, workflow, workflowName, ...reservation });
  await assertStarts(deps.kube, plan);
  const lease = hold === undefined ? undefined : await deps.reservations.renew(hold);
  const execution = await createExecution(deps.kube, plan);
  deps.executions.remember(execution);
  return { execution, lease };
}

/** Nothing was created, and nothing will be. A reservation whose outcome is open stays: the next attempt looks. */
function isFinal(error: unknown): boolean {
  if (error instanceof ContestedKeyError) return false;
  return !(error instanceof AppError && openReasons.has(error.reason));
}

const openReasons: ReadonlySet<string> = new Set([outcomeUnknown, routingInterrupted]);

/** The signature first: the next submission with the key looks for it. Neither outlives its time where this fails. */
async function release(deps: IngestDeps, { hold, remembered }: Partial<Taken>): Promise<void> {
  const { deliveries, reservations, logger } = deps;
  try {
    if (remembered !== undefined) await deliveries.release(remembered);
  } catch (error) {
    logger.warn({ problem: messageOf(error) }, 'webhook signature reservation not released');
  }
  try {
    if (hold !== undefined) await reservations.release(hold);
  } catch (error) {
    logger.warn({ stimulusId: hold?.stimulusId, problem: messageOf(error) }, 'idempotency key not released');
  }
}
