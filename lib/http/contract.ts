import type { Static, TObject, TSchema } from 'typebox';

/**
 * How a caller proves who it is. `public`: not at all. `bearer`: a JWT of the identity provider. `signature`: the
 * handler checks the request itself, as webhooks do (spec 1 §5.1). `pod`: the handler checks that the pod sent it which the object
 * in question names, by the token of the pod or its address (requirements AMB-017, AMB-197); for internal listeners.
 */
export type Access = 'public' | 'bearer' | 'signature' | 'pod';

/**
 * Form of a request's body. `json`: parsed strictly and validated. `text`: UTF-8 text that the handler parses, such as
 * a YAML manifest. `bytes`: exactly what was sent, of any content type.
 */
export type BodyContract =
  | {
      readonly kind: 'json';
      readonly schema: TObject;
      /** Default true. Without it an empty body is `{}`. */
      readonly required?: boolean;
      readonly maxBytes?: number;
      readonly example: unknown;
    }
  | {
      readonly kind: 'text';
      readonly mediaTypes: readonly string[];
      readonly maxBytes?: number;
      /** Schema of the document that the text holds, as YAML or JSON; the handler reads and checks it. */
      readonly schema?: TObject;
      readonly example: string;
    }
  | {
      readonly kind: 'bytes';
      readonly maxBytes?: number;
      /** The JSON that the bytes are meant to hold; the handler reads and checks it, of whatever content type. */
      readonly document?: { readonly schema: TObject; readonly example: unknown };
    };

/** Statuses of success without a body. 202: taken, and there is nothing to say. 302: for people, to a page of this server. */
type BodilessStatus = 202 | 204 | 302;

/** The answer to a request that succeeds, under status 200; `none`: under 204, without a body. */
export type SuccessContract = {
  /** Further statuses, which have no body: when each is the answer. */
  readonly bodiless?: Readonly<Partial<Record<BodilessStatus, string>>>;
} & (
  | { readonly kind: 'json'; readonly description: string; readonly schema: TSchema; readonly example: unknown }
  | { readonly kind: 'text'; readonly description: string; readonly mediaType: string; readonly example: string }
  | { readonly kind: 'none'; readonly description: string }
  | {
      readonly kind: 'events';
      readonly description: string;
      /** Headers of the answer beside those of every one, by name: what each says. */
      readonly headers?: Readonly<Record<string, string>>;
      readonly schema: TSchema;
      /** Types of the events that end a stream. A client that has seen none of them connects again. */
      readonly lastEvents?: readonly string[];
      readonly example: string;
    }
);

/** One way to fail. Those that every operation of its access shares (401, 413, 429, 503 …) need not be listed. */
export interface ErrorContract {
  readonly status: number;
  /** The word or text under `error` in the body. */
  readonly error: string;
  readonly when: string;
  /** Schema of fields beside `error`, `message` and `details`. */
  readonly fields?: TObject;
  /** The code of the JSON-RPC object that the body is, in place of `error` and the others (spec 3 §7.2). */
  readonly rpc?: number;
  /**
   * Roles or scopes, of which a caller must hold one, or is refused with this error before anything of its request is read
   * (ADR 0102).
   */
  readonly needs?: readonly string[];
  /** The parameter of the query, and its value, for which alone `needs` counts. Default: for each request. */
  readonly needsFor?: { readonly query: string; readonly value: string };
}

/**
 * One operation as its callers see it. The router, the OpenAPI document, the generated client and the reference page
 * all follow from it. A parameter that the schemas do not name is refused, unless the access is not `bearer` and the
 * contract has no query at all (requirements AMB-177). Such a header is not looked at.
 */
export interface Contract {
  /** camelCase, unique. */
  readonly operationId: string;
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** With parameters in braces: `/v1/workflows/{workflow}`. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly access: Access;
  /** The parameter of its path that names the sender, to whose share the body counts; for webhooks, which name no tenant. */
  readonly senderParam?: string;
  /**
   * Security schemes of the OpenAPI document, all of which a request needs; none: the proof is a part of the body, for which
   * OpenAPI has no scheme. Default: that of the access.
   */
  readonly security?: readonly string[];
  /** Strings. */
  readonly params?: TObject;
  /** The answer to a parameter that breaks its schema. Default: 400 `invalid_request` with details. */
  readonly invalidParams?: { readonly status: number; readonly error: string };
  /**
   * Text is read as the property's type: string, integer, boolean or enumeration; `default` fills in what is absent. A
   * parameter whose type is a list may be given several times, each time one entry; `maxItems` bounds it.
   */
  readonly query?: TObject;
  /** Names in lower case. */
  readonly headers?: TObject;
  readonly body?: BodyContract;
  /**
   * The word under `error` of a JSON body that breaks its schema, where the specification fixes it; places begin at the body
   * then, as those that the handler names. Default: `invalid_request`.
   */
  readonly invalidBody?: string;
  /**
   * The text under `error` where a field of the JSON body is absent or breaks its schema, by the name of the field, and where
   * the specification fixes it. The first name whose field is wrong counts, before any other problem of the body.
   */
  readonly invalidFields?: Readonly<Record<string, string>>;
  readonly success: SuccessContract;
  readonly errors: readonly ErrorContract[];
  /** The body of errors that come before the handler, where the specification gives errors of the operation their own form. */
  readonly errorBody?: (error: {
    readonly status: number;
    readonly message: string;
  }) => Readonly<Record<string, unknown>>;
}

type Fields<S> = S extends TSchema ? Static<S> : Readonly<Record<never, never>>;
type BodyOf<B> = B extends { kind: 'json'; schema: infer S }
  ? Fields<S>
  : B extends { kind: 'text' }
    ? string
    : B extends { kind: 'bytes' }
      ? Buffer
      : undefined;

/** Checks a contract's shape and keeps its exact type, from which the handler's request is derived. */
export function defineContract<const C extends Contract>(contract: C): C {
  return contract;
}

/** Security schemes, all of which a request of the operation needs. */
export const securityOfContract = ({ access, security }: Pick<Contract, 'access' | 'security'>): readonly string[] =>
  security ?? (access === 'public' ? [] : [access]);

/** The parts of a contract that the type of its request is made of. */
export type ParamsOf<C extends Contract> = Fields<C['params']>;
export type QueryOf<C extends Contract> = Fields<C['query']>;
export type HeadersOf<C extends Contract> = Fields<C['headers']>;
export type RequestBodyOf<C extends Contract> = BodyOf<C['body']>;
