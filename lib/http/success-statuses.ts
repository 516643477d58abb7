import type { Contract } from './contract.ts';
import type { Reply } from './route.ts';

/** The statuses under which an operation may succeed, with the meaning of each. An answer under another one is a fault of ours. */
export function successStatuses({ success }: Pick<Contract, 'success'>): ReadonlyMap<number, string> {
  const { kind, description, bodiless = {} } = success;
  const statuses = new Map([[kind === 'none' ? 204 : 200, description]]);
  // A client that asks for more of a stream that has ended.
  if (kind === 'events' && success.lastEvents !== undefined) {
    statuses.set(204, 'Nothing follows the event of `Last-Event-ID`: do not ask again.');
  }
  for (const [status, when] of Object.entries(bodiless)) statuses.set(Number(status), when);
  return statuses;
}

/** The status of each form of an answer. */
export const statusOf: Readonly<Record<Reply['kind'], number>> = {
  json: 200,
  text: 200,
  parts: 200,
  stream: 200,
  events: 200,
  accepted: 202,
  no_content: 204,
  redirect: 302,
};
