export type { ApiReplica } from './api-replica.ts';
export type { EventStream, Received, ReceivedEvent, Sending } from './http.ts';
export { type ApiWorld, type ApiWorldOptions, type Bearer, startApiWorld } from './world.ts';
