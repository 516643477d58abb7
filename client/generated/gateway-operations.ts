// Generated from the OpenAPI document by "npm run generate". Change the sources there, not this file.

import type { CallOptions, Operation } from '../operation.ts';

/** No credentials. */
export type NoneApiCredentials = {
  readonly kind: "none";
};

/** A fixed header. */
export type StaticHeaderApiCredentials = {
  readonly kind: "static_header";
  /**
   * The Secret of the credential. Its keys by kind: static_header value; basic username, password; bearer token;
   * api_key_header and api_key_query key; oauth2_client_credentials client_id, client_secret.
   */
  readonly secret: {
    /** A Secret of this namespace with the label windlass.dev/credential=true. */
    readonly name: string;
  };
  /** Header that carries the value. */
  readonly header: string;
};

/** User name and password. */
export type BasicApiCredentials = {
  readonly kind: "basic";
  /**
   * The Secret of the credential. Its keys by kind: static_header value; basic username, password; bearer token;
   * api_key_header and api_key_query key; oauth2_client_credentials client_id, client_secret.
   */
  readonly secret: {
    /** A Secret of this namespace with the label windlass.dev/credential=true. */
    readonly name: string;
  };
};

/** A fixed bearer token. */
export type BearerApiCredentials = {
  readonly kind: "bearer";
  /**
   * The Secret of the credential. Its keys by kind: static_header value; basic username, password; bearer token;
   * api_key_header and api_key_query key; oauth2_client_credentials client_id, client_secret.
   */
  readonly secret: {
    /** A Secret of this namespace with the label windlass.dev/credential=true. */
    readonly name: string;
  };
};

/** A key in a header. */
export type ApiKeyHeaderApiCredentials = {
  readonly kind: "api_key_header";
  /**
   * The Secret of the credential. Its keys by kind: static_header value; basic username, password; bearer token;
   * api_key_header and api_key_query key; oauth2_client_credentials client_id, client_secret.
   */
  readonly secret: {
    /** A Secret of this namespace with the label windlass.dev/credential=true. */
    readonly name: string;
  };
  /** Header that carries the key. */
  readonly header: string;
};

/** A key in the query. */
export type ApiKeyQueryApiCredentials = {
  readonly kind: "api_key_query";
  /**
   * The Secret of the credential. Its keys by kind: static_header value; basic username, password; bearer token;
   * api_key_header and api_key_query key; oauth2_client_credentials client_id, client_secret.
   */
  readonly secret: {
    /** A Secret of this namespace with the label windlass.dev/credential=true. */
    readonly name: string;
  };
  /** Query parameter that carries the key. */
  readonly param: string;
};

/** A token of an OAuth 2.0 server, for a client. */
export type Oauth2ClientCredentialsApiCredentials = {
  readonly kind: "oauth2_client_credentials";
  /**
   * The Secret of the credential. Its keys by kind: static_header value; basic username, password; bearer token;
   * api_key_header and api_key_query key; oauth2_client_credentials client_id, client_secret.
   */
  readonly secret: {
    /** A Secret of this namespace with the label windlass.dev/credential=true. */
    readonly name: string;
  };
  /** Where tokens are issued. */
  readonly token_url: string;
  /** Scopes that are asked for. */
  readonly scopes?: readonly string[];
  /** Audience that is asked for. */
  readonly audience?: string;
};

export type ListAuditEventsAnswer = {
  readonly items: readonly ({
    readonly specversion: "1.0";
    /** Unique. */
    readonly id: string;
    /** `/windlass/gateway`. */
    readonly source: string;
    /** Name of the event (spec 3 §6). */
    readonly type: string;
    /** Subject of the actor. */
    readonly subject: string;
    /** RFC 3339. */
    readonly time: string;
    readonly datacontenttype: "application/json";
    /** Absent for events of no tenant. */
    readonly tenant?: string;
    /** The same in all events of a call. */
    readonly invocationid?: string;
    /** Part of the record that one replica writes at a time. */
    readonly lane: string;
    /** Rises by one in a chain, which is a tenant and a lane. */
    readonly sequence: number;
    /** `hash` of the event before in the chain. */
    readonly previous: string;
    /** SHA-256 of the canonical JSON (RFC 8785) of the other members. */
    readonly hash: string;
    /** Content of the event. */
    readonly data: Readonly<Record<string, unknown>>;
  })[];
  /** Null on the last page. */
  readonly next_cursor: string | null;
  /** `cursor` of a later read. */
  readonly end_cursor: string;
};

export type ListAuditCheckpointsAnswer = {
  readonly items: readonly ({
    /** Absent for the chain of events of no tenant. */
    readonly tenant?: string;
    /** Lane of the chain. */
    readonly lane: string;
    /** Where the chain ended. */
    readonly sequence: number;
    /** `hash` of the event there. */
    readonly hash: string;
    /** Time of that event, RFC 3339. */
    readonly time: string;
    /** Which key signed it. */
    readonly key_id: string;
    /** Ed25519, Base64 (docs/gateway.md). */
    readonly signature: string;
  })[];
  /** Null on the last page. */
  readonly next_cursor: string | null;
  /** Key that this installation signs with, PEM (SPKI). */
  readonly public_key: string;
  /** Keys that it signed with before, PEM (SPKI). */
  readonly former_public_keys: readonly string[];
  /** When the oldest message of the store was stored, of whichever chain, RFC 3339. */
  readonly retained_from: string | null;
};

export type ReadHealthAnswer = {
  readonly status: "ok";
};

export type RegisterApiSpecBody = {
  /** Name of the API. */
  readonly name: string;
  /** The API, in words. */
  readonly description?: string;
  /** Base URL of all operations. Default: the first server of the document. */
  readonly server_url?: string;
  /** The OpenAPI 3.0 or 3.1 document, JSON or YAML, as text; 5 MiB at most. */
  readonly document: string;
  /** How calls to the upstream are authenticated. */
  readonly credentials?: NoneApiCredentials | StaticHeaderApiCredentials | BasicApiCredentials | BearerApiCredentials | ApiKeyHeaderApiCredentials | ApiKeyQueryApiCredentials | Oauth2ClientCredentialsApiCredentials;
  /** Internal networks in which the upstream may be, in CIDR form; an svc:admin sets it. */
  readonly allow_internal_addresses?: readonly string[];
  /** The tenant of the token; another one is refused. */
  readonly tenant_id?: string;
};

export type RegisterApiSpecAnswer = {
  readonly id: string;
  readonly name: string;
  /** Parts of the document that are legal and probably mistakes, and a missing credential. */
  readonly warnings?: readonly string[];
};

export type ListApiSpecsAnswer = {
  readonly items: readonly ReadApiSpecAnswer[];
  /** Null on the last page. */
  readonly next_cursor: string | null;
};

export type ReadApiSpecAnswer = {
  readonly id: string;
  readonly name: string;
  /** Whether all tenants share it. */
  readonly scope: "tenant" | "global";
  readonly created_at: string;
  /** The verdict of the controllers; absent until they have looked. */
  readonly ready?: {
    readonly status: string;
    readonly reason: string;
    readonly message: string;
  };
  /** The API, in words. */
  readonly description?: string;
  /** As registered. */
  readonly server_url?: string;
  /** How calls to the upstream are authenticated. */
  readonly credentials?: NoneApiCredentials | StaticHeaderApiCredentials | BasicApiCredentials | BearerApiCredentials | ApiKeyHeaderApiCredentials | ApiKeyQueryApiCredentials | Oauth2ClientCredentialsApiCredentials;
  /** Internal networks in which the upstream may be, in CIDR form; an svc:admin sets it. */
  readonly allow_internal_addresses?: readonly string[];
  /** Title in the document. */
  readonly title?: string;
  /** Base URL of operations that name no server of their own. */
  readonly server?: string;
  /** Operations that steps can name. */
  readonly operation_count?: number;
};

export type DeleteApiSpecAnswer = {
  readonly id: string;
  /** Tool workflows whose calls fail now. */
  readonly warnings: readonly string[];
};

export type RegisterToolWorkflowBody = {
  /** Name that agents call. */
  readonly name: string;
  /** Shown in the listing of tools. */
  readonly description: string;
  /** JSON Schema of the arguments, with type: object. */
  readonly input_schema: unknown;
  /** Id of the API spec of all steps. */
  readonly api_spec_id: string;
  /** 1 to 64 operations, in their order. */
  readonly steps: readonly ({
    /** Unique; prefix of extracted values. */
    readonly name: string;
    /** An operationId of the API spec. */
    readonly operation_id: string;
    /** Handlebars text that renders the JSON body; {} where none is needed. */
    readonly body_template: unknown;
    /** Map from a variable to a JSONPath over the response. */
    readonly extractors?: unknown;
    /** AbortWorkflow, Continue, or {"RetryN": n}. */
    readonly on_error: unknown;
  })[];
  /** The tenant of the token; another one is refused. */
  readonly tenant_id?: string;
};

export type RegisterToolWorkflowAnswer = {
  readonly id: string;
  readonly name: string;
  /** Parts of templates that are legal and probably mistakes, and a missing credential. */
  readonly warnings?: readonly string[];
};

export type ListToolWorkflowsAnswer = {
  readonly items: readonly ({
    readonly id: string;
    readonly name: string;
    /** Whether all tenants share it. */
    readonly scope: "tenant" | "global";
    readonly created_at: string;
    /** The verdict of the controllers; absent until they have looked. */
    readonly ready?: {
      readonly status: string;
      readonly reason: string;
      readonly message: string;
    };
    readonly description: string;
    readonly api_spec_id?: string;
    readonly step_count: number;
  })[];
  /** Null on the last page. */
  readonly next_cursor: string | null;
};

export type ReadToolWorkflowAnswer = {
  readonly id: string;
  readonly name: string;
  /** Whether all tenants share it. */
  readonly scope: "tenant" | "global";
  readonly created_at: string;
  /** The verdict of the controllers; absent until they have looked. */
  readonly ready?: {
    readonly status: string;
    readonly reason: string;
    readonly message: string;
  };
  readonly description: string;
  readonly input_schema: unknown;
  readonly api_spec_id?: string;
  readonly steps: readonly ({
    /** Unique; prefix of extracted values. */
    readonly name: string;
    /** An operationId of the API spec. */
    readonly operation_id: string;
    /** Handlebars text that renders the JSON body; {} where none is needed. */
    readonly body_template: unknown;
    /** Map from a variable to a JSONPath over the response. */
    readonly extractors?: unknown;
    /** AbortWorkflow, Continue, or {"RetryN": n}. */
    readonly on_error: unknown;
  })[];
};

export type RegisterCliToolBody = {
  /** Shown in the listing of tools. */
  readonly description: string;
  /** Reference of the container image, as registry.example.org/team/app:1.2. */
  readonly image: string;
  /** When the image is pulled. */
  readonly image_pull_policy?: "Always" | "IfNotPresent" | "Never";
  /**
   * NAME or NAME/KEY of a pull secret in the namespace of the execution; KEY is .dockerconfigjson or .dockercfg,
   * as kubelets read no other.
   */
  readonly registry_credentials?: string;
  /** Runs in the container. Each element is a template, as {{input.FIELD}}, and becomes exactly one argument. */
  readonly command: readonly string[];
  /**
   * Template of the standard input, as {{input.FIELD}}; at most 131,071 bytes when it is rendered. Absent: it is
   * empty.
   */
  readonly stdin?: string;
  /** Files that are written before the command runs. */
  readonly files?: readonly ({
    /** Path below workdir, as data/in.json; folders are made. The command does not run where the file is there. */
    readonly path: string;
    /** Template, as {{input.FIELD}}; at most 131,071 bytes when it is rendered. */
    readonly content: string;
  })[];
  /** Environment variables. Each value is a template. */
  readonly env?: Readonly<Record<string, string>>;
  /** Where the command runs. */
  readonly workdir?: string;
  /** Longest time of the command. A call of a tool ends after ten minutes, the start of the pod included. */
  readonly timeout_seconds?: number;
  /** Resources of the container. */
  readonly resources?: {
    /** Millicores. */
    readonly cpu?: number;
    /** A quantity of Kubernetes above zero, as 512Mi. */
    readonly memory?: string;
  };
  /** Name that agents call. */
  readonly name: string;
  /** JSON Schema of the arguments, with type: object. */
  readonly input_schema: unknown;
  /** The tenant of the token; another one is refused. */
  readonly tenant_id?: string;
};

export type RegisterCliToolAnswer = {
  readonly id: string;
  readonly name: string;
};

export type ListCliToolsAnswer = {
  readonly items: readonly ReadCliToolAnswer[];
  /** Null on the last page. */
  readonly next_cursor: string | null;
};

export type ReadCliToolAnswer = {
  /** Shown in the listing of tools. */
  readonly description: string;
  /** Reference of the container image, as registry.example.org/team/app:1.2. */
  readonly image: string;
  /** When the image is pulled. */
  readonly image_pull_policy?: "Always" | "IfNotPresent" | "Never";
  /**
   * NAME or NAME/KEY of a pull secret in the namespace of the execution; KEY is .dockerconfigjson or .dockercfg,
   * as kubelets read no other.
   */
  readonly registry_credentials?: string;
  /** Runs in the container. Each element is a template, as {{input.FIELD}}, and becomes exactly one argument. */
  readonly command: readonly string[];
  /**
   * Template of the standard input, as {{input.FIELD}}; at most 131,071 bytes when it is rendered. Absent: it is
   * empty.
   */
  readonly stdin?: string;
  /** Files that are written before the command runs. */
  readonly files?: readonly ({
    /** Path below workdir, as data/in.json; folders are made. The command does not run where the file is there. */
    readonly path: string;
    /** Template, as {{input.FIELD}}; at most 131,071 bytes when it is rendered. */
    readonly content: string;
  })[];
  /** Environment variables. Each value is a template. */
  readonly env?: Readonly<Record<string, string>>;
  /** Where the command runs. */
  readonly workdir?: string;
  /** Longest time of the command. A call of a tool ends after ten minutes, the start of the pod included. */
  readonly timeout_seconds?: number;
  /** Resources of the container. */
  readonly resources?: {
    /** Millicores. */
    readonly cpu?: number;
    /** A quantity of Kubernetes above zero, as 512Mi. */
    readonly memory?: string;
  };
  readonly input_schema: unknown;
  readonly id: string;
  readonly name: string;
  /** Whether all tenants share it. */
  readonly scope: "tenant" | "global";
  readonly created_at: string;
  /** The verdict of the controllers; absent until they have looked. */
  readonly ready?: {
    readonly status: string;
    readonly reason: string;
    readonly message: string;
  };
};

/** A signed tool call. */
export type InvokeToolBody = {
  /** Always seal/v1. */
  readonly protocol: "seal/v1";
  /** The token of the session, a JWT. */
  readonly security_token: string;
  /** Base64 of the Ed25519 signature over the canonical JSON of payload, security_token and timestamp. */
  readonly signature: string;
  /** Now: whole Unix seconds, or an RFC 3339 time with its zone. */
  readonly timestamp: number | string;
  /** The JSON-RPC request. */
  readonly payload: {
    readonly jsonrpc: "2.0";
    readonly id?: string | number | null;
    readonly method: "tools/call";
    readonly params: {
      /** Name of the tool. */
      readonly name: string;
      /** Its arguments. */
      readonly arguments?: Readonly<Record<string, unknown>>;
    };
  };
  /** Whose call it is. */
  readonly metadata: {
    /** The execution of the session. */
    readonly execution_id: string;
  };
};

export type InvokeToolAnswer = {
  readonly jsonrpc: "2.0";
  readonly id: string | number | null;
  readonly result: {
    readonly content: readonly ({
      readonly type: "text";
      readonly text: string;
    })[];
    readonly structuredContent?: unknown;
    readonly isError: boolean;
  };
};

/** One message of the protocol. */
export type CallMcpBody = {
  readonly jsonrpc: "2.0";
  readonly id?: string | number | null;
  /** `tools/list`, `tools/call`, or another one of the protocol. */
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>>;
};

export type ListToolsAnswer = {
  readonly items: readonly ({
    readonly name: string;
    readonly description: string;
    /** JSON Schema of the arguments. */
    readonly input_schema: unknown;
    readonly source: "workflow" | "cli" | "builtin" | "mcp";
    readonly skip_judge: boolean;
    readonly fleet_capable: boolean;
    /** Why the controllers refuse the tool. Absent where they accept it, or have not judged it yet. */
    readonly not_ready?: string;
  })[];
  /** Null on the last page. */
  readonly next_cursor: string | null;
};

export type CreateSessionBody = {
  /** Calls name their session by it, and by the tenant of their token. */
  readonly execution_id: string;
  /** Names the caller in audit events. */
  readonly agent_id: string;
  /** Name of a security context that is there, of the tenant or a shared one, or `default`. */
  readonly security_context: string;
  /** Base64 of the raw Ed25519 public key of 32 bytes, not PEM. */
  readonly public_key_b64: string;
  /** A JWT of the SEAL issuer for the tenant and the security context. No route gives it back. */
  readonly security_token: string;
  /**
   * ISO 8601 with its zone. Default: in an hour; in seven days at most. A token may end before: later calls send
   * another one of the same tenant and security context.
   */
  readonly expires_at?: string;
  /**
   * Names of the tools that may be called, in which * is any text, 8 times at most. Default: every tool. An empty
   * list permits none.
   */
  readonly allowed_tool_patterns?: readonly string[];
  readonly tenant_id?: string;
};

export type CreateSessionAnswer = {
  readonly id: string;
  readonly name: string;
  readonly execution_id: string;
  readonly agent_id: string;
  readonly security_context: string;
  readonly public_key_b64: string;
  readonly expires_at: string;
  readonly allowed_tool_patterns: readonly string[];
  readonly tenant_id: string | null;
  readonly state: "active" | "revoked" | "expired";
};

export type ListSessionsAnswer = {
  readonly items: readonly ReadSessionAnswer[];
  /** Null on the last page. */
  readonly next_cursor: string | null;
};

export type ReadSessionAnswer = {
  readonly execution_id: string;
  readonly agent_id: string;
  readonly security_context: string;
  readonly public_key_b64: string;
  readonly expires_at: string;
  readonly allowed_tool_patterns: readonly string[];
  readonly tenant_id: string | null;
  readonly state: "active" | "revoked" | "expired";
};

export type RevokeSessionAnswer = {
  readonly execution_id: string;
  readonly state: "revoked";
};

export type CreateSecurityContextBody = {
  /** A name of Kubernetes, such as `desk`. */
  readonly name: string;
  readonly tenant_id?: string;
  /** Tools that may be called, as globs. Default: all. */
  readonly tools?: readonly string[];
  /**
   * Tools that may not be called, and paths that fs.* and svc.file.* tools may not touch, as globs; wins over
   * tools.
   */
  readonly deny_list?: readonly string[];
  /** Paths that fs.* and svc.file.* tools may touch, as globs. */
  readonly path_allowlist?: readonly string[];
  /** Hosts that web.* tools may ask: a host, or *.suffix. */
  readonly domain_allowlist?: readonly string[];
  /** Commands that cmd.run may run, with the first arguments that each may have. */
  readonly subcommand_allowlist?: Readonly<Record<string, readonly string[]>>;
  /**
   * Secrets of the namespace of the call that svc.git.clone may use, by their whole names; whose writer must be
   * able to get them. Default: none.
   */
  readonly git_secrets?: readonly string[];
  /**
   * none: the container reaches DNS and the API alone. listed: also what networks lists. web.* tools follow
   * domain_allowlist in both.
   */
  readonly network?: "none" | "listed";
  /** Addresses that the container reaches, for network: listed. */
  readonly networks?: readonly ({
    /** Addresses, such as 10.1.0.0/16 or 2001:db8::/48; one address is 10.1.2.3/32. */
    readonly cidr: string;
    /** TCP ports. */
    readonly ports: readonly number[];
  })[];
  /** Tool calls of one execution, signed ones included. */
  readonly max_calls?: number;
  /**
   * Whose context it is; svc.edge.* tools need tenant-admin or operator, whose writer must be able to create
   * fleetruns. Default: user.
   */
  readonly tier?: "user" | "tenant-admin" | "operator";
};

export type CreateSecurityContextAnswer = {
  readonly id: string;
  readonly name: string;
  /** Patterns of tools that fit none, and names that are near. */
  readonly warnings?: readonly string[];
};

export type ListSecurityContextsAnswer = {
  readonly items: readonly ReadSecurityContextAnswer[];
  /** Null on the last page. */
  readonly next_cursor: string | null;
};

export type ReadSecurityContextAnswer = {
  readonly id: string;
  readonly name: string;
  /** Whether all tenants share it. */
  readonly scope: "tenant" | "global";
  /** Tools that may be called, as globs. Default: all. */
  readonly tools?: readonly string[];
  /**
   * Tools that may not be called, and paths that fs.* and svc.file.* tools may not touch, as globs; wins over
   * tools.
   */
  readonly deny_list?: readonly string[];
  /** Paths that fs.* and svc.file.* tools may touch, as globs. */
  readonly path_allowlist?: readonly string[];
  /** Hosts that web.* tools may ask: a host, or *.suffix. */
  readonly domain_allowlist?: readonly string[];
  /** Commands that cmd.run may run, with the first arguments that each may have. */
  readonly subcommand_allowlist?: Readonly<Record<string, readonly string[]>>;
  /**
   * Secrets of the namespace of the call that svc.git.clone may use, by their whole names; whose writer must be
   * able to get them. Default: none.
   */
  readonly git_secrets?: readonly string[];
  /**
   * none: the container reaches DNS and the API alone. listed: also what networks lists. web.* tools follow
   * domain_allowlist in both.
   */
  readonly network?: "none" | "listed";
  /** Addresses that the container reaches, for network: listed. */
  readonly networks?: readonly ({
    /** Addresses, such as 10.1.0.0/16 or 2001:db8::/48; one address is 10.1.2.3/32. */
    readonly cidr: string;
    /** TCP ports. */
    readonly ports: readonly number[];
  })[];
  /** Tool calls of one execution, signed ones included. */
  readonly max_calls?: number;
  /**
   * Whose context it is; svc.edge.* tools need tenant-admin or operator, whose writer must be able to create
   * fleetruns. Default: user.
   */
  readonly tier?: "user" | "tenant-admin" | "operator";
};

export type DeleteSecurityContextAnswer = {
  readonly name: string;
};

/** Arguments of {@link Operations.listAuditEvents}. */
export interface ListAuditEventsRequest {
  /** Events a page; more than 200 counts as 200. */
  readonly limit?: number;
  /** `next_cursor` of the page before. */
  readonly cursor?: string;
  /** Slug of the tenant. Only an `svc:admin` whose token names no tenant may give it; absent: all tenants. */
  readonly tenant?: string;
  /** Only events of this type. */
  readonly type?: "WorkflowRegistered" | "WorkflowInvocationStarted" | "WorkflowStepExecuted" | "WorkflowInvocationCompleted" | "WorkflowInvocationFailed" | "CredentialExchangeCompleted" | "CredentialExchangeFailed" | "TenantMismatch" | "ToolInvocationStarted" | "ToolInvocationCompleted" | "ToolInvocationRefused" | "SessionCreated" | "SessionRevoked" | "WorkflowStepStarted" | "ApiSpecRegistered" | "ApiSpecDeleted" | "CliToolRegistered" | "CliToolDeleted" | "SecurityContextCreated" | "SecurityContextUpdated" | "SecurityContextDeleted";
  /** Only events of this time (RFC 3339) or later. */
  readonly from?: string;
  /** Only events before this time (RFC 3339). */
  readonly to?: string;
}

/** Body of the answer of {@link Operations.listAuditEvents}. */
export type ListAuditEventsReply = ListAuditEventsAnswer;

/** Arguments of {@link Operations.listAuditCheckpoints}. */
export interface ListAuditCheckpointsRequest {
  /** Slug of the tenant. Only an `svc:admin` whose token names no tenant may give it; absent: all tenants. */
  readonly tenant?: string;
  /** `next_cursor` of the page before. */
  readonly cursor?: string;
}

/** Body of the answer of {@link Operations.listAuditCheckpoints}. */
export type ListAuditCheckpointsReply = ListAuditCheckpointsAnswer;

/** Body of the answer of {@link Operations.readHealth}. */
export type ReadHealthReply = ReadHealthAnswer;

/** Arguments of {@link Operations.listApiSpecs}. */
export interface ListApiSpecsRequest {
  /** Items a page; more than 200 counts as 200. */
  readonly limit?: number;
  /** `next_cursor` of the page before. */
  readonly cursor?: string;
}

/** Body of the answer of {@link Operations.listApiSpecs}. */
export type ListApiSpecsReply = ListApiSpecsAnswer;

/** Arguments of {@link Operations.registerApiSpec}. */
export interface RegisterApiSpecRequest {
  readonly body: RegisterApiSpecBody;
}

/** Body of the answer of {@link Operations.registerApiSpec}. */
export type RegisterApiSpecReply = RegisterApiSpecAnswer;

/** Arguments of {@link Operations.readApiSpec}. */
export interface ReadApiSpecRequest {
  /** Id, as the list shows it. */
  readonly id: string;
}

/** Body of the answer of {@link Operations.readApiSpec}. */
export type ReadApiSpecReply = ReadApiSpecAnswer;

/** Arguments of {@link Operations.deleteApiSpec}. */
export interface DeleteApiSpecRequest {
  /** Id, as the list shows it. */
  readonly id: string;
}

/** Body of the answer of {@link Operations.deleteApiSpec}. */
export type DeleteApiSpecReply = DeleteApiSpecAnswer;

/** Arguments of {@link Operations.listToolWorkflows}. */
export interface ListToolWorkflowsRequest {
  /** Items a page; more than 200 counts as 200. */
  readonly limit?: number;
  /** `next_cursor` of the page before. */
  readonly cursor?: string;
}

/** Body of the answer of {@link Operations.listToolWorkflows}. */
export type ListToolWorkflowsReply = ListToolWorkflowsAnswer;

/** Arguments of {@link Operations.registerToolWorkflow}. */
export interface RegisterToolWorkflowRequest {
  readonly body: RegisterToolWorkflowBody;
}

/** Body of the answer of {@link Operations.registerToolWorkflow}. */
export type RegisterToolWorkflowReply = RegisterToolWorkflowAnswer;

/** Arguments of {@link Operations.readToolWorkflow}. */
export interface ReadToolWorkflowRequest {
  /** Id, as the list shows it. */
  readonly id: string;
}

/** Body of the answer of {@link Operations.readToolWorkflow}. */
export type ReadToolWorkflowReply = ReadToolWorkflowAnswer;

/** Arguments of {@link Operations.deleteToolWorkflow}. */
export interface DeleteToolWorkflowRequest {
  /** Id, as the list shows it. */
  readonly id: string;
}

/** Arguments of {@link Operations.listCliTools}. */
export interface ListCliToolsRequest {
  /** Items a page; more than 200 counts as 200. */
  readonly limit?: number;
  /** `next_cursor` of the page before. */
  readonly cursor?: string;
}

/** Body of the answer of {@link Operations.listCliTools}. */
export type ListCliToolsReply = ListCliToolsAnswer;

/** Arguments of {@link Operations.registerCliTool}. */
export interface RegisterCliToolRequest {
  readonly body: RegisterCliToolBody;
}

/** Body of the answer of {@link Operations.registerCliTool}. */
export type RegisterCliToolReply = RegisterCliToolAnswer;

/** Arguments of {@link Operations.readCliTool}. */
export interface ReadCliToolRequest {
  /** Id, as the list shows it. */
  readonly id: string;
}

/** Body of the answer of {@link Operations.readCliTool}. */
export type ReadCliToolReply = ReadCliToolAnswer;

/** Arguments of {@link Operations.deleteCliTool}. */
export interface DeleteCliToolRequest {
  /** Id, as the list shows it. */
  readonly id: string;
}

/** Arguments of {@link Operations.invokeTool}. */
export interface InvokeToolRequest {
  readonly body: InvokeToolBody;
}

/** Body of the answer of {@link Operations.invokeTool}. */
export type InvokeToolReply = InvokeToolAnswer;

/** Arguments of {@link Operations.invokeToolAlias}. */
export interface InvokeToolAliasRequest {
  readonly body: InvokeToolBody;
}

/** Body of the answer of {@link Operations.invokeToolAlias}. */
export type InvokeToolAliasReply = InvokeToolAnswer;

/** Arguments of {@link Operations.callMcp}. */
export interface CallMcpRequest {
  /** Names the session. */
  readonly sealExecutionId: string;
  /** Whole Unix seconds, or an RFC 3339 time with its zone. */
  readonly sealTimestamp: string;
  /** Base64 of the Ed25519 signature. */
  readonly sealSignature: string;
  readonly body: CallMcpBody;
}

/** Body of the answer of {@link Operations.callMcp}. */
export type CallMcpReply = string;

/** Arguments of {@link Operations.listTools}. */
export interface ListToolsRequest {
  /** Tools a page; more than 200 counts as 200. */
  readonly limit?: number;
  /** `next_cursor` of the page before. */
  readonly cursor?: string;
  /** Only tools whose name and description hold each of these words. */
  readonly q?: string;
  readonly source?: "workflow" | "cli" | "builtin" | "mcp";
  /** Only tools that this security context permits. */
  readonly security_context?: string;
}

/** Body of the answer of {@link Operations.listTools}. */
export type ListToolsReply = ListToolsAnswer;

/** Arguments of {@link Operations.listSessions}. */
export interface ListSessionsRequest {
  /** Sessions a page; more than 200 counts as 200. */
  readonly limit?: number;
  /** `next_cursor` of the page before. */
  readonly cursor?: string;
}

/** Body of the answer of {@link Operations.listSessions}. */
export type ListSessionsReply = ListSessionsAnswer;

/** Arguments of {@link Operations.createSession}. */
export interface CreateSessionRequest {
  readonly body: CreateSessionBody;
}

/** Body of the answer of {@link Operations.createSession}. */
export type CreateSessionReply = CreateSessionAnswer;

/** Arguments of {@link Operations.readSession}. */
export interface ReadSessionRequest {
  readonly execution_id: string;
}

/** Body of the answer of {@link Operations.readSession}. */
export type ReadSessionReply = ReadSessionAnswer;

/** Arguments of {@link Operations.revokeSession}. */
export interface RevokeSessionRequest {
  readonly execution_id: string;
}

/** Body of the answer of {@link Operations.revokeSession}. */
export type RevokeSessionReply = RevokeSessionAnswer;

/** Arguments of {@link Operations.listSecurityContexts}. */
export interface ListSecurityContextsRequest {
  /** Security contexts a page; more than 200 counts as 200. */
  readonly limit?: number;
  /** `next_cursor` of the page before. */
  readonly cursor?: string;
}

/** Body of the answer of {@link Operations.listSecurityContexts}. */
export type ListSecurityContextsReply = ListSecurityContextsAnswer;

/** Arguments of {@link Operations.createSecurityContext}. */
export interface CreateSecurityContextRequest {
  readonly body: CreateSecurityContextBody;
}

/** Body of the answer of {@link Operations.createSecurityContext}. */
export type CreateSecurityContextReply = CreateSecurityContextAnswer;

/** Arguments of {@link Operations.readSecurityContext}. */
export interface ReadSecurityContextRequest {
  readonly name: string;
}

/** Body of the answer of {@link Operations.readSecurityContext}. */
export type ReadSecurityContextReply = ReadSecurityContextAnswer;

/** Arguments of {@link Operations.deleteSecurityContext}. */
export interface DeleteSecurityContextRequest {
  readonly name: string;
}

/** Body of the answer of {@link Operations.deleteSecurityContext}. */
export type DeleteSecurityContextReply = DeleteSecurityContextAnswer;

/** Every operation of the API, as a method. */
export interface Operations {
  /**
   * List audit events
   *
   * Events of the gateway as CloudEvents, the oldest first. A page may hold fewer events than `limit`, even none,
   * where the filters leave few; `next_cursor` continues. `end_cursor` is where a later read finds what comes
   * next.
   *
   * `GET /v1/audit-events`
   *
   * - 400 `invalid_request`: The cursor was not given by this list.
   * - 403 `forbidden`: The query names another tenant than the token.
   */
  listAuditEvents(request?: ListAuditEventsRequest, options?: CallOptions): Promise<ListAuditEventsReply>;
  /**
   * List signed ends of audit chains
   *
   * The newest checkpoints of each chain, two thousand a page: more than one tenant has. Read all pages of them
   * before the events that they are to vouch for.
   *
   * `GET /v1/audit-checkpoints`
   *
   * - 400 `invalid_request`: The cursor was not given by this list.
   * - 403 `forbidden`: The query names another tenant than the token.
   */
  listAuditCheckpoints(request?: ListAuditCheckpointsRequest, options?: CallOptions): Promise<ListAuditCheckpointsReply>;
  /**
   * Tell whether the service runs
   *
   * `GET /health`
   */
  readHealth(options?: CallOptions): Promise<ReadHealthReply>;
  /**
   * List APIs
   *
   * Those of the tenant, and those that all tenants share.
   *
   * `GET /v1/specs`
   *
   * - 400 `invalid_request`: The cursor was not given by this list.
   */
  listApiSpecs(request?: ListApiSpecsRequest, options?: CallOptions): Promise<ListApiSpecsReply>;
  /**
   * Register an API by its OpenAPI document
   *
   * `POST /v1/specs`
   *
   * - 400 `Validation`: The registration breaks a rule; `details` names each place. Nothing was written.
   *   `invalid_request`: A parameter, header or the body is not as described; `details` names each place.
   * - 409 `already_exists`: Something that the tenant sees has the name, be it shared by all tenants.
   */
  registerApiSpec(request: RegisterApiSpecRequest, options?: CallOptions): Promise<RegisterApiSpecReply>;
  /**
   * Read an API
   *
   * `GET /v1/specs/{id}`
   *
   * - 404 `not_found`: The tenant sees nothing of that id.
   */
  readApiSpec(request: ReadApiSpecRequest, options?: CallOptions): Promise<ReadApiSpecReply>;
  /**
   * Delete an API
   *
   * Calls of tool workflows that name it are answered with 404. Those under way run to their end.
   *
   * `DELETE /v1/specs/{id}`
   *
   * - 204 It is deleted, and no tool workflow names it.
   * - 403 `forbidden`: All tenants share it; an svc:admin without tenant_id writes it.
   * - 404 `not_found`: The tenant sees nothing of that id.
   */
  deleteApiSpec(request: DeleteApiSpecRequest, options?: CallOptions): Promise<DeleteApiSpecReply>;
  /**
   * List tool workflows
   *
   * Those of the tenant, and those that all tenants share.
   *
   * `GET /v1/workflows`
   *
   * - 400 `invalid_request`: The cursor was not given by this list.
   */
  listToolWorkflows(request?: ListToolWorkflowsRequest, options?: CallOptions): Promise<ListToolWorkflowsReply>;
  /**
   * Register a tool workflow
   *
   * There is no update: delete it and register it again, under another id (spec 3 §3.2).
   *
   * `POST /v1/workflows`
   *
   * - 400 `Validation`: The registration breaks a rule; `details` names each place. Nothing was written.
   *   `invalid_request`: A parameter, header or the body is not as described; `details` names each place.
   * - 409 `already_exists`: Something that the tenant sees has the name, be it shared by all tenants.
   */
  registerToolWorkflow(request: RegisterToolWorkflowRequest, options?: CallOptions): Promise<RegisterToolWorkflowReply>;
  /**
   * Read a tool workflow
   *
   * `GET /v1/workflows/{id}`
   *
   * - 404 `not_found`: The tenant sees nothing of that id.
   */
  readToolWorkflow(request: ReadToolWorkflowRequest, options?: CallOptions): Promise<ReadToolWorkflowReply>;
  /**
   * Delete a tool workflow
   *
   * Invocations under way finish; further ones are answered with 404. No event is emitted.
   *
   * `DELETE /v1/workflows/{id}`
   *
   * - 403 `forbidden`: All tenants share it; an svc:admin without tenant_id writes it.
   * - 404 `not_found`: The tenant sees nothing of that id.
   */
  deleteToolWorkflow(request: DeleteToolWorkflowRequest, options?: CallOptions): Promise<void>;
  /**
   * List CLI tools
   *
   * Those of the tenant, and those that all tenants share.
   *
   * `GET /v1/cli-tools`
   *
   * - 400 `invalid_request`: The cursor was not given by this list.
   */
  listCliTools(request?: ListCliToolsRequest, options?: CallOptions): Promise<ListCliToolsReply>;
  /**
   * Register a command in a container as a tool
   *
   * `POST /v1/cli-tools`
   *
   * - 400 `Validation`: The registration breaks a rule; `details` names each place. Nothing was written.
   *   `invalid_request`: A parameter, header or the body is not as described; `details` names each place.
   * - 409 `already_exists`: Something that the tenant sees has the name, be it shared by all tenants.
   */
  registerCliTool(request: RegisterCliToolRequest, options?: CallOptions): Promise<RegisterCliToolReply>;
  /**
   * Read a CLI tool
   *
   * `GET /v1/cli-tools/{id}`
   *
   * - 404 `not_found`: The tenant sees nothing of that id.
   */
  readCliTool(request: ReadCliToolRequest, options?: CallOptions): Promise<ReadCliToolReply>;
  /**
   * Delete a CLI tool
   *
   * `DELETE /v1/cli-tools/{id}`
   *
   * - 403 `forbidden`: All tenants share it; an svc:admin without tenant_id writes it.
   * - 404 `not_found`: The tenant sees nothing of that id.
   */
  deleteCliTool(request: DeleteCliToolRequest, options?: CallOptions): Promise<void>;
  /**
   * Call a tool
   *
   * Takes a signed envelope (docs/tools.md). Errors are JSON-RPC objects; `error.data.code` is 1003 for a
   * timestamp outside the freshness window and 1004 for a signature that does not verify.
   *
   * `POST /v1/invoke`
   *
   * - 400 `-32600`: The envelope is malformed, or names no tool. `-32602`: The controllers refuse the tool or its
   *   API, or it made an invalid request of the arguments: `data.error` is `Validation`.
   * - 401 `-32000`: The session has expired, or the token, the signature (`data.code` 1004) or the timestamp
   *   (1003) is not good, or the call was made before.
   * - 403 `-32000`: The session is not active, the session or a policy does not permit the call, or the call names
   *   another tenant. With `data.error` `OutcomeUnknown`: the session was revoked while the call ran.
   * - 404 `-32000`: Something that the tool needs is gone: `data.error` is `NotFound`.
   * - 413 `-32600`: The envelope has more than 2097152 bytes.
   * - 422 `-32602`: A required argument is missing or null, or an argument is of the wrong type.
   * - 429 `-32000`: The tenant has made too many calls, or its bodies and answers have its share of bytes.
   *   `-32000`: The tenant's quota has no room for the run of a CLI tool: `data.error` is `QuotaExceeded`.
   * - 500 `-32603`: Something is wrong with the service. With `data.error` `OutcomeUnknown`: the call took too
   *   long, and may have run.
   * - 503 `-32603`: Something that the call needs cannot be reached; try again. `-32603`: The namespace of the
   *   tenant does not take the run of a CLI tool yet: `data.error` is `NotReady`; try again.
   */
  invokeTool(request: InvokeToolRequest, options?: CallOptions): Promise<InvokeToolReply>;
  /**
   * Call a tool
   *
   * Takes a signed envelope (docs/tools.md). Errors are JSON-RPC objects; `error.data.code` is 1003 for a
   * timestamp outside the freshness window and 1004 for a signature that does not verify.
   *
   * `POST /v1/seal/invoke`
   *
   * - 400 `-32600`: The envelope is malformed, or names no tool. `-32602`: The controllers refuse the tool or its
   *   API, or it made an invalid request of the arguments: `data.error` is `Validation`.
   * - 401 `-32000`: The session has expired, or the token, the signature (`data.code` 1004) or the timestamp
   *   (1003) is not good, or the call was made before.
   * - 403 `-32000`: The session is not active, the session or a policy does not permit the call, or the call names
   *   another tenant. With `data.error` `OutcomeUnknown`: the session was revoked while the call ran.
   * - 404 `-32000`: Something that the tool needs is gone: `data.error` is `NotFound`.
   * - 413 `-32600`: The envelope has more than 2097152 bytes.
   * - 422 `-32602`: A required argument is missing or null, or an argument is of the wrong type.
   * - 429 `-32000`: The tenant has made too many calls, or its bodies and answers have its share of bytes.
   *   `-32000`: The tenant's quota has no room for the run of a CLI tool: `data.error` is `QuotaExceeded`.
   * - 500 `-32603`: Something is wrong with the service. With `data.error` `OutcomeUnknown`: the call took too
   *   long, and may have run.
   * - 503 `-32603`: Something that the call needs cannot be reached; try again. `-32603`: The namespace of the
   *   tenant does not take the run of a CLI tool yet: `data.error` is `NotReady`; try again.
   */
  invokeToolAlias(request: InvokeToolAliasRequest, options?: CallOptions): Promise<InvokeToolAliasReply>;
  /**
   * Speak the Model Context Protocol
   *
   * Streamable HTTP without sessions of the protocol. `Authorization` holds the SEAL token as a bearer token. The
   * signature is that of the canonical JSON of `{payload, security_token, timestamp}`, where `payload` is the
   * body, and `timestamp` a number (docs/gateway.md).
   *
   * `POST /v1/mcp`
   *
   * - 202 The message was a notification, which has no answer.
   * - 400 `-32600`: The envelope is malformed, or names no tool.
   * - 401 `-32000`: The session has expired, or the token, the signature (`data.code` 1004) or the timestamp
   *   (1003) is not good, or the call was made before.
   * - 403 `-32000`: The session is not active, the session or a policy does not permit the call, or the call names
   *   another tenant. With `data.error` `OutcomeUnknown`: the session was revoked while the call ran.
   * - 413 `-32600`: The envelope has more than 2097152 bytes.
   * - 429 `-32000`: The tenant has made too many calls, or its bodies and answers have its share of bytes.
   * - 500 `-32603`: Something is wrong with the service. With `data.error` `OutcomeUnknown`: the call took too
   *   long, and may have run.
   * - 503 `-32603`: Something that the call needs cannot be reached; try again.
   */
  callMcp(request: CallMcpRequest, options?: CallOptions): Promise<CallMcpReply>;
  /**
   * List tools
   *
   * Tools that the tenant sees, of all sources. `cmd.run` and `fs.*` run in the container of an agent. The list
   * has them for security contexts; a call of them at the gateway is refused with `NoContainer`.
   *
   * `GET /v1/tools`
   *
   * - 400 `invalid_request`: The cursor was not given by this list.
   * - 404 `not_found`: There is no such security context.
   */
  listTools(request?: ListToolsRequest, options?: CallOptions): Promise<ListToolsReply>;
  /**
   * List the active sessions of the tenant
   *
   * `GET /v1/seal/sessions`
   *
   * - 400 `invalid_request`: The cursor was not given by this list.
   */
  listSessions(request?: ListSessionsRequest, options?: CallOptions): Promise<ListSessionsReply>;
  /**
   * Create a session
   *
   * The same body again gives the same session.
   *
   * `POST /v1/seal/sessions`
   *
   * - 409 `conflict`: The tenant has another session of this execution, or a revoked one.
   * - 429 `session_share_used`: The tenant has its share of active sessions, or of all sessions of seven days. The
   *   message names the limit. `rate_limited`: The tenant has sent too many requests.
   */
  createSession(request: CreateSessionRequest, options?: CallOptions): Promise<CreateSessionReply>;
  /**
   * Read a session
   *
   * `GET /v1/seal/sessions/{execution_id}`
   *
   * - 404 `not_found`: The tenant has no session of this execution.
   */
  readSession(request: ReadSessionRequest, options?: CallOptions): Promise<ReadSessionReply>;
  /**
   * Revoke a session
   *
   * Answers when calls that were admitted before have ended, on every replica of the gateway and of the API; no
   * call begins after that.
   *
   * `DELETE /v1/seal/sessions/{execution_id}`
   *
   * - 404 `not_found`: The tenant has no session of this execution.
   */
  revokeSession(request: RevokeSessionRequest, options?: CallOptions): Promise<RevokeSessionReply>;
  /**
   * List security contexts
   *
   * Those of the tenant, and shared ones of a name that the tenant has not.
   *
   * `GET /v1/security-contexts`
   *
   * - 400 `invalid_request`: The cursor was not given by this list.
   */
  listSecurityContexts(request?: ListSecurityContextsRequest, options?: CallOptions): Promise<ListSecurityContextsReply>;
  /**
   * Create or change a security context
   *
   * Replaces the one of the same name. Needs the role svc:admin without a tenant for a shared one, and the scope
   * svc.edge.fleet.manage for a tier other than user. The answer comes once every replica of the gateway follows
   * it; 503 says that one may not yet, and the same request waits again.
   *
   * `POST /v1/security-contexts`
   *
   * - 403 `forbidden`: The tier opens tools of hosts, and the caller lacks the scope of fleets. Or the body has
   *   the network `listed` or `git_secrets`, which are written with kubectl.
   */
  createSecurityContext(request: CreateSecurityContextRequest, options?: CallOptions): Promise<CreateSecurityContextReply>;
  /**
   * Read a security context
   *
   * `GET /v1/security-contexts/{name}`
   *
   * - 404 `not_found`: The tenant sees no such security context.
   */
  readSecurityContext(request: ReadSecurityContextRequest, options?: CallOptions): Promise<ReadSecurityContextReply>;
  /**
   * Delete a security context
   *
   * Sessions that name it can call nothing any more, except where a shared one has the name.
   *
   * `DELETE /v1/security-contexts/{name}`
   *
   * - 404 `not_found`: The tenant sees no such security context.
   */
  deleteSecurityContext(request: DeleteSecurityContextRequest, options?: CallOptions): Promise<DeleteSecurityContextReply>;
}

/** Facts of each operation for the runtime. */
export const operations: Readonly<Record<keyof Operations, Operation>> = {
  listAuditEvents: {"method":"GET","path":"/v1/audit-events","bearer":true,"query":["limit","cursor","tenant","type","from","to"],"headers":{},"reply":"json"},
  listAuditCheckpoints: {"method":"GET","path":"/v1/audit-checkpoints","bearer":true,"query":["tenant","cursor"],"headers":{},"reply":"json"},
  readHealth: {"method":"GET","path":"/health","bearer":false,"query":[],"headers":{},"reply":"json"},
  listApiSpecs: {"method":"GET","path":"/v1/specs","bearer":true,"query":["limit","cursor"],"headers":{},"reply":"json"},
  registerApiSpec: {"method":"POST","path":"/v1/specs","bearer":true,"query":[],"headers":{},"mediaType":"application/json","reply":"json"},
  readApiSpec: {"method":"GET","path":"/v1/specs/{id}","bearer":true,"query":[],"headers":{},"reply":"json"},
  deleteApiSpec: {"method":"DELETE","path":"/v1/specs/{id}","bearer":true,"query":[],"headers":{},"reply":"json"},
  listToolWorkflows: {"method":"GET","path":"/v1/workflows","bearer":true,"query":["limit","cursor"],"headers":{},"reply":"json"},
  registerToolWorkflow: {"method":"POST","path":"/v1/workflows","bearer":true,"query":[],"headers":{},"mediaType":"application/json","reply":"json"},
  readToolWorkflow: {"method":"GET","path":"/v1/workflows/{id}","bearer":true,"query":[],"headers":{},"reply":"json"},
  deleteToolWorkflow: {"method":"DELETE","path":"/v1/workflows/{id}","bearer":true,"query":[],"headers":{},"reply":"none"},
  listCliTools: {"method":"GET","path":"/v1/cli-tools","bearer":true,"query":["limit","cursor"],"headers":{},"reply":"json"},
  registerCliTool: {"method":"POST","path":"/v1/cli-tools","bearer":true,"query":[],"headers":{},"mediaType":"application/json","reply":"json"},
  readCliTool: {"method":"GET","path":"/v1/cli-tools/{id}","bearer":true,"query":[],"headers":{},"reply":"json"},
  deleteCliTool: {"method":"DELETE","path":"/v1/cli-tools/{id}","bearer":true,"query":[],"headers":{},"reply":"none"},
  invokeTool: {"method":"POST","path":"/v1/invoke","bearer":false,"query":[],"headers":{},"mediaType":"application/json","reply":"json"},
  invokeToolAlias: {"method":"POST","path":"/v1/seal/invoke","bearer":false,"query":[],"headers":{},"mediaType":"application/json","reply":"json"},
  callMcp: {"method":"POST","path":"/v1/mcp","bearer":false,"query":[],"headers":{"sealExecutionId":"seal-execution-id","sealTimestamp":"seal-timestamp","sealSignature":"seal-signature"},"mediaType":"application/json","reply":"json"},
  listTools: {"method":"GET","path":"/v1/tools","bearer":true,"query":["limit","cursor","q","source","security_context"],"headers":{},"reply":"json"},
  listSessions: {"method":"GET","path":"/v1/seal/sessions","bearer":true,"query":["limit","cursor"],"headers":{},"reply":"json"},
  createSession: {"method":"POST","path":"/v1/seal/sessions","bearer":true,"query":[],"headers":{},"mediaType":"application/json","reply":"json"},
  readSession: {"method":"GET","path":"/v1/seal/sessions/{execution_id}","bearer":true,"query":[],"headers":{},"reply":"json"},
  revokeSession: {"method":"DELETE","path":"/v1/seal/sessions/{execution_id}","bearer":true,"query":[],"headers":{},"reply":"json"},
  listSecurityContexts: {"method":"GET","path":"/v1/security-contexts","bearer":true,"query":["limit","cursor"],"headers":{},"reply":"json"},
  createSecurityContext: {"method":"POST","path":"/v1/security-contexts","bearer":true,"query":[],"headers":{},"mediaType":"application/json","reply":"json"},
  readSecurityContext: {"method":"GET","path":"/v1/security-contexts/{name}","bearer":true,"query":[],"headers":{},"reply":"json"},
  deleteSecurityContext: {"method":"DELETE","path":"/v1/security-contexts/{name}","bearer":true,"query":[],"headers":{},"reply":"json"},
};
