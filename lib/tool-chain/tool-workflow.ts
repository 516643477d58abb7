/** How a failed step ends (spec 3 §3.3). `RetryN` counts further attempts. */
export type OnError = 'AbortWorkflow' | 'Continue' | { readonly RetryN: number };

/** One step of a tool workflow (spec 3 §2.4). */
export interface ToolStep {
  readonly name: string;
  readonly operation_id: string;
  readonly body_template: string;
  /** Variable to JSONPath over the step's response. */
  readonly extractors?: Readonly<Record<string, string>>;
  readonly on_error: OnError;
}

/** The definition of a tool workflow (spec 3 §2.4). */
export interface ToolWorkflowSpec {
  readonly name: string;
  readonly description: string;
  readonly input_schema: Readonly<Record<string, unknown>>;
  readonly api_spec_id: string;
  readonly steps: readonly ToolStep[];
}
