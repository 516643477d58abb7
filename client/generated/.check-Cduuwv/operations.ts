// Generated from the OpenAPI document by "npm run generate". Change the sources there, not this file.

import type { ByteStream, CallOptions, Operation, ServerEvent } from '../../operation.ts';

export type Thing = {
  readonly name: string;
};

/** Body of the answer of {@link Operations.health}. */
export type HealthReply = Readonly<Record<string, unknown>>;

/** Arguments of {@link Operations.listThings}. */
export interface ListThingsRequest {
  /** How many. */
  readonly limit?: number;
}

/** Body of the answer of {@link Operations.listThings}. */
export type ListThingsReply = readonly Thing[];

/** Arguments of {@link Operations.makeThing}. */
export interface MakeThingRequest {
  readonly idempotencyKey?: string;
  readonly body: Thing;
}

/** Body of the answer of {@link Operations.makeThing}. */
export type MakeThingReply = Thing;

/** Arguments of {@link Operations.followThing}. */
export interface FollowThingRequest {
  readonly thing: string;
  readonly lastEventId?: string;
}

/** Data of an event of {@link Operations.followThing}. */
export type FollowThingEvent = Readonly<Record<string, unknown>>;

/** Arguments of {@link Operations.rewriteThing}. */
export interface RewriteThingRequest {
  readonly thing: string;
  readonly body?: string;
}

/** Arguments of {@link Operations.sendRaw}. */
export interface SendRawRequest {
  readonly body: Uint8Array | string;
}

/** Body of the answer of {@link Operations.sendRaw}. */
export type SendRawReply = Readonly<Record<string, unknown>>;

/** Every operation of the API, as a method. */
export interface Operations {
  /** `GET /health` */
  health(options?: CallOptions): Promise<HealthReply>;
  /** `GET /v1/things` */
  listThings(request?: ListThingsRequest, options?: CallOptions): Promise<ListThingsReply>;
  /**
   * Make a thing
   *
   * At once.
   *
   * `POST /v1/things`
   *
   * - 409 It exists. Twice.
   */
  makeThing(request: MakeThingRequest, options?: CallOptions): Promise<MakeThingReply>;
  /** `GET /v1/things/{thing}/events` */
  followThing(request: FollowThingRequest, options?: CallOptions): AsyncIterable<ServerEvent<FollowThingEvent>>;
  /**
   * `POST /v1/things/{thing}/text`
   *
   * @deprecated
   */
  rewriteThing(request: RewriteThingRequest, options?: CallOptions): Promise<ByteStream>;
  /** `POST /v1/raw` */
  sendRaw(request: SendRawRequest, options?: CallOptions): Promise<SendRawReply>;
}

/** Facts of each operation for the runtime. */
export const operations: Readonly<Record<keyof Operations, Operation>> = {
  health: {"method":"GET","path":"/health","bearer":false,"query":[],"headers":{},"reply":"json"},
  listThings: {"method":"GET","path":"/v1/things","bearer":true,"query":["limit"],"headers":{},"reply":"json"},
  makeThing: {"method":"POST","path":"/v1/things","bearer":true,"query":[],"headers":{"idempotencyKey":"Idempotency-Key"},"mediaType":"application/json","reply":"json"},
  followThing: {"method":"GET","path":"/v1/things/{thing}/events","bearer":false,"query":[],"headers":{"lastEventId":"last-event-id"},"reply":"events","lastEvents":["ended","failed"]},
  rewriteThing: {"method":"POST","path":"/v1/things/{thing}/text","bearer":false,"query":[],"headers":{},"mediaType":"application/yaml","reply":"bytes"},
  sendRaw: {"method":"POST","path":"/v1/raw","bearer":false,"query":[],"headers":{},"mediaType":"application/octet-stream","reply":"json"},
};
